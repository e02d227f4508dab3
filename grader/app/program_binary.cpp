#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "app/command.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"

namespace lab32::commands {
namespace {

namespace fs = std::filesystem;

// The words with which this process was started, so that main() need not pass them on.
std::vector<std::string> own_command_line() {
  const std::string text = read_file("/proc/self/cmdline").value_or("");
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    words.emplace_back(text.c_str() + at);
    at += words.back().size() + 1;
  }
  return words;
}

void build_simulated_runtime(const fs::path& program) {
  std::error_code error;
  if (!fs::exists(lab32_root() / "grader/runtime/runtime.mk", error))
    throw MachineError(fmt::format(
        "{}: this lab32 was installed without the runtime for whole programs", program.string()));
  fmt::print(stderr, "lab32: building the simulated CUDA runtime, once (make runtime; minutes)\n");
  lab32::ProcessCommand make;
  make.argv = {"/usr/bin/env",        "make",   "--no-print-directory", "-C",
               lab32_root().string(), "runtime"};
  make.environment = environment();
  if (!run_process(make).ok())
    throw MachineError("the simulated CUDA runtime could not be built; `make runtime` says why");
}

Subcommand program_command(CLI::App& lab32, const char* name, const char* help,
                           void (*ProgramCommandFunctions::*add)(Subcommand&)) {
  Subcommand command;
  command.app = lab32.add_subcommand(name, help);
  if (linked_program_commands())
    (linked_program_commands()->*add)(command);
  else
    command.run_with_words = [](const Words&) -> int { exec_runtime_binary(); };
  return command;
}

}  // namespace

const ProgramCommandFunctions*& linked_program_commands() {
  static const ProgramCommandFunctions* programs = nullptr;
  return programs;
}

void exec_runtime_binary() {
  const fs::path program = lab32_root() / "build/runtime/lab32";
  std::error_code error;
  if (!fs::exists(program, error)) build_simulated_runtime(program);
  std::vector<std::string> words = own_command_line();
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw MachineError(
      fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

Subcommand run_command(CLI::App& lab32) {
  return program_command(lab32, "run", "run a complete CUDA program on the simulator",
                         &ProgramCommandFunctions::run);
}

Subcommand profile_command(CLI::App& lab32) {
  return program_command(lab32, "profile", "run a CUDA program and show what each launch moved",
                         &ProgramCommandFunctions::profile);
}

Subcommand check_command(CLI::App& lab32) {
  return program_command(lab32, "check", "run a CUDA program and find its races and bad accesses",
                         &ProgramCommandFunctions::check);
}

Subcommand nvcc_command(CLI::App& lab32) {
  return program_command(lab32, "nvcc",
                         "run nvcc; the program that it builds runs on the simulator",
                         &ProgramCommandFunctions::nvcc);
}

}  // namespace lab32::commands
