// cp.async and its groups; ldmatrix and stmatrix compared with the fragment tables of the PTX ISA.
#include <doctest/doctest.h>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::finish;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

Setup with_box() {
  Setup setup;
  setup.functions = ".shared .align 16 .b8 box[2048];\n";
  setup.hazards = true;
  return setup;
}

// Addresses of the thread's 16 bytes: %r8 in `box`, %d1 in `in`, %d2 in `out`.
constexpr const char* kRows = R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r8, %t, 16, %r9;
  mad.wide.u32 %d1, %t, 16, %in;
  mad.wide.u32 %d2, %t, 16, %out;
)";

constexpr const char* kCopyOut = R"(
  ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r8];
  st.global.v4.u32 [%d2], {%r1, %r2, %r3, %r4};
)";

}  // namespace

TEST_CASE("core: copies: cp.async copies 4, 8 and 16 bytes") {
  for (const std::string copy : {"cp.async.cg.shared.global [%r8], [%d1], 16;",
                                 "cp.async.ca.shared.global [%r8], [%d1], 16;",
                                 "cp.async.ca.shared.global [%r8], [%d1], 8;\n"
                                 "cp.async.ca.shared::cta.global.L2::128B [%r8+8], [%d1+8], 8;",
                                 "cp.async.ca.shared.global [%r8], [%d1], 4;\n"
                                 "cp.async.ca.shared.global [%r8+4], [%d1+4], 4;\n"
                                 "cp.async.ca.shared.global [%r8+8], [%d1+8], 8;"}) {
    Setup setup = with_box();
    setup.in = each(128, [](uint32_t i) { return i * i; });
    setup.out_words = 128;
    CAPTURE(copy);
    const LaunchOutcome o = finish(kRows + copy + "\n cp.async.wait_all;\n" + kCopyOut, setup);
    CHECK(o.out == setup.in);
    CHECK(o.findings.empty());
  }
}

TEST_CASE("core: copies: a shorter source is filled with zeros and not read beyond its end") {
  Setup setup = with_box();
  setup.in_bytes = 31 * 16 + 5;
  setup.in = each(128, [](uint32_t) { return 0xabababab; });
  setup.out_words = 128;
  const LaunchOutcome o = finish(std::string(kRows) + R"(
  setp.eq.u32 %p1, %t, 31;
  selp.u32 %r1, 5, 16, %p1;
  setp.eq.u32 %p1, %t, 30;
  @%p1 mov.u32 %r1, 0;
  @%p1 mov.u64 %d1, 0;        // nothing is read there
  cp.async.cg.shared.global [%r8], [%d1], 16, %r1;
  cp.async.wait_all;
)" + kCopyOut,
                                 setup);
  for (uint32_t t = 0; t < 32; ++t)
    for (uint32_t i = 0; i < 4; ++i)
      CHECK(o.out[4 * t + i] == (t < 30              ? 0xabababab
                                 : t == 31 && i == 0 ? 0xabababab
                                 : t == 31 && i == 1 ? 0xab
                                                     : 0));
}

TEST_CASE("core: copies: wait_group leaves the youngest groups pending") {
  Setup setup = with_box();
  setup.in = each(128, [](uint32_t i) { return i + 1; });
  setup.out_words = 128;
  // Three groups; each wait completes one more. Memory of pending copies still has its old
  // contents.
  const LaunchOutcome o = finish(std::string(kRows) + R"(
  st.shared.v4.u32 [%r8], {0, 0, 0, 0};
  mad.wide.u32 %d2, %t, 16, %out;
  cp.async.ca.shared.global [%r8], [%d1], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r8+4], [%d1+4], 4;
  cp.async.commit_group;
  cp.async.ca.shared.global [%r8+8], [%d1+8], 4;
  cp.async.commit_group;
  cp.async.wait_group 2;
  ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r8];
  add.u32 %r5, %r1, %r2;
  add.u32 %r5, %r5, %r3;
  st.global.u32 [%d2], %r5;
  cp.async.wait_group 1;
  ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r8];
  add.u32 %r5, %r1, %r2;
  add.u32 %r5, %r5, %r3;
  st.global.u32 [%d2+4], %r5;
  cp.async.ca.shared.global [%r8+12], [%d1+12], 4;   // in no group yet
  cp.async.wait_group 0;
  ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r8];
  add.u32 %r5, %r1, %r2;
  add.u32 %r5, %r5, %r3;
  add.u32 %r5, %r5, %r4;
  st.global.u32 [%d2+8], %r5;
  cp.async.wait_all;
  ld.shared.u32 %r4, [%r8+12];
  st.global.u32 [%d2+12], %r4;)",
                                 setup);
  for (uint32_t t = 0; t < 32; ++t) {
    const uint32_t a = 4 * t + 1;
    CHECK(o.out[4 * t] == a);
    CHECK(o.out[4 * t + 1] == a + a + 1);
    CHECK(o.out[4 * t + 2] == a + a + 1 + a + 2);
    CHECK(o.out[4 * t + 3] == a + 3);
  }
}

TEST_CASE("core: copies: a thread that reads the data before it waits is a finding") {
  Setup setup = with_box();
  setup.in = each(128, [](uint32_t i) { return i; });
  setup.out_words = 128;
  const LaunchOutcome o =
      finish(std::string(kRows) + "cp.async.cg.shared.global [%r8], [%d1], 16;\n" +
                 "cp.async.commit_group;\n" + kCopyOut,
             setup);
  REQUIRE(o.findings.size() == 1);
  CHECK(o.findings[0].kind == counters::Finding::Kind::race);
  CHECK(o.findings[0].early);
  CHECK(describe(o.findings[0]).find("is not waited for") != std::string::npos);
  CHECK(o.out[0] == 0xffffffff);
}

TEST_CASE("core: copies: bad addresses of a copy are traps at the copy") {
  Setup setup = with_box();
  const auto trap = [&](const std::string& copy) {
    const LaunchOutcome o = tests::run(kRows + copy + "  //@here\n cp.async.wait_all;", setup);
    REQUIRE(o.trap);
    CHECK(o.trapped_at == "here");
    return tests::words(*o.trap);
  };
  setup.in_bytes = 512;
  CHECK(trap("cp.async.cg.shared.global [%r8+2000], [%d1], 16;") ==
        "out of bounds: thread (3,0,0) of block (0,0,0) writes 16 bytes at offset 2048 of `box`: "
        "16 bytes past its end (2048 bytes)");
  CHECK(trap("cp.async.cg.shared.global [%r8], [%d1+16], 16;") ==
        "out of bounds: thread (31,0,0) of block (0,0,0) reads 16 bytes at offset 512 of `in`: 16 "
        "bytes past its end (512 bytes)");
  CHECK(
      trap("cp.async.ca.shared.global [%r8], [%d1+4], 8;") ==
      "misaligned: thread (0,0,0) of block (0,0,0) reads 8 bytes at offset 4 of `in`: an access of "
      "8 bytes needs an address that is a multiple of 8");
}

// --- matrices ------------------------------------------------------------------------------------

namespace {

// PTX ISA, ldmatrix: lane 4r + c holds elements [r][2c] and [r][2c + 1] of an 8x8 matrix of 16-bit
// elements, or with .trans of its transpose.
uint32_t fragment(const std::vector<uint16_t>& matrix, uint32_t lane, bool transposed) {
  const auto element = [&](uint32_t row, uint32_t column) -> uint32_t {
    return transposed ? matrix[column * 8 + row] : matrix[row * 8 + column];
  };
  const uint32_t r = lane / 4, c = lane % 4;
  return element(r, 2 * c) | element(r, 2 * c + 1) << 16;
}

// The rows of a matrix are 48 bytes apart, and the matrices are in reverse order.
uint32_t row_offset(uint32_t m, uint32_t row) { return (3 - m) * 8 * 48 + row * 48; }

std::string registers(uint32_t n) {
  std::string text = "{";
  for (uint32_t i = 0; i < n; ++i) text += (i ? ", %r" : "%r") + std::to_string(20 + i);
  return text + "}";
}

// %r8: the address of row t % 8 of matrix t / 8.
constexpr const char* kRowAddress = R"(
  mov.u32 %r9, box;
  shr.u32 %r1, %t, 3;
  sub.u32 %r1, 3, %r1;
  and.b32 %r2, %t, 7;
  mul.lo.u32 %r8, %r1, 384;
  mad.lo.u32 %r8, %r2, 48, %r8;
  add.u32 %r8, %r8, %r9;
)";

}  // namespace

TEST_CASE("core: copies: ldmatrix loads x1, x2 and x4, plain and transposed") {
  for (const uint32_t n : {1u, 2u, 4u})
    for (const std::string trans : {"", ".trans"})
      for (const std::string space : {".shared", ".shared::cta", ""}) {
        CAPTURE(n);
        CAPTURE(trans);
        CAPTURE(space);
        Setup setup = with_box();
        // The image of shared memory: 1536 bytes, 48 a thread.
        setup.in = each(384, [](uint32_t i) { return (2 * i + 1) << 16 | 2 * i; });
        setup.out_words = 32 * n;
        std::string body = R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r3, %t, 48, %r9;
  mad.wide.u32 %d1, %t, 48, %in;
)";
        for (const std::string at : {"", "+16", "+32"})
          body += "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1" + at +
                  "];\n st.shared.v4.u32 [%r3" + at + "], {%r4, %r5, %r6, %r7};\n";
        body += "bar.sync 0;\n" + std::string(kRowAddress);
        std::string address = "[%r8]";
        if (space.empty()) {
          body += "cvt.u64.u32 %d3, %r8;\n cvta.shared.u64 %d3, %d3;\n";
          address = "[%d3]";
        }
        body += "ldmatrix.sync.aligned.m8n8.x" + std::to_string(n) + trans + space + ".b16 " +
                registers(n) + ", " + address + ";\n";
        for (uint32_t i = 0; i < n; ++i)
          body += "mad.wide.u32 %d2, %t, 4, %out;\n st.global.u32 [%d2+" + std::to_string(128 * i) +
                  "], %r" + std::to_string(20 + i) + ";\n";
        const LaunchOutcome o = finish(body, setup);
        CHECK(o.findings.empty());
        for (uint32_t m = 0; m < n; ++m) {
          std::vector<uint16_t> matrix(64);
          for (uint32_t row = 0; row < 8; ++row)
            for (uint32_t column = 0; column < 8; ++column)
              matrix[row * 8 + column] =
                  static_cast<uint16_t>(row_offset(m, row) / 2 + column);  // element k holds k
          for (uint32_t lane = 0; lane < 32; ++lane)
            CHECK(o.out[32 * m + lane] == fragment(matrix, lane, !trans.empty()));
        }
      }
}

TEST_CASE("core: copies: stmatrix is the inverse of ldmatrix") {
  for (const uint32_t n : {1u, 2u, 4u})
    for (const std::string trans : {"", ".trans"}) {
      CAPTURE(n);
      CAPTURE(trans);
      Setup setup = with_box();
      setup.out_words = 384;
      std::string body = kRowAddress;
      for (uint32_t i = 0; i < n; ++i)  // register i of lane l: elements 2l and 2l + 1 of matrix i
        body += "mad.lo.u32 %r10, %t, 131074, " + std::to_string(65536 + i * (1000 << 16 | 1000)) +
                ";\n mov.u32 %r" + std::to_string(20 + i) + ", %r10;\n";
      body += R"(
  mad.lo.u32 %r3, %t, 48, %r9;
  st.shared.v4.u32 [%r3], {0, 0, 0, 0};
  st.shared.v4.u32 [%r3+16], {0, 0, 0, 0};
  st.shared.v4.u32 [%r3+32], {0, 0, 0, 0};
  bar.sync 0;
  stmatrix.sync.aligned.m8n8.x)" +
              std::to_string(n) + trans + ".shared.b16 [%r8], " + registers(n) + R"(;
  bar.sync 0;
  mad.wide.u32 %d2, %t, 48, %out;
)";
      for (const std::string at : {"", "+16", "+32"})
        body += "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3" + at + "];\n st.global.v4.u32 [%d2" +
                at + "], {%r4, %r5, %r6, %r7};\n";
      const LaunchOutcome o = finish(body, setup);
      CHECK(o.findings.empty());
      std::vector<uint16_t> want(768, 0);
      for (uint32_t m = 0; m < n; ++m)
        for (uint32_t lane = 0; lane < 32; ++lane)
          for (uint32_t e = 0; e < 2; ++e) {
            const uint32_t r = lane / 4, c = lane % 4 * 2 + e;
            const uint32_t row = trans.empty() ? r : c, column = trans.empty() ? c : r;
            want[row_offset(m, row) / 2 + column] = static_cast<uint16_t>(2 * lane + e + 1000 * m);
          }
      std::vector<uint16_t> got(768);
      std::memcpy(got.data(), o.out.data(), got.size() * 2);
      CHECK(got == want);
    }
}

TEST_CASE("core: copies: matrices need a whole warp and aligned rows") {
  Setup setup = with_box();
  const auto trap = [&](const std::string& body) {
    const LaunchOutcome o = tests::run(kRowAddress + body, setup);
    REQUIRE(o.trap);
    CHECK(o.trapped_at == "here");
    return tests::words(*o.trap);
  };
  const std::string load = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, ";
  CHECK(
      trap("st.shared.v4.u32 [%r8], {0, 0, 0, 0};\n" + load + "[%r8+8];  //@here") ==
      "misaligned: thread (0,0,0) of block (0,0,0) reads 16 bytes at offset 1160 of shared memory: "
      "an access of 16 bytes needs an offset that is a multiple of 16");
  setup.block = {30, 1, 1};
  CHECK(
      trap(load + "[%r8];  //@here") ==
      "shuffle: warp 0 of block 0 executes ldmatrix with 30 of its 32 lanes; it needs all of them");
}
