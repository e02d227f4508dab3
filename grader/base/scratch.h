// A directory of our own below TMPDIR, gone with the object.
#pragma once

#include <filesystem>

namespace lab32 {

class Scratch {
 public:
  Scratch();  // throws Error when none can be made
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path path;  // canonical
};

}  // namespace lab32
