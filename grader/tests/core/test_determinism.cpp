// Outputs, counters, findings, printf and traps do not depend on the number of host threads. The
// reference is a run of the blocks one after the other.
#include <doctest/doctest.h>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

using Facts = std::vector<uint64_t>;

Facts facts(const counters::Counters& c) {
  Facts all = {c.warp_instructions, c.lane_instructions, c.l2_sectors,  c.l2_sectors_ideal,
               c.global_bytes,      c.load_ideal,        c.store_ideal, c.block_barriers};
  for (const auto* t : {&c.load, &c.store, &c.red, &c.atom}) {
    all.push_back(t->requests);
    all.push_back(t->sectors);
  }
  for (const auto* t : {&c.shared_load, &c.shared_store, &c.shared_atom}) {
    all.push_back(t->requests);
    all.push_back(t->wavefronts);
    all.push_back(t->ideal);
  }
  return all;
}

// Runs the kernel on 1, 2, 3 and 8 host threads, several times each, and compares. Returns the
// outcome of one thread.
LaunchOutcome same_on_all(const std::string& body, Setup setup) {
  setup.threads = 1;
  const LaunchOutcome one = tests::run(body, setup);
  for (const unsigned threads : {2u, 3u, 8u})
    for (int again = 0; again < 3; ++again) {
      CAPTURE(threads);
      setup.threads = threads;
      const LaunchOutcome many = tests::run(body, setup);
      REQUIRE(many.trap.has_value() == one.trap.has_value());
      if (one.trap) {
        CHECK(many.trap->kind() == one.trap->kind());
        CHECK(describe(*many.trap) == describe(*one.trap));
        CHECK(many.trapped_at == one.trapped_at);
        CHECK(many.output == one.output);
        continue;  // the output of a trapped kernel is undefined
      }
      CHECK(many.out == one.out);
      CHECK(many.written == one.written);
      CHECK(many.output == one.output);
      CHECK(many.longest_warp == one.longest_warp);
      CHECK(facts(many.counters) == facts(one.counters));
      REQUIRE(many.findings.size() == one.findings.size());
      for (size_t i = 0; i < one.findings.size(); ++i) {
        CHECK(describe(many.findings[i]) == describe(one.findings[i]));
        CHECK(many.findings[i].count == one.findings[i].count);
        CHECK(many.findings[i].line == one.findings[i].line);
      }
    }
  return one;
}

Setup grid_of(uint32_t blocks, uint32_t threads = 64) {
  Setup setup;
  setup.grid = {blocks, 1, 1};
  setup.block = {threads, 1, 1};
  setup.hazards = true;
  return setup;
}

}  // namespace

TEST_CASE("core: determinism: blocks that share no data") {
  // Blocks have different lengths, and their warps diverge.
  const LaunchOutcome o = same_on_all(R"(
  ld.global.u32 %r1, [%src];
  mov.u32 %r2, %ctaid.x;
  and.b32 %r2, %r2, 63;
LOOP:
  mad.lo.u32 %r1, %r1, 5, %t;
  sub.u32 %r2, %r2, 1;
  setp.gt.s32 %p1, %r2, 0;
  @%p1 bra LOOP;
  st.global.u32 [%dst], %r1;)",
                                      grid_of(300));
  REQUIRE(!o.trap);
  CHECK(o.out == each(300 * 64, [](uint32_t i) {
          uint32_t x = i;
          for (uint32_t k = std::max(1u, i / 64 % 64); k > 0; --k) x = x * 5 + i % 64;
          return x;
        }));
}

TEST_CASE("core: determinism: blocks that read and write one array") {
  Setup setup = grid_of(100);
  setup.out_written = true;
  // A block also reads a word that its left neighbour writes.
  const LaunchOutcome o = same_on_all(R"(
  ld.global.u32 %r1, [%dst];
  mov.u32 %r2, 0;
  setp.ge.u32 %p1, %g, 64;
  @%p1 ld.global.u32 %r2, [%dst+-256];
  add.u32 %r1, %r1, %r2;
  add.u32 %r1, %r1, 1;
  st.global.u32 [%dst], %r1;)",
                                      setup);
  REQUIRE(!o.trap);
  CHECK(o.out == each(6400, [](uint32_t i) { return i / 64 + 1; }));
}

TEST_CASE("core: determinism: if all blocks write one word, the last block's value stays") {
  const LaunchOutcome o = same_on_all(R"(
  mad.wide.u32 %d1, %t, 4, %out;
  st.global.u32 [%d1], %g;)",
                                      grid_of(100));
  REQUIRE(!o.trap);
  for (uint32_t t = 0; t < 64; ++t) CHECK(o.out[t] == 99 * 64 + t);
  CHECK(!o.written[64]);
}

TEST_CASE("core: determinism: two blocks may write bytes of one word") {
  Setup setup = grid_of(64, 2);
  setup.out_words = 64;
  const LaunchOutcome o = same_on_all(R"(
  cvt.u64.u32 %d1, %g;
  add.u64 %d1, %d1, %out;
  st.global.u8 [%d1], %g;)",
                                      setup);
  REQUIRE(!o.trap);
  for (uint32_t i = 0; i < 32; ++i) CHECK(o.out[i] == (4 * i) * 0x01010101u + 0x03020100u);
}

TEST_CASE("core: determinism: blocks draw tickets in block order") {
  Setup setup = grid_of(64, 32);
  setup.out_words = 64 * 32 + 1;
  setup.out_written = true;
  const LaunchOutcome o = same_on_all(R"(
  atom.global.add.u32 %r1, [%out+8192], 1;
  st.global.u32 [%dst], %r1;)",
                                      setup);
  REQUIRE(!o.trap);
  CHECK(o.out == each(64 * 32 + 1, [](uint32_t i) { return i; }));
}

TEST_CASE("core: determinism: float atomics are summed in block order") {
  Setup setup = grid_of(40);
  setup.out_written = true;
  for (uint32_t i = 0; i < 40 * 64; ++i)
    setup.in.push_back(tests::bits_of(static_cast<float>(i * 37 % 1009) * 0.37f + 1e-3f));
  const LaunchOutcome o = same_on_all(R"(
  ld.global.f32 %f1, [%src];
  red.global.add.f32 [%out], %f1;)",
                                      setup);
  REQUIRE(!o.trap);
  float sum = 0;
  for (uint32_t word : setup.in) {
    float value;
    std::memcpy(&value, &word, 4);
    sum += value;
  }
  CHECK(o.out[0] == tests::bits_of(sum));
}

TEST_CASE("core: determinism: integer atomics without used results") {
  for (const std::string op :
       {"add.u32", "max.u32", "min.s32", "xor.b32", "or.b32", "and.b32", "add.u64", "max.s64"}) {
    CAPTURE(op);
    Setup setup = grid_of(120);
    setup.out_written = true;
    const bool wide = op.substr(op.size() - 2) == "64";
    REQUIRE(!same_on_all("and.b32 %r1, %g, 15;\n mul.wide.u32 %d1, %r1, 8;\n"
                         "add.u64 %d1, %d1, %out;\n mul.lo.u32 %r2, %g, 77777;\n"
                         "cvt.u64.u32 %d2, %r2;\n red.global." +
                             op + " [%d1], " + (wide ? "%d2;" : "%r2;"),
                         setup)
                 .trap);
  }
}

TEST_CASE("core: determinism: atomics mixed with reads, or with other atomics") {
  constexpr uint32_t kBlocks = 20;  // the race check examines all changes of a word
  Setup setup = grid_of(kBlocks);
  setup.out_written = true;
  const LaunchOutcome reads = same_on_all(R"(
  red.global.add.u32 [%out], 1;
  ld.global.u32 %r1, [%out];
  mad.wide.u32 %d1, %g, 4, %out;
  setp.ge.u32 %p1, %g, 1;
  @%p1 st.global.u32 [%d1], %r1;)",
                                          setup);
  REQUIRE(!reads.trap);
  CHECK(reads.out[0] == kBlocks * 64);
  CHECK(reads.out[1] == 32);  // after its whole warp has added
  CHECK(reads.out[(kBlocks - 1) * 64] == (kBlocks - 1) * 64 + 32);

  const LaunchOutcome both = same_on_all(R"(
  red.global.add.u32 [%out], %t;
  red.global.max.u32 [%out], 5000;
  mov.u32 %r1, %ctaid.x;
  red.global.xor.b32 [%out], %r1;)",
                                         setup);
  REQUIRE(!both.trap);
  uint32_t want = 0;
  for (uint32_t b = 0; b < kBlocks; ++b)
    // A warp runs until it must wait, so warp 0 of a block ends before warp 1 starts.
    for (uint32_t w = 0; w < 2; ++w) {
      for (uint32_t l = 0; l < 32; ++l) want += w * 32 + l;
      want = std::max(want, 5000u);
      // 32 lanes flip the same bits, an even number of times.
    }
  CHECK(both.out[0] == want);
}

TEST_CASE("core: determinism: a rollback leaves no trace of the first attempt") {
  for (const bool written : {false, true}) {
    CAPTURE(written);
    Setup setup = grid_of(64, 1);
    setup.out_written = written;
    setup.in.assign(64, 0);
    // Block 0 runs for a long time and then sets a flag. Blocks that read the flag earlier leave a
    // mark.
    const LaunchOutcome o = same_on_all(R"(
  mov.u32 %r3, %ctaid.x;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra LOOK;
  mov.u32 %r1, 300000;      // milliseconds, so that the others come first
WORK:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra WORK;
  st.global.u32 [%in], 1;
LOOK:
  ld.global.u32 %r2, [%in];
  setp.eq.u32 %p3, %r2, 0;
  @%p3 st.global.u32 [%dst], 99;
  @!%p1 st.global.u32 [%dst], 7;)",
                                        setup);
    REQUIRE(!o.trap);
    CHECK(o.out[0] == 7);
    CHECK(o.written[0]);
    for (size_t i = 1; i < 64; ++i) {
      CHECK(o.written[i] == written);
      CHECK(o.out[i] == (written ? 0 : 0xffffffff));
    }
  }
}

TEST_CASE("core: determinism: whether a word was written before its read") {
  Setup setup = grid_of(16, 32);
  // Block 0 writes late a word that block 1 reads: in block order there is no trap.
  const std::string late = R"(
  mov.u32 %r3, %ctaid.x;
  setp.ne.u32 %p1, %r3, WRITER;
  @%p1 bra READ;
  mov.u32 %r1, 300000;      // milliseconds, so that the others come first
WORK:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra WORK;
  st.global.u32 [%out], 5;
  ret;
READ:
  ld.global.u32 %r2, [%out];  //@read
  st.global.u32 [%dst], %r2;)";
  std::string body = late;
  body.replace(body.find("WRITER"), 6, "0");
  CHECK(!same_on_all(body, setup).trap);
  body = late;
  body.replace(body.find("WRITER"), 6, "1");
  const LaunchOutcome o = same_on_all(body, setup);
  REQUIRE(o.trap);
  CHECK(describe(*o.trap) ==
        "thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 0 of `out`, which nothing has "
        "written; the value is stored in device memory");
}

TEST_CASE("core: determinism: findings and their examples do not depend on host threads") {
  Setup setup = grid_of(150);
  setup.functions = ".shared .align 4 .b32 box[64];\n";
  // From block 70 on, blocks read words that may not have been written yet.
  const LaunchOutcome o = same_on_all(R"(
  mov.u32 %r9, box;
  xor.b32 %r1, %t, 32;
  mad.lo.u32 %r8, %t, 4, %r9;
  mad.lo.u32 %r7, %r1, 4, %r9;
  st.shared.u32 [%r8], %t;
  mov.u32 %r2, %ctaid.x;
  setp.ge.u32 %p1, %r2, 70;
  @%p1 bra NO_BARRIER;
  bar.sync 0;
NO_BARRIER:
  ld.shared.u32 %r3, [%r7];
  st.global.u32 [%dst], %r3;)",
                                      setup);
  REQUIRE(!o.trap);
  REQUIRE(!o.findings.empty());
  CHECK(o.findings[0].kind == counters::Finding::Kind::race);
  CHECK(describe(o.findings[0]).find("block 70") != std::string::npos);
}

TEST_CASE("core: determinism: traps of many blocks, and the output before them") {
  Setup setup = grid_of(200, 32);
  setup.functions = R"(
.extern .func (.param .b32 printed) vprintf(.param .b64 format, .param .b64 arguments);
)";
  const LaunchOutcome o = same_on_all(R"(
  .local .align 16 .b8 text[16];
  mov.u32 %r1, 0x000a6425;    // "%d\n"
  st.local.u32 [text], %r1;
  mov.u32 %r2, %ctaid.x;
  st.local.u32 [text+8], %r2;
  cvta.local.u64 %d1, text;
  add.u64 %d2, %d1, 8;
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra NO_PRINT;
  { .param .b64 a; .param .b64 b; .param .b32 c;
  st.param.b64 [a], %d1;
  st.param.b64 [b], %d2;
  call.uni (c), vprintf, (a, b); }
NO_PRINT:
  rem.u32 %r3, %r2, 31;
  setp.eq.u32 %p2, %r3, 29;
  @%p2 trap;                  //@trap)",
                                      setup);
  REQUIRE(o.trap);
  CHECK(describe(*o.trap) == "thread (0,0,0) of block (29,0,0) executes trap");
  std::string want;
  for (int b = 0; b < 30; ++b) want += std::to_string(b) + "\n";
  CHECK(o.output == want);
}
