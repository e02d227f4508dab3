// Finds words of device memory that two threads may race for, at a price that every launch can pay:
// one record of 8 bytes per word touched (per byte, where accesses are narrower), which holds the
// first thread that touches it. A thread that keeps to words of its own, and blocks that only read
// or only update a word by atomics, leave a record that says so. Whoever comes to a word otherwise
// makes it suspect. That is decided without any clock but a count of the block's barriers, so it
// errs on one side only: a word that is not suspect was not raced for, whatever the order of the
// blocks; whether a suspect one was, counters/global_races.h finds out in a second run.
//
// The idea of one record per word, and of clocks for shared ones only, is FastTrack's (Flanagan and
// Freund, 2009) and iGUARD's (Kamath and Basu, 2021).
#pragma once

#include <cstdint>

#include "simulator/core/memory/host_pages.h"

namespace lab32::sim {

// Who touches, and when.
struct WarpEpoch {
  uint64_t block = 0;  // in the grid
  uint32_t epoch = 0;  // barriers that the whole block has passed
  uint32_t warp = 0;
};

enum class RaceAccess : uint8_t {
  read,
  write,
  strong,  // an access that may meet others of its kind from any block
};

class RaceFilter {
 public:
  // For `bytes` of device memory from kGlobalBase on. Address space only: pages come when touched.
  explicit RaceFilter(uint64_t bytes);
  ~RaceFilter();
  RaceFilter(const RaceFilter&) = delete;
  RaceFilter& operator=(const RaceFilter&) = delete;

  // Lanes `mask` of the warp touch `bytes` each. True: some word has become suspect now.
  bool record_access(RaceAccess how, const WarpEpoch& who, const uint64_t* address, uint32_t mask,
                     unsigned bytes);

  // A bit for each word that is suspect.
  bool suspect(uint64_t address) const {
    const uint64_t word = word_of(address);
    return (suspects_[word / 64] >> (word % 64) & 1) != 0;
  }
  bool any_suspect() const { return any_suspect_; }

  void clear();

 private:
  static uint64_t word_of(uint64_t address);
  bool visit(uint64_t word, RaceAccess how, uint64_t fresh);
  bool visit_bytes(uint64_t word, RaceAccess how, uint64_t fresh, uint32_t first, uint32_t count);
  bool make_suspect(uint64_t word);
  bool record_row(RaceAccess how, uint64_t base, uint64_t first);

  uint64_t bytes_;
  RecordPages words_;   // a record for each word
  RecordPages narrow_;  // for each byte of words that narrow accesses have touched
  uint64_t* suspects_ = nullptr;
  bool any_suspect_ = false;
};

}  // namespace lab32::sim
