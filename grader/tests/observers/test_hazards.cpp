// The rule for races, on traces of single blocks.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/fixtures/hazard_block.h"

using namespace lab32;
using namespace lab32::tests;
using counters::Finding;
using counters::SharedMemoryHazardObserver;

namespace {

uint64_t down16(uint32_t lane) { return lane + 16; }

}  // namespace

TEST_CASE("counters: hazards: warps that exchange words need a block barrier") {
  for (const bool barrier : {false, true}) {
    SharedMemoryHazardObserver o = observer();
    HazardBlock b(o);
    b.store(24, 0, own);
    b.store(24, 1, own_upper);
    if (barrier) b.sync();
    b.load(27, 0, own_upper);
    if (barrier) {
      CHECK(o.findings().empty());
      continue;
    }
    REQUIRE(o.findings().size() == 1);
    const Finding f = o.findings()[0];
    CHECK(f.kind == Finding::Kind::race);
    CHECK(f.line == 27);
    CHECK(f.other_line == 24);
    CHECK(f.count == 32);
    CHECK(describe(f) ==
          "race on tile[32] (shared, block 0): thread 32 wrote it on line 24, thread 0 reads it on "
          "line 27, and no __syncthreads() lies between");
  }
}

TEST_CASE("counters: hazards: a __syncwarp() does not order other warps") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  b.store(24, 1, own_upper);
  b.sync_warp(0);
  b.sync_warp(1);
  b.load(27, 0, own_upper);
  CHECK(races(o).size() == 1);
}

TEST_CASE("counters: hazards: a read races with a later write of another warp") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  b.store(20, 0, own);
  b.store(20, 1, own_upper);
  b.sync();
  b.load(22, 0, own_upper);
  b.store(25, 1, own_upper);
  REQUIRE(races(o).size() == 1);
  CHECK(describe(races(o)[0]) ==
        "race on tile[32] (shared, block 0): thread 0 read it on line 22, thread 32 writes it on "
        "line 25, and no __syncthreads() lies between");
}

TEST_CASE("counters: hazards: the lanes of a warp are not in step") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o, 32);
  b.store(10, 0, own);
  b.load(11, 0, [](uint32_t l) { return l ^ 1; });
  REQUIRE(races(o).size() == 1);
  CHECK(describe(races(o)[0]) ==
        "race on tile[1] (shared, block 0): thread 1 wrote it on line 10, thread 0 reads it on "
        "line 11, and no __syncwarp() lies between (the lanes of a warp are not in step)");

  SharedMemoryHazardObserver clean = observer();
  HazardBlock c(clean, 32);
  c.store(10, 0, own);
  c.sync_warp(0);
  c.load(11, 0, [](uint32_t l) { return l ^ 1; });
  CHECK(clean.findings().empty());
}

TEST_CASE("counters: hazards: a thread's own words need no barrier") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  for (int i = 0; i < 3; ++i) {
    b.store(10, 0, own);
    b.load(11, 0, own);
    b.store(12, 0, own);
    b.atomic(13, 0, own);
    b.load(14, 0, own);
  }
  CHECK(o.findings().empty());
}

TEST_CASE(
    "counters: hazards: s[t] += s[t + 16] races unless __syncwarp() separates load and store") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o, 32);
  b.store(9, 0, own);
  b.sync_warp(0);
  b.load(12, 0, own, 0xffff);  // s[t]
  b.load(12, 0, down16, 0xffff);
  b.store(12, 0, own, 0xffff);
  b.sync_warp(0);
  CHECK(races(o).empty());  // lanes 0 to 15 write only words that they alone read
  b.load(
      12, 0, [](uint32_t l) { return l + 8; }, 0xffff);
  b.store(12, 0, own, 0xffff);
  REQUIRE(races(o).size() == 1);
  CHECK(describe(races(o)[0]) ==
        "race on tile[8] (shared, block 0): thread 0 read it on line 12, thread 8 writes it on "
        "line 12, and nothing keeps the lanes of a warp in step; read into a register, "
        "__syncwarp(), then write");

  SharedMemoryHazardObserver all = observer();  // all 32 lanes active, the first step
  HazardBlock c(all, 32);
  c.store(9, 0, own);
  c.sync_warp(0);
  c.load(12, 0, [](uint32_t l) { return (l + 16) % 32; });
  c.store(12, 0, own);
  c.sync_warp(0);
  CHECK(races(all).size() == 1);

  SharedMemoryHazardObserver clean = observer();
  HazardBlock d(clean, 32);
  d.store(9, 0, own);
  d.sync_warp(0);
  for (int step : {16, 8, 4, 2, 1}) {
    d.load(12, 0, [&](uint32_t l) { return (l + static_cast<uint32_t>(step)) % 32; });
    d.sync_warp(0);
    d.store(14, 0, own);
    d.sync_warp(0);
  }
  CHECK(clean.findings().empty());
}

TEST_CASE(
    "counters: hazards: a partial __syncwarp() orders the lanes that it names, also transitively") {
  const auto trace = [](uint32_t mask1, uint32_t mask2) {
    SharedMemoryHazardObserver o = observer();
    HazardBlock b(o, 32);
    b.store(5, 0, first, 0x1);
    b.sync_warp(0, mask1);
    b.sync_warp(0, mask2);
    b.load(7, 0, first, 0x4);
    return races(o).size();
  };
  CHECK(trace(0x00000005, 0) == 0);
  CHECK(trace(0x00000003, 0) == 1);
  CHECK(trace(0x00000003, 0x00000006) == 0);  // lane 0, lane 1, lane 2
  CHECK(trace(0x00000006, 0x00000003) == 1);  // the opposite order orders nothing
  CHECK(trace(0x0000ffff, 0) == 0);
  CHECK(trace(sim::kFullMask, 0) == 0);
}

TEST_CASE("counters: hazards: a lane that skipped the partial __syncwarp() still races") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o, 32);
  b.load(4, 0, first, 0x80000001);  // also unwritten; for lane 31 the race explains it
  b.sync_warp(0, 0x0000ffff);
  b.store(6, 0, first, 0x00000002);
  REQUIRE(races(o).size() == 1);
  CHECK(races(o)[0].count == 1);
  CHECK(describe(races(o)[0]).find("thread 31 read it on line 4, thread 1 writes it") !=
        std::string::npos);
}

TEST_CASE(
    "counters: hazards: after a partial __syncwarp() older accesses are kept as well as newer "
    "ones") {
  for (const bool written : {false, true}) {
    const auto trace = [&](const std::function<void(HazardBlock&)>& tell) {
      SharedMemoryHazardObserver o = observer();
      HazardBlock b(o, 32);
      if (written) b.store(1, 0, first, 1);
      b.sync();
      tell(b);
      return races(o);
    };
    // Lane 1's load is ordered before the store, lane 0's older load is not.
    const auto older = trace([](HazardBlock& b) {
      b.load(4, 0, first, 0x01);
      b.sync_warp(0, 0x0c);
      b.load(5, 0, first, 0x02);
      b.sync_warp(0, 0x22);
      b.store(6, 0, first, 0x20);
    });
    REQUIRE(older.size() == 1);
    CHECK(older[0].other_line == 4);
    // Lane 0's first load is ordered before the store, its second is not.
    const auto newer = trace([](HazardBlock& b) {
      b.load(4, 0, first, 0x01);
      b.sync_warp(0, 0x03);
      b.load(5, 0, first, 0x01);
      b.store(6, 0, first, 0x02);
    });
    REQUIRE(newer.size() == 1);
    CHECK(newer[0].other_line == 5);
  }
}

TEST_CASE("counters: hazards: with named barriers every warp that touched a word is remembered") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o, 160);
  b.store(1, 0, first, 1);
  b.sync();
  for (uint32_t warp : {0u, 1u, 2u, 3u}) b.load(4 + warp, warp, first, 1);
  b.named_barrier({sim::kFullMask, sim::kFullMask, 0, sim::kFullMask, sim::kFullMask});
  b.store(9, 4, first, 1);
  REQUIRE(races(o).size() == 1);
  CHECK(races(o)[0].other_line == 6);
}

TEST_CASE("counters: hazards: named barriers order the warps that pass them, also transitively") {
  const auto trace = [](const std::vector<std::vector<uint32_t>>& barriers) {
    SharedMemoryHazardObserver o = observer();
    HazardBlock b(o, 96);
    b.store(5, 0, own);
    for (const auto& masks : barriers) b.named_barrier(masks);
    b.load(7, 2, own);
    return races(o).size();
  };
  const uint32_t all = sim::kFullMask;
  CHECK(trace({}) == 1);
  CHECK(trace({{all, 0, all}}) == 0);
  CHECK(trace({{all, all, 0}}) == 1);
  CHECK(trace({{all, all, 0}, {0, all, all}}) == 0);
  CHECK(trace({{0, all, all}, {all, all, 0}}) == 1);
  CHECK(trace({{all, all, all}}) == 0);
}

TEST_CASE(
    "counters: hazards: __syncwarp() passes on the order that one lane got at a named barrier") {
  const auto trace = [](bool before, bool after) {
    SharedMemoryHazardObserver o = observer();
    HazardBlock b(o, 64);
    b.store(5, 0, own);
    if (before) b.sync_warp(0);
    b.named_barrier({0x1, 0x1});  // only lane 0 of each warp
    if (after) b.sync_warp(1);
    b.load(7, 1, own);
    return races(o).empty() ? uint64_t{0} : races(o)[0].count;
  };
  CHECK(trace(true, true) == 0);
  CHECK(trace(false, true) == 31);  // only lane 0's word is ordered before all lanes
  CHECK(trace(true, false) == 31);  // only lane 0 is ordered after the barrier
  CHECK(trace(false, false) == 31);
}

TEST_CASE(
    "counters: hazards: a double buffer needs one barrier per round and a single buffer needs "
    "two") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  for (uint32_t round = 0; round < 6; ++round) {
    const uint64_t buffer = round % 2 * 64;
    for (uint32_t w : {0u, 1u}) b.store(30, w, [&](uint32_t l) { return buffer + w * 32 + l; });
    b.sync();
    for (uint32_t w : {0u, 1u}) b.load(32, w, [&](uint32_t l) { return buffer + 63 - w * 32 - l; });
  }
  CHECK(o.findings().empty());

  SharedMemoryHazardObserver single = observer();
  HazardBlock c(single);
  for (int round = 0; round < 2; ++round) {
    for (uint32_t w : {0u, 1u}) c.store(30, w, [&](uint32_t l) { return w * 32 + l; });
    c.sync();
    for (uint32_t w : {0u, 1u}) c.load(32, w, [&](uint32_t l) { return 63 - w * 32 - l; });
  }
  CHECK(races(single).size() == 1);
}

TEST_CASE("counters: hazards: atomics race with plain accesses only") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  b.store(3, 0, first, 1);
  b.sync();
  b.atomic(5, 0, first);
  b.atomic(5, 1, first);
  CHECK(o.findings().empty());
  b.load(7, 0, first, 1);
  REQUIRE(races(o).size() == 1);
  CHECK(describe(races(o)[0]) ==
        "race on tile[0] (shared, block 0): thread 32 updated it atomically on line 5, thread 0 "
        "reads it on line 7, and no __syncthreads() lies between; an atomic is safe only against "
        "other atomics");

  SharedMemoryHazardObserver p = observer();
  HazardBlock c(p);
  c.store(3, 0, first, 1);
  c.atomic(5, 1, first, 1);
  CHECK(races(p).size() == 1);
}

TEST_CASE("counters: hazards: a load races with all earlier atomics and not only with the last") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o, 32);
  b.store(3, 0, first, 1);
  b.sync();
  b.atomic(5, 0, first);
  b.load(7, 0, first, 1u << 31);  // by the lane with the last atomic
  CHECK(races(o).size() == 1);
}

TEST_CASE(
    "counters: hazards: stores of equal values are a note and stores of different values a race") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  const auto one = [](uint32_t) { return uint64_t{1}; };
  b.store(8, 0, first, sim::kFullMask, one);
  b.store(8, 1, first, sim::kFullMask, one);
  REQUIRE(o.findings().size() == 1);
  CHECK(races(o).empty());
  REQUIRE(races(o, true).size() == 1);
  CHECK(describe(races(o, true)[0]) ==
        "line 8: thread 0 and thread 1 both store the same value in tile[0] (shared, block 0): "
        "harmless, but one thread is enough");

  SharedMemoryHazardObserver p = observer();
  HazardBlock c(p, 32);
  c.store(8, 0, first, 0x28);
  REQUIRE(races(p).size() == 1);
  CHECK(races(p, true).empty());
  CHECK(describe(races(p)[0]) ==
        "race on tile[0] (shared, block 0): on line 8, thread 3 and thread 5 store different "
        "values at once, and which one remains is undefined; let one thread store, or use an "
        "atomic");
}

TEST_CASE("counters: hazards: after a note, a reader still races with every writer") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o, 32);
  b.store(8, 0, first, 0x3, [](uint32_t) { return uint64_t{1}; });
  b.load(9, 0, first, 0x2);  // lane 1 wrote last, lane 0 before it
  CHECK(races(o).size() == 1);
  CHECK(races(o, true).size() == 1);
}

TEST_CASE("counters: hazards: lanes that store to a word together race if they load it together") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o, 32);
  b.store(8, 0, first, 0x3, [](uint32_t) { return uint64_t{1}; });
  b.load(9, 0, first, 0x3);
  REQUIRE(races(o).size() == 1);
  CHECK(races(o)[0].count == 2);
}
