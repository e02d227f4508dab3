// The limits of a whole launch: instructions, seconds, and the stacks of its threads.
#include <doctest/doctest.h>

#include <chrono>

#include "base/text.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

// No warp is close to its own limit.
constexpr char kTurns[] = R"(
  mov.u32 %r1, 0;
LOOP:
  add.u32 %r1, %r1, 1;  //@here
  setp.lt.u32 %p1, %r1, 500;
  @%p1 bra LOOP;
  ret;)";

uint64_t issued(const LaunchOutcome& o) {
  uint64_t all = 0;
  for (const sim::StaticInstructionIssueCounts& t : o.tally) all += t.warps;
  return all;
}

Setup turns(unsigned threads) {
  Setup setup;
  setup.grid = {8, 1, 1};
  setup.block = {128, 1, 1};
  setup.threads = threads;
  return setup;
}

}  // namespace

TEST_CASE(
    "core: limits: all warps share a limit of instructions, equal for any number of threads") {
  for (const unsigned threads : {1u, 2u, 5u}) {
    CAPTURE(threads);
    Setup setup = turns(threads);
    const uint64_t all = issued(tests::run(kTurns, setup));
    setup.launch_budget = all;
    CHECK_FALSE(tests::run(kTurns, setup).trap);
    setup.launch_budget = all - 1;
    const LaunchOutcome o = tests::run(kTurns, setup);
    REQUIRE(o.trap);
    CHECK(tests::words(*o.trap) == "instruction limit: the launch still runs after " +
                                       grouped_digits(all - 1) +
                                       " instructions of its warps together");
    CHECK(o.trapped_at == "here");
    // Instructions that run again after a rollback count once.
    setup.hazards = true;
    setup.launch_budget = all;
    CHECK_FALSE(tests::run(kTurns, setup).trap);
    setup.schedule = 3;
    CHECK_FALSE(tests::run(kTurns, setup).trap);
  }
}

TEST_CASE("core: limits: a loop in which nothing changes ends long before the limit") {
  Setup setup;
  setup.budget = 20'000'000'000;
  const std::string spin = R"(
  ld.global.u32 %r1, [%src];
LOOP:
  add.u32 %r2, %r1, 1;  //@loop
  setp.ne.u32 %p1, %r2, %r1;
  @%p1 bra LOOP;
  ret;)";
  const LaunchOutcome o = tests::run(spin, setup);
  REQUIRE(o.trap);
  CHECK(tests::words(*o.trap) ==
        "instruction limit: warp 0 of block 0 repeats this loop for ever: nothing changes from one "
        "round to the next");
  CHECK(o.trapped_at == "loop");
  // A counter changes.
  CHECK_FALSE(tests::run(R"(
  mov.u32 %r1, 0;
LOOP:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 1000000;
  @%p1 bra LOOP;
  ret;)",
                         setup)
                  .trap);
}

TEST_CASE("core: limits: warps that meet at a barrier for ever share the launch's limit") {
  for (const std::optional<uint64_t> schedule : {std::optional<uint64_t>(), {5}}) {
    Setup setup;
    setup.block = {1024, 1, 1};
    setup.launch_budget = 100'000;
    setup.schedule = schedule;
    const LaunchOutcome o = tests::run("LOOP:\n bar.sync 0;  //@here\n bra LOOP;", setup);
    REQUIRE(o.trap);
    CHECK(o.trap->reason == sim::TrapReason::launch_limit);
    CHECK(o.trapped_at == "here");
  }
}

TEST_CASE("core: limits: a launch ends at its limit of seconds") {
  Setup setup = turns(2);
  setup.budget = ~0ull;
  setup.seconds = 0.1;
  const auto begin = std::chrono::steady_clock::now();
  const LaunchOutcome o = tests::run("LOOP:\n add.u32 %r1, %r1, 1;  //@here\n bra LOOP;", setup);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  REQUIRE(o.trap);
  CHECK(tests::words(*o.trap) == "time limit: the launch still runs after 0 s of simulation");
  CHECK(o.trapped_at == "here");
}

TEST_CASE("core: limits: the stacks of a block's threads are limited") {
  const std::string stack = ".local .align 16 .b8 own[65536];\n";
  const std::string use = " mov.u64 %d1, own;\n st.local.u32 [%d1], %t;\n ret;";
  for (const unsigned threads : {1u, 2u}) {
    Setup setup = turns(threads);
    setup.block_local_bytes = 16 << 20;
    setup.functions = "";
    CHECK_FALSE(tests::run(stack + use, setup).trap);
    setup.block = {256, 1, 1};
    const LaunchOutcome o = tests::run(stack + use, setup);
    REQUIRE(o.trap);
    CHECK(o.trap->reason == sim::TrapReason::block_local_memory);
    CHECK(tests::words(*o.trap).find("of local memory together; 16,777,216 are possible here") !=
          std::string::npos);
  }
  // Also for a single block, before its launch has begun.
  Setup one;
  const LaunchOutcome o =
      tests::run(".local .align 16 .b8 own[600000];\n mov.u64 %d1, own;\n ret;", one);
  REQUIRE(o.trap);
  CHECK(tests::words(*o.trap) ==
        "stack: the kernel needs 585 KiB of local memory per thread; 512 are possible");
}
