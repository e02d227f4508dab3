#include "grading/classroom.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/root.h"

namespace lab32::grading {

void exec_python(const std::string& module, const std::vector<std::string>& arguments) {
  const char* named = std::getenv("LAB32_PYTHON");  // a wheel's own
  const std::filesystem::path python = named && *named ? named : root() / ".venv/bin/python";
  std::error_code error;
  if (!std::filesystem::exists(python, error))
    throw MachineError(fmt::format(
        "{}: there is no such Python; `make class` installs it, and starts this", python.string()));
  std::vector<std::string> words = {python.string(), "-m", module};
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) words.insert(words.end(), {"--binary", self.string()});
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  unsetenv("PYTHONPATH");  // another installation's packages
  execv(argv[0], argv.data());
  throw MachineError(
      fmt::format("{} cannot be started: {}", python.string(), std::strerror(errno)));
}

}  // namespace lab32::grading
