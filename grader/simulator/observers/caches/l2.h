// L2 and the device memory behind it, as far as counters see them.
//
// L2 of large GPUs has two sides, each before half of the device memory. A multiprocessor asks the
// near side; what lives on the far side is looked up there as well, and kept in both. (So an H200
// counts half as many sectors again as L1 asked for, and 60 MiB hold 40 MiB of data. Measured:
// data/measured/h200-model-counters.csv, kernels sum_again, copy_quad.)
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "simulator/observers/caches/cache_counters.h"
#include "simulator/observers/caches/cache_sets.h"

namespace lab32::counters {

struct L2Shape {
  uint64_t bytes = 0;
  uint32_t ways = 16, sides = 1, slices = 1;
  // Bytes in dirty sectors, and in those written in part: of what is more, the oldest are written.
  uint64_t dirty_limit = 0, partial_dirty_limit = 0;
  uint32_t dram_access_bytes = 64;  // device memory is read in these pieces
  // A bank of device memory has one page open at a time, and serves what waits for that first.
  uint32_t dram_page_bytes = 1024, dram_banks = 1;
};

// Bytes of each sector of a line.
using SectorBytes = std::array<uint8_t, kSectorsPerLine>;

class L2 {
 public:
  explicit L2(const L2Shape& shape);

  // Asks the host for the sets that the line belongs to, and then for what they have of it.
  void prefetch_sets(uint32_t side, uint64_t line);
  void prefetch_lines(uint32_t side, uint64_t line);
  // `side`: of the multiprocessor that asks. `sectors`: of the line, one bit each.
  void read(uint32_t side, uint64_t line, uint8_t sectors);
  // `bytes`: how many of each sector are written; a sector of which some are missing is read from
  // device memory when it is written back, not before.
  void write(uint32_t side, uint64_t line, uint8_t sectors, const SectorBytes& bytes);
  // `times`: how often each sector is asked for; `weight`: what one costs, in integer additions;
  // `alone`: the access has no other line.
  void update(uint32_t side, uint64_t line, uint8_t sectors, const SectorBytes& times, bool result,
              double weight, bool alone = false);

  // Starts counting anew; what is cached stays.
  void reset_counters();
  const CacheCounters& counters() const { return counters_; }
  // The most that one slice had to do for atomics, in integer additions to one address.
  double busiest_slice() const;

 private:
  uint32_t home(uint64_t line) const;
  size_t slice_of(uint64_t line) const;
  CachedLine& place(uint32_t side, uint64_t line);
  void look_up(uint32_t sectors, uint32_t hits, uint64_t CacheCounters::*kind);
  uint8_t whole_accesses(uint8_t sectors) const;
  struct Bank;
  void reach_dram(std::vector<Bank>& banks, uint64_t line);
  uint64_t one_of_many(uint64_t line);
  // Looks sectors up on a side and brings those that are missing. Returns how many were there.
  uint32_t fetch(uint32_t side, uint64_t line, uint8_t sectors);
  void mark_dirty(CachedLine& at, uint8_t sectors);
  void write_back(CachedLine& at);
  void keep_limits();

  struct Waiting {  // dirty sectors, and the lines in the order in which they became so
    uint64_t sectors = 0;
    std::deque<uint64_t> lines;
  };

  // Pages that the last accesses to a bank went to. What goes to one of them again is served with
  // it.
  static constexpr size_t kPending = 4;
  struct Bank {
    std::array<uint64_t, kPending> pages;
    size_t next = 0;
  };

  L2Shape shape_;
  uint32_t together_;  // sectors that device memory gives at once
  CacheSets sides_;
  Waiting dirty_, partial_;
  // What each slice has done for atomics, in integer additions to one address.
  std::vector<double> slice_work_;
  std::vector<uint64_t> last_updated_;  // line and sectors
  std::vector<Bank> read_, written_;    // of device memory, which serves many of a kind in turn
  std::vector<uint64_t> in_flight_;     // lines that were partly written, the last of them
  size_t completed_ = 0;
  CacheCounters counters_;
};

}  // namespace lab32::counters
