#include "base/shown_path.h"

#include <filesystem>

namespace lab32 {

std::string shown_path(const std::string& path) {
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string() + "/";
  return path.rfind(here, 0) == 0 ? path.substr(here.size()) : path;
}

}  // namespace lab32
