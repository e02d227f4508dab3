// Undefined values: a kernel may copy them and compute with them; they are faults where they have
// an effect.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "simulator/core/undefined/definedness.h"
#include "tests/fixtures/opcode_harness.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using sim::RegisterBits128;
using tests::LaunchOutcome;
using tests::Line;
using tests::Setup;

namespace {

// ---- each instruction by itself -----------------------------------------------------------------

struct Bit {
  sim::RegisterSlot slot;
  unsigned bit;
};

RegisterBits128 one(unsigned bit) {
  return bit < 64 ? RegisterBits128{uint64_t{1} << bit, 0}
                  : RegisterBits128{0, uint64_t{1} << (bit - 64)};
}

RegisterBits128 bits_with(RegisterBits128 a, RegisterBits128 b) {
  return {a.low | b.low, a.high | b.high};
}
RegisterBits128 difference(RegisterBits128 a, RegisterBits128 b) {
  return {a.low ^ b.low, a.high ^ b.high};
}

// Makes some bits of the first `sources` operands undefined and tries all their values. The bits of
// the result that change must be reported as undefined and, if `exact`, no others.
void check_flow(const std::string& text, unsigned sources, bool exact) {
  CAPTURE(text);
  Line line(text);
  std::mt19937_64 random(7);
  const sim::Inst& in = line.inst();
  const std::vector<std::byte> fresh = line.registers();
  for (int trial = 0; trial < 300; ++trial) {
    const int lane = trial % 32;
    for (std::byte& b : line.registers()) b = static_cast<std::byte>(random());
    for (unsigned s = 0; s < in.src_count; ++s) {  // shift counts and selectors that have an effect
      if (in.src[s].is_predicate || random() % 2 == 0) continue;
      sim::set_register_bits(line.registers().data(), in.src[s], lane, {random() % 40, 0});
    }
    if (in.src_count > 3 && text.rfind("lop3", 0) == 0)  // the table is part of the instruction
      std::copy_n(fresh.begin() + in.src[3].offset, in.src[3].bytes * 32,
                  line.registers().begin() + in.src[3].offset);
    const std::vector<std::byte> start = line.registers();
    std::vector<std::byte> undefined(start.size());
    std::vector<Bit> open;
    for (unsigned s = 0; s < std::min<unsigned>(sources, in.src_count); ++s) {
      const unsigned width = in.src[s].is_predicate ? 1 : in.src[s].bytes * 8u;
      for (uint64_t n = random() % 3; n > 0 && width > 0; --n) {
        const Bit bit{in.src[s], static_cast<unsigned>(random() % width)};
        sim::set_register_bits(
            undefined.data(), bit.slot, lane,
            bits_with(sim::get_register_bits(undefined.data(), bit.slot, lane), one(bit.bit)));
        open.push_back(bit);
      }
    }
    const sim::UndefinedResultBits said = line.undefined(1u << lane, undefined);
    REQUIRE(line.registers() == start);
    line.run(1u << lane);
    const std::vector<std::byte> result = line.registers();
    for (unsigned d = 0; d < in.dst_count; ++d) {
      if (in.dst[d].bytes == 0) continue;
      const RegisterBits128 before = sim::get_register_bits(result.data(), in.dst[d], lane);
      RegisterBits128 changes;
      for (uint32_t flipped = 1; flipped < 1u << open.size(); ++flipped) {
        line.registers() = start;
        for (size_t b = 0; b < open.size(); ++b) {
          if ((flipped >> b & 1) == 0) continue;
          std::byte* const file = line.registers().data();
          sim::set_register_bits(
              file, open[b].slot, lane,
              difference(sim::get_register_bits(file, open[b].slot, lane), one(open[b].bit)));
        }
        line.run(1u << lane);
        changes = bits_with(
            changes,
            difference(sim::get_register_bits(line.registers().data(), in.dst[d], lane), before));
      }
      const RegisterBits128 flagged = said[d][static_cast<size_t>(lane)];
      CHECK((changes.low & ~flagged.low) == 0);
      CHECK((changes.high & ~flagged.high) == 0);
      if (!exact) continue;
      CHECK(flagged.low == changes.low);
      CHECK(flagged.high == changes.high);
    }
  }
}

TEST_CASE("core: definedness: undefined bits are exact for instructions that move and mask bits") {
  for (const char* text :
       {"mov.b32 %r3, %r1;", "mov.b64 %rd3, %rd1;", "mov.b64 %rd3, {%r1, %r2};",
        "mov.b64 {%r3, %r4}, %rd1;", "mov.b32 {%rs3, %rs4}, %r1;", "mov.b32 %r3, {%rs1, %rs2};",
        "mov.b128 %rq3, {%rd1, %rd2};", "not.b32 %r3, %r1;", "and.b32 %r3, %r1, %r2;",
        "or.b64 %rd3, %rd1, %rd2;", "xor.b32 %r3, %r1, %r2;", "and.pred %p3, %p1, %p2;",
        "or.pred %p3, %p1, %p2;", "xor.pred %p3, %p1, %p2;", "not.pred %p3, %p1;",
        "lop3.b32 %r4, %r1, %r2, %r3, 0xe8;", "lop3.b32 %r4, %r1, %r2, %r3, 0x1b;",
        "selp.b32 %r3, %r1, %r2, %p1;", "selp.f64 %fd3, %fd1, %fd2, %p1;"})
    check_flow(text, 3, true);
  for (const char* text :
       {"shl.b32 %r3, %r1, %r2;", "shr.u32 %r3, %r1, %r2;", "shr.s32 %r3, %r1, %r2;",
        "shr.s64 %rd3, %rd1, %r2;", "bfe.u32 %r4, %r1, %r2, %r3;", "bfe.s32 %r4, %r1, %r2, %r3;",
        "cvt.u32.u8 %r3, %r1;", "cvt.s32.s8 %r3, %r1;", "cvt.u64.u32 %rd3, %r1;",
        "cvt.s64.s32 %rd3, %r1;", "cvt.u16.u32 %rs3, %r1;"})
    check_flow(text, 1, true);
  for (const char* text :
       {"shf.l.wrap.b32 %r4, %r1, %r2, %r3;", "shf.r.clamp.b32 %r4, %r1, %r2, %r3;",
        "bfi.b32 %r5, %r1, %r2, %r3, %r4;", "prmt.b32 %r4, %r1, %r2, %r3;"})
    check_flow(text, 2, true);
}

TEST_CASE("core: definedness: every bit that can change is undefined") {
  for (const char* text : {"shl.b32 %r3, %r1, %r2;",
                           "prmt.b32 %r4, %r1, %r2, %r3;",
                           "bfe.u32 %r4, %r1, %r2, %r3;",
                           "bfi.b32 %r5, %r1, %r2, %r3, %r4;",
                           "add.s32 %r3, %r1, %r2;",
                           "sub.s64 %rd3, %rd1, %rd2;",
                           "neg.s32 %r3, %r1;",
                           "mul.lo.s32 %r3, %r1, %r2;",
                           "mul.wide.s32 %rd3, %r1, %r2;",
                           "mul.wide.u16 %r3, %rs1, %rs2;",
                           "mad.lo.s32 %r4, %r1, %r2, %r3;",
                           "mul.hi.u32 %r3, %r1, %r2;",
                           "div.s32 %r3, %r1, %r2;",
                           "min.s32 %r3, %r1, %r2;",
                           "popc.b32 %r3, %r1;",
                           "brev.b32 %r3, %r1;",
                           "add.rn.f32 %f3, %f1, %f2;",
                           "fma.rn.f32 %f4, %f1, %f2, %f3;",
                           "cvt.rn.f32.s32 %f3, %r1;",
                           "cvt.rzi.s32.f32 %r3, %f1;",
                           "cvt.sat.u8.s32 %r3, %r1;",
                           "abs.s32 %r3, %r1;",
                           "slct.b32.s32 %r4, %r1, %r2, %r3;",
                           "setp.eq.s32 %p3, %r1, %r2;",
                           "setp.ne.b64 %p3, %rd1, %rd2;",
                           "setp.lt.f32 %p3, %f1, %f2;",
                           "setp.lt.u32 %p3|%p4, %r1, %r2;",
                           "setp.eq.and.s32 %p3, %r1, %r2, %p1;",
                           "setp.gt.or.s32 %p3, %r1, %r2, %p1;",
                           "setp.ne.xor.u32 %p3, %r1, %r2, %p1;",
                           "set.lt.u32.s32 %r3, %r1, %r2;",
                           "szext.clamp.s32 %r3, %r1, %r2;",
                           "lop3.or.b32 %r4|%p2, %r1, %r2, %r3, 0x80, %p1;",
                           "dp4a.s32.s32 %r4, %r1, %r2, %r3;",
                           "add.f16x2 %r3, %r1, %r2;",
                           "testp.normal.f32 %p3, %f1;"})
    check_flow(text, 4, false);
}

TEST_CASE("core: definedness: a comparison for equality is defined if defined bits decide it") {
  Line line("setp.eq.s32 %p1, %r1, %r2;");
  std::vector<std::byte> undefined(line.registers().size());
  line.set(line.inst().src[0], 0, 0x10u);
  line.set(line.inst().src[1], 0, 0x20u);
  sim::set_register_bits(undefined.data(), line.inst().src[0], 0, {0xf, 0});
  CHECK(!line.undefined(1, undefined)[0][0].any());
  line.set(line.inst().src[1], 0, 0x11u);
  CHECK(line.undefined(1, undefined)[0][0].any());
}

// ---- in a kernel
// ---------------------------------------------------------------------------------

// `out` is not written before the launch: %r1 comes from there.
constexpr const char* kRead = "ld.global.u32 %r1, [%dst];  //@here\n";

std::string use_in(const std::string& body, const Setup& setup = {}) {
  const LaunchOutcome o = tests::run(kRead + body, setup);
  if (!o.trap) return "";
  CHECK(o.trapped_at == "here");
  const std::string said = tests::words(*o.trap);
  const size_t at = said.find("; the value ");
  return at == std::string::npos ? said : said.substr(at + 12);
}

TEST_CASE("core: definedness: a fault names the use of the undefined value") {
  CHECK(use_in("st.global.u32 [%dst], %r1;") == "is stored in device memory");
  CHECK(use_in("add.u32 %r1, %r1, 1;\n mul.lo.u32 %r2, %r1, 2;\n st.global.u32 [%dst], %r2;") ==
        "is stored in device memory");
  CHECK(use_in("atom.global.add.u32 %r2, [%in], %r1;") == "goes into an atomic");
  CHECK(use_in("setp.eq.u32 %p1, %r1, 0;\n @%p1 ret;") == "decides a branch");
  CHECK(use_in("setp.eq.u32 %p1, %r1, 0;\n @%p1 st.global.u32 [%dst], 1;") == "decides a branch");
  CHECK(use_in("setp.ne.u32 %p1, %r1, 0;\n @%p1 st.global.u32 [%dst], 1;") ==
        "decides a branch");  // poison is not 0, so these lanes store
  CHECK(use_in("cvt.u64.u32 %d1, %r1;\n add.u64 %d1, %d1, %in;\n ld.global.u32 %r2, [%d1];") ==
        "becomes an address");
  CHECK(use_in("bar.sync %r1;") == "decides a branch");
  CHECK(use_in("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n st.global.u32 [%dst], %r2;") ==
        "is stored in device memory");
  CHECK(use_in("vote.sync.any.pred %p2, %p1, %r1;") == "decides a branch");
}

TEST_CASE("core: definedness: undefined values without an effect are no fault") {
  for (const char* body : {
           "",  // only the read
           "and.b32 %r1, %r1, 0;\n st.global.u32 [%dst], %r1;",
           "setp.lt.u32 %p1, %r1, 7;\n setp.gt.u32 %p2, %t, 99;\n and.pred %p1, %p1, %p2;\n"
           "@%p1 st.global.u32 [%dst], 1;",
           "setp.gt.u32 %p1, %t, 99;\n selp.b32 %r2, %r1, %t, %p1;\n st.global.u32 [%dst], %r2;",
           "mov.u32 %r1, 5;\n st.global.u32 [%dst], %r1;",
           "shl.b32 %r1, %r1, 8;\n and.b32 %r1, %r1, 255;\n st.global.u32 [%dst], %r1;",
           "setp.lt.u32 %p1, %r1, 7;\n @%p1 mov.u32 %r2, 3;\n mov.u32 %r2, 4;\n"
           "st.global.u32 [%dst], %r2;",
           "setp.eq.u32 %p1, %r1, 7;\n setp.ge.u32 %p2, %t, 0;\n or.pred %p1, %p1, %p2;\n"
           "vote.sync.any.pred %p3, %p1, -1;\n @%p3 st.global.u32 [%dst], 1;",
       })
    CHECK_MESSAGE(use_in(body) == "", body);
}

TEST_CASE("core: definedness: undefined guards are tracked") {
  CHECK(use_in("mov.u32 %r2, 1;\n setp.lt.u32 %p1, %r1, 7;\n @%p1 mov.u32 %r2, 3;\n"
               "st.global.u32 [%dst], %r2;") == "is stored in device memory");
  CHECK(use_in("mov.u32 %r2, 1;\n setp.lt.u32 %p1, %r1, 7;\n @!%p1 mov.u32 %r2, 3;\n"
               "st.global.u32 [%dst], %r2;") == "is stored in device memory");
}

TEST_CASE("core: definedness: undefined values are tracked by lane through shuffles and votes") {
  // Lanes below 16 have defined values. Each lane gets that of its neighbour, which is undefined
  // for lane 15.
  const std::string some = R"(
  setp.lt.u32 %p1, %t, 16;
  @%p1 mov.u32 %r1, %t;
  shfl.sync.down.b32 %r2, %r1, 1, 31, -1;
  setp.lt.u32 %p2, %t, LIMIT;
  @%p2 st.global.u32 [%dst], %r2;)";
  const auto below = [&](const std::string& limit) {
    std::string body = some;
    return body.replace(body.find("LIMIT"), 5, limit);
  };
  CHECK(use_in(below("15")) == "");
  CHECK(use_in(below("16")) == "is stored in device memory");
  // One undefined lane makes only its own bit of a ballot undefined.
  const std::string ballot = R"(
  setp.ne.u32 %p1, %t, 3;
  @%p1 mov.u32 %r1, 1;
  setp.eq.u32 %p2, %r1, 1;
  vote.sync.ballot.b32 %r2, %p2, -1;
  and.b32 %r2, %r2, MASK;
  st.global.u32 [%dst], %r2;)";
  const auto masked = [&](const std::string& mask) {
    std::string body = ballot;
    return body.replace(body.find("MASK"), 4, mask);
  };
  CHECK(use_in(masked("0xfffffff7")) == "");
  CHECK(use_in(masked("0x8")) == "is stored in device memory");
}

TEST_CASE("core: definedness: undefined bytes are tracked through shared and local memory") {
  Setup setup;
  setup.functions = ".shared .align 16 .b8 box[256];\n";
  const std::string there = R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r9, %t, 4, %r9;
  st.shared.u32 [%r9], %r1;
  st.shared.u8 [%r9], 7;
)";
  CHECK(use_in(there + "ld.shared.u8 %r2, [%r9];\n st.global.u32 [%dst], %r2;", setup) == "");
  CHECK(use_in(there + "ld.shared.u8 %r2, [%r9+1];\n st.global.u32 [%dst], %r2;", setup) ==
        "is stored in device memory");
  const std::string local = R"(
  .local .align 16 .b8 own[16];
  mov.u64 %d1, own;
  st.local.v2.u32 [%d1], {%r1, %t};
)";
  CHECK(use_in(local + "ld.local.v2.u32 {%r2, %r3}, [%d1];\n st.global.u32 [%dst], %r3;") == "");
  CHECK(use_in(local + "ld.local.v2.u32 {%r2, %r3}, [%d1];\n st.global.u32 [%dst], %r2;") ==
        "is stored in device memory");
  CHECK(use_in(local + "cvta.local.u64 %d2, %d1;\n st.u32 [%d2], %t;\n ld.u32 %r2, [%d2];\n"
                       "st.global.u32 [%dst], %r2;") == "");
}

TEST_CASE(
    "core: definedness: undefined values are tracked through parameters and results of functions") {
  Setup setup;
  setup.functions = R"(
.func (.param .b32 result) first(.param .b32 a, .param .b32 b)
{
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [a];
  ld.param.u32 %r2, [b];
  st.param.b32 [result], %r1;
  ret;
}
)";
  const auto call = [](const std::string& a, const std::string& b) {
    return "{ .param .b32 x; .param .b32 y; .param .b32 z;\n st.param.b32 [x], " + a +
           ";\n st.param.b32 [y], " + b +
           ";\n call.uni (z), first, (x, y);\n ld.param.u32 %r2, [z]; }\n"
           "st.global.u32 [%dst], %r2;";
  };
  CHECK(use_in(call("%t", "%r1"), setup) == "");
  CHECK(use_in(call("%r1", "%t"), setup) == "is stored in device memory");
}

TEST_CASE(
    "core: definedness: undefined values are tracked through asynchronous copies and matrices") {
  Setup setup;
  setup.functions = ".shared .align 128 .b8 box[512];\n";
  setup.out_words = 128;
  const std::string copy = R"(
  mov.u32 %r9, box;
  shl.b32 %r8, %t, 4;
  add.u32 %r9, %r9, %r8;
  cvt.u64.u32 %d1, %r8;
  add.u64 %d1, %d1, %out;
  cp.async.cg.shared.global [%r9], [%d1], 16;  //@copy
  cp.async.wait_all;
)";
  const auto stored = [&](const std::string& body) {
    const LaunchOutcome o = tests::run(copy + body, setup);
    return o.trap ? o.trapped_at : "";
  };
  CHECK(stored("") == "");
  CHECK(stored("ld.shared.u32 %r2, [%r9];\n st.global.u32 [%dst], %r2;") == "copy");
  CHECK(stored("bar.warp.sync -1;\n ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r9];\n"
               "st.global.u32 [%dst], %r2;") == "copy");
  CHECK(
      stored("st.shared.u32 [%r9], 5;\n ld.shared.u32 %r2, [%r9];\n st.global.u32 [%dst], %r2;") ==
      "");
}

TEST_CASE("core: definedness: an mbarrier and a word that an atomic initialised are defined") {
  Setup setup;
  setup.functions = ".shared .align 16 .b8 box[16];\n";
  setup.hazards = true;
  const LaunchOutcome o = tests::finish(R"(
  mov.u32 %r9, box;
  setp.eq.u32 %p1, %t, 0;
  @%p1 mbarrier.init.shared.b64 [%r9], 32;
  bar.sync 0;
  mbarrier.arrive.shared.b64 %d1, [%r9];
  st.global.u32 [%dst], 1;)",
                                        setup);
  CHECK(o.findings.empty());
  const LaunchOutcome a = tests::finish(R"(
  mov.u32 %r9, box;
  atom.shared.add.u32 %r1, [%r9], 1;
  bar.sync 0;
  ld.shared.u32 %r2, [%r9];
  st.global.u32 [%dst], %r2;)",
                                        setup);
  REQUIRE(a.findings.size() == 1);  // the atomic's own read, not the load after it
  CHECK(a.findings[0].used_as == sim::ValueUse::atomic);
}

TEST_CASE("core: definedness: an exchange writes, and its old value may be undefined") {
  Setup setup;
  setup.functions = ".shared .align 16 .b8 box[16];\n";
  setup.hazards = true;
  const auto findings = [&](const std::string& body) {
    return tests::run("mov.u32 %r9, box;\n" + body, setup);
  };
  for (const std::string place : {".global.exch.b32 %r1, [%dst]", ".shared.exch.b32 %r1, [%r9]"}) {
    CAPTURE(place);
    CHECK_FALSE(findings("atom" + place + ", 7;").trap);
    const LaunchOutcome used =
        findings("atom" + place + ", 7;\n add.u32 %r1, %r1, 1;\n st.global.u32 [%dst], %r1;");
    CHECK((used.trap || !used.findings.empty()));
  }
  // Among 32 exchanges of one word, only the first has an undefined result.
  const LaunchOutcome o = tests::run(R"(
  mov.u32 %r9, box;
  atom.shared.exch.b32 %r1, [%r9], %t;
  setp.eq.u32 %p1, %t, 0;
  selp.b32 %r1, 99, %r1, %p1;
  st.global.u32 [%dst], %r1;)",
                                     setup);
  CHECK_FALSE(o.trap);
  CHECK(o.findings.empty());
  CHECK(o.out == tests::each(32, [](uint32_t t) { return t == 0 ? 99 : t - 1; }));
}

TEST_CASE("core: definedness: padding may be copied, and the copy is not written") {
  Setup setup;
  setup.out_words = 4 * 32;
  const std::string copy = R"(
  mad.wide.u32 %d1, %t, 16, %out;
  st.global.u64 [%d1], 5;      // struct { double; int; } without its padding
  st.global.u32 [%d1+8], 6;
  ld.global.v2.u64 {%d2, %d3}, [%d1];
)";
  const LaunchOutcome o = tests::run(copy + "st.global.v2.u64 [%d1], {%d2, %d3};", setup);
  CHECK_FALSE(o.trap);
  CHECK(o.written[2]);
  CHECK_FALSE(o.written[3]);
  // A value that is read from the padding is a fault.
  CHECK(tests::run(copy + "shr.u64 %d3, %d3, 32;\n st.global.u64 [%d1], %d3;", setup).trap);
}

}  // namespace
