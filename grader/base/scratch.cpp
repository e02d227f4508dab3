#include "base/scratch.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace lab32 {

namespace fs = std::filesystem;

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "lab32-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw Error("no scratch directory " + pattern + " (" + std::strerror(errno) +
                "): name a directory with room in TMPDIR");
  path = fs::canonical(pattern);
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

}  // namespace lab32
