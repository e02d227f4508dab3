// What printf prints in a kernel, where a GPU's does not do as C's. What both do is in
// runtime/tests/programs/streams/printf_sizes.cu.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

// What one thread prints of `format` and of words 5, 7 and 8.
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

TEST_CASE("core: printf: from what a GPU's does not know, the text is printed as it stands") {
  for (const std::string unknown : {"%zu", "%hhd", "%hhx", "%td", "%jd", "%.*f", "%Lf", "%lc",
                                    "%ls", "%llld", "%hld", "%lhd", "%qd", "%I64d", "%'d"}) {
    CAPTURE(unknown);
    CHECK(printed("%d " + unknown + " %d\n") == "5 " + unknown + " %d\n");
  }
}

TEST_CASE("core: printf: a letter that is no conversion takes no argument") {
  CHECK(printed("%d %k %d\n") == "5 %k 7\n");
  CHECK(printed("%d %") == "5 %");
}

TEST_CASE("core: printf: half of a number is what %hd has of it") {
  CHECK(printed("[%4hd] [%hu]\n") == "[   5] [7]\n");
}
