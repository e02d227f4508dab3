// mbarriers: phases, tokens and parities; which accesses they order and which not.
#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/fixtures/opcode_coverage.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

Setup with_objects(uint32_t threads) {
  Setup setup;
  setup.block = {threads, 1, 1};
  setup.functions = ".shared .align 8 .b64 gate[2];\n.shared .align 16 .b32 box[256];\n";
  setup.hazards = true;
  return setup;
}

// Initialises gate[0] and gate[1] for `count` arrivals each. %r8: this thread's word of `box`; %r7:
// the word of its mirror image.
std::string start(const std::string& count) {
  return R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r8, %t, 4, %r9;
  mov.u32 %r6, %ntid.x;
  sub.u32 %r6, %r6, %t;
  mad.lo.u32 %r7, %r6, 4, %r9;
  sub.u32 %r7, %r7, 4;
  setp.eq.u32 %p15, %t, 0;
  @%p15 mbarrier.init.shared.b64 [gate], )" +
         count + ";\n  @%p15 mbarrier.init.shared::cta.b64 [gate+8], " + count +
         ";\n  bar.sync 0;\n";
}

}  // namespace

TEST_CASE("core: mbarrier: all threads arrive, wait by token, and see the other threads' stores") {
  for (const uint32_t threads : {1u, 40u, 128u}) {
    const LaunchOutcome o = tests::finish(start("%n") + R"(
  st.shared.u32 [%r8], %t;
  mbarrier.arrive.shared.b64 %d1, [gate];
WAIT:
  mbarrier.try_wait.shared.b64 %p1, [gate], %d1;
  @!%p1 bra WAIT;
  ld.shared.u32 %r1, [%r7];
  st.global.u32 [%dst], %r1;)",
                                          with_objects(threads));
    CHECK(o.out == each(threads, [&](uint32_t t) { return threads - 1 - t; }));
    CHECK(o.findings.empty());
  }
}

TEST_CASE("core: mbarrier: threads wait for consecutive phases by parity") {
  // Eight rounds of two phases: in each, a thread takes its mirror image's value plus one.
  const LaunchOutcome o = tests::finish(start("%n") + R"(
  mov.u32 %r1, %t;
  mov.u32 %r2, 0;
ROUND:
  st.shared.u32 [%r8], %r1;
  mbarrier.arrive.release.cta.shared::cta.b64 %d1, [gate], 1;
FULL:
  mbarrier.test_wait.parity.shared.b64 %p1, [gate], 0;
  @!%p1 bra FULL;
  ld.shared.u32 %r1, [%r7];
  add.u32 %r1, %r1, 1;
  mbarrier.arrive.shared.b64 _, [gate];
EMPTY:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [gate], 1, 1000;
  @!%p1 bra EMPTY;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 8;
  @%p2 bra ROUND;
  st.global.u32 [%dst], %r1;)",
                                        with_objects(96));
  CHECK(o.out == each(96, [](uint32_t t) { return t + 8; }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: mbarrier: producers arrive with a count, and consumers only wait") {
  // Warp 0 fills two halves alternately, and warp 1 reads each half when its mbarrier completes.
  const char* body = R"(
  setp.ge.u32 %p1, %t, 32;
  @%p1 bra CONSUME;
  st.shared.u32 [%r8], %t;
  mbarrier.arrive.shared.b64 %d1, [gate];
  st.shared.u32 [%r8+128], 100;
  mbarrier.arrive.shared.b64 %d1, [gate+8];
  st.global.u32 [%dst], 0;
  ret;
CONSUME:
  sub.u32 %r5, %t, 32;
  mad.lo.u32 %r5, %r5, 4, %r9;
FIRST:
  mbarrier.try_wait.parity.shared.b64 %p2, [GATE], 0;
  @!%p2 bra FIRST;
  ld.shared.u32 %r1, [%r5];
SECOND:
  mbarrier.try_wait.parity.shared.b64 %p2, [gate+8], 0;
  @!%p2 bra SECOND;
  ld.shared.u32 %r2, [%r5+128];
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%dst], %r1;)";
  const auto text = [&](const char* first_gate) {
    std::string s = start("32") + body;
    return s.replace(s.find("GATE"), 4, first_gate);
  };
  const LaunchOutcome o = tests::finish(text("gate"), with_objects(64));
  CHECK(o.out == each(64, [](uint32_t t) { return t < 32 ? 0 : t + 68; }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: mbarrier: an arrival does not order later stores") {
  const LaunchOutcome o = tests::run(start("32") + R"(
  setp.ge.u32 %p1, %t, 32;
  @%p1 bra CONSUME;
  mbarrier.arrive.shared.b64 %d1, [gate];
  st.shared.u32 [%r8], %t;
  ret;
CONSUME:
  sub.u32 %r5, %t, 32;
  mad.lo.u32 %r5, %r5, 4, %r9;
FIRST:
  mbarrier.try_wait.parity.shared.b64 %p2, [gate], 0;
  @!%p2 bra FIRST;
  ld.shared.u32 %r1, [%r5];
  st.global.u32 [%dst], %r1;)",
                                     with_objects(64));
  REQUIRE(!o.trap);
  REQUIRE(o.findings.size() == 1);
  CHECK(o.findings[0].kind == counters::Finding::Kind::race);
  CHECK(o.findings[0].count == 128);  // bytes
}

TEST_CASE("core: mbarrier: asynchronous copies count as arrivals") {
  const LaunchOutcome o = tests::finish(start("64") + R"(
  cp.async.ca.shared.global [%r8], [%src], 4;
  cp.async.mbarrier.arrive.shared.b64 [gate];
  mbarrier.arrive.shared.b64 %d1, [gate];
  cp.async.ca.shared.global [%r8+512], [%src], 4;
  cp.async.mbarrier.arrive.noinc.shared.b64 [gate+8];
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [gate], 0;
  @!%p1 bra WAIT;
AGAIN:
  mbarrier.try_wait.parity.shared.b64 %p1, [gate+8], 0;
  @!%p1 bra AGAIN;
  ld.shared.u32 %r1, [%r7];
  ld.shared.u32 %r2, [%r7+512];
  mad.lo.u32 %r1, %r2, 1000, %r1;
  st.global.u32 [%dst], %r1;)",
                                        with_objects(64));
  CHECK(o.out == each(64, [](uint32_t t) { return (63 - t) * 1001; }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: mbarrier: impossible counts and arrivals end the launch") {
  const auto trap = [](const std::string& body) {
    const LaunchOutcome o = tests::run(body, with_objects(32));
    REQUIRE(o.trap);
    return tests::words(*o.trap);
  };
  CHECK(trap("mbarrier.init.shared.b64 [gate], 0;") ==
        "barrier: thread (0,0,0) of block (0,0,0) makes an mbarrier for 0 arrivals; 1 to 1048575 "
        "are possible");
  CHECK(trap(start("31") + "mbarrier.arrive.shared.b64 %d1, [gate], 2;\n"
                           "mbarrier.arrive.shared.b64 %d1, [gate], 40;") ==
        "barrier: thread (15,0,0) of block (0,0,0) arrives 2 times at an mbarrier that waits for "
        "1");
  CHECK(trap("mbarrier.init.shared.b64 [gate+4], 5;").substr(0, 10) == "misaligned");
  // After inval an arrival at the object is a fault.
  CHECK(trap(start("%n") + "@%p15 mbarrier.inval.shared.b64 [gate];\n bar.sync 0;\n"
                           "mbarrier.arrive.shared.b64 %d1, [gate], 0x200000;")
            .find("arrives 2097152 times") != std::string::npos);
}

// Three phases: in each, one warp drops out and is not expected in the next.
TEST_CASE("core: mbarrier: later phases do not expect threads that dropped out") {
  const LaunchOutcome o = tests::finish(start("%n") + R"(
  setp.ge.u32 %p2, %t, 64;
  setp.ge.u32 %p3, %t, 32;
  @%p2 mbarrier.arrive_drop.shared.b64 _, [gate];
  @%p2 bra LEAVE;
  st.shared.u32 [%r8], %t;
  mbarrier.arrive.shared.b64 %d1, [gate];
WAIT:
  mbarrier.try_wait.shared.b64 %p1, [gate], %d1;
  @!%p1 bra WAIT;
  @%p3 mbarrier.arrive_drop.release.cta.shared::cta.b64 %d1, [gate], 1;
  @%p3 bra LEAVE;
  mbarrier.arrive.shared.b64 %d1, [gate];
WAIT2:
  mbarrier.try_wait.shared.b64 %p1, [gate], %d1;
  @!%p1 bra WAIT2;
  mbarrier.arrive.shared.b64 %d1, [gate];
WAIT3:
  mbarrier.try_wait.shared.b64 %p1, [gate], %d1;
  @!%p1 bra WAIT3;
  xor.b32 %r7, %t, 32;
  mad.lo.u32 %r7, %r7, 4, %r9;
  ld.shared.u32 %r1, [%r7];
  st.global.u32 [%dst], %r1;
  bra LEAVE;
LEAVE:)",
                                        with_objects(96));
  CHECK(o.findings.empty());
  for (uint32_t t = 0; t < 32; ++t) CHECK(o.out[t] == (t ^ 32));
}

TEST_CASE("core: mbarrier: arrivals without completion, and the count of pending arrivals") {
  const LaunchOutcome o = tests::finish(start("100") + R"(
  mbarrier.arrive.noComplete.shared.b64 %d1, [gate], 2;
  mbarrier.pending_count.b64 %r1, %d1;
  mbarrier.arrive_drop.noComplete.release.cta.shared::cta.b64 %d1, [gate+8], 1;
  mbarrier.pending_count.b64 %r2, %d1;
  mad.lo.u32 %r1, %r1, 1000, %r2;
  st.global.u32 [%dst], %r1;)",
                                        with_objects(32));
  CHECK(o.out == each(32, [](uint32_t t) { return (100 - 2 * t) * 1000 + 100 - t; }));
  const LaunchOutcome ends = tests::run(
      start("32") + "mbarrier.arrive.noComplete.shared.b64 %d1, [gate], 1;", with_objects(32));
  REQUIRE(ends.trap);
  CHECK(
      tests::words(*ends.trap) ==
      "barrier: thread (31,0,0) of block (0,0,0) ends a phase of an mbarrier with an arrival that "
      "says it does not (.noComplete)");
}
