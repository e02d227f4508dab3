// Finds words of device memory that two threads may race for, cheaply enough for every launch. The
// filter has one record of 8 bytes for each accessed word (for each byte if accesses are narrower),
// which holds the first thread that accessed it. The record also covers the harmless cases: words
// of one thread, words that blocks only read, and words that blocks only update atomically. Any
// other access makes the word suspect. The only clock is a count of the block's barriers, so the
// filter errs on one side: a word that is not suspect has no race in any order of the blocks. A
// second run decides whether a suspect word has one (observers/races/global_races.h).
//
// One record for each word, with clocks for shared words only, is the idea of FastTrack (Flanagan
// and Freund, 2009) and iGUARD (Kamath and Basu, 2021).
#pragma once

#include <cstdint>

#include "simulator/core/memory/host_pages.h"

namespace lab32::sim {

// A warp at a point in time: the epoch changes at each barrier of its block.
struct WarpEpoch {
  uint64_t block = 0;  // in the grid
  uint32_t epoch = 0;  // barriers that the whole block has passed
  uint32_t warp = 0;
};

enum class RaceAccess : uint8_t {
  read,
  write,
  strong,  // does not race with other strong accesses of its size, of any block
};

class PossibleRaceDetector {
 public:
  // Covers `bytes` of device memory from kGlobalBase on. Reserves address space only.
  explicit PossibleRaceDetector(uint64_t bytes);
  ~PossibleRaceDetector();
  PossibleRaceDetector(const PossibleRaceDetector&) = delete;
  PossibleRaceDetector& operator=(const PossibleRaceDetector&) = delete;

  // Records that the lanes in `mask` access `bytes` each. True: this makes some word suspect.
  bool record_access(RaceAccess how, const WarpEpoch& who, const uint64_t* address, uint32_t mask,
                     unsigned bytes);

  // Whether the word at the address is suspect.
  bool is_suspect(uint64_t address) const {
    const uint64_t word = word_of(address);
    return (suspects_[word / 64] >> (word % 64) & 1) != 0;
  }
  bool any_suspect() const { return any_suspect_; }

  void clear();

 private:
  static uint64_t word_of(uint64_t address);
  bool record_access_to_word(uint64_t word, RaceAccess how, uint64_t fresh);
  bool record_access_to_bytes(uint64_t word, RaceAccess how, uint64_t fresh, uint32_t first,
                              uint32_t count);
  bool make_suspect(uint64_t word);
  bool try_record_contiguous_words(RaceAccess how, uint64_t base, uint64_t first);

  uint64_t bytes_;
  SparseRecordArray words_;   // a record for each word
  SparseRecordArray narrow_;  // for each byte of words with narrow accesses
  uint64_t* suspects_ = nullptr;
  bool any_suspect_ = false;
};

}  // namespace lab32::sim
