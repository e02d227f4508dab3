// Remembers the effects of launches, so that a launch which a program repeats (in a timing loop,
// for example) need not be simulated again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "simulator/core/memory/memory.h"

namespace lab32::cudart {

// If a kernel is launched with equal shape and arguments on equal memory, it leaves equal memory.
// Such a launch is replaced by restoring what it left. To know whether memory is equal, digests of
// all allocations are compared. The first comparison is made when it costs a small part of the time
// that the launch's runs have taken since the last useless one; later comparisons are made while
// they save time.
class LaunchMemo {
 public:
  // Digests are valid until something other than a launch may have changed memory.
  static void forget_digests();
  static bool has_digests();

  // Whether an allocation is known, without reading it, to contain this fill: from a digest or from
  // the last fill. Benchmarks fill a buffer as large as L2 before each launch to empty the cache.
  struct Fill {
    uint64_t at, bytes;
    unsigned char value;
    bool operator==(const Fill& b) const {
      return at == b.at && bytes == b.bytes && value == b.value;
    }
  };
  static bool is_filled_with(const sim::Allocation& allocation, const Fill& fill);
  // Records that the whole allocation has been filled.
  static void record_fill(const sim::Allocation& allocation, const Fill& fill);

  class Entry {
   public:
    // Restores what the launch left the last time, if that is known and memory is equal. Returns
    // the warp instructions that the launch issues.
    std::optional<uint64_t> replay(sim::Memory& memory);
    // The launch was simulated, in `seconds` of host time. `silent`: it printed nothing, launched
    // no kernels and had no fault.
    void record_run(const sim::Memory& memory, const device::Run& run, double seconds, bool silent);
    // The findings of the run whose effects replay() restores.
    const std::optional<std::vector<counters::Finding>>& hazards() const { return hazards_; }

   private:
    bool is_worthwhile(const sim::Memory& memory) const;
    bool remember_result(const sim::Memory& memory);

    using Digest = std::vector<sim::AllocationDigest>;
    using Effects = std::vector<std::pair<uint32_t, sim::Memory::Image::Piece>>;

    double seconds_ = 0;  // duration of the shortest run; 0: no run yet
    // Seconds of the runs since the last comparison that found different memory.
    double seconds_since_mismatch_ = 0;
    std::optional<Digest> found_;   // before the current run
    std::optional<Digest> before_;  // before the run whose effects are known
    Effects effects_;               // the allocations that it changed, with their contents
    Digest after_;                  // digest of all allocations after the launch
    uint64_t warp_instructions_ = 0;
    std::optional<std::vector<counters::Finding>> hazards_;
  };

  // The entry for a key of kernel, shape and arguments, bit by bit.
  Entry& entry(const std::string& key);

 private:
  std::map<std::string, Entry> known_;
};

}  // namespace lab32::cudart
