#include "base/environment.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace lab32 {
namespace {

namespace fs = std::filesystem;

// The file that this code was loaded from. Of a program the loader knows but the word that it was
// called by, so the kernel is asked.
fs::path own_file() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_file), &info) == 0 || !info.dli_fname) return program;
  const fs::path loaded = info.dli_fname;
  return loaded.filename().string().find(".so") == std::string::npos ? program
                                                                     : fs::canonical(loaded, error);
}

bool is_root(const fs::path& directory) {
  std::error_code error;
  return fs::is_directory(directory / "data/limits", error) &&
         fs::is_directory(directory / "labs/include", error);
}

fs::path nearest_root() {
  const fs::path own = own_file();
  for (fs::path at = own.parent_path();; at = at.parent_path()) {
    if (is_root(at)) return at;
    if (!at.has_relative_path()) break;
  }
  throw MachineError(own.string() +
                     " is alone: data/limits and labs/include are in no directory above it; name "
                     "lab32's in LAB32_ROOT");
}

}  // namespace

fs::path root() {
  const char* named = std::getenv("LAB32_ROOT");
  if (named && *named) return named;
  static const fs::path found = nearest_root();
  return found;
}

}  // namespace lab32
