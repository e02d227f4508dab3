// SerialEquivalenceRollback: which conflicts between host threads it finds, its rollback, and the
// size of its records.
#include <doctest/doctest.h>

#include <array>
#include <cstring>

#include "simulator/core/memory/order_guard.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/trap.h"
#include "tests/fixtures/sim_kit.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

using Address = std::array<uint64_t, kWarpSize>;

// Two host threads and two allocations of 1 MiB: one holds zeros, the other was never written.
struct Guarded {
  sim::Memory memory{uint64_t{1} << 28};
  sim::Allocation* full = memory.allocate(1 << 20, "full");
  sim::Allocation* fresh = memory.allocate(1 << 20, "fresh");
  Guarded() {
    const std::vector<uint8_t> zeros(1 << 20, 0);
    memory.upload(full->begin, zeros.data(), zeros.size());
  }

  static Address words(const sim::Allocation* a, uint64_t first, uint64_t step = 1) {
    Address address;
    for (uint64_t l = 0; l < kWarpSize; ++l) address[l] = a->begin + 4 * (first + step * l);
    return address;
  }
  // In the order of a block's store: the guard, the written bits, the data.
  void store(sim::SerialEquivalenceRollback::Worker& worker, sim::Allocation* a,
             const Address& address, uint32_t value) {
    worker.record_write(*a, address.data(), sim::kFullMask, 4, {});
    memory.mark_lanes_written(address.data(), sim::kFullMask, 4);
    for (const uint64_t at : address) std::memcpy(memory.host(at), &value, 4);
  }
  uint32_t word(const sim::Allocation* a, uint64_t i) const {
    uint32_t value;
    std::memcpy(&value, memory.host(a->begin + 4 * i), 4);
    return value;
  }
};

}  // namespace

TEST_CASE("core: order guard: two threads may write neighbouring words, but not one word") {
  Guarded g;
  for (sim::Allocation* a : {g.full, g.fresh}) {
    const uint32_t before = a == g.full ? 0 : 0xffffffff;
    sim::SerialEquivalenceRollback guard(g.memory, 2, sim::SerialEquivalenceRollback::Mode::at_once,
                                         false);
    // Every other word of the same lines.
    g.store(guard.worker(0), a, Guarded::words(a, 1000, 2), 7);
    g.store(guard.worker(1), a, Guarded::words(a, 1001, 2), 8);
    CHECK(guard.validate_round());
    CHECK(!guard.rollback());
    for (uint64_t i = 990; i < 1070; ++i) {
      CHECK(g.word(a, i) == before);
      CHECK(g.memory.is_written(a->begin + 4 * i, 4) == (a == g.full));
    }
    // Both threads write words 31 to 33; the first one saved the old contents.
    g.store(guard.worker(1), a, Guarded::words(a, 2), 7);
    g.store(guard.worker(0), a, Guarded::words(a, 31), 8);
    CHECK(!guard.validate_round());
    CHECK(!guard.rollback());
    for (uint64_t i = 0; i < 80; ++i) CHECK(g.word(a, i) == before);
    // Committed data stay, and the next round starts from them.
    g.store(guard.worker(0), a, Guarded::words(a, 0), 1);
    CHECK(guard.validate_round());
    guard.commit();
    g.store(guard.worker(1), a, Guarded::words(a, 0), 2);
    CHECK(guard.validate_round());
    guard.rollback();
    CHECK(g.word(a, 0) == 1);
    CHECK(g.memory.is_written(a->begin, 4));
    CHECK(!a->pristine);
  }
}

TEST_CASE("core: order guard: an allocation that is read and written is tracked by word") {
  for (const bool one_thread : {true, false})
    for (const std::string clash : {"none", "read", "update", "half"}) {
      CAPTURE(one_thread);
      CAPTURE(clash);
      Guarded g;
      sim::SerialEquivalenceRollback guard(g.memory, 2,
                                           sim::SerialEquivalenceRollback::Mode::at_once, false);
      const auto read = [&](unsigned worker, uint64_t first) {
        guard.worker(worker).record_read(*g.full, Guarded::words(g.full, first).data(),
                                         sim::kFullMask, 4, {});
      };
      read(0, 0);
      if (one_thread) {
        CHECK_THROWS_AS(g.store(guard.worker(0), g.full, Guarded::words(g.full, 0), 1),
                        sim::OrderMatters);
      } else {
        g.store(guard.worker(1), g.full, Guarded::words(g.full, 500), 1);
        CHECK(!guard.validate_round());
      }
      REQUIRE(guard.rollback());
      REQUIRE(guard.by_word());
      for (unsigned w : {0u, 1u}) {
        read(w, 32 * w);
        g.store(guard.worker(w), g.full, Guarded::words(g.full, 32 * w), 5);
        read(w, 32 * w);
      }
      // A single lane of the other thread.
      Address address{};
      if (clash == "read") {
        address[5] = g.full->begin + 4 * 31 + 3;
        guard.worker(1).record_read(*g.full, address.data(), 1u << 5, 1, {});
      } else if (clash == "update") {
        address[0] = g.full->begin;
        guard.worker(1).record_update(*g.full, 1, address.data(), 1, 4, {});
      } else if (clash == "half") {  // 8 bytes, half of which the other thread accesses
        read(0, 501);
        address[9] = g.full->begin + 4 * 500;
        guard.worker(1).record_write(*g.full, address.data(), 1u << 9, 8, {});
      }
      CHECK(guard.validate_round() == (clash == "none"));
      CHECK(!guard.rollback());  // tracking by word would not help
    }
}

TEST_CASE("core: order guard: the undo log of a round is bounded") {
  sim::Memory memory(uint64_t{1} << 30);
  constexpr uint64_t kBytes = uint64_t{64} << 20;
  sim::Allocation* a = memory.allocate(kBytes, "large");
  const std::vector<uint8_t> zeros(kBytes, 0);
  memory.upload(a->begin, zeros.data(), kBytes);
  sim::SerialEquivalenceRollback guard(memory, 1, sim::SerialEquivalenceRollback::Mode::at_once,
                                       false);
  uint64_t line = 0;
  const auto touch_next = [&] {  // 256 bytes each
    Address address;
    address.fill(a->begin + 256 * line++);
    guard.worker(0).record_write(*a, address.data(), 1, 4, {});
  };
  for (int round = 0; round < 3; ++round) {
    const uint64_t start = line;
    while (!guard.is_undo_log_full()) touch_next();
    // 4 MiB of records, each of a line and its metadata.
    CHECK((line - start) * 256 > (3u << 20));
    CHECK((line - start) * 256 < (4u << 20));
    guard.commit();
  }
  const uint64_t start = line;
  CHECK_THROWS_AS(for (;;) touch_next(), sim::OrderMatters);
  CHECK((line - start) * 256 < (8u << 20));
}

namespace {

// Runs on 1, 2, 3 and 8 host threads and compares. Returns the outcome of one thread.
LaunchOutcome same_with_hazards(const std::string& body, Setup setup) {
  setup.hazards = true;
  setup.threads = 1;
  const LaunchOutcome one = tests::run(body, setup);
  for (const unsigned threads : {2u, 3u, 8u}) {
    CAPTURE(threads);
    setup.threads = threads;
    const LaunchOutcome many = tests::run(body, setup);
    REQUIRE(many.trap.has_value() == one.trap.has_value());
    if (one.trap) {
      CHECK(describe(*many.trap) == describe(*one.trap));
      continue;
    }
    CHECK(many.out == one.out);
    CHECK(many.written == one.written);
    CHECK(many.counters.warp_instructions == one.counters.warp_instructions);
    CHECK(many.counters.l2_sectors == one.counters.l2_sectors);
    CHECK(many.longest_warp == one.longest_warp);
  }
  return one;
}

Setup in_place(uint32_t blocks, uint32_t threads) {
  Setup setup;
  setup.grid = {blocks, 1, 1};
  setup.block = {threads, 1, 1};
  setup.out_written = true;
  return setup;
}

}  // namespace

TEST_CASE("core: determinism: blocks read and write only their own words of one array") {
  const LaunchOutcome o = same_with_hazards(R"(
  ld.global.u32 %r1, [%dst];
  add.u32 %r1, %r1, %g;
  st.global.u32 [%dst], %r1;
  ld.global.u32 %r1, [%dst];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%dst], %r1;)",
                                            in_place(2000, 32));
  REQUIRE(!o.trap);
  CHECK(o.out == each(2000 * 32, [](uint32_t i) { return i + 1; }));
}

TEST_CASE("core: determinism: only a late block reads another block's word") {
  for (const std::string late : {"1999", "700", "130"}) {
    CAPTURE(late);
    const LaunchOutcome o = same_with_hazards(R"(
  mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p1, %r2, )" + late + R"(;
  ld.global.u32 %r1, [%dst];
  @%p1 ld.global.u32 %r1, [%dst+-4096];
  add.u32 %r1, %r1, %g;
  st.global.u32 [%dst], %r1;)",
                                              in_place(2000, 32));
    REQUIRE(!o.trap);
    const auto block = static_cast<uint32_t>(std::stoul(late));
    CHECK(o.out == each(2000 * 32, [&](uint32_t i) { return i / 32 == block ? i - 1024 + i : i; }));
  }
}

TEST_CASE("core: determinism: each block counts in its own word among words that it reads") {
  const LaunchOutcome o = same_with_hazards(R"(
  mov.u32 %r2, %ctaid.x;
  mad.wide.u32 %d1, %r2, 4, %out;
  red.global.add.u32 [%d1], %t;
  ld.global.u32 %r1, [%d1];
  setp.eq.u32 %p1, %t, 0;
  @%p1 st.global.u32 [%d1], %r1;
  red.global.add.u32 [%d1], 1;)",
                                            in_place(500, 32));
  REQUIRE(!o.trap);
  for (uint32_t b = 0; b < 500; ++b) CHECK(o.out[b] == 31 * 32 / 2 + 32);
}

TEST_CASE("core: determinism: launches with so many writes that they run in rounds" * kSlow) {
  // Overwrites 16 MB; the last block of every hundred overwrites its left neighbour's words.
  Setup setup = in_place(4096, 1024);
  const std::string writes = R"(
  mov.u32 %r2, %ctaid.x;
  st.global.u32 [%dst], %r2;
  rem.u32 %r3, %r2, 100;
  setp.eq.u32 %p1, %r3, 99;
  setp.ge.u32 %p2, %r2, FIRST;
  and.pred %p1, %p1, %p2;
  @%p1 st.global.u32 [%dst+-4096], %r2;)";
  for (const uint32_t first : {0u, 3000u}) {
    CAPTURE(first);
    std::string body = writes;
    body.replace(body.find("FIRST"), 5, std::to_string(first));
    const LaunchOutcome o = same_with_hazards(body, setup);
    REQUIRE(!o.trap);
    CHECK(o.out == each(4096 * 1024, [&](uint32_t i) {
            const uint32_t b = i / 1024;
            return b % 100 == 98 && b + 1 >= first && b + 1 < 4096 ? b + 1 : b;
          }));
  }
  const LaunchOutcome o = same_with_hazards(writes.substr(0, writes.find("rem")) + R"(
  setp.ge.u32 %p1, %r2, 3500;
  @%p1 trap;)",
                                            setup);
  REQUIRE(o.trap);
  CHECK(o.trap->block == 3500);
}

// The history of a kernel's launches is only a guess for the next launch and may be wrong.
TEST_CASE("core: determinism: a kernel whose blocks access their own words in one launch only") {
  const std::string ptx = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry shift(.param .u64 x, .param .u32 by) {
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [x];
  ld.param.u32 %r1, [by];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r2, 32, %r3;
  mul.wide.u32 %d2, %r4, 4;
  add.u64 %d1, %d1, %d2;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d3, %d1, %d3;
  ld.global.u32 %r5, [%d3];
  add.u32 %r5, %r5, 1;
  st.global.u32 [%d1], %r5;
  ret;
})";
  constexpr uint32_t kBlocks = 3000, kWords = (kBlocks + 1) * 32;
  tests::Simulated simulated(ptx);
  const std::vector<uint32_t> start = each(kWords, [](uint32_t i) { return i; });
  for (const bool other_array : {false, true}) {
    const device::DeviceAddressRange x = simulated.upload(start, "x"),
                                     y = simulated.upload(start, "y");
    std::vector<uint32_t> want_x = start, want_y = start;
    for (const uint32_t by : {0u, 0u, 32u, 0u, 0u}) {
      CAPTURE(by);
      const bool on_y = other_array && by == 0;
      simulated.launch("shift", {{kBlocks, 1, 1}, {32, 1, 1}}, {on_y ? y : x, by});
      std::vector<uint32_t>& want = on_y ? want_y : want_x;
      for (uint32_t i = 0; i < kBlocks * 32; ++i) want[i] = want[i + by] + 1;
      CHECK(simulated.download<uint32_t>(x) == want_x);
      CHECK(simulated.download<uint32_t>(y) == want_y);
    }
  }
}
