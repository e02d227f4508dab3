// Memory of a thread's own, of a size that the program computes.
#include <doctest/doctest.h>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;

TEST_CASE("core: alloca: each lane has its own, and nobody has written it") {
  // Twice, so that the second lies behind the first; the larger of two lanes' wishes counts.
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
