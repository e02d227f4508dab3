// atom and red: every operator and type, on global and shared memory and through generic addresses.
// The expected values come from a host loop that serves the lanes in order.
#include <doctest/doctest.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <functional>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::finish;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

constexpr uint32_t kCells = 3;

struct Operation {
  std::string op, type;
  unsigned bytes;
  std::function<uint64_t(uint64_t old, uint64_t value)> apply;
};

template <class T>
T as(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
uint64_t bits(T value) {
  uint64_t all = 0;
  std::memcpy(&all, &value, sizeof value);
  return all;
}

template <class T, class F>
Operation row(const std::string& op, const std::string& type, F f) {
  return {op, type, sizeof(T),
          [f](uint64_t a, uint64_t b) { return bits<T>(static_cast<T>(f(as<T>(a), as<T>(b)))); }};
}

// Conversions of halves by the host's processor; sums of small integers are exact.
#ifdef __aarch64__
float from_f16(uint64_t bits) { return as<__fp16>(bits); }
uint64_t to_f16(float value) { return bits(static_cast<__fp16>(value)); }
#else
float from_f16(uint64_t bits) { return _cvtsh_ss(static_cast<uint16_t>(bits)); }
uint64_t to_f16(float value) { return _cvtss_sh(value, 0); }
#endif
float from_bf16(uint64_t bits) { return as<float>((bits & 0xffff) << 16); }
uint64_t to_bf16(float value) { return bits(value) >> 16; }

template <class Widen, class Narrow>
std::function<uint64_t(uint64_t, uint64_t)> half_add(Widen widen, Narrow narrow, bool pair) {
  return [=](uint64_t a, uint64_t b) {
    uint64_t sum = narrow(widen(a) + widen(b));
    if (pair) sum |= narrow(widen(a >> 16) + widen(b >> 16)) << 16;
    return sum;
  };
}

std::vector<Operation> rows() {
  using U = uint32_t;
  using S = int32_t;
  using UL = uint64_t;
  using SL = int64_t;
  std::vector<Operation> all = {
      row<U>("add", "u32", [](U a, U b) { return a + b; }),
      row<U>("add", "s32", [](U a, U b) { return a + b; }),
      row<UL>("add", "u64", [](UL a, UL b) { return a + b; }),
      row<float>("add", "f32", [](float a, float b) { return a + b; }),
      row<double>("add", "f64", [](double a, double b) { return a + b; }),
      {"add.noftz", "f16", 2, half_add(from_f16, to_f16, false)},
      {"add.noftz", "f16x2", 4, half_add(from_f16, to_f16, true)},
      {"add.noftz", "bf16", 2, half_add(from_bf16, to_bf16, false)},
      {"add.noftz", "bf16x2", 4, half_add(from_bf16, to_bf16, true)},
      row<U>("min", "u32", [](U a, U b) { return std::min(a, b); }),
      row<S>("min", "s32", [](S a, S b) { return std::min(a, b); }),
      row<UL>("min", "u64", [](UL a, UL b) { return std::min(a, b); }),
      row<SL>("min", "s64", [](SL a, SL b) { return std::min(a, b); }),
      row<U>("max", "u32", [](U a, U b) { return std::max(a, b); }),
      row<S>("max", "s32", [](S a, S b) { return std::max(a, b); }),
      row<UL>("max", "u64", [](UL a, UL b) { return std::max(a, b); }),
      row<SL>("max", "s64", [](SL a, SL b) { return std::max(a, b); }),
      row<U>("and", "b32", [](U a, U b) { return a & b; }),
      row<UL>("and", "b64", [](UL a, UL b) { return a & b; }),
      row<U>("or", "b32", [](U a, U b) { return a | b; }),
      row<UL>("or", "b64", [](UL a, UL b) { return a | b; }),
      row<U>("xor", "b32", [](U a, U b) { return a ^ b; }),
      row<UL>("xor", "b64", [](UL a, UL b) { return a ^ b; }),
      row<U>("exch", "b32", [](U, U b) { return b; }),
      row<UL>("exch", "b64", [](UL, UL b) { return b; }),
      row<U>("inc", "u32", [](U a, U b) { return a >= b ? 0 : a + 1; }),
      row<U>("dec", "u32", [](U a, U b) { return a == 0 || a > b ? b : a - 1; }),
  };
  return all;
}

// Value i of a row: first those of lanes 0 to 31, then the initial values of the cells.
uint64_t value_of(const Operation& r, uint32_t i) {
  const auto small = static_cast<float>(i % 13);
  if (r.type == "f32") return bits(0.1f * static_cast<float>(i) - 1);
  if (r.type == "f64") return bits(0.1 * i - 1);
  if (r.type == "f16") return to_f16(small);
  if (r.type == "bf16") return to_bf16(small);
  if (r.type == "f16x2") return to_f16(small) | to_f16(small + 3) << 16;
  if (r.type == "bf16x2") return to_bf16(small) | to_bf16(small + 3) << 16;
  if (r.op == "inc" || r.op == "dec") return i % 7;
  return (i + 5) * 0x9e3779b97f4a7c15u;
}

const char* register_of(const Operation& r) {
  return r.type == "f32"   ? "%f"
         : r.type == "f64" ? "%e"
         : r.bytes == 2    ? "%h"
         : r.bytes == 4    ? "%r"
                           : "%d";
}

// Lane t updates cell t % 3 by in[t]. The old value goes to out[t], the final cells to out[32 …].
// Each value occupies 64 bits.
std::string program(const Operation& r, const std::string& space, bool result) {
  const std::string reg = register_of(r), b = "b" + std::to_string(8 * r.bytes);
  const std::string word = reg == "%f" || reg == "%e" ? r.type : b;
  std::string text = R"(
  mad.wide.u32 %d1, %t, 8, %in;
  mad.wide.u32 %d2, %t, 8, %out;
  rem.u32 %r1, %t, 3;
  mad.wide.u32 %d3, %r1, 8, %out;   // the cell in global memory
  add.u64 %d3, %d3, 256;
  mov.u32 %r2, box;
  mad.lo.u32 %r2, %r1, 8, %r2;      // the cell in shared memory
  st.global.u64 [%d2], 0;
  setp.lt.u32 %p1, %t, 3;
  @%p1 ld.global.u64 %d4, [%d1+256];
  @%p1 st.global.u64 [%d3], %d4;
  @%p1 st.shared.u64 [%r2], %d4;
  bar.sync 0;
)";
  text += "ld.global." + word + " " + reg + "10, [%d1];\n";
  std::string where = space.rfind(".shared", 0) == 0 ? "[%r2]" : "[%d3]";
  if (space.empty()) {  // generic: even lanes shared, odd ones global memory
    text += R"(
  cvt.u64.u32 %d5, %r2;
  cvta.shared.u64 %d5, %d5;
  and.b32 %r3, %t, 1;
  setp.eq.u32 %p2, %r3, 0;
  selp.b64 %d5, %d5, %d3, %p2;
)";
    where = "[%d5]";
  }
  const std::string op = space + "." + r.op + "." + r.type + " ";
  if (result) {
    text += "atom" + op + reg + "11, " + where + ", " + reg + "10;  //@atom\n st.global." + word +
            " [%d2], " + reg + "11;\n";
  } else {
    text += "red" + op + where + ", " + reg + "10;  //@atom\n";
  }
  text += "bar.sync 0;\n ld.shared.u64 %d6, [%r2];\n ld.global.u64 %d7, [%d3];\n";
  if (space.rfind(".shared", 0) == 0) text += "@%p1 st.global.u64 [%d3], %d6;\n";
  if (space.empty()) text += "@%p1 st.global.u64 [%d3+24], %d6;\n";
  return text;
}

void check(const Operation& r, const std::string& space, bool result) {
  CAPTURE(r.op);
  CAPTURE(r.type);
  CAPTURE(space);
  CAPTURE(result);
  Setup setup;
  setup.functions = ".shared .align 8 .b64 box[3];\n";
  const auto put = [](std::vector<uint32_t>& words, size_t i, uint64_t value) {
    words[2 * i] = static_cast<uint32_t>(value);
    words[2 * i + 1] = static_cast<uint32_t>(value >> 32);
  };
  setup.in.resize(2 * (32 + kCells));
  for (uint32_t i = 0; i < 32 + kCells; ++i) put(setup.in, i, value_of(r, i));
  const bool generic = space.empty();
  setup.out_words = 2 * (32 + kCells + (generic ? kCells : 0));

  std::vector<uint32_t> want(setup.out_words);
  std::vector<uint64_t> cells(2 * kCells);
  for (uint32_t i = 0; i < 2 * kCells; ++i) cells[i] = value_of(r, 32 + i % kCells);
  const uint64_t mask = r.bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * r.bytes) - 1;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    // Generic: odd lanes update the first three cells (global), even lanes the others (shared).
    uint64_t& cell = cells[lane % kCells + (generic && lane % 2 == 0 ? kCells : 0)];
    if (result) put(want, lane, cell & mask);
    cell = (cell & ~mask) | (r.apply(cell & mask, value_of(r, lane) & mask) & mask);
  }
  for (uint32_t i = 0; i < (generic ? 2 : 1) * kCells; ++i) put(want, 32 + i, cells[i]);
  const LaunchOutcome o = finish(program(r, space, result), setup);
  CHECK(o.out == want);
  CHECK(o.at("atom").lanes == 32);
}

}  // namespace

TEST_CASE("core: atomics: every operator and type works in every space, in lane order") {
  for (const Operation& r : rows())
    for (const std::string space :
         {".global", ".shared", ".shared::cta", "", ".relaxed.gpu.global"}) {
      check(r, space, true);
      if (r.op != "exch") check(r, space, false);
    }
}

TEST_CASE("core: atomics: compare and swap works on 16, 32 and 64 bits") {
  for (const unsigned bytes : {2u, 4u, 8u})
    for (const std::string space : {".global", ".shared", ""}) {
      const std::string b = "b" + std::to_string(8 * bytes);
      const std::string reg = bytes == 2 ? "%h" : bytes == 4 ? "%r" : "%d";
      CAPTURE(bytes);
      CAPTURE(space);
      // The cell is 5; lane t swaps t + 5 for t + 6, but lanes 20 and later expect 5 again.
      const std::string cell = space == ".shared" ? "[%r9]" : "[%d9]";
      Setup setup;
      setup.functions = ".shared .align 8 .b64 box;\n";
      setup.out_words = 66;
      const LaunchOutcome o = finish(R"(
  mov.u32 %r9, box;
  add.u64 %d9, %out, 256;
  setp.eq.u32 %p1, %t, 0;
  @%p1 st.shared.u64 [%r9], 5;
  @%p1 st.global.u64 [%d9], 5;
  bar.sync 0;
  add.u32 %r1, %t, 5;
  setp.ge.u32 %p2, %t, 20;
  @%p2 mov.u32 %r1, 5;
  add.u32 %r2, %t, 6;
  cvt.u64.u32 %d1, %r1;
  cvt.u64.u32 %d2, %r2;
  cvt.u16.u32 %h1, %r1;
  cvt.u16.u32 %h2, %r2;
  atom)" + space + ".cas." + b + " " + reg +
                                         "3, " + cell + ", " + reg + "1, " + reg + R"(2;
  mad.wide.u32 %d8, %t, 8, %out;
  st.global.u64 [%d8], 0;
  st.global.)" + b + " [%d8], " + reg +
                                         R"(3;
  bar.sync 0;
  @%p1 ld.)" + (space == ".shared" ? "shared" : "global") +
                                         ".u64 %d7, " + cell + R"(;
  @%p1 st.global.u64 [%d9], %d7;)",
                                     setup);
      for (uint32_t t = 0; t < 32; ++t) CHECK(o.out[2 * t] == (t < 20 ? t + 5 : 25));
      CHECK(o.out[64] == 25);
    }
}

TEST_CASE("core: atomics: exchange and compare and swap work on 128 bits") {
  // The cell is {5, 7}. Lane t stores {t + 6, 7} and gets the old value, which is that of the
  // preceding lane. With compare and swap, lanes 20 and later expect {5, 8}, which never occurs.
  for (const std::string operation : {"exch", "cas"})
    for (const std::string space : {".global", ".shared", ""}) {
      CAPTURE(operation);
      CAPTURE(space);
      Setup setup;
      setup.functions = ".shared .align 16 .b128 box;\n";
      setup.out_words = 4 * 33;
      const std::string cell = space == ".shared" ? "[%r9]" : "[%d9]";
      const std::string where = space == ".shared" ? ".shared" : ".global";
      const LaunchOutcome o = finish(R"(
  mov.u32 %r9, box;
  add.u64 %d9, %out, 512;
  setp.eq.u32 %p1, %t, 0;
  mov.b128 %q1, {5, 7};
  @%p1 st)" + where + ".b128 " + cell +
                                         R"(, %q1;
  bar.sync 0;
  cvt.u64.u32 %d1, %t;
  add.u64 %d2, %d1, 5;
  add.u64 %d3, %d1, 6;
  mov.u64 %d4, 7;
  setp.ge.u32 %p2, %t, 20;
  @%p2 mov.u64 %d2, 5;
  @%p2 mov.u64 %d4, 8;
  mov.b128 %q1, {%d2, %d4};
  mov.b128 %q2, {%d3, 7};
  atom)" + space + "." + operation + ".b128 %q3, " +
                                         cell + (operation == "cas" ? ", %q1" : "") +
                                         R"(, %q2;
  mad.wide.u32 %d8, %t, 16, %out;
  st.global.b128 [%d8], %q3;
  bar.sync 0;
  @%p1 ld)" + where + ".b128 %q3, " + cell +
                                         R"(;
  @%p1 st.global.b128 [%d9], %q3;)",
                                     setup);
      const uint32_t last = operation == "cas" ? 20 : 32;  // lanes that store their value
      for (uint32_t t = 0; t <= 32; ++t) {
        CHECK(o.out[4 * t] == std::min(t, last) + 5);
        CHECK(o.out[4 * t + 2] == 7);
      }
    }
}

TEST_CASE("core: atomics: an atomic without a used result is a reduction") {
  Setup setup;
  setup.out_written = true;
  const std::string add = "atom.global.add.u32 %r1, [%out], 1;\n";
  CHECK(finish(add, setup).counters.red.requests == 1);
  CHECK(finish(add, setup).counters.atom.requests == 0);
  const LaunchOutcome used = finish(add + "st.global.u32 [%dst], %r1;", setup);
  CHECK(used.counters.red.requests == 0);
  CHECK(used.counters.atom.requests == 1);
}

TEST_CASE("core: atomics: add.f32 flushes subnormals in global memory, not in shared memory") {
  constexpr uint32_t kTiny = 0x000116c2, kNegative = 0x80000000, kLeast = 0x00800000;  // 1e-40f
  // 3 x 2^-149 + 1e-40; the least normal number less one and a half of it, of which only the result
  // is subnormal; -1e-40 - 0, which is a zero with its sign.
  const auto sums = [](const std::string& space) {
    Setup setup;
    setup.functions = ".shared .align 4 .b32 box[3];\n";
    setup.out_words = 6;
    const std::string base = space == ".shared" ? "%r9" : "%d9";
    std::string text = "mov.u32 %r9, box;\n mov.u64 %d9, %out;\n";
    const uint32_t old[] = {3, kLeast, kNegative | kTiny}, add[] = {kTiny, 0x80c00000, kNegative};
    text += "setp.eq.u32 %p1, %t, 0;\n";
    for (int i = 0; i < 3; ++i) {
      const std::string cell = "[" + base + "+" + std::to_string(4 * i) + "]";
      const std::string where = space == ".shared" ? ".shared" : ".global";
      text += "@%p1 st" + where + ".u32 " + cell + ", " + std::to_string(old[i]) + ";\n";
      text += "mov.b32 %f1, " + std::to_string(add[i]) + ";\n";
      text += "@%p1 atom" + space + ".add.f32 %f2, " + cell + ", %f1;\n";
      text += "@%p1 st.global.f32 [%out+" + std::to_string(12 + 4 * i) + "], %f2;\n";
      text += "@%p1 ld" + where + ".u32 %r1, " + cell + ";\n";
      text += "@%p1 st.global.u32 [%out+" + std::to_string(4 * i) + "], %r1;\n";
    }
    return finish(text, setup).out;
  };
  const std::vector<uint32_t> flushed{0, kNegative, kNegative, 3, kLeast, kNegative | kTiny};
  CHECK(sums(".global") == flushed);
  CHECK(sums("") == flushed);
  CHECK(sums(".shared") == std::vector<uint32_t>{kTiny + 3, 0x80400000, kNegative | kTiny, 3,
                                                 kLeast, kNegative | kTiny});
}
