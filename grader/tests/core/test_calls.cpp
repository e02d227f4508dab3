// Calls: direct, guarded, recursive and through pointers. Lanes reconverge after each call.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;
using Count = LaunchOutcome::Count;

namespace {

tests::Setup with_functions(const std::string& functions) {
  tests::Setup setup;
  setup.functions = functions;
  return setup;
}

// A function that doubles and adds one; odd arguments take another path.
constexpr const char* kTwice = R"(
.func (.param .b32 result) twice(.param .b32 argument)
{
  .reg .pred %p<2>; .reg .b32 %r<4>;
  ld.param.u32 %r1, [argument];
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra EVEN;
  shl.b32 %r1, %r1, 1;
  add.u32 %r1, %r1, 1;
  st.param.b32 [result], %r1;
  ret;
EVEN:
  shl.b32 %r1, %r1, 1;        //@even
  st.param.b32 [result], %r1;
  ret;
}
)";

constexpr const char* kFibonacci = R"(
.func (.param .b32 result) fib(.param .b32 argument)
{
  .reg .pred %p<2>; .reg .b32 %r<6>;
  ld.param.u32 %r1, [argument];
  setp.lt.u32 %p1, %r1, 2;
  @%p1 bra BASE;
  sub.u32 %r2, %r1, 1;
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %r2;
  call.uni (b), fib, (a);
  ld.param.b32 %r3, [b]; }
  sub.u32 %r2, %r1, 2;
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %r2;
  call.uni (b), fib, (a);
  ld.param.b32 %r4, [b]; }
  add.u32 %r1, %r3, %r4;
BASE:
  st.param.b32 [result], %r1;
  ret;
}
)";

}  // namespace

TEST_CASE("core: calls: lanes that return from different places reconverge after the call") {
  const LaunchOutcome o = tests::run(R"(
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %t;
  call.uni (b), twice, (a);   //@call
  ld.param.b32 %r1, [b]; }
  st.global.u32 [%dst], %r1;  //@after)",
                                     with_functions(kTwice));
  REQUIRE(!o.trap);
  CHECK(o.at("call") == Count{1, 32});
  CHECK(o.at("even") == Count{1, 16});
  CHECK(o.at("after") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return 2 * l + (l & 1); }));
}

TEST_CASE("core: calls: a guarded call runs for its lanes, and the others wait after it") {
  const LaunchOutcome o = tests::run(R"(
  mov.u32 %r1, 1000;
  setp.lt.u32 %p1, %t, 6;
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %t;
  @%p1 call (b), twice, (a);  //@call
  @%p1 ld.param.b32 %r1, [b]; }
  st.global.u32 [%dst], %r1;  //@after)",
                                     with_functions(kTwice));
  REQUIRE(!o.trap);
  CHECK(o.at("call") == Count{1, 6});
  CHECK(o.at("after") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return l < 6 ? 2 * l + (l & 1) : 1000; }));
}

TEST_CASE("core: calls: every lane recurses as deep as its argument says") {
  const LaunchOutcome o = tests::run(R"(
  and.b32 %r1, %t, 15;
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %r1;
  call.uni (b), fib, (a);
  ld.param.b32 %r1, [b]; }
  st.global.u32 [%dst], %r1;  //@after)",
                                     with_functions(kFibonacci));
  REQUIRE(!o.trap);
  CHECK(o.at("after") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) {
          uint32_t a = 0, b = 1;
          for (uint32_t i = 0; i < l % 16; ++i) {
            const uint32_t c = a + b;
            a = b;
            b = c;
          }
          return a;
        }));
}

TEST_CASE("core: calls: an exit inside a function ends the thread") {
  const LaunchOutcome o = tests::run(R"(
  st.global.u32 [%dst], 1;
  { .param .b32 a;
  st.param.b32 [a], %t;
  call.uni leave_if_small, (a); }
  st.global.u32 [%dst], 2;    //@after)",
                                     with_functions(R"(
.func leave_if_small(.param .b32 argument)
{
  .reg .pred %p<2>; .reg .b32 %r<2>;
  ld.param.u32 %r1, [argument];
  setp.lt.u32 %p1, %r1, 12;
  @%p1 exit;
  ret;
}
)"));
  REQUIRE(!o.trap);
  CHECK(o.at("after") == Count{1, 20});
  CHECK(o.out == each(32, [](uint32_t l) { return l < 12 ? 1 : 2; }));
}

TEST_CASE("core: calls: in calls through pointers, lanes with equal targets call together") {
  const LaunchOutcome o = tests::run(R"(
  mov.u64 %d1, twice;
  mov.u64 %d2, negate;
  setp.lt.u32 %p1, %t, 9;
  selp.b64 %d3, %d1, %d2, %p1;
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %t;
PROTOTYPE: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (b), %d3, (a), PROTOTYPE;  //@call
  ld.param.b32 %r1, [b]; }
  st.global.u32 [%dst], %r1;  //@after)",
                                     with_functions(std::string(kTwice) + R"(
.func (.param .b32 result) negate(.param .b32 argument)
{
  .reg .b32 %r<2>;
  ld.param.u32 %r1, [argument];
  neg.s32 %r1, %r1;           //@negate
  st.param.b32 [result], %r1;
  ret;
}
)"));
  REQUIRE(!o.trap);
  CHECK(o.at("call") == Count{2, 32});
  CHECK(o.at("negate") == Count{1, 23});
  CHECK(o.at("after") == Count{1, 32});
  CHECK(o.out == each(32, [](uint32_t l) { return l < 9 ? 2 * l + (l & 1) : 0u - l; }));
}

TEST_CASE("core: calls: a call through a pointer to no function is a trap") {
  const LaunchOutcome o = tests::run(R"(
  mov.u64 %d3, 4660;
PROTOTYPE: .callprototype _ ();
  call %d3, (), PROTOTYPE;    //@call)");
  REQUIRE(o.trap);
  CHECK(o.trap->kind() == sim::TrapKind::trap);
  CHECK(
      describe(*o.trap) ==
      "thread (0,0,0) of block (0,0,0) calls through the pointer 0x1234, which is not a function");
  CHECK(o.trapped_at == "call");
}

// ---------------------------------------------------------------------------------------------
// The output of printf in a kernel where a GPU's differs from C's.
// runtime/tests/programs/streams/printf_sizes.cu covers the common part.

using namespace lab32;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

// The output of one thread for `format` and the words 5, 7 and 8.
std::string printed(const std::string& format) {
  Setup setup;
  setup.block = {1, 1, 1};
  setup.functions =
      ".extern .func (.param .b32 printed) vprintf(.param .b64 format, .param .b64 arguments);\n";
  std::string text = fmt::format("  .local .align 1 .b8 text[{}];\n", format.size() + 1);
  for (size_t i = 0; i <= format.size(); ++i)
    text += fmt::format("  st.local.u8 [text+{}], {};\n", i, int{format.c_str()[i]});
  const LaunchOutcome o = tests::run(text + R"(
  .local .align 16 .b8 words[16];
  st.local.u32 [words], 5;
  st.local.u32 [words+4], 7;
  st.local.u32 [words+8], 8;
  st.local.u32 [words+12], 0;
  cvta.local.u64 %d1, text;
  cvta.local.u64 %d2, words;
  { .param .b64 a; .param .b64 b; .param .b32 c;
  st.param.b64 [a], %d1;
  st.param.b64 [b], %d2;
  call.uni (c), vprintf, (a, b); })",
                                     setup);
  REQUIRE(!o.trap);
  return o.output;
}

}  // namespace

TEST_CASE("core: printf: after a conversion that a GPU lacks, the text is printed unchanged") {
  for (const std::string unknown : {"%zu", "%hhd", "%hhx", "%td", "%jd", "%.*f", "%Lf", "%lc",
                                    "%ls", "%llld", "%hld", "%lhd", "%qd", "%I64d", "%'d"}) {
    CAPTURE(unknown);
    CHECK(printed("%d " + unknown + " %d\n") == "5 " + unknown + " %d\n");
  }
}

TEST_CASE("core: printf: a letter that is no conversion consumes no argument") {
  CHECK(printed("%d %k %d\n") == "5 %k 7\n");
  CHECK(printed("%d %") == "5 %");
}

TEST_CASE("core: printf: %hd prints the lower half of a number") {
  CHECK(printed("[%4hd] [%hu]\n") == "[   5] [7]\n");
}
