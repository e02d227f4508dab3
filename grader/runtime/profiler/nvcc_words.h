// nvcc's command line, as far as the words of one must be understood to build for the simulator.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab32::profiler {

// Whether the word that follows this option is its value: `-I inc`, `-Xcompiler -Wall`, `-arch
// sm_90`; not `-Iinc`, `-arch=sm_90`, `-O3`.
bool takes_value(std::string_view option);

// Whether nvcc reads a file of that name: a source, an object or a library.
bool is_input(std::string_view word);

// A source that nvcc compiles, for the GPU and the host or for the host alone.
bool is_source(std::string_view word);

// `words` split into options, each with its value where that is a word of its own, and inputs.
struct NvccWords {
  std::vector<std::vector<std::string>> options;
  std::vector<std::string> inputs;
};
NvccWords split_words(const std::vector<std::string>& words);

// "std" for `-std=c++17`, `--std c++17`; the long names for the short ones are not looked up.
std::string_view option_name(std::string_view option);

// The words with which nvcc makes what `words` ask for, for the simulated runtime in `runtime` on a
// GPU of `device` ("sm_90"): the shared runtime and the way to it, PTX and a cubin of it, source
// lines. Of several architectures the newest one that the GPU can run stays, as the driver would
// choose; without any the GPU's own is taken. As they are where nvcc is asked for text (--version,
// -E, -ptx). Throws Error when all architectures are newer than the GPU.
std::vector<std::string> for_simulator(const std::vector<std::string>& words,
                                       const std::string& device,
                                       const std::filesystem::path& runtime);

// The words of `lab32 run`, `profile` and `check`: whose each is.

// What `lab32 run`, `profile` and `check` are given: a program, or what makes one.
struct Program {
  std::string file;                // the first source, or a program that is built already
  std::vector<std::string> words;  // for nvcc: more sources, objects, libraries, options
};

struct CommandWords {
  std::vector<std::string> ours;  // options of the command, and their values
  Program program;
  std::vector<std::string> arguments;
};

// `words`: what stands behind the command and before `--`. `is_ours`: whether the command has that
// option, and if so whether the next word is its value. Other options are nvcc's. The first word
// that is no option is the program; those that follow are nvcc's where nvcc reads such files and
// the program is yet to be built, and else the program's arguments.
CommandWords split_command(const std::vector<std::string>& words,
                           const std::function<std::optional<bool>(const std::string&)>& is_ours);

}  // namespace lab32::profiler
