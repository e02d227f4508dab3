// Lanes that wait for each other make progress, as on Volta and later, although lanes of a warp
// usually reconverge first. Long loops without waits stay converged.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::finish;
using tests::LaunchOutcome;
using tests::Setup;
using Count = LaunchOutcome::Count;

namespace {

constexpr const char* kLock = R"(
.shared .align 4 .b32 lock;
.shared .align 4 .b32 counter;
)";

// Thread 0 initialises lock and counter.
constexpr const char* kClear = R"(
  setp.eq.u32 %p15, %t, 0;
  @%p15 st.shared.u32 [lock], 0;
  @%p15 st.shared.u32 [counter], 0;
  bar.sync 0;
)";

// After the critical section every thread stores the ticket that it drew. At the end each of 0 to n
// - 1 must have been drawn once.
void check_tickets(std::vector<uint32_t> tickets) {
  std::sort(tickets.begin(), tickets.end());
  CHECK(tickets == each(tickets.size(), [](uint32_t i) { return i; }));
}

// Lanes without the lock spin; the lane with the lock waits after the loop.
constexpr const char* kTakeTicket = R"(
SPIN:
  atom.shared.cas.b32 %r1, [lock], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra SPIN;
  ld.volatile.shared.u32 %r2, [counter];
  add.u32 %r3, %r2, 1;
  st.volatile.shared.u32 [counter], %r3;
  membar.cta;
  atom.shared.exch.b32 %r4, [lock], 0;
  st.global.u32 [%dst], %r2;
)";

}  // namespace

TEST_CASE("core: waiting: a spin lock works between the lanes of one warp") {
  Setup setup;
  setup.functions = kLock;
  check_tickets(finish(std::string(kClear) + kTakeTicket, setup).out);
}

TEST_CASE("core: waiting: a spin lock works in a block with a partly filled last warp") {
  Setup setup;
  setup.functions = kLock;
  setup.block = {75, 1, 1};
  check_tickets(finish(std::string(kClear) + kTakeTicket, setup).out);
}

TEST_CASE("core: waiting: both sides of a branch may take one lock") {
  Setup setup;
  setup.functions = kLock;
  // Both splits can always run, so time slices alone do not help.
  check_tickets(finish(std::string(kClear) + R"(
  setp.lt.u32 %p2, %t, 16;
  @%p2 bra LOW;
HIGH_SPIN:
  atom.shared.cas.b32 %r1, [lock], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra HIGH_SPIN;
  ld.volatile.shared.u32 %r2, [counter];
  add.u32 %r3, %r2, 1;
  st.volatile.shared.u32 [counter], %r3;
  atom.shared.exch.b32 %r4, [lock], 0;
  bra.uni DONE;
LOW:
  atom.shared.cas.b32 %r1, [lock], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOW;
  ld.volatile.shared.u32 %r2, [counter];
  add.u32 %r3, %r2, 1;
  st.volatile.shared.u32 [counter], %r3;
  atom.shared.exch.b32 %r4, [lock], 0;
DONE:
  st.global.u32 [%dst], %r2;)",
                       setup)
                    .out);
}

TEST_CASE("core: waiting: a function may take a lock") {
  Setup setup;
  setup.functions = std::string(kLock) + R"(
.func take()
{
  .reg .pred %p<2>; .reg .b32 %r<2>;
SPIN:
  atom.shared.cas.b32 %r1, [lock], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra SPIN;
  ret;
}
)";
  check_tickets(finish(std::string(kClear) + R"(
  call.uni take, ();
  ld.volatile.shared.u32 %r2, [counter];
  add.u32 %r3, %r2, 1;
  st.volatile.shared.u32 [counter], %r3;
  atom.shared.exch.b32 %r4, [lock], 0;
  st.global.u32 [%dst], %r2;)",
                       setup)
                    .out);
}

TEST_CASE("core: waiting: a lane may wait for a flag that a later lane of its warp sets") {
  Setup setup;
  setup.functions = kLock;
  const LaunchOutcome o = finish(std::string(kClear) + R"(
  setp.eq.u32 %p1, %t, 31;
  @%p1 bra RAISE;
SPIN:
  ld.volatile.shared.u32 %r1, [lock];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra SPIN;
  bra.uni DONE;
RAISE:
  mov.u32 %r1, 41;
  st.volatile.shared.u32 [lock], %r1;
DONE:
  add.u32 %r1, %r1, 1;
  st.global.u32 [%dst], %r1;  //@done)",
                                 setup);
  CHECK(o.out == each(32, [](uint32_t) { return 42; }));
  CHECK(o.at("done") == Count{1, 32});  // no spinning lane waited for a lane in the join
}

TEST_CASE("core: waiting: warps pass a value on by shared flags") {
  Setup setup;
  setup.functions = ".shared .align 4 .b32 turn;\n.shared .align 4 .b32 value;\n";
  setup.block = {256, 1, 1};
  // Warp w waits until turn == 7 - w, adds its number, and passes on: the last warp goes first.
  const LaunchOutcome o = finish(R"(
  setp.eq.u32 %p1, %t, 0;
  @%p1 st.shared.u32 [turn], 0;
  @%p1 st.shared.u32 [value], 100;
  bar.sync 0;
  shr.u32 %r1, %t, 5;
  sub.u32 %r2, 7, %r1;
  setp.ne.u32 %p2, %lane, 0;
  @%p2 bra MEET;
SPIN:
  ld.relaxed.cta.shared.u32 %r3, [turn];
  setp.ne.u32 %p3, %r3, %r2;
  @%p3 bra SPIN;
  ld.volatile.shared.u32 %r4, [value];
  add.u32 %r4, %r4, %r1;
  st.volatile.shared.u32 [value], %r4;
  fence.acq_rel.cta;
  add.u32 %r3, %r3, 1;
  st.release.cta.shared.u32 [turn], %r3;
MEET:
  bar.sync 0;
  ld.shared.u32 %r4, [value];
  st.global.u32 [%dst], %r4;)",
                                 setup);
  CHECK(o.out == each(256, [](uint32_t) { return 100 + 28; }));
}

TEST_CASE("core: waiting: producer and consumer share a ring of two places") {
  Setup setup;
  setup.block = {64, 1, 1};
  setup.out_words = 40;
  setup.functions = R"(
.shared .align 4 .b32 ring[2];
.shared .align 4 .b32 head;
.shared .align 4 .b32 tail;
)";
  const LaunchOutcome o = finish(R"(
  setp.eq.u32 %p1, %t, 0;
  @%p1 st.shared.u32 [head], 0;
  @%p1 st.shared.u32 [tail], 0;
  bar.sync 0;
  setp.ne.u32 %p2, %lane, 0;
  @%p2 bra END;
  mov.u32 %r1, 0;             // number of items produced or consumed so far
  mov.u32 %r9, ring;
  setp.eq.u32 %p3, %t, 32;
  @%p3 bra CONSUME;
PRODUCE:
  ld.volatile.shared.u32 %r2, [tail];
  sub.u32 %r3, %r1, %r2;
  setp.ge.u32 %p4, %r3, 2;
  @%p4 bra PRODUCE;
  and.b32 %r4, %r1, 1;
  mad.lo.u32 %r5, %r4, 4, %r9;
  mul.lo.u32 %r6, %r1, %r1;
  st.volatile.shared.u32 [%r5], %r6;
  add.u32 %r1, %r1, 1;
  st.volatile.shared.u32 [head], %r1;
  setp.lt.u32 %p5, %r1, 40;
  @%p5 bra PRODUCE;
  bra.uni END;
CONSUME:
  ld.volatile.shared.u32 %r2, [head];
  setp.eq.u32 %p4, %r1, %r2;
  @%p4 bra CONSUME;
  and.b32 %r4, %r1, 1;
  mad.lo.u32 %r5, %r4, 4, %r9;
  ld.volatile.shared.u32 %r6, [%r5];
  mad.wide.u32 %d1, %r1, 4, %out;
  st.global.u32 [%d1], %r6;
  add.u32 %r1, %r1, 1;
  st.volatile.shared.u32 [tail], %r1;
  setp.lt.u32 %p5, %r1, 40;
  @%p5 bra CONSUME;
END:)",
                                 setup);
  CHECK(o.out == each(40, [](uint32_t i) { return i * i; }));
}

TEST_CASE("core: waiting: a long divergent loop does not count as a wait") {
  // Lane t makes 1000 (t + 1) iterations: 160,000 instructions, far more than a time slice.
  const std::string loop = R"(
  add.u32 %r1, %t, 1;
  mul.lo.u32 %r1, %r1, 1000;
  mov.u32 %r2, 0;
LOOP:
  ADD
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  activemask.b32 %r3;         //@after
  st.global.u32 [%dst], %r3;)";
  const auto with = [&](const std::string& add) {
    std::string body = loop;
    body.replace(body.find("ADD"), 3, add);
    return body;
  };
  SUBCASE("arithmetic only") {
    CHECK(finish(with("add.u32 %r2, %r2, %r1;")).at("after") == Count{1, 32});
  }
  SUBCASE("with atomics whose results are unused: a histogram") {
    Setup setup;
    setup.functions = kLock;
    CHECK(finish(kClear + with("red.shared.add.u32 [counter], 1;"), setup).at("after") ==
          Count{1, 32});
    CHECK(finish(kClear + with("atom.shared.add.u32 %r4, [counter], 1;"), setup).at("after") ==
          Count{1, 32});
  }
}

TEST_CASE("core: waiting: the instruction limit stops an endless wait") {
  Setup setup;
  setup.functions = kLock;
  setup.budget = 100'000;
  const LaunchOutcome o = tests::run(std::string(kClear) + R"(
  setp.eq.u32 %p1, %t, 5;
  @!%p1 bra END;
SPIN:
  ld.volatile.shared.u32 %r1, [lock];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra SPIN;
END:)",
                                     setup);
  REQUIRE(o.trap);
  CHECK(o.trap->kind() == sim::TrapKind::instruction_limit);
  CHECK(describe(*o.trap) == "warp 0 of block 0 still runs after 100000 instructions");
}
