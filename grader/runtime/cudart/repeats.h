// Launches that a program repeats, as loops that take the time do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "simulator/core/memory/digest.h"
#include "simulator/core/memory/memory.h"

namespace lab32::cudart {

// A launch of the same kernel, shape and arguments on memory that holds the same leaves the same
// behind: so it need not be run again, what it left is put there. Whether memory holds the same is
// looked up in all of it: first when that takes a small part of what the launch's runs have taken
// since the last look in vain, then, where it is known what the launch does, as long as looks pay.
class Repeats {
 public:
  // What a look has found holds until memory may have changed otherwise than by launches.
  static void forget_look();
  static bool has_look();

  // Whether the allocation is known to hold a fill that was found in it, or done to it, without a
  // look at its bytes: benchmarks empty L2 before each launch with a fill as large as it.
  struct Fill {
    uint64_t at, bytes;
    unsigned char value;
    bool operator==(const Fill& b) const {
      return at == b.at && bytes == b.bytes && value == b.value;
    }
  };
  static bool still_holds(const sim::Allocation& allocation, const Fill& fill);
  // All its bytes are there.
  static void holds(const sim::Allocation& allocation, const Fill& fill);

  class Launch {
   public:
    // Does what it did the last time, if that is known; then the instructions that it issues.
    std::optional<uint64_t> repeat(sim::Memory& memory);
    // It ran instead, so many seconds of the host's. `silent`: it printed nothing, launched nothing
    // and had no fault.
    void ran(const sim::Memory& memory, const device::Run& run, double seconds, bool silent);

   private:
    bool worth_while(const sim::Memory& memory) const;
    bool learn(const sim::Memory& memory);

    using Digest = std::vector<sim::AllocationDigest>;
    using Left = std::vector<std::pair<uint32_t, sim::Memory::Image::Piece>>;

    double seconds_ = 0;            // of the shortest run; 0: there was none
    double spent_ = 0;              // by runs since the last look in vain
    std::optional<Digest> found_;   // by the run under way
    std::optional<Digest> before_;  // that of the run whose doings are known
    Left left_;                     // what it changed, as it left it
    Digest after_;                  // of all, then
    uint64_t warp_instructions_ = 0;
  };

  // Alike: kernel, shape and arguments, bit by bit.
  Launch& of(const std::string& key);

 private:
  std::map<std::string, Launch> known_;
};

}  // namespace lab32::cudart
