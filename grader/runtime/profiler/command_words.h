// The words of `lab32 run`, `profile` and `check`: whose each is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/profiler/build_program.h"

namespace lab32::profiler {

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
