// Accesses to contiguous or equal addresses, which take the fast path without a list of addresses.
#include <doctest/doctest.h>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::finish;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

std::string registers_from_10(unsigned n) {
  std::string text;
  for (unsigned i = 0; i < n; ++i) text += (i ? ", " : "") + ("%r" + std::to_string(10 + i));
  return n == 1 ? text : "{" + text + "}";
}

}  // namespace

TEST_CASE("core: warp rows: half-warps may be adjacent, overlapping or separate") {
  // Lane l of half h accesses `elements` words at h * jump + (l % 16) * step.
  for (const char* space : {".shared", ".global"})
    for (const uint32_t elements : {1u, 2u, 4u})
      for (const uint32_t step : {0u, 1u, 2u})
        for (const uint32_t jump : {0u, 4u, 16u, 20u, 32u}) {
          const auto word = [&](uint32_t lane) {
            return (lane / 16 * jump + lane % 16 * step) * elements;
          };
          const bool shared = space[1] == 's';
          const std::string vec = elements == 1 ? "" : ".v" + std::to_string(elements);
          const std::string base = shared ? "[%r3]" : "[%d4]", bytes = std::to_string(elements * 4);
          std::string text = "shr.u32 %r1, %t, 4;\nand.b32 %r2, %t, 15;\nmul.lo.u32 %r1, %r1, " +
                             std::to_string(jump) + ";\nmad.lo.u32 %r1, %r2, " +
                             std::to_string(step) + ", %r1;\nmul.lo.u32 %r1, %r1, " + bytes +
                             ";\nmov.u32 %r3, box;\nadd.u32 %r3, %r3, %r1;\n" +
                             "cvt.u64.u32 %d4, %r1;\nadd.u64 %d4, %d4, %out;\n" +
                             "add.u64 %d4, %d4, 512;\n";
          for (uint32_t e = 0; e < elements; ++e)
            text += "mad.lo.u32 %r1" + std::to_string(e) + ", %t, 10, " + std::to_string(e) + ";\n";
          text += "st" + std::string(space) + vec + ".b32 " + base + ", " +
                  registers_from_10(elements) + ";\nbar.sync 0;\nld" + space + vec + ".b32 " +
                  registers_from_10(elements) + ", " + base + ";\nmov.u32 %r20, 0;\n";
          for (uint32_t e = 0; e < elements; ++e)
            text += "mad.lo.u32 %r20, %r20, 1000, %r1" + std::to_string(e) + ";\n";
          Setup setup;
          setup.out_words = 512;
          const LaunchOutcome got = finish(
              ".shared .align 16 .b32 box[256];\n" + text + "st.global.u32 [%dst], %r20;", setup);
          uint32_t box[512] = {};
          for (uint32_t lane = 0; lane < 32; ++lane)
            for (uint32_t e = 0; e < elements; ++e) box[word(lane) + e] = lane * 10 + e;
          bool same = true;
          for (uint32_t lane = 0; lane < 32; ++lane) {
            uint32_t want = 0;
            for (uint32_t e = 0; e < elements; ++e) want = want * 1000 + box[word(lane) + e];
            same &= got.out[lane] == want;
          }
          CHECK_MESSAGE(same, space << vec << " step " << step << " jump " << jump);
        }
}

TEST_CASE("core: warp rows: a half-warp out of bounds, misaligned, or beyond 32 bits is a fault") {
  const auto fault = [](const std::string& jump, const std::string& access) {
    const LaunchOutcome got = tests::run(
        ".shared .align 16 .b32 box[32];\nshr.u32 %r1, %t, 4;\n" +
        std::string("and.b32 %r2, %t, 15;\nmul.lo.u32 %r2, %r2, 4;\n") + "mad.lo.u32 %r1, %r1, " +
        jump + ", %r2;\nmov.u32 %r3, box;\n" + "add.u32 %r3, %r3, %r1;\n" + access + ";");
    return got.trap ? tests::words(*got.trap) : "none";
  };
  CHECK(fault("64", "st.shared.u32 [%r3], %r1") == "none");
  CHECK(fault("68", "st.shared.u32 [%r3], %r1").find("thread (31,0,0)") != std::string::npos);
  CHECK(fault("68", "ld.shared.u32 %r4, [%r3]").find("thread (31,0,0)") != std::string::npos);
  CHECK(fault("62", "ld.shared.u32 %r4, [%r3]").find("misaligned: thread (16,0,0)") !=
        std::string::npos);
  CHECK(fault("-8", "ld.shared.u32 %r4, [%r3]").find("thread (16,0,0)") != std::string::npos);
}
