#include "runtime/profiler/check.h"

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "runtime/profiler/check_text.h"
#include "runtime/profiler/library_text.h"
#include "runtime/profiler/recorded_run.h"

namespace lab32::profiler {
namespace {

constexpr int kHazards = 1;

// As a shell reads it back.
std::string shell_word(const std::string& word) {
  const char* const plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+=:,@%-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// `lab32 explain` builds a single source by itself, and draws that source's lines.
std::string command_that_draws(const CheckOptions& options, const CheckReport& report) {
  const std::string& file = options.program.file;
  std::error_code no_such_file;
  if (!report.access || !options.program.words.empty() ||
      !std::filesystem::equivalent(file, report.access->file, no_such_file))
    return "";
  std::string command =
      fmt::format("lab32 explain {} --line {}", shell_word(file), report.access->line);
  if (options.gpus > 1) command += fmt::format(" --gpus {}", options.gpus);
  if (!options.arguments.empty()) command += " --";
  for (const std::string& argument : options.arguments) command += " " + shell_word(argument);
  return command;
}

}  // namespace

int check(const CheckOptions& options) {
  const RecordedRun run = run_recorded(options.program, options.device, options.arguments, "check",
                                       {options.schedule, options.gpus});
  CheckReport report = check_report(run.recording.launches);
  add_library_findings(run.recording.library_calls, &report);
  // A line of its own, should the program's last one not have ended.
  fmt::print("\n{}", visible(report.text));
  for (const std::string& what : run.recording.unsupported)
    fmt::print("{}: what comes after it was not checked\n", what);
  if (run.status != 0) fmt::print("{}\n", ending(run.status));
  if (const std::string command = command_that_draws(options, report); !command.empty())
    fmt::print("drawn by: {}\n", command);
  fmt::print("{}\n", report.last_line());
  std::fflush(stdout);
  if (!run.recording.unsupported.empty()) return kNotSupported;
  return report.hazards() > 0 || report.stopped > 0 ? kHazards : run.status;
}

}  // namespace lab32::profiler
