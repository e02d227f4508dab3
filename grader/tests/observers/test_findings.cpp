// Findings of the hazard check for whole launches: unwritten words, widths of access, names, and
// one finding for each pair of lines, however the blocks are distributed over host threads.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/fixtures/hazard_block.h"

using namespace lab32;
using namespace lab32::tests;
using counters::Finding;
using counters::SharedMemoryHazardObserver;

TEST_CASE("counters: hazards: accesses outside the block's memory are left to the simulator") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  b.store(8, 0, [](uint32_t) { return uint64_t{1} << 40; });
  b.load(
      9, 0, [](uint32_t) { return 1024; }, 1);  // the first word after its 4096 bytes
  CHECK(o.findings().empty());
}

TEST_CASE("counters: hazards: the clock restarts before it overflows") {
  counters::HappensBefore order(10);
  CHECK(!order.begin_block_and_is_clock_reset(64));
  for (int i = 0; i < 20; ++i) order.synchronise_block();
  const uint32_t long_ago = order.stamp(0);
  CHECK(order.begin_block_and_is_clock_reset(64));
  CHECK(order.stamp(0) < long_ago);
  CHECK(order.block_start() > 0);
  CHECK(!order.begin_block_and_is_clock_reset(64));
}

TEST_CASE("counters: hazards: reads of unwritten words are found if their values are used") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  b.store(20, 0, own, 0x00ffffff);
  b.sync();
  b.load(27, 0, own);
  CHECK(o.findings().empty());  // nothing depends on the value yet
  b.use_value(27);
  REQUIRE(o.findings().size() == 1);
  CHECK(o.findings()[0].kind == Finding::Kind::uninitialised);
  CHECK(o.findings()[0].count == 8);
  CHECK(o.findings()[0].line == 27);
  CHECK(describe(o.findings()[0]) ==
        "line 27: thread 24 of block 0 reads tile[24], which no thread of the block has "
        "written; the value is stored in device memory");
}

TEST_CASE("counters: hazards: an atomic reads an unwritten word and then counts as its write") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  b.atomic(4, 0, [](uint32_t) { return 256; });
  b.use_value(4, sim::ValueUse::atomic);
  b.sync();
  b.load(6, 0, [](uint32_t) { return 256; });
  REQUIRE(o.findings().size() == 1);
  CHECK(o.findings()[0].count == 1);
  CHECK(describe(o.findings()[0]) ==
        "line 4: thread 0 of block 0 reads total, which no thread of the block has written; "
        "the value goes into an atomic");
}

TEST_CASE(
    "counters: hazards: a missing barrier is reported as a race and not also as an unwritten "
    "read") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  // The simulator runs warp 0 first, so warp 0 reads before warp 1 writes.
  b.store(24, 0, own);
  b.load(27, 0, own_upper);
  b.use_value(27);
  b.store(24, 1, own_upper);
  b.load(27, 1, own);
  REQUIRE(o.findings().size() == 1);
  CHECK(o.findings()[0].kind == Finding::Kind::race);
}

TEST_CASE(
    "counters: hazards: each block begins with unwritten memory and without earlier accesses") {
  SharedMemoryHazardObserver o = observer();
  {
    HazardBlock b(o, 64, 0);
    b.store(24, 0, own);
    b.end();
  }
  HazardBlock b(o, 64, 7);
  b.store(25, 1, own);  // no race with block 0's store
  b.load(26, 1, own_upper);
  b.use_value(26, sim::ValueUse::branch);
  REQUIRE(o.findings().size() == 1);
  CHECK(describe(o.findings()[0]) ==
        "line 26: thread 32 of block 7 reads tile[32], which no thread of the block has "
        "written; the value decides a branch");
}

TEST_CASE("counters: hazards: wide accesses overlap word by word") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o, 64, 0, 16);
  b.store(3, 0, own, 0xf);                                                // words 0 to 15
  b.store(4, 1, own, 0x2, [](uint32_t) { return 0x0123456789abcdefu; });  // words 4 to 7
  REQUIRE(races(o).size() == 1);
  CHECK(races(o)[0].count == 4);
}

TEST_CASE("counters: hazards: byte accesses are compared byte by byte if the granule is one byte") {
  const auto trace = [](uint32_t granule, uint32_t bytes) {
    SharedMemoryHazardObserver o = observer(granule);
    HazardBlock b(o, 32, 0, bytes);
    b.store(3, 0, own);
    b.load(4, 0, own);
    return o.findings().size();
  };
  CHECK(trace(1, 1) == 0);
  CHECK(trace(2, 2) == 0);
  CHECK(trace(1, 4) == 0);
  SharedMemoryHazardObserver o = observer(1);
  HazardBlock b(o, 32, 0, 1);
  b.store(3, 0, own);
  b.load(4, 0, [](uint32_t l) { return l ^ 3; });
  CHECK(races(o).size() == 1);
  SharedMemoryHazardObserver coarse = observer(4);
  HazardBlock c(coarse, 32, 0, 1);
  CHECK_THROWS(c.store(3, 0, own));
}

TEST_CASE("counters: hazards: threads are named as the kernel sees them") {
  SharedMemoryHazardObserver o = observer();
  sim::BlockInfo info{};
  info.index = 5;
  info.x = 1;
  info.y = 2;
  info.threads = 64;
  info.shared_bytes = 4096;
  info.dim_x = 16;
  info.dim_y = 4;
  o.block_begin(info);
  uint64_t offset[32] = {2048};
  std::byte values[512] = {};
  o.shared_ptx_access(0, {3, sim::AccessKind::store, 4, 1, offset, values});
  o.shared_ptx_access(1, {4, sim::AccessKind::load, 4, 1, offset, nullptr});
  REQUIRE(o.findings().size() == 1);
  CHECK(describe(o.findings()[0]) ==
        "race on the shared byte 2048 (shared, block (1,2)): thread (0,0) wrote it on line 3, "
        "thread (0,2) reads it on line 4, and no __syncthreads() lies between");
}

TEST_CASE("counters: hazards: a warp operation that names absent lanes is found") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  o.missing_lanes_used(1, 40, sim::kFullMask, 0xffff0000);
  o.missing_lanes_used(1, 40, sim::kFullMask, 0x1);
  REQUIRE(o.findings().size() == 1);
  CHECK(o.findings()[0].kind == Finding::Kind::warp_mask);
  CHECK(o.findings()[0].count == 2);
  CHECK(describe(o.findings()[0]) ==
        "line 40: in warp 1 of block 0, the operation with mask 0xffffffff needs lanes 16-31, "
        "which do not take part, so its result is undefined; let all lanes of the mask reach it, "
        "or name (and read) only those that do");
}

TEST_CASE("counters: hazards: a pair of lines has one finding for both directions") {
  SharedMemoryHazardObserver o = observer();
  HazardBlock b(o);
  b.store(10, 0, own);
  b.load(12, 1, own);
  b.store(10, 0, own);  // and again in the opposite order
  REQUIRE(races(o).size() == 1);
  CHECK(races(o)[0].count == 64);
  CHECK(races(o)[0].line == 12);
}

TEST_CASE(
    "counters: hazards: findings do not depend on how blocks are distributed over host threads") {
  const auto run_block = [](SharedMemoryHazardObserver& o, uint64_t index) {
    HazardBlock b(o, 64, index);
    b.store(10, 0, own);
    if (index % 3 == 1) b.load(12, 1, [&](uint32_t l) { return l + index; });
    if (index % 4 == 2)
      b.load(
          14, 0, [](uint32_t) { return 900; }, 0xff);
    if (index % 2 == 1) b.store(16, 0, first, 0x3, [](uint32_t) { return uint64_t{7}; });
  };
  const auto text = [](SharedMemoryHazardObserver& o) {
    std::string all;
    for (const Finding& f : o.findings()) all += std::to_string(f.count) + " " + describe(f) + "\n";
    return all;
  };
  SharedMemoryHazardObserver alone = observer();
  for (uint64_t i = 0; i < 24; ++i) run_block(alone, i);
  REQUIRE(!text(alone).empty());

  for (unsigned ways : {2u, 3u, 5u}) {
    for (const bool backwards : {false, true}) {
      SharedMemoryHazardObserver whole = observer();
      std::vector<std::unique_ptr<sim::Observer>> parts;
      for (unsigned p = 0; p < ways; ++p) {
        parts.push_back(whole.fork());
        for (uint64_t i = p; i < 24; i += ways)
          run_block(dynamic_cast<SharedMemoryHazardObserver&>(*parts.back()), i);
      }
      for (unsigned p = 0; p < ways; ++p) whole.merge(*parts[backwards ? ways - 1 - p : p]);
      CHECK(text(whole) == text(alone));
    }
  }
}
