// The race check, compared with an exhaustive happens-before check on random blocks of loads,
// stores, atomics and all kinds of barriers. The exhaustive check has a vector clock for each
// thread, remembers every access and compares every pair.
#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/fixtures/hazard_block.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using namespace lab32::tests;
using counters::Finding;
using counters::SharedMemoryHazardObserver;

namespace {

class ExhaustiveCheck {
 public:
  ExhaustiveCheck() : clock_(kThreads, std::vector<uint32_t>(kThreads, 0)) {
    for (uint32_t t = 0; t < kThreads; ++t) clock_[t][t] = 1;
  }

  // values[lane]: the stored value.
  void access(sim::AccessKind kind, uint32_t line, uint32_t warp, uint32_t mask,
              const std::vector<uint32_t>& word, const std::vector<uint64_t>& value) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const uint32_t thread = warp * 32 + lane;
      for (const EarlierAccess& p : earlier_) {
        if (p.word != word[lane] || p.thread == thread) continue;
        const bool stores = p.kind == sim::AccessKind::store || kind == sim::AccessKind::store;
        const bool mixed = (p.kind == sim::AccessKind::atom) != (kind == sim::AccessKind::atom);
        if (!stores && !mixed) continue;
        if (p.time < clock_[thread][p.thread]) continue;
        const bool same = p.kind == sim::AccessKind::store && kind == sim::AccessKind::store &&
                          last_value_.count(word[lane]) != 0 &&
                          last_value_[word[lane]] == value[lane];
        (same ? notes : races).insert(std::minmax(p.line, line));
      }
      earlier_.push_back({kind, line, thread, word[lane], clock_[thread][thread]});
      if (kind == sim::AccessKind::store) last_value_[word[lane]] = value[lane];
      if (kind == sim::AccessKind::atom) last_value_.erase(word[lane]);
    }
  }

  void synchronise(const std::vector<uint32_t>& mask_of_warp) {
    std::vector<uint32_t> threads, joined(kThreads, 0);
    for (uint32_t t = 0; t < kThreads; ++t) {
      if (t / 32 < mask_of_warp.size() && (mask_of_warp[t / 32] >> t % 32 & 1) != 0)
        threads.push_back(t);
    }
    for (uint32_t t : threads) {
      ++clock_[t][t];
      for (uint32_t i = 0; i < kThreads; ++i) joined[i] = std::max(joined[i], clock_[t][i]);
    }
    for (uint32_t t : threads) clock_[t] = joined;
  }

  using Lines = std::set<std::pair<uint32_t, uint32_t>>;
  Lines races, notes;

 private:
  struct EarlierAccess {
    sim::AccessKind kind;
    uint32_t line, thread, word, time;
  };
  std::vector<std::vector<uint32_t>> clock_;
  std::vector<EarlierAccess> earlier_;
  std::map<uint32_t, uint64_t> last_value_;
};

struct Observed {
  ExhaustiveCheck::Lines races, notes;
};

Observed observed(SharedMemoryHazardObserver& o) {
  Observed out;
  for (const Finding& f : o.findings()) {
    if (f.kind != Finding::Kind::race) continue;
    (f.note ? out.notes : out.races)
        .insert(std::minmax(static_cast<uint32_t>(f.line), static_cast<uint32_t>(f.other_line)));
  }
  return out;
}

// Sends a block of random events to both checks. `words`: number of words that the threads share.
void random_block(std::mt19937& rng, HazardBlock& block, ExhaustiveCheck& expected, uint32_t words,
                  bool named, bool whole_warps, uint64_t values) {
  const auto some_lanes = [&]() -> uint32_t {
    const uint32_t few = 1u << rng() % 32 | 1u << rng() % 32;
    return rng() % 3 == 0 ? sim::kFullMask : rng() % 2 == 0 ? few : static_cast<uint32_t>(rng());
  };
  const uint32_t events = 4 + rng() % 20;
  for (uint32_t e = 0; e < events; ++e) {
    const uint32_t warp = rng() % kWarps, line = 100 + e, what = rng() % 10;
    if (what < 6) {
      const uint32_t mask = rng() % 2 == 0 ? 1u << rng() % 32 : some_lanes();
      const bool own = rng() % 2 == 0;
      std::vector<uint32_t> word(32);
      std::vector<uint64_t> value(32);
      for (uint32_t lane = 0; lane < 32; ++lane) {
        word[lane] = own ? (warp * 32 + lane) % words : static_cast<uint32_t>(rng()) % words;
        value[lane] = rng() % values;
      }
      const auto at = [&](uint32_t lane) { return uint64_t{word[lane]}; };
      const auto stored = [&](uint32_t lane) { return value[lane]; };
      const auto kind = what < 2   ? sim::AccessKind::store
                        : what < 5 ? sim::AccessKind::load
                                   : sim::AccessKind::atom;
      if (kind == sim::AccessKind::store) block.store(line, warp, at, mask, stored);
      if (kind == sim::AccessKind::load) block.load(line, warp, at, mask);
      if (kind == sim::AccessKind::atom) block.atomic(line, warp, at, mask);
      expected.access(kind, line, warp, mask, word, value);
    } else if (what == 6) {
      block.sync();
      expected.synchronise(std::vector<uint32_t>(kWarps, sim::kFullMask));
    } else if (what < 9 || !named) {
      const uint32_t mask = whole_warps ? sim::kFullMask : some_lanes();
      std::vector<uint32_t> lanes(kWarps, 0);
      lanes[warp] = mask;
      block.sync_warp(warp, mask);
      expected.synchronise(lanes);
    } else {
      std::vector<uint32_t> lanes(kWarps, 0);
      for (uint32_t& m : lanes)
        m = rng() % 3 == 0 ? 0 : rng() % 2 == 0 ? sim::kFullMask : some_lanes();
      block.named_barrier(lanes);
      expected.synchronise(lanes);
    }
  }
}

// Every reported pair of lines must race in the exhaustive check, and if that finds a race, at
// least one must be reported. (Not every pair is reported: later accesses of a lane add nothing to
// its first.)
void compare(uint32_t seed, uint32_t words, bool named, bool whole_warps, uint64_t values) {
  std::mt19937 rng(seed);
  int racy = 0, clean = 0;
  for (uint64_t index = 0; index < 1500; ++index) {
    SharedMemoryHazardObserver observer(4, named, {}, site_numbers_as_lines());
    HazardBlock block(observer, kThreads, index);
    ExhaustiveCheck expected;
    random_block(rng, block, expected, words, named, whole_warps, values);
    const Observed seen = observed(observer);
    INFO("block " << index << " of seed " << seed);
    for (const auto& lines : seen.races) {
      INFO("lines " << lines.first << " and " << lines.second);
      CHECK(expected.races.count(lines) == 1);
    }
    CHECK(seen.races.empty() == expected.races.empty());
    if (expected.races.empty()) CHECK(seen.notes.empty() == expected.notes.empty());
    ++(expected.races.empty() ? clean : racy);
  }
  CHECK(racy > 50);
  CHECK(clean > 50);
}

constexpr uint64_t kDistinct = uint64_t{1} << 31;

}  // namespace

TEST_CASE("counters: hazards: an exhaustive check agrees on block and warp barriers" * kSlow) {
  compare(1, 96, false, true, kDistinct);
  compare(2, 400, false, true, kDistinct);
}

TEST_CASE("counters: hazards: an exhaustive check agrees on partial __syncwarp()" * kSlow) {
  compare(3, 96, false, false, kDistinct);
  compare(4, 400, false, false, kDistinct);
}

TEST_CASE("counters: hazards: an exhaustive check agrees on named barriers" * kSlow) {
  compare(5, 96, true, false, kDistinct);
  compare(6, 400, true, true, kDistinct);
}

TEST_CASE("counters: hazards: an exhaustive check agrees on stores of few values" * kSlow) {
  compare(7, 400, true, false, 2);
  compare(8, 400, false, true, 1);
}
