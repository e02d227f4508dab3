// Instructions with optional operands or an unusual order of modifiers, tested from the PTX text to
// the result.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "tests/fixtures/opcode_coverage.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::bits_of;
using tests::each;
using tests::finish;
using tests::Setup;

TEST_CASE("core: forms: min and max take two or three operands") {
  const auto value = [](uint32_t i, float scale) {
    return scale * (static_cast<float>(i) - 16.0f);
  };
  const auto outcome = finish(R"(
  cvt.rn.f32.u32 %f0, %t;
  sub.f32 %f1, %f0, 0f41800000;       // t - 16
  mul.f32 %f2, %f1, 0fC0000000;       // -2 (t - 16)
  min.f32 %f3, %f1, %f2;
  max.f32 %f4, %f3, %f1, 0f40000000;  // of three, with 2
  cvt.f64.f32 %e0, %f4;
  min.f64 %e1, %e0, 0d4014000000000000;
  cvt.rn.f32.f64 %f5, %e1;
  st.global.f32 [%dst], %f5;
)");
  CHECK(outcome.out == each(32, [&](uint32_t i) {
          const float a = value(i, 1), b = value(i, -2);
          return bits_of(std::fmin(std::fmax(std::fmax(std::fmin(a, b), a), 2.0f), 5.0f));
        }));
}

TEST_CASE("core: forms: comparisons of halves work with and without a predicate") {
  const auto outcome = finish(R"(
  cvt.rn.f16.u32 %h0, %t;
  mov.b16 %h1, 0x4900;                // 10
  setp.lt.f16 %p0, %h0, %h1;
  setp.gt.u32 %p1, %t, 4;
  setp.lt.and.f16 %p2, %h0, %h1, %p1;
  selp.u32 %r0, 1, 0, %p0;
  selp.u32 %r1, 2, 0, %p2;
  add.u32 %r2, %r0, %r1;
  st.global.u32 [%dst], %r2;
)");
  CHECK(outcome.out ==
        each(32, [](uint32_t i) { return (i < 10 ? 1 : 0) + (i < 10 && i > 4 ? 2 : 0); }));
}

TEST_CASE("core: forms: the scope of an atomic may precede or follow its space") {
  Setup setup;
  setup.out_written = true;
  const auto outcome = finish(R"(
  atom.global.cta.add.u32 %r0, [%out], 1;
  red.gpu.global.add.u32 [%out+4], 2;
  atom.relaxed.sys.global.add.u32 %r1, [%out+8], 3;
)",
                              setup);
  CHECK(outcome.out[0] == 32);
  CHECK(outcome.out[1] == 64);
  CHECK(outcome.out[2] == 96);
}

TEST_CASE("core: forms: atomics on vectors update each element, lane by lane") {
  Setup setup;
  setup.out_written = true;
  const auto outcome = finish(R"(
  cvt.rn.f32.u32 %f0, %t;
  mov.f32 %f1, 0f3F800000;
  atom.global.add.v2.f32 {%f2, %f3}, [%out], {%f0, %f1};
  red.global.add.v4.f32 [%out+16], {%f1, %f0, %f1, %f1};
  setp.eq.u32 %p0, %t, 31;
  @%p0 st.global.f32 [%out+64], %f2;  // the old value for lane 31: the sum of 0 … 30
  @%p0 st.global.f32 [%out+68], %f3;
)",
                              setup);
  CHECK(outcome.out[0] == bits_of(496));
  CHECK(outcome.out[1] == bits_of(32));
  CHECK(outcome.out[4] == bits_of(32));
  CHECK(outcome.out[5] == bits_of(496));
  CHECK(outcome.out[6] == bits_of(32));
  CHECK(outcome.out[16] == bits_of(465));
  CHECK(outcome.out[17] == bits_of(31));
}

// ---------------------------------------------------------------------------------------------

namespace lab32::tests {

// The name of the suite makes it run last (tests/main.cpp, setup/run_tests.py).
TEST_SUITE("after all others") {
  TEST_CASE("core: every row of opcodes.def is exercised") {
    const CoveredOps ops = all_covered_ops();
    std::string missing;
    for (const ptx::OpInfo& op : ptx::opcode_table()) {
      if (!ops.test(static_cast<size_t>(op.id))) missing += "\n  " + std::string(op.pattern);
    }
    CHECK_MESSAGE(missing.empty(), "no test of this run executed:", missing);
  }
}

}  // namespace lab32::tests

TEST_CASE("core: forms: L2 cache policies and hints have no effect on values") {
  Setup setup;
  setup.functions = ".shared .align 16 .b8 box[512];\n";
  setup.out_written = true;
  const auto outcome = finish(R"(
  createpolicy.fractional.L2::evict_first.b64 %d1, 0f3F800000;
  createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %d2;
  createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d3, [%in], 64, 128;
  createpolicy.cvt.L2.b64 %d4, 7;
  prefetch.global.L2::evict_last [%src];
  ld.global.L2::cache_hint.u32 %r1, [%src], %d1;
  ld.global.nc.L2::cache_hint.L2::128B.u32 %r2, [%src], %d2;
  st.global.L2::cache_hint.u32 [%dst], %r1, %d3;
  red.global.add.L2::cache_hint.u32 [%dst], %r2, %d4;
  atom.global.L2::cache_hint.add.u32 %r3, [%dst], 1, %d1;
  mov.u32 %r9, box;
  mad.lo.u32 %r9, %t, 16, %r9;
  cp.async.cg.shared.global.L2::cache_hint [%r9], [%in], 16, %d1;
  cp.async.wait_all;)",
                              setup);
  CHECK(outcome.out == each(32, [](uint32_t i) { return 2 * i + 1; }));
}

TEST_CASE("core: forms: modifiers of loads, atomics and matrix moves may come in any order") {
  Setup setup;
  setup.functions = ".shared .align 16 .b8 box[512];\n";
  const auto outcome = finish(R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r8, %t, 4, %r9;
  st.shared.u32 [%r8], %t;
  bar.warp.sync -1;
  mad.lo.u32 %r8, %t, 16, %r9;
  ldmatrix.sync.aligned.trans.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r8];
  ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r5, %r6, %r7, %r8}, [%r8];
  bar.warp.sync -1;
  mad.lo.u32 %r8, %t, 4, %r9;
  red.add.shared.u32 [%r8], 1;
  sub.u32 %r1, %r1, %r5;
  st.global.u32 [%dst], %r1;)",
                              setup);
  CHECK(outcome.out == each(32, [](uint32_t) { return 0; }));
}
