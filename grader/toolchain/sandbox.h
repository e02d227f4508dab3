// A room for the compilers: they see the toolchain, the submission's copy and labs/include, write
// to one directory, and reach neither the network nor anything else of the machine (README.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/scratch.h"
#include "toolchain/toolchain.h"

namespace lab32::toolchain {

// How a room is closed off. `plain` is what is left where bubblewrap cannot run: the same limits
// and a copy of the submission, but the programs could read whatever this user can.
enum class Isolation { bubblewrap, plain };

struct IsolationProbe {
  Isolation isolation = Isolation::bubblewrap;
  std::string reason;  // why not bubblewrap, in its own words
};
// What works on this machine. Tried once.
const IsolationProbe& isolation();

class Sandbox {
 public:
  // Makes the room in a fresh directory, which goes with it.
  Sandbox(const Toolchain& toolchain, const std::filesystem::path& include, Isolation isolation);
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // The same two directories from outside, to fill the one and to read the other.
  const std::filesystem::path& submission() const { return submission_; }
  const std::filesystem::path& output() const { return output_; }

  // And as the programs in the room know them; these go on command lines.
  std::string inner_submission() const;
  std::string inner_include() const;
  std::string inner_output() const;

  Outcome run(const std::vector<std::string>& argv, const ProcessLimits& limits) const;

 private:
  const Toolchain& toolchain_;
  Scratch scratch_;
  std::filesystem::path include_, submission_, output_;
  Isolation isolation_;
};

}  // namespace lab32::toolchain
