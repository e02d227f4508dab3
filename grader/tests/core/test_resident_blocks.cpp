// Blocks that wait for each other: the resident blocks get time slices.
#include <doctest/doctest.h>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

// Block b waits until block b + 1 has stored its word of `out` and then stores its own, so the last
// block is the first to continue. `load` reads %r2 from [%d1].
std::string backwards(const std::string& load) {
  return R"(
  mov.u32 %r9, %nctaid.x;
  sub.u32 %r9, %r9, 1;
  mov.u32 %r8, %ctaid.x;
  mov.u32 %r3, 0;
  setp.eq.u32 %p1, %r8, %r9;
  @%p1 bra LAST;
  mad.wide.u32 %d1, %r8, 4, %out;
SPIN:
  )" + load +
         R"(
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra SPIN;
  add.u32 %r3, %r2, 0;
LAST:
  add.u32 %r3, %r3, 1;
  st.global.u32 [%dst], %r3;)";
}

Setup chain(uint32_t blocks, uint64_t capacity) {
  Setup setup;
  setup.grid = {blocks, 1, 1};
  setup.block = {1, 1, 1};
  setup.out_written = true;
  setup.resident_blocks = capacity;
  return setup;
}

}  // namespace

TEST_CASE("core: residents: a block may wait for a later block with each kind of load") {
  for (const char* load :
       {"ld.volatile.global.u32 %r2, [%d1+4];", "ld.acquire.gpu.global.u32 %r2, [%d1+4];",
        "ld.relaxed.gpu.u32 %r2, [%d1+4];", "membar.gl;\n ld.global.u32 %r2, [%d1+4];",
        "atom.global.add.u32 %r2, [%d1+4], 0;", "atom.global.cas.b32 %r2, [%d1+4], 77, 77;"}) {
    CAPTURE(load);
    for (const unsigned threads : {1u, 4u}) {
      Setup setup = chain(20, 20);
      setup.threads = threads;
      const LaunchOutcome o = tests::finish(backwards(load), setup);
      CHECK(o.out == each(20, [](uint32_t b) { return 20 - b; }));
    }
  }
}

TEST_CASE("core: residents: a grid may exceed the device if the resident blocks can continue") {
  // Pairs: each even block waits for the odd block after it.
  Setup setup = chain(64, 2);
  const LaunchOutcome o = tests::finish(R"(
  mov.u32 %r8, %ctaid.x;
  and.b32 %r7, %r8, 1;
  setp.eq.u32 %p1, %r7, 1;
  @%p1 bra STORE;
SPIN:
  ld.volatile.global.u32 %r2, [%dst+4];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra SPIN;
STORE:
  add.u32 %r3, %r8, 5;
  st.global.u32 [%dst], %r3;)",
                                        setup);
  CHECK(o.out == each(64, [](uint32_t b) { return b + 5; }));
}

TEST_CASE("core: residents: a wait for a block that is not resident traps and says why") {
  Setup setup = chain(20, 19);
  setup.budget = 50'000'000;
  const LaunchOutcome o =
      tests::run(backwards("ld.volatile.global.u32 %r2, [%d1+4];  //@here"), setup);
  REQUIRE(o.trap);
  CHECK(o.trap->kind() == sim::TrapKind::deadlock);
  CHECK(describe(*o.trap) ==
        "19 blocks, the first of them block 0, wait for something in device memory that none of "
        "them will write (no more than 19 fit the device at once: block 19 starts when one of them "
        "ends)");
  CHECK(o.trap->block == 0);
}

TEST_CASE("core: residents: slow progress is no deadlock") {
  // Block 0 waits for block 1, which first stores to its own word 30,000 times.
  Setup setup = chain(2, 2);
  setup.budget = 50'000'000;
  const LaunchOutcome o = tests::finish(R"(
  mov.u32 %r8, %ctaid.x;
  setp.eq.u32 %p1, %r8, 1;
  mov.u32 %r3, 0;
  @%p1 bra WORK;
SPIN:
  ld.volatile.global.u32 %r2, [%dst+4];
  setp.ne.u32 %p2, %r2, 30000;
  @%p2 bra SPIN;
  st.global.u32 [%dst], %r2;
  ret;
WORK:
  add.u32 %r3, %r3, 1;
  ld.volatile.global.u32 %r2, [%dst];
  st.global.u32 [%dst], %r3;
  setp.lt.u32 %p2, %r3, 30000;
  @%p2 bra WORK;)",
                                        setup);
  CHECK(o.out == std::vector<uint32_t>{30000, 30000});
}

TEST_CASE("core: residents: a barrier of the whole grid in device memory works") {
  // A hand-written grid.sync(): every thread stores, each block increments a counter and waits for
  // all blocks, and each thread reads the word of its mirror image. Blocks have three warps, so
  // that barriers and time slices interact.
  for (const uint32_t blocks : {1u, 7u, 40u}) {
    Setup setup;
    setup.grid = {blocks, 1, 1};
    setup.block = {96, 1, 1};
    setup.in.assign(size_t{blocks} * 96 + 1, 0);
    setup.out_words = size_t{blocks} * 96;
    setup.resident_blocks = blocks;
    setup.n = blocks * 96;
    setup.hazards = true;
    const LaunchOutcome o = tests::finish(R"(
  mul.wide.u32 %d5, %n, 4;
  add.u64 %d4, %in, %d5;
  add.u32 %r1, %g, 7;
  st.global.u32 [%src], %r1;
  bar.sync 0;
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra MEET;
  membar.gl;
  atom.global.add.u32 %r2, [%d4], 1;
  mov.u32 %r3, %nctaid.x;
SPIN:
  ld.acquire.gpu.u32 %r2, [%d4];
  setp.lt.u32 %p2, %r2, %r3;
  @%p2 bra SPIN;
MEET:
  bar.sync 0;
  sub.u32 %r4, %n, %g;
  mul.wide.u32 %d1, %r4, 4;
  add.u64 %d1, %d1, %in;
  ld.global.u32 %r5, [%d1+-4];
  st.global.u32 [%dst], %r5;)",
                                          setup);
    CHECK(o.out == each(setup.out_words, [&](uint32_t g) { return blocks * 96 - 1 - g + 7; }));
    CHECK(o.findings.empty());
    CHECK(o.counters.block_barriers == 2 * blocks);
  }
}

TEST_CASE(
    "core: residents: grid.sync() works in a cooperative launch, with output in block order") {
  tests::Simulated& sim = tests::compiled_kernels();
  device::Kernel& kernel = sim.kernel("meet");
  const device::LaunchShape shape{{40, 1, 1}, {64, 1, 1}, 0};
  const uint64_t capacity = sim.device->resident_blocks_on_device(kernel, shape);
  CHECK(capacity == 132u * 32);  // blocks of 64 threads: the most blocks a multiprocessor may have
  const std::vector<int> zeros(40 * 64, 0);
  const device::DeviceAddressRange words = sim.upload(zeros, "words");
  device::LaunchOptions options;
  options.cooperative = true;
  const device::LaunchResult run = sim.launch("meet", shape, {words, 40 * 64}, options);
  REQUIRE(!run.fault);
  // Every thread has added its left neighbour's number to its own, twice over the whole ring.
  const auto got = sim.download<int>(words);
  for (int i = 0; i < 40 * 64; ++i) CHECK(got[static_cast<size_t>(i)] == (i + 2560 - 2) % 2560);
  std::string want;
  for (int b = 0; b < 40; ++b) want += "block " + std::to_string(b) + " done\n";
  CHECK(run.output == want);
  CHECK(run.hazards->empty());

  // In a normal launch grid.sync() has no counter; a cooperative launch that is too large does not
  // start.
  const device::LaunchResult usual = sim.launch("meet", shape, {words, 40 * 64});
  REQUIRE(usual.fault);
  CHECK(usual.fault->kind == sim::TrapKind::trap);
  const device::LaunchResult large =
      sim.launch("meet", {{132 * 32 + 1, 1, 1}, {64, 1, 1}, 0}, {words, 1}, options);
  REQUIRE(large.fault);
  CHECK(large.fault->kind == sim::TrapKind::launch);
  CHECK(describe(*large.fault) ==
        "a cooperative launch of 4225 blocks of `meet`; 4224 fit the device at once");
}
