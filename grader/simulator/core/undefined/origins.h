// Where values that nobody has defined come from, so that a fault names the read and not only the
// place where it mattered.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/core/warp/trap.h"

namespace lab32::sim {

// A read of what nobody has written, by its first lane.
struct Origin {
  uint32_t site;
  TrapFacts facts;
};

// Those of one block. Of the reads of one instruction the first stands for all.
class Origins {
 public:
  using Id = uint16_t;

  void clear() {
    list_.clear();
    reads_.clear();
    of_site_.clear();
    joined_.clear();
    stored_.clear();
  }
  template <class Facts>
  Id of_read(uint32_t site, Facts facts) {
    const auto [at, is_new] = of_site_.try_emplace(site, static_cast<Id>(reads_.size()));
    if (is_new) {
      reads_.push_back({static_cast<uint32_t>(list_.size())});
      list_.push_back({site, facts()});
    }
    return at->second;
  }
  // Of a value that was computed from both. More than a few say no more.
  Id join(Id a, Id b) {
    if (a == b || reads_[a].size() >= kMost) return a;
    const auto [at, is_new] =
        joined_.try_emplace(std::minmax(a, b), static_cast<Id>(reads_.size()));
    if (is_new) {
      std::vector<uint32_t> both = reads_[a];
      for (uint32_t read : reads_[b])
        if (std::find(both.begin(), both.end(), read) == both.end()) both.push_back(read);
      reads_.push_back(std::move(both));
    }
    return at->second;
  }
  template <class F>
  void each(Id id, F f) const {
    for (uint32_t read : reads_[id]) f(list_[read]);
  }

  // Memory to which an undefined value was stored, by a number of the word.
  void note_store(uint64_t word, Id id) { stored_[word] = id; }
  std::optional<Id> of_store(uint64_t word) const {
    const auto at = stored_.find(word);
    return at == stored_.end() ? std::nullopt : std::optional(at->second);
  }
  static uint64_t shared_word(uint64_t offset) { return offset >> 2; }
  static uint64_t local_word(uint32_t warp, int lane, uint64_t offset) {
    return (uint64_t{1} << 63) | uint64_t{warp} << 40 | static_cast<uint64_t>(lane) << 32 |
           offset >> 2;
  }

 private:
  static constexpr size_t kMost = 4;
  std::vector<Origin> list_;
  std::vector<std::vector<uint32_t>> reads_;  // by Id: places in the list
  std::map<std::pair<Id, Id>, Id> joined_;
  std::unordered_map<uint32_t, Id> of_site_;
  std::unordered_map<uint64_t, Id> stored_;
};

}  // namespace lab32::sim
