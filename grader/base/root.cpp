#include "base/root.h"

#include <cstdlib>

namespace lab32 {

std::filesystem::path built_root() { return LAB32_ROOT; }

std::filesystem::path root() {
  const char* moved = std::getenv("LAB32_ROOT");
  return moved && *moved ? moved : built_root();
}

}  // namespace lab32
