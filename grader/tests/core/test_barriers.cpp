// Barriers of a block: the threads for which they wait, the results of reductions, and barriers
// that can never complete.
#include <doctest/doctest.h>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::finish;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

Setup block_of(uint32_t threads) {
  Setup setup;
  setup.block = {threads, 1, 1};
  setup.functions = ".shared .align 4 .b32 box[256];\n";
  return setup;
}

// %r8: address of the thread's own word of `box`; %r7: address of the word of thread n - 1 - t.
constexpr const char* kAddresses = R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r8, %t, 4, %r9;
  sub.u32 %r7, %n, %t;
  sub.u32 %r7, %r7, 1;
  mad.lo.u32 %r7, %r7, 4, %r9;
)";

struct Stuck {
  std::string at, message;
};
Stuck stuck(const std::string& body, const Setup& setup) {
  const LaunchOutcome o = tests::run(body, setup);
  REQUIRE(o.trap);
  CHECK(o.trap->kind() == sim::TrapKind::barrier);
  return {o.trapped_at, describe(*o.trap)};
}

}  // namespace

TEST_CASE("core: barriers: threads of a block with a partly filled last warp exchange values") {
  for (const std::string barrier :
       {"bar.sync 0;", "barrier.sync 3;", "bar.cta.sync 15;", "barrier.cta.sync.aligned 1;"}) {
    Setup setup = block_of(150);
    setup.hazards = true;
    CAPTURE(barrier);
    const LaunchOutcome o =
        finish(std::string(kAddresses) + "st.shared.u32 [%r8], %t;\n" + barrier +
                   "\n ld.shared.u32 %r1, [%r7];\n st.global.u32 [%dst], %r1;",
               setup);
    CHECK(o.out == each(150, [](uint32_t t) { return 149 - t; }));
    CHECK(o.findings.empty());
  }
}

TEST_CASE("core: barriers: a barrier does not wait for threads that have exited") {
  const LaunchOutcome o = finish(std::string(kAddresses) + R"(
  st.global.u32 [%dst], 3;
  setp.ge.u32 %p1, %t, 70;    // diverges in a warp
  @%p1 exit;
  bar.sync 0;
  st.global.u32 [%dst], 4;)",
                                 block_of(128));
  CHECK(o.out == each(128, [](uint32_t t) { return t < 70 ? 4 : 3; }));
}

TEST_CASE("core: barriers: an exit completes a barrier at which all other threads wait") {
  // Warp 3 works for a long time before it exits.
  const LaunchOutcome o = finish(R"(
  st.global.u32 [%dst], 3;
  setp.lt.u32 %p1, %t, 96;
  @%p1 bra WAIT;
  mov.u32 %r1, 30000;
LOOP:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra LOOP;
  exit;
WAIT:
  bar.sync 0;
  st.global.u32 [%dst], 4;)",
                                 block_of(128));
  CHECK(o.out == each(128, [](uint32_t t) { return t < 96 ? 4 : 3; }));
}

// Both sides of a branch wait. `parted`: the first thread of the other side.
std::string two_barriers(const std::string& barrier, int parted) {
  return std::string(kAddresses) + "setp.lt.u32 %p1, %t, " + std::to_string(parted) + R"(;
  st.shared.u32 [%r8], %t;
  @%p1 bra LOW;
  )" + barrier +
         R"( 0;                 //@high
  ld.shared.u32 %r1, [%r7];
  bra.uni JOIN;
LOW:
  )" + barrier +
         R"( 0;                 //@low
  ld.shared.u32 %r1, [%r7];
  add.u32 %r1, %r1, 1000;
JOIN:
  st.global.u32 [%dst], %r1;)";
}

TEST_CASE("core: barriers: both sides of a branch may wait, if they are different warps") {
  const auto expected = [](uint32_t parted) {
    return each(96, [=](uint32_t t) { return 95 - t + (t < parted ? 1000 : 0); });
  };
  CHECK(finish(two_barriers("bar.sync", 64), block_of(96)).out == expected(64));
  // Without .aligned, the lanes of a warp may wait at different instructions.
  CHECK(finish(two_barriers("barrier.sync", 48), block_of(96)).out == expected(48));
}

TEST_CASE("core: barriers: lanes of one warp at two aligned barriers are a fault") {
  for (const std::string barrier : {"bar.sync", "barrier.sync.aligned"}) {
    const Stuck s = stuck(two_barriers(barrier, 48), block_of(96));
    CHECK(s.at == "low");
    CHECK(s.message ==
          "warp 1 of block 0: lanes 0 to 15 wait at this barrier, and lanes 16 to 31 wait at "
          "another");
  }
  // A GPU continues, and so does an unchecked launch.
  Setup unchecked = block_of(96);
  unchecked.trap_uninitialised = false;
  finish(two_barriers("bar.sync", 48), unchecked);
}

TEST_CASE("core: barriers: part of a warp that only exits is not waited for") {
  // `if (t >= 70) return;` before a barrier, a shuffle and a vote whose masks name all lanes.
  Setup setup = block_of(128);
  setup.hazards = true;
  const LaunchOutcome o = finish(R"(
  st.global.u32 [%dst], 3;
  setp.ge.u32 %p1, %t, 70;
  @%p1 bra END;
  bar.sync 0;
  shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;
  vote.sync.ballot.b32 %r2, 1, -1;
  popc.b32 %r2, %r2;
  mad.lo.u32 %r1, %r2, 1000, %r1;
  st.global.u32 [%dst], %r1;
END:
  ret;)",
                                 setup);
  CHECK(o.out ==
        each(128, [](uint32_t t) { return t >= 70 ? 3 : (t >= 64 ? 6 : 32) * 1000 + (t ^ 1); }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: barriers: a guarded barrier waits for the lanes of the guard") {
  const Stuck s = stuck(R"(
  setp.lt.u32 %p1, %t, 40;
  @%p1 bar.sync 0;            //@barrier
  st.global.u32 [%dst], 1;)",
                        block_of(64));
  CHECK(s.at == "barrier");
  // Threads 40 to 63 of warp 1 wait after it for the other lanes of the warp.
  CHECK(s.message ==
        "block 0: thread (0,0,0) and 39 other threads wait at this barrier, which needs "
        "64 threads; the others never reach it");
}

TEST_CASE("core: barriers: a barrier in a branch that part of the block never takes is a fault") {
  SUBCASE("part of a warp") {
    const Stuck s = stuck(R"(
  setp.ge.u32 %p1, %t, 16;
  @%p1 bra JOIN;
  bar.sync 0;                 //@barrier
JOIN:
  st.global.u32 [%dst], 1;)",
                          block_of(32));
    CHECK(s.at == "barrier");
    CHECK(s.message ==
          "block 0: thread (0,0,0) and 15 other threads wait at this barrier, which needs "
          "32 threads; the others never reach it");
  }
  SUBCASE("whole warps, which wait at another barrier") {
    const Stuck s = stuck(R"(
  setp.lt.u32 %p1, %t, 64;
  @%p1 bra JOIN;
  bar.sync 1;                 //@inner
JOIN:
  bar.sync 0;                 //@outer)",
                          block_of(96));
    CHECK(s.at == "outer");
    CHECK(s.message ==
          "block 0: thread (0,0,0) and 63 other threads wait at this barrier, which needs "
          "96 threads; the others never reach it");
  }
}

TEST_CASE("core: barriers: reductions count, combine by and, and combine by or") {
  for (const std::string cta : {"bar", "bar.cta", "barrier", "barrier.cta"}) {
    const std::string aligned = cta.rfind("barrier", 0) == 0 ? ".aligned" : "";
    const std::string body = R"(
  ld.global.u32 %r1, [%src];
  setp.ne.u32 %p1, %r1, 0;
  )" + cta + ".red.popc" + aligned +
                             R"(.u32 %r2, 0, %p1;
  )" + cta + ".red.and" + aligned +
                             R"(.pred %p2, 0, %p1;
  )" + cta + ".red.or" + aligned +
                             R"(.pred %p3, 0, 96, %p1;
  )" + cta + ".red.popc" + aligned +
                             R"(.u32 %r3, 2, 96, !%p1;
  mad.lo.u32 %r2, %r3, 1000, %r2;
  selp.u32 %r4, 1000000, 0, %p2;
  selp.u32 %r5, 2000000, 0, %p3;
  add.u32 %r2, %r2, %r4;
  add.u32 %r2, %r2, %r5;
  st.global.u32 [%dst], %r2;)";
    CAPTURE(cta);
    for (const uint32_t set : {0u, 1u, 50u, 90u}) {
      Setup setup = block_of(90);  // a count is in whole warps: 96 means all of them
      setup.in.assign(90, 0);
      for (uint32_t i = 0; i < set; ++i) setup.in[i * 7 % 90] = 1;
      CAPTURE(set);
      CHECK(finish(body, setup).out == each(90, [set](uint32_t) {
              return set + (90 - set) * 1000 + (set == 90 ? 1000000 : 0) + (set > 0 ? 2000000 : 0);
            }));
    }
  }
}

TEST_CASE("core: barriers: pairs of warps use separate named barriers") {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2, each pair several times.
  const LaunchOutcome o = finish(R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r8, %t, 4, %r9;
  xor.b32 %r7, %t, 32;
  mad.lo.u32 %r7, %r7, 4, %r9;
  shr.u32 %r6, %t, 6;
  add.u32 %r6, %r6, 1;
  mov.u32 %r1, %t;
  mov.u32 %r2, 0;
LOOP:
  st.shared.u32 [%r8], %r1;
  barrier.sync %r6, 64;
  ld.shared.u32 %r1, [%r7];
  barrier.sync %r6, 64;
  add.u32 %r1, %r1, 1;
  add.u32 %r2, %r2, 1;
  setp.le.u32 %p1, %r2, %r6;  // the second pair goes round once more
  @%p1 bra LOOP;
  st.global.u32 [%dst], %r1;)",
                                 block_of(128));
  CHECK(o.out == each(128, [](uint32_t t) {
          const uint32_t rounds = t / 64 + 2;
          return (rounds % 2 ? t ^ 32 : t) + rounds;
        }));
}

TEST_CASE("core: barriers: producer warps arrive and continue, consumer warps wait") {
  for (const bool pair : {true, false}) {
    Setup setup = block_of(64);
    setup.hazards = true;
    const std::string arrive = pair ? "bar.arrive 1, 64;" : "barrier.cta.arrive.aligned 1, 64;";
    const LaunchOutcome o = finish(std::string(kAddresses) + R"(
  setp.ge.u32 %p1, %t, 32;
  @%p1 bra CONSUME;
  add.u32 %r1, %t, 5;
  st.shared.u32 [%r8], %r1;
  )" + arrive + R"(
  st.global.u32 [%dst], 1;
  ret;
CONSUME:
  bar.sync 1, 64;
  ld.shared.u32 %r1, [%r7];
  st.global.u32 [%dst], %r1;)",
                                   setup);
    CHECK(o.out == each(64, [](uint32_t t) { return t < 32 ? 1 : 63 - t + 5; }));
    CHECK(o.findings.empty());
  }
}

TEST_CASE("core: barriers: a partly filled warp that arrives in two parts counts as 32") {
  const LaunchOutcome o = finish(R"(
  setp.lt.u32 %p1, %t, 40;
  @%p1 bra LOW;
  barrier.sync 1, 64;
  bra.uni DONE;
LOW:
  barrier.sync 1, 64;
DONE:
  st.global.u32 [%dst], 8;)",
                                 block_of(50));
  CHECK(o.out == each(50, [](uint32_t) { return 8; }));
}

TEST_CASE("core: barriers: wrong barrier numbers and thread counts are faults") {
  Stuck s = stuck("bar.sync 16;  //@here", block_of(64));
  CHECK(s.at == "here");
  CHECK(s.message ==
        "thread (0,0,0) of block (0,0,0) uses barrier 16; a block has barriers 0 to 15");
  s = stuck("bar.sync 1, 40;  //@here", block_of(64));
  CHECK(s.at == "here");
  CHECK(s.message == "a barrier for 40 threads: the count must be a multiple of 32");
  s = stuck("bar.sync 1, 96;  //@here", block_of(64));
  CHECK(s.at == "here");
  CHECK(s.message ==
        "block 0: thread (0,0,0) and 63 other threads wait at this barrier, which needs "
        "96 threads; the others never reach it");
  s = stuck(R"(
  setp.lt.u32 %p1, %t, 32;
  @%p1 bra LOW;
  bar.sync 1, 96;             //@high
LOW:
  bar.sync 1, 64;)",
            block_of(64));
  CHECK(s.at == "high");
  CHECK(s.message ==
        "thread (32,0,0) of block (0,0,0) waits for 96 threads at barrier 1, where others wait for "
        "64");
}
