// `lab32 report`, `class`, `course`, `similarity`, `new-lab` and `try-lab`: Python programs, which
// start this program.

#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "app/command.h"
#include "base/environment.h"
#include "base/error.h"
#include "grading/engine/registry.h"

namespace lab32::commands {
namespace {

[[noreturn]] void replace_process_by_python(const std::string& module, const Words& arguments) {
  const std::filesystem::path python = python_interpreter();
  std::error_code error;
  if (!std::filesystem::exists(python, error))
    throw MachineError(
        fmt::format("{}: this Python does not exist; `make report` and `make class` install it",
                    python.string()));
  Words words = {python.string(), "-m", module};
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) words.insert(words.end(), {"--binary", self.string()});
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  unsetenv(variables::kPythonPath.name);  // it may name packages of another installation
  execv(argv[0], argv.data());
  throw MachineError(
      fmt::format("{} cannot be started: {}", python.string(), std::strerror(errno)));
}

// Makes `text` the standard input.
void use_as_stdin(const std::string& text) {
  const int file = memfd_create("lab32", 0);
  bool written = file >= 0;
  for (size_t at = 0; written && at < text.size();) {
    const ssize_t bytes = write(file, text.data() + at, text.size() - at);
    written = bytes > 0;
    at += written ? static_cast<size_t>(bytes) : 0;
  }
  if (!written || lseek(file, 0, SEEK_SET) != 0 || dup2(file, STDIN_FILENO) < 0)
    throw MachineError(
        fmt::format("there is no space for the input of the pictures: {}", std::strerror(errno)));
}

// A command that passes its words on to a Python module, which reads the options.
Subcommand python_command(CLI::App& lab32, const char* name, const char* help,
                          const std::string& module) {
  Subcommand command;
  command.app = lab32.add_subcommand(name, help);
  command.run_with_words = [module](const Words& words) -> int { exec_python(module, words); };
  return command;
}

// A first `make grade LAB=...` links only the suite of that lab; this command needs all of them
// (all_suites_linked()).
Subcommand require_all_suites_linked(Subcommand command) {
  command.run_with_words = [name = command.app->get_name(),
                            run = command.run_with_words](const Words& words) {
    if (!grading::all_suites_linked())
      throw Error("`" + name +
                  "` is not part of this lab32, which `make grade` built with only the parts that "
                  "grading needs; "
                  "`make build` adds the rest");
    return run(words);
  };
  return command;
}

// A command for authors of labs, which only a checkout has.
Subcommand author_command(CLI::App& lab32, const char* name, const char* help,
                          const std::string& module) {
  Subcommand command = python_command(lab32, name, help, module);
  command.run_with_words = [name, run = command.run_with_words](const Words& words) -> int {
    if (!std::filesystem::exists(lab32_root() / "grader/tools/authoring"))
      throw Error(fmt::format("`{}` works in a checkout of lab32, not in an installation", name));
    return run(words);
  };
  return command;
}

}  // namespace

std::filesystem::path python_interpreter() {
  const std::string named = environment_value(variables::kPython);
  return named.empty() ? lab32_root() / ".venv/bin/python" : std::filesystem::path(named);
}

void exec_python(const std::string& module, const Words& arguments,
                 const std::optional<std::string>& input) {
  if (input) use_as_stdin(*input);
  replace_process_by_python(module, arguments);
}

Subcommand report_command(CLI::App& lab32) {
  return python_command(lab32, "report",
                        "write a page with the points and with pictures of what the kernels do",
                        "lab32.report");
}

Subcommand class_command(CLI::App& lab32) {
  return require_all_suites_linked(
      python_command(lab32, "class", "grade the submissions of a whole class", "lab32.classroom"));
}

Subcommand similarity_command(CLI::App& lab32) {
  return require_all_suites_linked(python_command(
      lab32, "similarity", "list submissions of a class that are worth reading side by side",
      "lab32.similarity"));
}

Subcommand course_command(CLI::App& lab32) {
  return python_command(lab32, "course", "check the file of a course, and print it as a table",
                        "lab32.course");
}

Subcommand new_lab_command(CLI::App& lab32) {
  return author_command(lab32, "new-lab", "write a small complete lab, to be changed into your own",
                        "authoring.new_lab");
}

Subcommand try_lab_command(CLI::App& lab32) {
  return author_command(lab32, "try-lab", "check a lab before students get it",
                        "authoring.try_lab");
}

}  // namespace lab32::commands
