// A subcommand of lab32: its options and what it does. Each stands in a file of its own; main.cpp
// lists them, reads the command line and runs the one that is named.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace lab32::commands {

using Words = std::vector<std::string>;

struct Command {
  CLI::App* app = nullptr;  // its name, its line of help and its options
  // Runs after its options are read. Returns the exit status, or throws.
  std::function<int()> run = {};
  // Another program reads its words: this runs instead, and `app` has no options.
  std::function<int(const Words&)> run_with_words = {};
  // Returns those of its words that are options here, and keeps the others.
  std::function<Words(const Words&)> take_own_options = {};
  // Where the words behind `--` go; null: nowhere.
  Words* behind = nullptr;
  // What it writes is removed when a signal ends it.
  std::optional<CleanSignalExit::Interrupt> clean_end = {};
};

Command grade_command(CLI::App& lab32);
Command explain_command(CLI::App& lab32);
Command ptx_command(CLI::App& lab32);
Command calibrate_command(CLI::App& lab32);
Command init_command(CLI::App& lab32);
Command seal_command(CLI::App& lab32);
Command doctor_command(CLI::App& lab32);
Command devices_command(CLI::App& lab32);
// Python programs (grader/python/lab32), which start this one.
Command report_command(CLI::App& lab32);
Command class_command(CLI::App& lab32);
Command similarity_command(CLI::App& lab32);
// For whole programs (program_binary.h).
Command run_command(CLI::App& lab32);
Command profile_command(CLI::App& lab32);
Command check_command(CLI::App& lab32);
Command nvcc_command(CLI::App& lab32);

// CLI11 would take -1 and 1e3.
extern const CLI::Validator kWholeNumber;

// --gpus, of whole programs.
void add_gpus(CLI::App* app, unsigned& gpus);

// Writes a line of lab32's to standard error.
void complain(const std::string& message);

// Writes to standard output. Throws MachineError where it cannot be written.
void print(const std::string& text);

// Writes to `file`, which `option` names; to standard output where it is empty.
void print_or_write(const std::string& text, const std::string& file, const std::string& option);

// A Python module takes this process's place, with `input`, where one is given, as its standard
// input. Throws Error where there is no Python for it.
[[noreturn]] void exec_python(const std::string& module, const Words& arguments,
                              const std::optional<std::string>& input = {});

}  // namespace lab32::commands
