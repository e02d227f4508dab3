// A subcommand of lab32: its options and the function that runs it. Each subcommand has a file of
// its own; main.cpp lists them, reads the command line and runs the one that it names. The
// functions at the end print and write for all of them.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"

namespace lab32::commands {

using Words = std::vector<std::string>;

struct Command {
  CLI::App* app = nullptr;  // its name, help line and options
  // Runs the command after its options have been read. Returns the exit status, or throws.
  std::function<int()> run = {};
  // For commands whose words another program reads: runs instead of `run`, and `app` has no
  // options.
  std::function<int(const Words&)> run_with_words = {};
  // Returns the words that are options of this command, and keeps the others.
  std::function<Words(const Words&)> take_own_options = {};
  // Receives the words behind `--`; null: the command takes none.
  Words* behind = nullptr;
  // If set, the command's temporary files are removed when a signal ends it.
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
// These are Python programs (grader/python/lab32), which start this program.
Command report_command(CLI::App& lab32);
Command class_command(CLI::App& lab32);
Command similarity_command(CLI::App& lab32);
Command new_lab_command(CLI::App& lab32);
Command try_lab_command(CLI::App& lab32);
// These run whole CUDA programs (program_binary.h).
Command run_command(CLI::App& lab32);
Command profile_command(CLI::App& lab32);
Command check_command(CLI::App& lab32);
Command nvcc_command(CLI::App& lab32);

// CLI11's own check would accept -1 and 1e3.
extern const CLI::Validator kWholeNumber;

// Adds --gpus, for whole programs.
void add_gpus(CLI::App* app, unsigned& gpus);

// How to call this program, for messages: "lab32", or "build/lab32" in a checkout.
std::string own_name();

// Writes "lab32: " and the message to standard error.
void complain(const std::string& message);

// Writes to standard output. Throws MachineError if that fails.
void print(const std::string& text);

// Writes to `file`, which `option` named, or to standard output if `file` is empty.
void print_or_write(const std::string& text, const std::string& file, const std::string& option);

// The Python that runs lab32's modules; it may not exist.
std::filesystem::path python_program();

// Replaces this process by a Python module, with `input`, if given, as its standard input. Throws
// Error if there is no Python for it.
[[noreturn]] void exec_python(const std::string& module, const Words& arguments,
                              const std::optional<std::string>& input = {});

}  // namespace lab32::commands
