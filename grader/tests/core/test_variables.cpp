// Parameters of functions and kernels, and variables of modules with their initialisers.
#include <doctest/doctest.h>

#include "simulator/ptx/parser.h"
#include "tests/fixtures/opcode_coverage.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::finish;
using tests::LaunchOutcome;
using tests::Setup;

TEST_CASE("core: variables: .param passes structures, narrow and wide values in and out") {
  Setup setup;
  setup.functions = R"(
.func (.param .align 8 .b8 result[24]) swap(.param .align 8 .b8 argument[16], .param .b8 small)
{
  .reg .b64 %d<3>; .reg .b32 %r<5>; .reg .b16 %h<2>;
  ld.param.u64 %d1, [argument];
  ld.param.v2.u32 {%r1, %r2}, [argument+8];
  ld.param.s8 %r3, [small];
  ld.param.u8 %h1, [small];
  st.param.v2.b32 [result], {%r2, %r1};
  st.param.b64 [result+8], %d1;
  st.param.b32 [result+16], %r3;
  st.param.b16 [result+20], %h1;
  ret;
}
)";
  setup.out_words = 32 * 6;
  const LaunchOutcome o = finish(R"(
  mad.wide.u32 %d5, %t, 24, %out;
  cvt.u64.u32 %d1, %t;
  shl.b64 %d1, %d1, 40;
  add.u32 %r1, %t, 7;
  neg.s32 %r2, %t;
  { .param .align 8 .b8 a[16]; .param .b8 s; .param .align 8 .b8 b[24];
  st.param.b64 [a], %d1;
  st.param.v2.b32 [a+8], {%r1, %r2};
  st.param.b8 [s], %r2;
  call.uni (b), swap, (a, s);
  ld.param.v2.u32 {%r3, %r4}, [b];
  ld.param.u64 %d2, [b+8];
  ld.param.s32 %r5, [b+16];
  ld.param.u16 %h1, [b+20]; }
  cvt.u32.u16 %r6, %h1;
  st.global.v2.u32 [%d5], {%r3, %r4};
  st.global.u64 [%d5+8], %d2;
  st.global.v2.u32 [%d5+16], {%r5, %r6};)",
                                 setup);
  for (uint32_t t = 0; t < 32; ++t) {
    const std::vector<uint32_t> want = {0u - t, t + 7, 0, t << 8, 0u - t, (0u - t) & 0xff};
    CHECK(std::vector<uint32_t>(&o.out[6 * t], &o.out[6 * t] + 6) == want);
  }
}

TEST_CASE("core: variables: initialisers may contain addresses, and modules have symbols") {
  const std::string text = tests::with_header(R"(
.const .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
.global .align 4 .b32 number = 77;
.global .align 8 .b64 pointers[3] = {number, generic(table)+4, 0};
.global .align 4 .b32 counter;

.visible .entry look(.param .u64 look_out)
{
  .reg .b32 %r<8>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [look_out];
  ld.const.u32 %r1, [table+8];
  ld.global.u64 %d2, [pointers];
  ld.global.u32 %r2, [%d2];
  ld.global.u64 %d3, [pointers+8];
  ld.u32 %r3, [%d3];
  ld.global.u32 %r4, [counter];
  add.u32 %r5, %r4, 5;
  st.global.u32 [counter], %r5;
  st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};
  ret;
}
)");
  tests::Simulated s(text);
  tests::covered(ptx::parse(text));
  const auto out = s.device->allocate(16, "out");
  REQUIRE(!s.launch("look", {{1}, {1}}, {out}).fault);
  CHECK(s.download<uint32_t>(out) == std::vector<uint32_t>{3, 77, 2, 0});
  // Variables keep their values between launches, and the host reads and writes them.
  REQUIRE(!s.launch("look", {{1}, {1}}, {out}).fault);
  CHECK(s.download<uint32_t>(out)[3] == 5);
  const auto bytes = s.module->read_symbol("counter");
  REQUIRE(bytes);
  CHECK(static_cast<int>((*bytes)[0]) == 10);
  const uint32_t values[4] = {9, 8, 7, 6};
  CHECK(s.module->write_symbol("table", values, sizeof values));
  CHECK(!s.module->write_symbol("nothing", values, 4));
  CHECK(!s.module->read_symbol("nothing"));
  REQUIRE(!s.launch("look", {{1}, {1}}, {out}).fault);
  CHECK(s.download<uint32_t>(out) == std::vector<uint32_t>{7, 77, 8, 10});
}

TEST_CASE(
    "core: sim variables: kernel parameters of all widths, a structure by value, and through a "
    "pointer") {
  const std::string text = tests::with_header(R"(
.visible .entry params(.param .u64 params_0, .param .u8 params_1, .param .s16 params_2,
                       .param .f64 params_3, .param .align 4 .b8 params_4[12])
{
  .reg .b16 %h<3>; .reg .b32 %r<9>; .reg .b64 %d<6>; .reg .f64 %e<2>;
  ld.param.u64 %d1, [params_0];
  ld.param.u8 %h1, [params_1];
  ld.param.s16 %r1, [params_2];
  ld.param.f64 %e1, [params_3];
  ld.param.v2.u32 {_, %r2}, [params_4];
  mov.b64 %d2, params_4;
  ld.param.u32 %r3, [%d2+8];
  cvt.u32.u16 %r4, %h1;
  st.global.v4.u32 [%d1], {%r4, %r1, %r2, %r3};
  st.global.f64 [%d1+16], %e1;
  ret;
}
)");
  tests::Simulated s(text);
  tests::covered(ptx::parse(text));
  const auto out = s.device->allocate(24, "out");
  struct Triple {
    uint32_t a, b, c;
  };
  REQUIRE(!s.launch("params", {{1}, {1}}, {out, uint8_t{200}, int16_t{-5}, 2.5, Triple{1, 22, 333}})
               .fault);
  const auto words = s.download<uint32_t>(out);
  CHECK(words[0] == 200);
  CHECK(words[1] == 0xfffffffb);
  CHECK(words[2] == 22);
  CHECK(words[3] == 333);
  double real;
  std::memcpy(&real, &words[4], 8);
  CHECK(real == 2.5);
}

// ---------------------------------------------------------------------------------------------
// alloca: a thread's own memory, of a size that the program computes.

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;

TEST_CASE("core: alloca: each lane gets its own unwritten memory") {
  // Called twice, so that the second piece follows the first. The larger request of two lanes
  // counts.
  for (const char* type : {"u64", "u32"}) {
    CAPTURE(type);
    const bool wide = std::string(type) == "u64";
    const std::string at = wide ? "%d5" : "%r10", behind = wide ? "%d6" : "%r11";
    const std::string size = wide ? "%d4" : "%r9";
    const LaunchOutcome o = tests::run(
        "and.b32 %r9, %t, 1;\nshl.b32 %r9, %r9, 3;\nadd.u32 %r9, %r9, 8;\n"
        "cvt.u64.u32 %d4, %r9;\n"
        "alloca." +
        std::string(type) + " " + at + ", " + size +
        ";\n"
        "alloca." +
        type + " " + behind + ", " + size +
        ", 16;\n"
        "st.local.u32 [" +
        at +
        "], %t;\n"
        "st.local.u32 [" +
        behind +
        "], 7;\n"
        "ld.local.u32 %r1, [" +
        at +
        "];\n"
        "sub." +
        type + " " + size + ", " + behind + ", " + at + ";\n" +
        (wide ? "cvt.u32.u64 %r9, %d4;\n" : "") +
        "shl.b32 %r9, %r9, 8;\nadd.u32 %r1, %r1, %r9;\n"
        "st.global.u32 [%dst], %r1;");
    REQUIRE(!o.trap);
    CHECK(o.out == each(32, [](uint32_t l) { return l + (16 << 8); }));
  }
  const LaunchOutcome unwritten = tests::run(R"(
  mov.u64 %d4, 16;
  alloca.u64 %d5, %d4;
  ld.local.u32 %r1, [%d5+4];
  st.global.u32 [%dst], %r1;)");
  REQUIRE(unwritten.trap);
  CHECK(unwritten.trap->kind() == sim::TrapKind::uninitialised);
  const LaunchOutcome past = tests::run(R"(
  mov.u64 %d4, 16;
  alloca.u64 %d5, %d4;
  st.local.u32 [%d5+16], %t;)");
  REQUIRE(past.trap);
  CHECK(past.trap->reason == sim::TrapReason::outside_local);
  const LaunchOutcome much = tests::run("mov.u64 %d4, 0x100000000; alloca.u64 %d5, %d4;");
  REQUIRE(much.trap);
  CHECK(much.trap->kind() == sim::TrapKind::stack);
}
