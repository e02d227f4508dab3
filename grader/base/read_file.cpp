#include "base/read_file.h"

#include <fstream>
#include <sstream>

namespace lab32 {

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  // An empty file sets failbit on `text`, a directory badbit on `file`.
  if (!file) return std::nullopt;
  return text.str();
}

}  // namespace lab32
