// Products of matrices: the instructions compared with loops over the elements, and the arithmetic
// of one block tested with cases that show how an H200 adds. `programs/tensor_cores` and
// `programs/mma_sync` compare every form with an H200, bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/core/semantics/tensor_core.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::bits_of;
using tests::finish;
using tests::Setup;

namespace {

std::string registers(const char* kind, int from, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", %" : "%") + std::string(kind) + std::to_string(from + i);
  return text + "}";
}

// A (row-major) and B (column-major) of 16x16 small numbers, then C; D = A B + C is in `out`.
struct Tile {
  int k = 16;
  int a(int row, int i) const { return (row * 5 + i * 3) % 7 - 3; }
  int b(int i, int column) const { return (i * 2 + column * 3) % 5 - 2; }
  int c(int row, int column) const { return row - column; }
  int d(int row, int column) const {
    int sum = c(row, column);
    for (int i = 0; i < k; ++i) sum += a(row, i) * b(i, column);
    return sum;
  }
};

uint32_t half_of(int value) {  // -3 … 3
  static constexpr uint32_t kHalves[] = {0x0000, 0x3c00, 0x4000, 0x4200};
  return kHalves[std::abs(value)] | (value < 0 ? 0x8000u : 0u);
}

uint32_t float_of(int value) { return bits_of(static_cast<float>(value)); }

template <class Element>
void append(std::vector<uint32_t>& words, int elements, int bits, Element element) {
  for (int i = 0; i < elements; i += 32 / bits) {
    uint32_t word = 0;
    for (int e = 0; e < 32 / bits; ++e) word |= element(i + e) << (e * bits);
    words.push_back(word);
  }
}

// The image of the three matrices, with elements of A and B of `bits` bits by f, of C by g.
template <class F, class G>
std::vector<uint32_t> image(const Tile& t, int bits, F f, G g) {
  std::vector<uint32_t> words;
  append(words, 16 * t.k, bits, [&](int i) { return f(t.a(i / t.k, i % t.k)); });
  append(words, 16 * t.k, bits, [&](int i) { return f(t.b(i % t.k, i / t.k)); });
  append(words, 256, 32, [&](int i) { return g(t.c(i / 16, i % 16)); });
  return words;
}

// wmma on that image; A and B have `count` registers each and `bytes` bytes.
std::string product(const std::string& shape, const std::string& type, int count, int bytes,
                    const std::string& sum, const char* kind, const std::string& types) {
  const std::string a = registers("r", 0, count), b = registers("r", 8, count),
                    c = registers(kind, 16, 8), d = registers(kind, 24, 8);
  const std::string k = shape == "m16n16k8" ? "8" : "16";
  return "wmma.load.a.sync.aligned.row." + shape + ".global." + type + " " + a + ", [%in], " + k +
         ";\nwmma.load.b.sync.aligned.col." + shape + "." + type + " " + b + ", [%in+" +
         std::to_string(bytes) + "];\nwmma.load.c.sync.aligned.row." + shape + ".global." + sum +
         " " + c + ", [%in+" + std::to_string(2 * bytes) +
         "], 16;\nwmma.mma.sync.aligned.row.col." + shape + "." + types + " " + d + ", " + a +
         ", " + b + ", " + c + ";\nwmma.store.d.sync.aligned.col." + shape + ".global." + sum +
         " [%out], " + d + ", 16;\n";
}

// Stored by columns.
template <class G>
std::vector<uint32_t> expected(const Tile& t, G g) {
  std::vector<uint32_t> words;
  for (int i = 0; i < 256; ++i) words.push_back(g(t.d(i % 16, i / 16)));
  return words;
}

constexpr uint64_t kOne = 0x3f800000;  // a float's

uint64_t block(std::vector<uint64_t> a, std::vector<uint64_t> b, uint64_t c,
               ptx::DataType d = ptx::DataType::f32) {
  sim::MmaForm form;
  form.m = form.n = 1;
  form.k = form.block = 16;
  form.a = form.b = ptx::DataType::f16;
  form.c = form.d = d;
  a.resize(16), b.resize(16);
  uint64_t result = 0;
  sim::multiply_tile(form, a.data(), b.data(), &c, &result);
  return result;
}

}  // namespace

TEST_CASE(
    "core: tensor cores: wmma of halves, of bytes and of tf32 is the product of the matrices") {
  Setup setup;
  setup.out_words = 256;
  const Tile wide, narrow{8};
  setup.in = image(wide, 16, half_of, float_of);
  CHECK(finish(product("m16n16k16", "f16", 8, 512, "f32", "f", "f32.f32"), setup).out ==
        expected(wide, float_of));
  const auto integer = [](int value) { return static_cast<uint32_t>(value); };
  const auto byte = [](int value) { return static_cast<uint32_t>(value) & 0xff; };
  setup.in = image(wide, 8, byte, integer);
  CHECK(finish(product("m16n16k16", "s8", 2, 256, "s32", "r", "s32.s8.s8.s32"), setup).out ==
        expected(wide, integer));
  setup.in = image(narrow, 32, float_of, float_of);
  CHECK(finish(product("m16n16k8", "tf32", 4, 512, "f32", "f", "f32.tf32.tf32.f32"), setup).out ==
        expected(narrow, float_of));
}

TEST_CASE("core: tensor cores: products of bits count the ones of A XOR B or A AND B") {
  for (const std::string op : {"xor", "and"}) {
    Setup setup;
    setup.out_words = 64;
    const auto outcome = finish(
        "wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r0}, [%in], 128;\n"
        "wmma.load.b.sync.aligned.col.m8n8k128.global.b1 {%r1}, [%in], 128;\n"
        "mov.u32 %r2, 5;\nmma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32." +
            op +
            ".popc {%r4, %r5}, {%r0}, {%r1}, {%r2, %r2};\n"
            "wmma.mma." +
            op +
            ".popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r6, %r7}, "
            "{%r0}, {%r1}, {%r4, %r5};\n"
            "wmma.store.d.sync.aligned.row.m8n8k128.global.s32 [%out], {%r6, %r7}, 8;\n",
        setup);
    const auto want = tests::each(64, [&](uint32_t i) {
      uint32_t ones = 0;  // word w of row r of both matrices is 4 r + w
      for (uint32_t w = 0; w < 4; ++w) {
        const uint32_t a = i / 8 * 4 + w, b = i % 8 * 4 + w;
        ones += static_cast<uint32_t>(__builtin_popcount(op == "xor" ? a ^ b : a & b));
      }
      return 5 + 2 * ones;
    });
    CHECK(outcome.out == want);
  }
}

TEST_CASE(
    "core: tensor cores: addends are truncated 25 places below the largest, the sum to a float") {
  constexpr uint64_t kHalfOne = 0x3c00, kSmall = 0x0400;  // 1, 2^-14
  // 1 + 2^-24 four times: each is kept, and their sum is as large as the last place of 1.
  CHECK(block({kSmall, kSmall, kSmall, kSmall}, {0x1400, 0x1400, 0x1400, 0x1400}, kOne) ==
        kOne + 2);
  // 2^-26 is dropped, however often it is added.
  CHECK(block(std::vector<uint64_t>(16, kSmall), std::vector<uint64_t>(16, 0x0c00), kOne) == kOne);
  // Truncated, not rounded: 1 + 2^-23 - 2^-24.
  CHECK(block({kHalfOne, kSmall}, {kHalfOne, 0x9400}, 0x34000000) == kOne);
  // A half is rounded to nearest: 1 + 3 * 2^-12.
  CHECK(block({kHalfOne}, {0x1200}, kHalfOne, ptx::DataType::f16) == 0x3c01);
  // A sum of zero is positive, NaN has one pattern, and infinity times zero is NaN.
  CHECK(block({0x8000}, {kHalfOne}, 0x80000000) == 0);
  CHECK(block({0x7c00}, {0x8000}, kOne) == 0x7fffffff);
  CHECK(block({0x7c00}, {0xbc00}, kOne) == 0xff800000);
  CHECK(block({0x7c00}, {kHalfOne}, 0xfc00, ptx::DataType::f16) == 0x7fff);
}

TEST_CASE("core: tensor cores: a product needs all 32 lanes") {
  Setup setup;
  setup.block = {16, 1, 1};
  const auto outcome = tests::run(
      "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r4, %r5}, {%t}, {%t}, {%t, "
      "%t};\n",
      setup);
  REQUIRE(outcome.trap.has_value());
  CHECK(tests::words(*outcome.trap).find("mma") != std::string::npos);
}

TEST_CASE("core: tensor cores: a result is undefined if its row of A, its column of B or C is") {
  // Words of `out`, which nothing has written, in row 3 of A: row 3 of D is undefined, no other.
  const std::string row =
      "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r4, %r5}, "
      "{%r0}, {%t}, {%t, %t};\n";
  const std::string load =
      "shr.u32 %r1, %t, 2;\nsetp.eq.u32 %p0, %r1, 3;\nmov.u32 %r0, %t;\n"
      "@%p0 ld.global.u32 %r0, [%out];\nbar.warp.sync -1;\n" +
      row;
  const auto faults = [&](const std::string& lane) {
    return tests::run(load + "setp.eq.u32 %p1, %t, " + lane + ";\n@%p1 st.global.u32 [%in], %r4;\n")
        .trap.has_value();
  };
  CHECK(faults("12"));
  CHECK_FALSE(faults("16"));
}

TEST_CASE("core: tensor cores: unwritten rows of a tile are faults where they are stored") {
  // A is in shared memory with unwritten rows from 8 on. D is also in shared memory, and one word
  // of it is stored to `out`.
  const std::string body = R"(
  mov.u32 %r1, box;
  shl.b32 %r2, %t, 3;
  add.u32 %r2, %r2, %r1;
  st.shared.v2.u32 [%r2], {%t, %t};
  bar.warp.sync -1;
  wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, [%r1], 16;
  wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}, [%r1+512], 0;
  mov.f32 %f0, 0f00000000;
  wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, {%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}, {%f0,%f0,%f0,%f0,%f0,%f0,%f0,%f0};
  wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r1+1024], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, 16;
  bar.warp.sync -1;
)";
  Setup setup;
  setup.functions = ".shared .align 32 .b8 box[2048];\n";
  setup.hazards = true;  // in shared memory it is a finding and never ends a launch
  const auto stored = [&](int row) {
    const std::string at = std::to_string(1024 + row * 64);
    const auto findings =
        tests::run(
            "mov.u32 %r3, box;\nmov.u32 %r4, 0;\n"
            "st.shared.v4.u32 [%r3+512], {%r4,%r4,%r4,%r4};\n"
            "st.shared.v4.u32 [%r3+528], {%r4,%r4,%r4,%r4};\n" +
                body + "ld.shared.u32 %r5, [%r1+" + at + "];\nst.global.u32 [%dst], %r5;\n",
            setup)
            .findings;
    return std::any_of(findings.begin(), findings.end(), [](const counters::Finding& f) {
      return f.kind == counters::Finding::Kind::uninitialised;
    });
  };
  CHECK_FALSE(stored(7));
  CHECK(stored(8));
}
