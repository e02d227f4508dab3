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
#include "grading/engine/runner.h"
#include "runtime/profiler/commands.h"

namespace lab32::commands {

using Words = std::vector<std::string>;

struct Subcommand {
  CLI::App* app = nullptr;  // its name, help line and options
  // Runs the command after its options have been read. Returns the exit status, or throws.
  std::function<int()> run = {};
  // For commands whose words another program reads: runs instead of `run`, and `app` has no
  // options.
  std::function<int(const Words&)> run_with_words = {};
  // Returns the words that are options of this command, and keeps the others.
  std::function<Words(const Words&)> take_own_options = {};
  // Where to store the words behind `--`; null if the command takes none.
  Words* behind = nullptr;
  // If set, the command's temporary files are removed when a signal ends it.
  std::optional<CleanSignalExit::Interrupt> clean_end = {};
};

Subcommand grade_command(CLI::App& lab32);
Subcommand explain_command(CLI::App& lab32);
Subcommand ask_command(CLI::App& lab32);
Subcommand ptx_command(CLI::App& lab32);
Subcommand decidable_timing_checks_command(CLI::App& lab32);
Subcommand init_command(CLI::App& lab32);
Subcommand seal_command(CLI::App& lab32);
Subcommand doctor_command(CLI::App& lab32);
Subcommand devices_command(CLI::App& lab32);
// These are Python programs (grader/python/lab32), which start this program.
Subcommand report_command(CLI::App& lab32);
Subcommand class_command(CLI::App& lab32);
Subcommand course_command(CLI::App& lab32);
Subcommand similarity_command(CLI::App& lab32);
Subcommand new_lab_command(CLI::App& lab32);
Subcommand try_lab_command(CLI::App& lab32);
// Commands that run whole CUDA programs, which another binary does (program_binary.cpp).
Subcommand run_command(CLI::App& lab32);
Subcommand profile_command(CLI::App& lab32);
Subcommand check_command(CLI::App& lab32);
Subcommand nvcc_command(CLI::App& lab32);

// Accepts decimal digits only. CLI11's own check of numbers would accept -1 and 1e3.
extern const CLI::Validator kWholeNumber;

// Adds --gpus, for whole programs.
void add_gpus_option(CLI::App* app, unsigned& gpus);

// How to call this program, for messages: "lab32", or "build/lab32" in a checkout.
std::string program_name_as_typed();

// Writes "lab32: " and the message to standard error.
void print_error(const std::string& message);

// Writes to standard output. Throws MachineError if that fails.
void print(const std::string& text);

// Writes to `file`, which `option` named, or to standard output if `file` is empty.
void print_or_write(const std::string& text, const std::string& file, const std::string& option);

// The path of the Python interpreter that runs lab32's modules. The file may not exist.
std::filesystem::path python_interpreter();

// Replaces this process by a Python module, with `input`, if given, as its standard input. Throws
// Error if there is no Python for it.
[[noreturn]] void exec_python(const std::string& module, const Words& arguments,
                              const std::optional<std::string>& input = {});

// ---- whole programs ----

// Whole CUDA programs run in a separate binary: build/runtime/lab32 is this program plus
// app/programs and the simulated CUDA runtime. build/lab32 knows only the names of its commands,
// and passes them on with exec_runtime_binary().

// The functions by which app/programs adds options and behaviour to the commands.
struct ProgramCommandFunctions {
  void (*run)(Subcommand&);
  void (*profile)(Subcommand&);
  void (*check)(Subcommand&);
  void (*nvcc)(Subcommand&);
  decltype(&profiler::picture_of_program_run) explain;
  // Splits a command line: returns the words of lab32, with the program's file last, and stores
  // those that belong to nvcc and to the program.
  Words (*words_left_for_cli11)(const CLI::App*, const Words&, profiler::ProgramOrSources&,
                                Words& arguments);
};

// The commands of app/programs, which build/runtime/lab32 sets before main(). Null in build/lab32.
const ProgramCommandFunctions*& linked_program_commands();

// Replaces this process by build/runtime/lab32 with the same words. In a checkout in which that
// program has not been built, `make runtime` builds it first. Returns only by throwing
// MachineError, if the program is missing or cannot be built.
[[noreturn]] void exec_runtime_binary();

// ---- files of labs ----

// Which files `lab32 grade` and `lab32 explain` work on: the folder labs/ of this folder or of one
// above it, files that the command line names, and the files of a student's hand-in.

// The folder of LAB/LAB.cu if --dir names none: labs/ of this folder, or of the nearest folder
// above it whose labs/ has a lab.
std::string nearest_labs_folder();

// The folder of `--labs`, as a value of LAB32_LABS. Throws Error if it has no rubric, or a lab of a
// name that lab32 has.
std::string require_labs_folder(const std::string& folder);

// Writes the rubrics of a course `into` a folder, by lab32.course, and makes `options` use them.
// Throws Error for a course file that is wrong, and for labs that are not in it.
void use_course_rubrics(const std::string& course, const std::filesystem::path& into,
                        grading::GradeOptions& options);

// Replaces the words of `options.labs` that name a file or a folder of a lab by the lab's name, and
// records the files in `options.files`. Throws Error for a file that does not exist or whose name
// tells no lab.
void resolve_file_arguments(grading::GradeOptions& options);

// Finds the files of labs that lie below `options.dir`, but not at LAB/LAB.cu, as
// lab32/classroom/chooser.py chooses them. Records them in `options.files`, and lists them on
// standard error.
void find_misplaced_files(grading::GradeOptions& options);

}  // namespace lab32::commands
