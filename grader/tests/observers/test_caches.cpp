// The model of the caches, on access streams small enough to count by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/files.h"
#include "base/random.h"
#include "simulator/observers/caches/cache_record.h"
#include "simulator/observers/caches/caches.h"

using namespace lab32;
using counters::CachedLine;
using counters::CacheHierarchyConfig;
using counters::CacheReplayObserver;
using counters::CacheSets;
using counters::L2;
using counters::L2Shape;

namespace {

constexpr counters::CountPerSector kWhole{32, 32, 32, 32};

// Large enough that no line is evicted.
L2Shape roomy(uint32_t sides) {
  L2Shape shape;
  shape.bytes = 1 << 24;
  shape.sides = sides;
  shape.slices = 8;
  shape.dirty_limit = shape.partial_dirty_limit = 1 << 20;
  return shape;
}

CacheHierarchyConfig one_multiprocessor() {
  CacheHierarchyConfig shape;
  shape.l1_bytes = 1 << 16;
  shape.l2 = roomy(1);
  return shape;
}

// 32 lanes, one word each, from `address` on, `stride` bytes apart.
struct Lanes {
  Lanes(uint64_t address, uint64_t stride, sim::AccessKind kind = sim::AccessKind::load) {
    for (uint32_t lane = 0; lane < 32; ++lane) addresses[lane] = address + lane * stride;
    access.site = 0;
    access.space = sim::AccessSpace::global;
    access.kind = kind;
    access.bytes = 4;
    access.mask = sim::kFullMask;
    access.address = addresses.data();
  }
  std::array<uint64_t, 32> addresses{};
  sim::IssuedWarpAccess access{};
};

sim::BlockInfo block_of(uint64_t index, uint32_t threads) {
  sim::BlockInfo block{};
  block.index = index;
  block.threads = threads;
  return block;
}

// Block `index` of two warps. Each warp copies 128 bytes of its own and reads 64 bytes that all
// blocks read.
void run_block(sim::Observer& observer, uint64_t index) {
  observer.block_begin(block_of(index, 64));
  for (uint32_t warp = 0; warp < 2; ++warp) {
    const uint64_t own = (2 * index + warp) * 128;
    observer.access(warp, Lanes(0x10000 + own, 4).access);
    observer.access(warp, Lanes(0x8000, 2 * (index % 2)).access);
    observer.access(warp, Lanes(0x40000 + own, 4, sim::AccessKind::store).access);
  }
  observer.block_end();
}

std::array<uint64_t, 9> figures(CacheReplayObserver& observer) {
  const counters::CacheCounters c = observer.counters();
  return {c.l1.sectors, c.l1.hits,   c.l2.sectors,   c.l2.hits,   c.l2_read,
          c.l2_write,   c.dram_read, c.dram_written, c.dram_pages};
}

}  // namespace

TEST_SUITE("observers: caches") {
  TEST_CASE("counters: caches: a full set evicts the least recently used line") {
    CacheSets cache(2 * counters::kLineBytes, 2);  // one set of two lines
    std::optional<CachedLine> gone;
    cache.insert(cache.key_of(1), gone);
    cache.insert(cache.key_of(2), gone);
    CHECK_FALSE(gone);
    CHECK(cache.find_and_touch(cache.key_of(1)) != nullptr);
    cache.insert(cache.key_of(3), gone);
    REQUIRE(gone);
    CHECK(uint64_t{gone->line} == 2);
    CHECK(cache.find_and_touch(cache.key_of(2)) == nullptr);
    CHECK(cache.peek(cache.key_of(1)) != nullptr);
  }

  TEST_CASE(
      "counters: caches: lines with one valid sector each share the bytes of fewer lines in L1") {
    CacheSets cache(2 * counters::kLineBytes, 2, 4);  // eight sectors of at most eight lines
    std::optional<CachedLine> gone;
    for (uint64_t line = 1; line <= 8; ++line) {
      cache.insert(cache.key_of(line), gone);
      cache.make_room_for_sectors(cache.key_of(line), 1);
      cache.peek(cache.key_of(line))->valid = 1;
    }
    CHECK(cache.peek(cache.key_of(1)) != nullptr);
    // A whole line evicts the four least recently used lines.
    CHECK(cache.find_and_touch(cache.key_of(8)) != nullptr);
    cache.make_room_for_sectors(cache.key_of(8), 3);
    cache.peek(cache.key_of(8))->valid = 15;
    CHECK(cache.peek(cache.key_of(3)) == nullptr);
    CHECK(cache.peek(cache.key_of(4)) != nullptr);
  }

  TEST_CASE("counters: caches: large sets keep the LRU order") {
    constexpr uint32_t kPlaces = 64, kCaches = 2;
    CacheSets caches(16 * counters::kLineBytes, 16, 4, kCaches);  // one set each
    std::array<std::vector<uint64_t>, kCaches> order;             // most recently used first
    Random random(5);
    for (int i = 0; i < 20'000; ++i) {
      const uint32_t cache = random.below(kCaches);
      const uint64_t line = random.below(100);
      const CacheSets::LineKey key = caches.key_of(line, cache);
      std::vector<uint64_t>& lines = order[cache];
      const auto at = std::find(lines.begin(), lines.end(), line);
      const CachedLine* const found = caches.find_and_touch(key);
      REQUIRE((found != nullptr) == (at != lines.end()));
      if (at != lines.end()) {
        REQUIRE(uint64_t{found->line} == line);
        lines.erase(at);
      } else {
        std::optional<CachedLine> gone;
        caches.insert(key, gone);
        REQUIRE(gone.has_value() == (lines.size() == kPlaces));
        if (gone) {
          REQUIRE(uint64_t{gone->line} == lines.back());
          lines.pop_back();
        }
      }
      lines.insert(lines.begin(), line);
    }
  }

  TEST_CASE("counters: L2: a miss on one sector reads its neighbour from device memory, too") {
    L2 l2(roomy(1));
    l2.read(0, 5, 0b0001);
    CHECK(l2.counters().dram_read == 64);
    l2.read(0, 5, 0b0010);
    CHECK(l2.counters().dram_read == 64);
    CHECK(l2.counters().l2.hits == 1);
    l2.read(0, 5, 0b1111);
    CHECK(l2.counters().dram_read == 128);
    CHECK(l2.counters().l2_read == 6);
    CHECK(l2.counters().l2.hits == 3);
  }

  TEST_CASE(
      "counters: L2: with two sides half of the sectors are looked up on both sides at first") {
    L2 l2(roomy(2));
    constexpr uint64_t kLines = 2000;
    for (uint64_t line = 0; line < kLines; ++line) l2.read(0, line, 0b1111);
    CHECK(l2.counters().dram_read == kLines * 128);
    CHECK(l2.counters().l2.hits == 0);
    CHECK(static_cast<double>(l2.counters().l2_read) ==
          doctest::Approx(6.0 * kLines).epsilon(0.04));
    l2.reset_counters();
    for (uint64_t line = 0; line < kLines; ++line) l2.read(0, line, 0b1111);
    CHECK(l2.counters().l2_read == 4 * kLines);
    CHECK(l2.counters().l2.hits == 4 * kLines);
    CHECK(l2.counters().dram_read == 0);
  }

  TEST_CASE("counters: L2: only partly written sectors are read before they are written back") {
    L2Shape shape = roomy(1);
    shape.dirty_limit = shape.partial_dirty_limit = 0;  // everything is written back at once
    L2 whole(shape);
    whole.write(0, 7, 0b0011, kWhole);
    CHECK(whole.counters().dram_read == 0);
    CHECK(whole.counters().dram_written == 64);
    CHECK(whole.counters().l2.hits == 2);
    L2 part(shape);
    part.write(0, 7, 0b0001, {4, 0, 0, 0});
    CHECK(part.counters().dram_read == 32);
    CHECK(part.counters().dram_written == 32);
  }

  TEST_CASE(
      "counters: device memory: neighbours open a page once and partly written lines open it "
      "again") {
    L2Shape shape = roomy(1);
    shape.dram_banks = 64;
    L2 stream(shape), lone(shape);
    for (uint64_t line = 0; line < 64; ++line) stream.read(0, line, 0b1111);
    CHECK(stream.counters().dram_pages == 8);  // 1024 bytes each
    for (uint64_t line = 0; line < 64 * 8; line += 8) lone.read(0, line, 0b0001);
    CHECK(lone.counters().dram_pages == 64);
    shape.dirty_limit = shape.partial_dirty_limit = 0;
    L2 part(shape);
    part.write(0, 7, 0b0001, {4, 0, 0, 0});
    CHECK(part.counters().dram_pages == 2);
  }

  TEST_CASE("counters: L2: eight stores of one word complete a sector") {
    L2 l2(roomy(1));
    for (int word = 0; word < 8; ++word) l2.write(0, 7, 0b0001, {4, 0, 0, 0});
    CHECK(l2.counters().dram_read == 0);
    l2.read(0, 7, 0b0001);
    CHECK(l2.counters().dram_read == 0);
  }

  TEST_CASE("counters: L2: dirty data is bounded and the oldest line is written back first") {
    L2Shape shape = roomy(1);
    shape.dirty_limit = 256;
    L2 l2(shape);
    for (uint64_t line = 0; line < 10; ++line) l2.write(0, line, 0b1111, kWhole);
    CHECK(l2.counters().dram_written == 10 * 128 - 256);
  }

  TEST_CASE(
      "counters: L2: atomics on one address use one slice and those on many addresses use all") {
    L2 one(roomy(1)), many(roomy(1));
    for (uint64_t i = 0; i < 8000; ++i) {
      one.update_atomically(0, 3, 0b0001, {1, 0, 0, 0}, false, 1);
      many.update_atomically(0, i, 0b0001, {1, 0, 0, 0}, false, 1);
    }
    CHECK(one.busiest_slice_atomic_work() == 8000);
    CHECK(many.busiest_slice_atomic_work() == doctest::Approx(1000).epsilon(0.12));
    CHECK(one.counters().l2_red == 8000);
    CHECK(one.counters().l2.hits == 7999);
  }

  TEST_CASE("counters: L2: a table of counters lies in as many slices as measured on an H200") {
    std::vector<std::string> slice;  // by piece of 256 bytes
    for (const TableRow& row :
         read_csv_table(lab32_root().string() + "/data/measured/model/h200-slices.csv"))
      slice.push_back(row.at("slice"));
    REQUIRE(slice.size() == 8192);
    CHECK(std::set<std::string>(slice.begin(), slice.end()).size() == 94);
    for (size_t granules = 1; granules <= slice.size(); granules *= 2) {
      CAPTURE(granules);
      std::map<std::string, int> in_slice;
      int most = 0;
      for (size_t g = 0; g < granules; ++g) most = std::max(most, ++in_slice[slice[g]]);
      L2Shape shape = roomy(1);
      shape.slices = 94;
      L2 l2(shape);
      for (uint64_t g = 0; g < granules; ++g)
        l2.update_atomically(0, 2 * g, 0b0001, {1, 0, 0, 0}, false, 1);
      CHECK(std::abs(l2.busiest_slice_atomic_work() - most) <= std::max(1.0, 0.15 * most));
    }
  }

  TEST_CASE("counters: L1: loads hit on valid sectors and stores hit on present lines") {
    CacheReplayObserver observer(one_multiprocessor(), {}, std::nullopt);
    auto fork = observer.fork();
    fork->block_begin(block_of(0, 64));
    fork->access(0, Lanes(0, 4).access);
    fork->access(1, Lanes(0, 4).access);
    fork->access(0, Lanes(4096, 1, sim::AccessKind::store).access);
    fork->access(1, Lanes(4096 + 32, 1, sim::AccessKind::store).access);
    fork->access(1, Lanes(4096, 1).access);
    fork->block_end();
    observer.merge(*fork);
    const auto c = observer.counters();
    CHECK(c.l1_load.sectors == 9);
    CHECK(c.l1_load.hits == 4);
    CHECK(c.l1_store.sectors == 2);
    CHECK(c.l1_store.hits == 1);
    CHECK(c.l2_write == 2);
  }

  TEST_CASE("counters: L1: multiprocessors have separate caches and bypassing loads fill none") {
    for (const bool skips : {false, true}) {
      CacheHierarchyConfig shape = one_multiprocessor();
      shape.multiprocessors = 2;
      CacheReplayObserver observer(shape, {{skips, false}}, std::nullopt);
      auto fork = observer.fork();
      // blocks 0 and 2 on the first SM, 1 and 3 on the second
      for (uint64_t block = 0; block < 4; ++block) {
        fork->block_begin(block_of(block, 32));
        fork->access(0, Lanes(0, 4).access);
        fork->block_end();
      }
      observer.merge(*fork);
      CHECK(observer.counters().l1.hits == (skips ? 0 : 8));
      CHECK(observer.counters().l2_read == (skips ? 16 : 8));
    }
  }

  TEST_CASE(
      "counters: caches: results do not depend on how blocks are distributed over host threads") {
    CacheHierarchyConfig shape = one_multiprocessor();
    shape.multiprocessors = 3;
    shape.resident_blocks = 2;
    shape.l2 = roomy(2);
    shape.l2.dirty_limit = 4096;
    constexpr uint64_t kBlocks = 100;
    CacheReplayObserver alone(shape, {}, std::nullopt);
    auto only = alone.fork();
    for (uint64_t block = 0; block < kBlocks; ++block) run_block(*only, block);
    alone.merge(*only);

    CacheReplayObserver shared(shape, {}, std::nullopt);
    auto first = shared.fork(), second = shared.fork();
    for (uint64_t block = 10; block < kBlocks; ++block) run_block(*second, block);
    for (uint64_t block = 0; block < 10; ++block) run_block(*first, block);
    shared.merge(*first);
    shared.merge(*second);
    CHECK(figures(shared) == figures(alone));
    CHECK(figures(alone)[0] == kBlocks * 2 * 8 + kBlocks / 2 * (2 * 1 + 2 * 2));
  }

  TEST_CASE("counters: caches: a launch that runs a second time is counted once") {
    CacheReplayObserver once(one_multiprocessor(), {}, std::nullopt);
    CacheReplayObserver twice(one_multiprocessor(), {}, std::nullopt);
    {
      auto undone = twice.fork();
      run_block(*undone, 0);
      run_block(*undone, 5);
    }
    for (CacheReplayObserver* observer : {&once, &twice}) {
      auto fork = observer->fork();
      for (uint64_t block = 0; block < 7; ++block) run_block(*fork, block);
      observer->merge(*fork);
    }
    CHECK(figures(twice) == figures(once));
  }

  TEST_CASE("counters: caches: a second launch finds the first one's lines in L2 and none in L1") {
    CacheReplayObserver cold(one_multiprocessor(), {}, std::nullopt);
    auto fork = cold.fork();
    run_block(*fork, 0);
    cold.merge(*fork);
    CHECK(cold.counters().dram_read > 0);
    CacheReplayObserver warm(one_multiprocessor(), {}, cold.take_l2());
    auto again = warm.fork();
    run_block(*again, 0);
    warm.merge(*again);
    CHECK(warm.counters().dram_read == 0);
    CHECK(warm.counters().l1.hits == cold.counters().l1.hits);
  }

  TEST_CASE("counters: caches: counts are scaled if a block exceeds its share of the record") {
    CacheHierarchyConfig shape = one_multiprocessor();
    shape.accesses_recorded = 100;
    CacheReplayObserver observer(shape, {}, std::nullopt);
    auto fork = observer.fork();
    fork->block_begin(block_of(0, 32));
    for (uint64_t i = 0; i < 400; ++i) fork->access(0, Lanes(i * 128, 4).access);
    fork->block_end();
    observer.merge(*fork);
    const auto c = observer.counters();
    CHECK(c.recorded == doctest::Approx(0.25));
    CHECK(c.l1.sectors == 1600);
    CHECK(c.dram_read == 400 * 128);
  }

  TEST_CASE("counters: caches: the lines of an access do not depend on the order of its lanes") {
    const auto lines_of = [](const sim::IssuedWarpAccess& access) {
      std::vector<counters::CacheLineAccess> lines;
      counters::append_lines(access, false, false, lines);
      std::sort(lines.begin(), lines.end(),
                [](const auto& a, const auto& b) { return a.line < b.line; });
      return lines;
    };
    for (const uint8_t bytes : {1, 2, 4, 8, 16})
      for (const uint64_t from : {0, 48, 96, 112, 128}) {
        Lanes lanes(from, bytes);
        lanes.access.bytes = bytes;
        const auto in_order = lines_of(lanes.access);
        std::swap(lanes.addresses[3], lanes.addresses[28]);
        const auto swapped = lines_of(lanes.access);
        REQUIRE(in_order.size() == swapped.size());
        for (size_t i = 0; i < in_order.size(); ++i) {
          CAPTURE(bytes);
          CAPTURE(from);
          CHECK(in_order[i].line == swapped[i].line);
          CHECK(in_order[i].sectors == swapped[i].sectors);
          CHECK(in_order[i].amount == swapped[i].amount);
        }
      }
  }

  TEST_CASE(
      "counters: L1: banks, tags and stored sectors determine how long an access keeps L1 busy") {
    const auto cycles = [](const Lanes& lanes) {
      std::vector<counters::CacheLineAccess> lines;
      counters::append_lines(lanes.access, false, false, lines);
      return counters::l1_busy_cycles(lanes.access, lines.data(), lines.size());
    };
    CHECK(cycles(Lanes(0, 4)) == 1);     // one line
    CHECK(cycles(Lanes(4, 4)) == 1);     // consecutive words in two lines
    CHECK(cycles(Lanes(0, 132)) == 8);   // 32 lines, all words in different banks
    CHECK(cycles(Lanes(0, 512)) == 32);  // row_sums of 128 words: one bank, 32 lines
    CHECK(cycles(Lanes(0, 64)) == 16);   // row_sums of 16 words: two banks
    // 32 lines in only two of the four parts of the tags.
    CHECK(cycles(Lanes(0, 33 * 128 + 4)) == 16);
    CHECK(cycles(Lanes(0, 4, sim::AccessKind::store)) == 4);
    CHECK(cycles(Lanes(0, 4096, sim::AccessKind::store)) == 63);
  }
}
