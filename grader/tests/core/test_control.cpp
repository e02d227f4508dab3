// Masks and reconvergence: the lanes for which an instruction runs, and where diverged lanes
// reconverge. Issue counts show this: an instruction that all lanes reach together is issued once,
// for 32 lanes.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::finish;
using tests::LaunchOutcome;
using Count = LaunchOutcome::Count;

TEST_CASE("core: control: the lanes of if and else run once each and reconverge") {
  const LaunchOutcome o = finish(R"(
  setp.lt.u32 %p1, %t, 10;
  @%p1 bra THEN;
  mov.u32 %r1, 200;           //@else
  activemask.b32 %r2;
  bra.uni JOIN;
THEN:
  mov.u32 %r1, 100;           //@then
  activemask.b32 %r2;
JOIN:
  activemask.b32 %r3;         //@join
  shl.b32 %r2, %r2, 0;
  xor.b32 %r2, %r2, %r3;
  xor.b32 %r1, %r1, %r2;
  st.global.u32 [%dst], %r1;)");
  CHECK(o.at("then") == Count{1, 10});
  CHECK(o.at("else") == Count{1, 22});
  CHECK(o.at("join") == Count{1, 32});
  // The masks of the two sides and of all lanes.
  CHECK(o.out == each(32, [](uint32_t l) {
          return l < 10 ? 100 ^ (0x3ffu ^ 0xffffffffu) : 200 ^ (0xfffffc00u ^ 0xffffffffu);
        }));
}

TEST_CASE("core: control: a branch that all lanes take does not diverge") {
  const LaunchOutcome o = finish(R"(
  setp.lt.u32 %p1, %t, 32;
  @%p1 bra.uni THERE;
  mov.u32 %r1, 1;             //@skipped
THERE:
  activemask.b32 %r1;         //@there
  st.global.u32 [%dst], %r1;)");
  CHECK(o.at("skipped") == Count{0, 0});
  CHECK(o.at("there") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t) { return 0xffffffffu; }));
}

TEST_CASE("core: control: nested branches reconverge from the inside out") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 0;
  and.b32 %r2, %t, 1;
  and.b32 %r3, %t, 2;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r3, 0;
  @%p1 bra OUTER_JOIN;
  add.u32 %r1, %r1, 1;
  @%p2 bra INNER_JOIN;
  add.u32 %r1, %r1, 10;       //@innermost
INNER_JOIN:
  add.u32 %r1, %r1, 100;      //@inner_join
OUTER_JOIN:
  add.u32 %r1, %r1, 1000;     //@outer_join
  st.global.u32 [%dst], %r1;)");
  CHECK(o.at("innermost") == Count{1, 8});
  CHECK(o.at("inner_join") == Count{1, 16});
  CHECK(o.at("outer_join") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return 1000 + (l & 1 ? 101 + (l & 2 ? 10 : 0) : 0); }));
}

TEST_CASE("core: control: two branches share one reconvergence point") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 7;
  setp.lt.u32 %p1, %t, 8;
  @%p1 bra DONE;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p2, %t, 16;
  @%p2 bra DONE;
  add.u32 %r1, %r1, 1;        //@rest
DONE:
  st.global.u32 [%dst], %r1;  //@done)");
  CHECK(o.at("rest") == Count{1, 16});
  CHECK(o.at("done") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return l < 8 ? 7 : l < 16 ? 8 : 9; }));
}

TEST_CASE(
    "core: control: a loop runs as often as its slowest lane, then all lanes continue together") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 0;
  mov.u32 %r2, 0;
LOOP:
  add.u32 %r1, %r1, %t;       //@body
  add.u32 %r2, %r2, 1;
  setp.le.u32 %p1, %r2, %t;
  @%p1 bra LOOP;
  st.global.u32 [%dst], %r1;  //@after)");
  CHECK(o.at("body") == Count{32, 32 * 33 / 2});  // lane t makes t + 1 iterations
  CHECK(o.at("after") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return l * (l + 1); }));
}

TEST_CASE("core: control: lanes of a continue reconverge at the end of each iteration") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 0;             // sum
  mov.u32 %r2, 0;             // i
LOOP:
  xor.b32 %r3, %r2, %t;
  and.b32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra NEXT;              // continue: only iterations of the lane's own parity add
  add.u32 %r1, %r1, %r2;      //@add
NEXT:
  add.u32 %r2, %r2, 1;        //@next
  setp.lt.u32 %p3, %r2, 8;
  @%p3 bra LOOP;
  st.global.u32 [%dst], %r1;)");
  CHECK(o.at("add") == Count{8, 8 * 16});
  CHECK(o.at("next") == Count{8, 8 * 32});
  CHECK(o.out == each(32, [](uint32_t t) { return t & 1 ? 1 + 3 + 5 + 7 : 2 + 4 + 6; }));
}

// Lanes that stay in the loop reconverge in each iteration. Lanes that break are awaited only after
// the loop.
TEST_CASE("core: control: lanes of a break reconverge after the loop") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 0;             // sum
  mov.u32 %r2, 0;             // i
LOOP:
  xor.b32 %r3, %r2, %t;
  and.b32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra NEXT;              // continue
  add.u32 %r1, %r1, %r2;
  setp.gt.u32 %p2, %r1, 20;
  @%p2 bra OUT;               // break
NEXT:
  add.u32 %r2, %r2, 1;        //@next
  setp.lt.u32 %p3, %r2, %t;
  @%p3 bra LOOP;
OUT:
  st.global.u32 [%dst], %r1;  //@out)");
  uint64_t nexts = 0, rounds = 0;
  const auto want = each(32, [&](uint32_t t) {
    uint32_t sum = 0, i = 0;
    do {
      if (i % 2 == t % 2 && (sum += i) > 20) break;
      ++i;
      ++nexts;
      rounds = std::max<uint64_t>(rounds, i);
    } while (i < t);
    return sum;
  });
  CHECK(o.out == want);
  CHECK(o.at("next") == Count{rounds, nexts});
  CHECK(o.at("out") == Count{1, 32});
}

// if (a) { …; if (b) break; } …: a warp makes as many iterations as its slowest lane.
TEST_CASE("core: control: the end of an if does not wait for lanes that break inside it") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 0;             // sum
  mov.u32 %r2, 0;             // i
LOOP:
  xor.b32 %r3, %r2, %t;
  and.b32 %r3, %r3, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra BEHIND;
  add.u32 %r1, %r1, 100;      //@inside
  setp.ge.u32 %p2, %r2, %t;
  @%p2 bra OUT;
BEHIND:
  add.u32 %r1, %r1, 1;        //@behind
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p3, %r2, 64;
  @%p3 bra LOOP;
OUT:
  st.global.u32 [%dst], %r1;  //@out)");
  CHECK(o.out == each(32, [](uint32_t t) { return t + 100 * (t / 2 + 1); }));
  CHECK(o.at("inside").warps == 32);  // lanes of one parity, in turn
  CHECK(o.at("behind") == Count{31, 31 * 32 / 2});
  CHECK(o.at("out") == Count{1, 32});
}

// Neither loop waits for lanes that leave both. Lanes that leave the inner loop reconverge in the
// outer one.
TEST_CASE("core: control: lanes may leave one loop or two from inside an if") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 0;
  mov.u32 %r2, 0;             // i
OUTER:
  mov.u32 %r3, 0;             // j
INNER:
  and.b32 %r5, %t, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra BEHIND;
  add.u32 %r1, %r1, 1;
  setp.eq.u32 %p2, %r2, %t;
  @%p2 bra DONE;              // leaves both loops
  setp.eq.u32 %p3, %r3, 2;
  @%p3 bra NEXT;              // leaves the inner loop
BEHIND:
  add.u32 %r1, %r1, 1000;     //@behind
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p4, %r3, 4;
  @%p4 bra INNER;
NEXT:
  add.u32 %r2, %r2, 1;        //@next
  setp.lt.u32 %p5, %r2, 40;
  @%p5 bra OUTER;
DONE:
  st.global.u32 [%dst], %r1;  //@done)");
  CHECK(o.out ==
        each(32, [](uint32_t t) { return t % 2 ? 40 * 4 * 1000 : t * (3 + 2 * 1000) + 1; }));
  CHECK(o.at("behind").warps == 40 * 4);
  CHECK(o.at("next").warps == 40);
  CHECK(o.at("done") == Count{1, 32});
}

TEST_CASE("core: control: reconvergence does not wait for lanes that exit early") {
  const LaunchOutcome o = finish(R"(
  st.global.u32 [%dst], 5;
  setp.ge.u32 %p1, %t, 20;
  @%p1 bra STAY;
  ret;
STAY:
  setp.ge.u32 %p2, %t, 30;
  @!%p2 exit;                 //@exit
  activemask.b32 %r1;
  st.global.u32 [%dst], %r1;  //@left)");
  CHECK(o.at("exit") == Count{1, 10});
  CHECK(o.at("left") == Count{1, 2});
  CHECK(o.out == each(32, [](uint32_t l) { return l < 30 ? 5 : 0xc0000000u; }));
}

TEST_CASE("core: control: an exit inside a branch removes the lanes from the reconvergence point") {
  const LaunchOutcome o = finish(R"(
  st.global.u32 [%dst], 1;
  setp.lt.u32 %p1, %t, 16;
  setp.lt.u32 %p2, %t, 4;
  @!%p1 bra JOIN;
  @%p2 ret;
  add.u32 %r9, %t, 0;
JOIN:
  activemask.b32 %r1;         //@join
  st.global.u32 [%dst], %r1;)");
  CHECK(o.at("join") == Count{1, 28});
  CHECK(o.out == each(32, [](uint32_t l) { return l < 4 ? 1 : 0xfffffff0u; }));
}

TEST_CASE("core: control: guarded instructions run for the lanes of the guard, or are not issued") {
  const LaunchOutcome o = finish(R"(
  setp.lt.u32 %p1, %t, 5;
  setp.gt.u32 %p2, %t, 99;
  mov.u32 %r1, 0;
  @%p1 add.u32 %r1, %r1, 1;   //@some
  @!%p1 add.u32 %r1, %r1, 2;  //@others
  @%p2 add.u32 %r1, %r1, 4;   //@none
  @!%p2 add.u32 %r1, %r1, 8;  //@all
  st.global.u32 [%dst], %r1;)");
  CHECK(o.at("some") == Count{1, 5});
  CHECK(o.at("others") == Count{1, 27});
  CHECK(o.at("none") == Count{0, 0});
  CHECK(o.at("all") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return (l < 5 ? 1 : 2) + 8; }));
}

TEST_CASE("core: control: a partly filled last warp has only the lanes of its threads") {
  tests::Setup setup;
  setup.block = {40, 1, 1};
  const LaunchOutcome o = tests::run(R"(
  activemask.b32 %r1;         //@all
  st.global.u32 [%dst], %r1;)",
                                     setup);
  CHECK(o.at("all") == Count{2, 40});
  CHECK(o.out == each(40, [](uint32_t t) { return t < 32 ? 0xffffffffu : 0xffu; }));
}

TEST_CASE("core: control: brx.idx: lanes of one target run together, and all reconverge") {
  const LaunchOutcome o = finish(R"(
  and.b32 %r1, %t, 3;
  brx.idx %r1, TABLE;         //@brx
TABLE: .branchtargets ZERO, ONE, TWO, ONE;
ZERO:
  mov.u32 %r2, 10;            //@zero
  bra.uni JOIN;
ONE:
  mov.u32 %r2, 20;            //@one
  bra.uni JOIN;
TWO:
  mov.u32 %r2, 30;            //@two
JOIN:
  add.u32 %r2, %r2, %t;       //@join
  st.global.u32 [%dst], %r2;)");
  CHECK(o.at("zero") == Count{1, 8});
  CHECK(o.at("two") == Count{1, 8});
  CHECK(o.at("one") == Count{1, 16});  // two entries of the table, one target
  CHECK(o.at("brx") == Count{1, 32});
  CHECK(o.at("join") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) {
          const uint32_t base[] = {10, 20, 30, 20};
          return base[l % 4] + l;
        }));
}

TEST_CASE("core: control: a guarded brx.idx: the other lanes continue after it") {
  const LaunchOutcome o = finish(R"(
  and.b32 %r1, %t, 1;
  mov.u32 %r2, 5;
  setp.ge.u32 %p1, %t, 8;
  @%p1 brx.idx %r1, TABLE;    //@brx
TABLE: .branchtargets A, B;
  mov.u32 %r2, 6;             //@behind
  bra.uni JOIN;
A:
  mov.u32 %r2, 7;
B:
  add.u32 %r2, %r2, 10;
JOIN:
  st.global.u32 [%dst], %r2;  //@join)");
  CHECK(o.at("brx") == Count{1, 24});
  CHECK(o.at("behind") == Count{1, 8});
  CHECK(o.at("join") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return l < 8 ? 6 : l % 2 ? 15 : 17; }));
}

TEST_CASE("core: control: brx.idx beyond its table is a trap") {
  const LaunchOutcome o = tests::run(R"(
  mov.u32 %r1, %t;
  brx.idx %r1, TABLE;         //@brx
TABLE: .branchtargets A, B;
A:
  nop;
B:
  nop;)");
  REQUIRE(o.trap);
  CHECK(o.trap->kind() == sim::TrapKind::trap);
  CHECK(describe(*o.trap) == "thread (2,0,0) of block (0,0,0) jumps to entry 2 of a table of 2");
  CHECK(o.trapped_at == "brx");
}
