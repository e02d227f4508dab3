// shfl, vote, match and redux compared with models from the PTX ISA's text, and the lanes that must
// execute them.
#include <doctest/doctest.h>

#include <functional>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::finish;
using tests::LaunchOutcome;
using tests::Setup;
using Count = LaunchOutcome::Count;

namespace {

// CUDA's description of the four shuffles: the warp is divided into groups of `width` lanes.
struct Shuffled {
  uint32_t source;  // lane that is read
  bool valid;
};
Shuffled shuffle_model(const std::string& mode, uint32_t lane, uint32_t b, uint32_t width) {
  const uint32_t group = lane / width * width, place = lane % width;
  if (mode == "up") return place >= b ? Shuffled{lane - b, true} : Shuffled{lane, false};
  if (mode == "down") return place + b < width ? Shuffled{lane + b, true} : Shuffled{lane, false};
  if (mode == "idx") return {group + b % width, true};
  const uint32_t other = lane ^ b;  // bfly: the source may not be in a later group
  return other < group + width ? Shuffled{other, true} : Shuffled{lane, false};
}

std::string shuffle_text(const std::string& mode, uint32_t b, uint32_t width) {
  const uint32_t clamp = mode == "up" ? 0 : 31;
  return R"(
  ld.global.u32 %r1, [%src];
  shfl.sync.)" +
         mode + ".b32 %r2|%p1, %r1, " + std::to_string(b) + ", " +
         std::to_string((32 - width) << 8 | clamp) + R"(, -1;
  selp.u32 %r3, 1000, 0, %p1;
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%dst], %r2;)";
}

}  // namespace

TEST_CASE("core: warp ops: shfl works in all modes and widths") {
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const uint32_t width : {32, 16, 8, 4, 2, 1})
      for (const uint32_t b : {0, 1, 2, 3, 5, 8, 15, 16, 31}) {
        // CUDA's functions take an offset below the width.
        if (mode != "idx" && mode != "bfly" && b >= width) continue;
        CAPTURE(mode);
        CAPTURE(width);
        CAPTURE(b);
        CHECK(finish(shuffle_text(mode, b, width)).out == each(32, [&](uint32_t l) {
                const Shuffled s = shuffle_model(mode, l, b, width);
                return s.source + (s.valid ? 1000 : 0);
              }));
      }
}

TEST_CASE("core: warp ops: shfl works with an index per lane and without the predicate") {
  const LaunchOutcome o = finish(R"(
  mul.lo.u32 %r1, %t, 7;
  add.u32 %r2, %t, 3;         // each lane selects its own source
  mul.lo.u32 %r2, %r2, 5;
  shfl.sync.idx.b32 %r3, %r1, %r2, 31, -1;
  st.global.u32 [%dst], %r3;)");
  CHECK(o.out == each(32, [](uint32_t l) { return (l + 3) * 5 % 32 * 7; }));
}

TEST_CASE("core: warp ops: a sum by shuffles in a warp of 20 lanes reads absent lanes") {
  Setup setup;
  setup.block = {20, 1, 1};
  setup.hazards = true;
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 1;
  shfl.sync.down.b32 %r2, %r1, 16, 31, -1;  //@shuffle
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%dst], %r1;)",
                                 setup);
  // Lanes 4 to 15 would read lanes 20 to 31.
  REQUIRE(o.findings.size() == 1);
  CHECK(o.findings[0].kind == counters::Finding::Kind::warp_mask);
  CHECK(describe(o.findings[0]).find("needs lanes 20-31, which do not take part") !=
        std::string::npos);
}

TEST_CASE("core: warp ops: a value from an absent lane is no fault if nothing depends on it") {
  Setup setup;
  setup.block = {20, 1, 1};
  setup.hazards = true;
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 1;
  shfl.sync.down.b32 %r2, %r1, 16, 31, -1;
  add.u32 %r2, %r1, %r2;
  setp.lt.u32 %p1, %t, 4;     // the lanes that read a lane of the block
  selp.b32 %r1, %r2, %r1, %p1;
  st.global.u32 [%dst], %r1;)",
                                 setup);
  CHECK(o.out == each(20, [](uint32_t t) { return t < 4 ? 2 : 1; }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: warp ops: vote and ballot follow their definitions") {
  const LaunchOutcome o = finish(R"(
  setp.ge.u32 %p1, %t, 12;
  setp.ge.u32 %p2, %t, 0;
  setp.ge.u32 %p3, %t, 99;
  mov.u32 %r1, 0;
  vote.sync.all.pred %p4, %p1, -1;
  @%p4 or.b32 %r1, %r1, 1;
  vote.sync.any.pred %p4, %p1, -1;
  @%p4 or.b32 %r1, %r1, 2;
  vote.sync.uni.pred %p4, %p1, -1;
  @%p4 or.b32 %r1, %r1, 4;
  vote.sync.all.pred %p4, %p2, -1;
  @%p4 or.b32 %r1, %r1, 8;
  vote.sync.any.pred %p4, %p3, -1;
  @%p4 or.b32 %r1, %r1, 16;
  vote.sync.uni.pred %p4, %p3, -1;
  @%p4 or.b32 %r1, %r1, 32;
  vote.sync.uni.pred %p4, !%p3, -1;
  @%p4 or.b32 %r1, %r1, 64;
  vote.sync.ballot.b32 %r2, !%p1, -1;
  xor.b32 %r1, %r1, %r2;
  st.global.u32 [%dst], %r1;)");
  CHECK(o.out == each(32, [](uint32_t) { return (2 | 8 | 32 | 64) ^ 0xfffu; }));
}

TEST_CASE("core: warp ops: match finds lanes with equal values") {
  Setup setup;
  for (uint32_t i = 0; i < 32; ++i) setup.in.push_back(i * i % 7);
  const auto same = [&](uint32_t l) {
    uint32_t mask = 0;
    for (uint32_t k = 0; k < 32; ++k) mask |= (setup.in[k] == setup.in[l] ? 1u : 0u) << k;
    return mask;
  };
  SUBCASE("any, 32 bits") {
    CHECK(finish("ld.global.u32 %r1, [%src];\n match.any.sync.b32 %r2, %r1, -1;\n"
                 "st.global.u32 [%dst], %r2;",
                 setup)
              .out == each(32, same));
  }
  SUBCASE("any, 64 bits: the high word counts") {
    CHECK(finish("ld.global.u32 %r1, [%src];\n mov.b64 %d1, {%r9, %r1};\n"
                 "match.any.sync.b64 %r2, %d1, -1;\n st.global.u32 [%dst], %r2;",
                 setup)
              .out == each(32, same));
  }
  SUBCASE("all") {
    const std::string body = R"(
  ld.global.u32 %r1, [%src];
  match.all.sync.b32 %r2|%p1, %r1, -1;
  cvt.u64.u32 %d1, %r9;
  match.all.sync.b64 %r3|%p2, %d1, -1;
  selp.u32 %r4, 1, 0, %p1;
  selp.u32 %r5, 2, 0, %p2;
  or.b32 %r4, %r4, %r5;
  not.b32 %r3, %r3;           // all lanes: 0
  or.b32 %r2, %r2, %r3;
  add.u32 %r2, %r2, %r4;
  st.global.u32 [%dst], %r2;)";
    CHECK(finish("mov.u32 %r9, 5;\n" + body, setup).out == each(32, [](uint32_t) { return 2; }));
    setup.in.assign(32, 9);
    CHECK(finish("mov.u32 %r9, 5;\n" + body, setup).out ==
          each(32, [](uint32_t) { return 0xffffffffu + 3; }));
  }
}

TEST_CASE("core: warp ops: redux works with all operators") {
  Setup setup;
  for (uint32_t i = 0; i < 32; ++i) setup.in.push_back(i * 2654435761u ^ 0x80000000u);
  const auto fold = [&](const std::function<uint32_t(uint32_t, uint32_t)>& f) {
    uint32_t value = setup.in[0];
    for (uint32_t i = 1; i < 32; ++i) value = f(value, setup.in[i]);
    return value;
  };
  using U = uint32_t;
  using S = int32_t;
  const std::vector<std::pair<std::string, U>> rows = {
      {"add.u32", fold([](U a, U b) { return a + b; })},
      {"add.s32", fold([](U a, U b) { return a + b; })},
      {"min.u32", fold([](U a, U b) { return std::min(a, b); })},
      {"max.u32", fold([](U a, U b) { return std::max(a, b); })},
      {"min.s32", fold([](U a, U b) { return static_cast<U>(std::min<S>(a, b)); })},
      {"max.s32", fold([](U a, U b) { return static_cast<U>(std::max<S>(a, b)); })},
      {"and.b32", fold([](U a, U b) { return a & b; })},
      {"or.b32", fold([](U a, U b) { return a | b; })},
      {"xor.b32", fold([](U a, U b) { return a ^ b; })},
  };
  for (const auto& [name, want] : rows) {
    CAPTURE(name);
    const uint32_t value = want;
    CHECK(finish("ld.global.u32 %r1, [%src];\n redux.sync." + name +
                     " %r2, %r1, -1;\n st.global.u32 [%dst], %r2;",
                 setup)
              .out == each(32, [value](uint32_t) { return value; }));
  }
}

// --- participating lanes -------------------------------------------------------------------------

TEST_CASE("core: warp ops: groups of lanes with separate masks work independently") {
  // match.any determines each lane's group; every group reduces and shuffles separately.
  const LaunchOutcome o = finish(R"(
  and.b32 %r1, %t, 3;
  match.any.sync.b32 %r2, %r1, -1;
  redux.sync.add.u32 %r3, %t, %r2;   //@redux
  clz.b32 %r4, %r2;
  sub.u32 %r4, 31, %r4;              // the group's last lane
  shfl.sync.idx.b32 %r5, %t, %r4, 31, %r2;
  bar.warp.sync %r2;
  mad.lo.u32 %r3, %r5, 1000, %r3;
  st.global.u32 [%dst], %r3;         //@after)");
  CHECK(o.at("redux").lanes == 32);
  CHECK(o.at("redux").warps == 4);  // one issue for each group
  CHECK(o.at("after") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) {
          uint32_t sum = 0;
          for (uint32_t k = l % 4; k < 32; k += 4) sum += k;
          return (28 + l % 4) * 1000 + sum;
        }));
}

TEST_CASE("core: warp ops: lanes may reach one shuffle from different branches") {
  const LaunchOutcome o = finish(R"(
  setp.lt.u32 %p1, %t, 16;
  mul.lo.u32 %r1, %t, 3;
  @%p1 bra LOW;
  add.u32 %r1, %r1, 100;
LOW:
  shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1;  //@shuffle
  st.global.u32 [%dst], %r2;)");
  CHECK(o.at("shuffle") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return (l ^ 16) * 3 + (l < 16 ? 100 : 0); }));
}

TEST_CASE("core: warp ops: lanes may reach a warp barrier at different instructions") {
  Setup setup;
  setup.functions = ".shared .align 4 .b32 box[32];\n";
  setup.hazards = true;
  // The two halves synchronise twice at barriers in their own branches and exchange values in
  // between.
  const LaunchOutcome o = finish(R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r8, %t, 4, %r9;
  xor.b32 %r7, %t, 16;
  mad.lo.u32 %r7, %r7, 4, %r9;
  setp.lt.u32 %p1, %t, 16;
  @%p1 bra LOW;
  add.u32 %r1, %t, 500;
  st.shared.u32 [%r8], %r1;
  bar.warp.sync -1;
  ld.shared.u32 %r2, [%r7];
  bra.uni JOIN;
LOW:
  st.shared.u32 [%r8], %t;
  bar.warp.sync -1;
  ld.shared.u32 %r2, [%r7];
JOIN:
  st.global.u32 [%dst], %r2;  //@join)",
                                 setup);
  CHECK(o.at("join") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return (l ^ 16) + (l < 16 ? 500 : 0); }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: warp ops: half a warp may synchronise inside its branch") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r2, 0;
  setp.lt.u32 %p1, %t, 16;
  @!%p1 bra JOIN;
  shfl.sync.idx.b32 %r2, %t, 7, 31, 0xffff;  //@shuffle
  bar.warp.sync 0xffff;
JOIN:
  st.global.u32 [%dst], %r2;  //@join)");
  CHECK(o.at("shuffle") == Count{1, 16});
  CHECK(o.at("join") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return l < 16 ? 7 : 0; }));
}

TEST_CASE("core: warp ops: a mask may name lanes that have exited") {
  const LaunchOutcome o = finish(R"(
  st.global.u32 [%dst], 77;
  setp.ge.u32 %p1, %t, 8;
  @%p1 exit;
  vote.sync.ballot.b32 %r1, %p1, -1;   // no lane votes yes
  redux.sync.add.s32 %r2, %t, -1;
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%dst], %r1;)");
  CHECK(o.out == each(32, [](uint32_t l) { return l < 8 ? 28 : 77; }));
}

TEST_CASE("core: warp ops: an exit releases lanes that wait for the exiting lane") {
  const LaunchOutcome o = finish(R"(
  st.global.u32 [%dst], 77;
  setp.lt.u32 %p1, %t, 8;
  @%p1 bra WAIT;
  exit;
WAIT:
  redux.sync.max.u32 %r1, %t, -1;
  st.global.u32 [%dst], %r1;)");
  CHECK(o.out == each(32, [](uint32_t l) { return l < 8 ? 7 : 77; }));
}

TEST_CASE("core: warp ops: a guarded operation runs for the lanes of the guard") {
  const LaunchOutcome o = finish(R"(
  setp.lt.u32 %p1, %t, 4;
  mov.u32 %r1, 9;
  @%p1 redux.sync.add.u32 %r1, %t, 0xf;  //@redux
  st.global.u32 [%dst], %r1;  //@after)");
  CHECK(o.at("redux") == Count{1, 4});
  CHECK(o.at("after") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return l < 4 ? 6 : 9; }));
}

TEST_CASE("core: warp ops: a mask that names lanes that never arrive is a trap") {
  const LaunchOutcome o = tests::run(R"(
  setp.lt.u32 %p1, %t, 16;
  @!%p1 bra JOIN;
  shfl.sync.down.b32 %r1, %t, 1, 31, -1;  //@shuffle
JOIN:
  st.global.u32 [%dst], %r1;)");
  REQUIRE(o.trap);
  CHECK(o.trap->kind() == sim::TrapKind::shuffle);
  CHECK(o.trapped_at == "shuffle");
  CHECK(describe(*o.trap) ==
        "warp 0 of block 0: the mask 0xffffffff names lane 16, which never reaches this operation; "
        "lanes "
        "0 to 15 wait for it");
}

TEST_CASE("core: warp ops: a mask must name the lane that executes it") {
  const LaunchOutcome o = tests::run(R"(
  vote.sync.ballot.b32 %r1, %p1, 0xff;  //@vote)");
  REQUIRE(o.trap);
  CHECK(o.trap->kind() == sim::TrapKind::shuffle);
  CHECK(o.trapped_at == "vote");
  CHECK(describe(*o.trap) ==
        "thread (8,0,0) of block (0,0,0) executes a warp operation whose mask 0x000000ff does not "
        "name its own lane 8");
}

TEST_CASE("core: warp ops: groups elect a leader as cooperative groups do") {
  // The lowest active lane adds for all: an aggregated atomic whose result is broadcast.
  Setup setup;
  setup.out_written = true;
  setup.out_words = 33;
  const LaunchOutcome o = finish(R"(
  setp.lt.u32 %p1, %t, 11;
  @%p1 bra SKIP;
  activemask.b32 %r1;
  brev.b32 %r2, %r1;
  clz.b32 %r2, %r2;           // the leader
  mov.u32 %r3, %lanemask_lt;
  and.b32 %r3, %r3, %r1;
  popc.b32 %r3, %r3;          // rank
  popc.b32 %r4, %r1;
  setp.ne.u32 %p2, %r2, %lane;
  @%p2 bra FOLLOW;
  atom.global.add.u32 %r5, [%out+128], %r4;  //@atom
FOLLOW:
  shfl.sync.idx.b32 %r5, %r5, %r2, 31, %r1;
  add.u32 %r5, %r5, %r3;
  st.global.u32 [%dst], %r5;
SKIP:)",
                                 setup);
  CHECK(o.at("atom") == Count{1, 1});
  CHECK(o.out[32] == 21);
  for (uint32_t l = 11; l < 32; ++l) CHECK(o.out[l] == l - 11);
}

TEST_CASE("core: warp ops: elect.sync gives all lanes of the mask the same leader") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r5, 0;
  setp.lt.u32 %p1, %t, 5;
  @%p1 bra SKIP;
  elect.sync %r1|%p2, 0xffffffe0;
  elect.sync _|%p3, 0xffffffe0;
  selp.u32 %r5, 100, 0, %p2;
  @%p3 add.u32 %r5, %r5, 1000;
  add.u32 %r5, %r5, %r1;
SKIP:
  st.global.u32 [%dst], %r5;)");
  CHECK(o.out == each(32, [](uint32_t l) { return l < 5 ? 0 : l == 5 ? 1105 : 5; }));
}
