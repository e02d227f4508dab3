// Blocks that repeat an earlier block are not checked again, but must count as if they were. One
// observer sees all blocks. For comparison each block also has an observer of its own, which has no
// trace to follow and gets lists of addresses instead of rows; the results of these are merged.
#include <doctest/doctest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/fixtures/hazard_block.h"

using namespace lab32;
using namespace lab32::tests;
using counters::Finding;
using counters::SharedMemoryHazardObserver;

namespace {

// Random events. `value_seed` changes only the stored values.
void random_events(SharedMemoryHazardObserver& o, HazardBlock& block, uint32_t seed,
                   uint32_t events, uint64_t value_seed, bool named) {
  std::mt19937 rng(seed);
  for (uint32_t e = 0; e < events; ++e) {
    const uint32_t warp = rng() % kWarps, line = 100 + rng() % 12, what = rng() % 16;
    const uint32_t mask = rng() % 2 == 0 ? sim::kFullMask : static_cast<uint32_t>(rng());
    // With a permutation of 16 each half-warp has its own row.
    const uint32_t shift = rng() % 3, of_halves = rng() % 4 == 0 ? 16 : 0,
                   permutation = rng() % 3 == 0 ? rng() % 32 : of_halves;
    const auto word = [&](uint32_t lane) { return warp * 20 + ((lane ^ permutation) << shift); };
    const auto value = [&](uint32_t lane) { return lane * (value_seed + 1) % 3; };
    if (what < 4) {
      block.store(line, warp, word, mask, value);
    } else if (what < 9) {
      block.load(line, warp, word, mask);
    } else if (what == 9) {
      block.atomic(line, warp, word, mask);
    } else if (what < 12) {
      block.sync();
    } else if (what < 14) {
      block.sync_warp(warp, mask);
    } else if (what == 14) {
      o.missing_lanes_used(warp, line, sim::kFullMask, mask);
    } else if (named) {
      block.named_barrier({mask, 0, sim::kFullMask});
    }
  }
}

struct BlockEvents {
  uint32_t beginning, ending;  // seeds
  uint32_t events;             // number of events in the ending
};

std::string text(SharedMemoryHazardObserver& o) {
  std::string all;
  for (const Finding& f : o.findings())
    all += std::to_string(f.count) + (f.note ? " note " : " ") + describe(f) + "\n";
  return all;
}

// events_of: the events of each block.
void compare(
    uint64_t blocks, bool named, const std::function<BlockEvents(uint64_t)>& events_of,
    const std::function<uint64_t(uint64_t)>& value_seed = [](uint64_t i) { return i; }) {
  SharedMemoryHazardObserver one_observer(4, named, {}, site_numbers_as_lines());
  SharedMemoryHazardObserver separate_observers(4, named, {}, site_numbers_as_lines());
  const auto one = [&](SharedMemoryHazardObserver& o, uint64_t i, bool rows) {
    HazardBlock block(o, kThreads, i);
    if (!rows) block.without_rows();
    const BlockEvents p = events_of(i);
    random_events(o, block, p.beginning, 12, value_seed(i), named);
    random_events(o, block, p.ending, p.events, value_seed(i), named);
    block.end();
  };
  for (uint64_t i = 0; i < blocks; ++i) {
    one(one_observer, i, true);
    SharedMemoryHazardObserver alone(4, named, {}, site_numbers_as_lines());
    one(alone, i, false);
    separate_observers.merge(alone);
  }
  const std::string expected = text(separate_observers);
  CHECK(!expected.empty());
  CHECK(text(one_observer) == expected);
}

}  // namespace

TEST_CASE("counters: repeated blocks: blocks that differ only in values count as if checked") {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    compare(40, seed % 2 == 0, [&](uint64_t) { return BlockEvents{seed, seed + 1000, 20}; });
    compare(
        40, false,
        [&](uint64_t) {
          return BlockEvents{seed, seed + 2000, 20};
        },
        [](uint64_t i) { return i / 20; });
  }
}

TEST_CASE("counters: repeated blocks: blocks that leave a known trace are checked from there") {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    // Few beginnings and endings in random order. An ending without events stops the trace early.
    compare(120, seed % 2 == 0, [&](uint64_t i) {
      std::mt19937 own(static_cast<uint32_t>(seed * 1000 + i));
      const auto of = [&](uint32_t n) { return static_cast<uint32_t>(own() % n); };
      return BlockEvents{seed + of(2), seed + 100 + of(3), of(3) * 8};
    });
    // The first and the last block differ, as at the borders of an image.
    compare(60, false, [&](uint64_t i) {
      return BlockEvents{seed, i % 20 == 0 ? 7u : 8u, i % 20 == 19 ? 5u : 16u};
    });
  }
}

TEST_CASE("counters: repeated blocks: a difference in the second half-warp's row is noticed") {
  SharedMemoryHazardObserver o(4, false, {}, site_numbers_as_lines());
  for (uint64_t i = 0; i < 20; ++i) {
    HazardBlock block(o, 64, i);
    block.store(1, 0, [](uint32_t lane) { return uint64_t{lane}; });
    block.store(2, 1, [](uint32_t lane) { return uint64_t{lane + 32}; });
    // Every fourth block reads what the other warp has just written.
    const uint64_t second = i % 4 == 3 ? 48 : 16;
    block.load(3, 0, [&](uint32_t lane) { return lane % 16 + (lane < 16 ? 0 : second); });
    block.end();
  }
  REQUIRE(races(o).size() == 1);
  CHECK(races(o)[0].count == 5 * 16);
  CHECK(describe(races(o)[0]).find("line 2") != std::string::npos);
}

TEST_CASE("counters: repeated blocks: blocks that all differ are checked") {
  compare(300, true, [](uint64_t i) {
    return BlockEvents{static_cast<uint32_t>(i / 2), static_cast<uint32_t>(i), 20};
  });
}

TEST_CASE("counters: repeated blocks: blocks with a trace beyond the limit are checked") {
  SharedMemoryHazardObserver o(4, false, {}, site_numbers_as_lines());
  for (uint64_t i = 0; i < 3; ++i) {
    HazardBlock block(o, 64, i);
    const auto own = [](uint32_t lane) { return uint64_t{lane}; };
    block.store(1, 0, own);
    for (int k = 0; k < 20000; ++k) block.load(2, 0, own);
    block.load(3, 1, own);
    block.end();
  }
  REQUIRE(o.findings().size() == 1);
  CHECK(o.findings()[0].count == 3 * 32);
}
