#include "base/environment.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace lab32 {
namespace {

namespace fs = std::filesystem;

// The file from which this code was loaded. For the main program the loader knows only the name by
// which it was called, so /proc/self/exe is read instead.
fs::path own_program_or_library() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_program_or_library), &info) == 0 || !info.dli_fname)
    return program;
  const fs::path loaded = info.dli_fname;
  return loaded.filename().string().find(".so") == std::string::npos ? program
                                                                     : fs::canonical(loaded, error);
}

bool is_lab32_root(const fs::path& directory) {
  std::error_code error;
  return fs::is_directory(directory / "data/limits", error) &&
         fs::is_directory(directory / "labs/include", error);
}

fs::path find_lab32_root() {
  const fs::path own = own_program_or_library();
  for (fs::path at = own.parent_path();; at = at.parent_path()) {
    if (is_lab32_root(at)) return at;
    if (!at.has_relative_path()) break;
  }
  throw MachineError(own.string() +
                     ": no directory above it contains data/limits and labs/include; set "
                     "LAB32_ROOT to lab32's directory");
}

}  // namespace

bool is_set(const EnvironmentVariableName& variable) {
  return std::getenv(variable.name) != nullptr;
}

std::string environment_value(const EnvironmentVariableName& variable) {
  const char* value = std::getenv(variable.name);
  return value ? value : "";
}

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) all.emplace_back(*variable);
  return all;
}

ScopedEnvironmentVariable::ScopedEnvironmentVariable(const EnvironmentVariableName& variable,
                                                     const std::string& value)
    : variable_(variable), was_set_(is_set(variable)), before_(environment_value(variable)) {
  setenv(variable.name, value.c_str(), 1);
}

ScopedEnvironmentVariable::~ScopedEnvironmentVariable() {
  if (was_set_)
    setenv(variable_.name, before_.c_str(), 1);
  else
    unsetenv(variable_.name);
}

fs::path lab32_root() {
  if (const std::string named = environment_value(variables::kRoot); !named.empty()) return named;
  static const fs::path found = find_lab32_root();
  return found;
}

fs::path root_of_lab(const std::string& lab) {
  const fs::path more = environment_value(variables::kLabs);
  std::error_code error;
  return !more.empty() && fs::exists(more / "data/limits" / (lab + ".toml"), error) ? more
                                                                                    : lab32_root();
}

}  // namespace lab32
