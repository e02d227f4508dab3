// Parses nvcc's command line as far as necessary to build for the simulator, and separates the
// options of lab32's own commands from nvcc's.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lab32::profiler {

// Whether the option takes the next word as its value: `-I inc`, `-Xcompiler -Wall`, `-arch sm_90`,
// but not `-Iinc`, `-arch=sm_90`, `-O3`.
bool takes_value_in_next_word(std::string_view option);

// Whether nvcc reads a file with such a name: a source, an object or a library.
bool is_input_file(std::string_view word);

// Whether nvcc compiles the file, for the GPU and the host or only for the host.
bool is_source_file(std::string_view word);

// nvcc's words, separated into inputs and options; an option includes its value if that is the next
// word.
struct NvccWords {
  std::vector<std::vector<std::string>> options;
  std::vector<std::string> inputs;
};
NvccWords split_words(const std::vector<std::string>& words);

// "std" for `-std=c++17` and `--std c++17`. Short names are not converted to long ones.
std::string_view option_name(std::string_view option);

// The options with which nvcc builds for the simulated runtime in the folder `runtime` and for a
// GPU of `device` ("sm_90"): links the shared runtime, and generates PTX, a cubin and line
// information. If `words` has several architectures, the newest one that the GPU can run remains,
// as the driver would choose; without any, the GPU's own is used. If nvcc is asked for text
// (--version, -E, -ptx), the words are unchanged. Throws Error if all architectures are newer than
// the GPU.
std::vector<std::string> nvcc_words_for_simulator(const std::vector<std::string>& words,
                                                  const std::string& device,
                                                  const std::filesystem::path& runtime);

// Separates the words of `lab32 run`, `profile` and `check`.

// The program that `lab32 run`, `profile` and `check` are given, or the files that make it.
struct ProgramOrSources {
  std::string file;                // the first source, or a finished program
  std::vector<std::string> words;  // for nvcc: more sources, objects, libraries, options
};

struct CommandWords {
  std::vector<std::string> ours;  // the command's own options and their values
  ProgramOrSources program;
  std::vector<std::string> arguments;
};

// Splits `words`, which are the words after the command and before `--`. `is_ours` returns whether
// the command has the option and, if so, whether the next word is its value; other options are
// nvcc's. The first word that is not an option is the program. Later such words go to nvcc if nvcc
// reads such files and the program must be built; otherwise they are the program's arguments.
CommandWords split_own_nvcc_and_program_words(
    const std::vector<std::string>& words,
    const std::function<std::optional<bool>(const std::string&)>& is_ours);

// ---------------------------------------------------------------------------------------------
// Recognises code for earlier toolkits, which CUDA 13 does not compile, in nvcc's messages.

// A hint that names the replacement of the first such function, member or option. nullopt: the
// messages name none.
std::optional<std::string> hint_about_old_code(const std::string& messages);

}  // namespace lab32::profiler
