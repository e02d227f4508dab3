// A directory of our own below TMPDIR, gone with the object.
#pragma once

#include <filesystem>

#include "base/child.h"

namespace lab32 {

// All of a user's lie in TMPDIR/lab32-UID. Each is locked by the process that made it for as long
// as that lives, so the first of a later process finds what killed ones have left, and removes it.
class Scratch {
 public:
  Scratch();  // throws MachineError, with the directory, when none can be made
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Of all that there are in this process, for its end by a signal: who makes or loses one then
  // waits for that end.
  static void remove_all();

  std::filesystem::path path;  // canonical

 private:
  Descriptor lock_;
};

}  // namespace lab32
