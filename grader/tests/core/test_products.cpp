// Products of matrices in the newest and oldest forms: 8-bit floats, sparse matrices, m8n8k4. The
// tests place small numbers, whose sums are exact in every format, according to the PTX ISA and
// compare with loops. `programs/mma_float8`, `mma_sparse` and `mma_m8n8k4` compare the bits with a
// GPU.
#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "simulator/core/semantics/tensor_core.h"
#include "tests/fixtures/sim_kit.h"

namespace lab32::tests::products {
namespace {

struct Kind {
  std::string name;
  int bits;
  bool is_signed = true;
};
const Kind kHalf{"f16", 16}, kBrain{"bf16", 16}, kTensor{"tf32", 32}, kFloat{"f32", 32},
    kInteger{"s32", 32}, kS8{"s8", 8}, kU8{"u8", 8, false}, kS4{"s4", 4}, kU4{"u4", 4, false},
    kE4m3{"e4m3", 8}, kE5m2{"e5m2", 8};

// An integer in the given format: -3 … 3 for factors; any sum, but up to 2048 for halves.
uint32_t encoded(const Kind& kind, int value) {
  const uint32_t single = bits_of(static_cast<float>(value)), sign = single >> 31;
  const uint32_t exponent = value == 0 ? 0 : (single >> 23 & 0xff) - 127, digits = single << 9;
  const auto packed = [&](uint32_t bias, int fraction) {
    const uint32_t magnitude =
        value == 0 ? 0 : (exponent + bias) << fraction | digits >> (32 - fraction);
    return sign << (kind.bits - 1) | magnitude;
  };
  if (kind.name == "f16") return packed(15, 10);
  if (kind.name == "bf16") return single >> 16;
  if (kind.name == "tf32" || kind.name == "f32") return single;
  if (kind.name == "e4m3") return packed(7, 3);
  if (kind.name == "e5m2") return packed(15, 2);
  return static_cast<uint32_t>(value) & (kind.bits == 32 ? ~0u : (1u << kind.bits) - 1);
}

struct Form {
  std::string op;
  int k;
  Kind a, b, sum;
  int selector = -1;  // sparse A only
  std::string layouts = "row.col";
  bool sparse() const { return selector >= 0; }
  bool quads() const { return k == 4; }
  int kept() const { return sparse() ? k / 2 : k; }
  int rows() const { return quads() ? 32 : 16; }
  int columns() const { return 8; }

  int value(int row, int i, int of, const Kind& kind) const {
    const int x = (row * 5 + i * 3 + of) % 7 - 3;
    return kind.is_signed ? x : std::abs(x);
  }
  int left(int row, int i) const { return value(row, i, 0, a); }
  int right(int k_, int column) const { return value(k_, column, column / 8 + 1, b); }
  int added(int row, int column) const { return row - 2 * column; }
  // The stored places of a chunk: pairs of indices, as metadata.
  uint32_t code(int row, int chunk) const {
    static constexpr uint32_t kPairs[] = {0x4, 0x8, 0x9, 0xc, 0xd, 0xe};
    const int turn = row * 7 + chunk * 5;
    return a.bits == 32 ? (turn % 2 != 0 ? 0xe : 0x4) : kPairs[turn % 6];
  }
  int of_chunk() const { return a.bits == 32 ? 1 : a.bits == 4 ? 4 : 2; }
  // The k of element i of a row of A.
  int met(int row, int i) const {
    if (!sparse()) return i;
    const int own = of_chunk(), chunk = i / own, e = i % own;
    const uint32_t indices = code(row, chunk);
    const auto first = static_cast<int>(indices & 3), second = static_cast<int>(indices >> 2);
    const int place = own == 1   ? indices == 0xe
                      : own == 2 ? (e == 0 ? first : second)
                                 : (e < 2 ? first : second) * 2 + e % 2;
    return chunk * own * 2 + place;
  }
  int product(int row, int column) const {
    int all = added(row, column);
    for (int i = 0; i < kept(); ++i)
      all += left(row, i) * right(met(row, i), quads() ? row / 8 * 8 + column : column);
    return all;
  }
};

// The register `r` of lane `l` with elements f(r, l, e).
std::vector<uint32_t> packed(int registers, int bits,
                             const std::function<uint32_t(int, int, int)>& f) {
  std::vector<uint32_t> words;
  for (int r = 0; r < registers; ++r)
    for (int l = 0; l < 32; ++l) {
      uint32_t word = 0;
      for (int e = 0; e < 32 / bits; ++e) word |= f(r, l, e) << (e * bits);
      words.push_back(word);
    }
  return words;
}

struct Registers {
  std::vector<uint32_t> a, b, c, d, metadata;
  size_t count(const std::vector<uint32_t>& x) const { return x.size() / 32; }
};

Registers registers_of(const Form& f) {
  Registers all;
  const auto of = [&](const Kind& kind, int elements, auto element) {
    return packed(elements * kind.bits / 1024, kind.bits, [&](int r, int l, int e) {
      return encoded(kind, element(r, l, r * 32 / kind.bits + e, e));
    });
  };
  const bool a_columns = f.layouts.substr(0, 3) == "col", b_rows = f.layouts.substr(4) == "row";
  all.a = of(f.a, f.rows() * f.kept(), [&](int r, int l, int i, int e) {
    const int upper = l / 16 * 4, tile = l % 16 / 4 * 8, per = 32 / f.a.bits;
    if (f.quads())
      return a_columns ? f.left(tile + i + upper, l % 4) : f.left(tile + l % 4 + upper, i);
    return f.left(l / 4 + r % 2 * 8, r / 2 * 4 * per + l % 4 * per + e);
  });
  all.b = of(f.b, f.k * (f.quads() ? 32 : 8), [&](int r, int l, int i, int e) {
    const int upper = l / 16 * 4, tile = l % 16 / 4 * 8, per = 32 / f.b.bits;
    if (f.quads())
      return b_rows ? f.right(l % 4, tile + i + upper) : f.right(i, tile + l % 4 + upper);
    return f.right(r * 4 * per + l % 4 * per + e, l / 4);
  });
  const auto sum = [&](auto value) {
    return of(f.sum, f.rows() * 8, [&, value](int r, int l, int i, int e) {
      const int upper = l / 16 * 4, tile = l % 16 / 4 * 8;
      if (f.quads() && f.sum.bits == 16) return value(tile + l % 4 + upper, i);
      if (f.quads()) return value(tile + (l & 1) + (i & 2) + upper, (i & 4) + (l & 2) + (i & 1));
      return f.sum.bits == 16 ? value(l / 4 + r * 8, l % 4 * 2 + e)
                              : value(l / 4 + r / 2 * 8, l % 4 * 2 + r % 2);
    });
  };
  all.c = sum([&](int row, int column) { return f.added(row, column); });
  all.d = sum([&](int row, int column) { return f.product(row, column); });
  if (f.sparse()) {
    const int chunks = f.kept() / f.of_chunk();
    const bool both = f.a.bits >= 16;  // a lane has chunks of two rows
    all.metadata.assign(32, 0xffffffff);
    for (int row = 0; row < 16; ++row)
      for (int chunk = 0; chunk < chunks; ++chunk) {
        const int lane = row % 8 * 4 + (both ? f.selector * (chunks / 4) + chunk / 4
                                             : f.selector * 2 + chunk / 8 * 2 + row / 8);
        const int shift = 4 * (both ? row / 8 * 4 + chunk % 4 : chunk % 8);
        uint32_t& word = all.metadata[static_cast<size_t>(lane)];
        word = (word & ~(0xfu << shift)) | f.code(row, chunk) << shift;
      }
  }
  return all;
}

std::string list(int from, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ",%r" : "{%r") + std::to_string(from + static_cast<int>(i));
  return text + "}";
}

// The result of the instruction for the form's matrices, register by register.
void check(const Form& f) {
  CAPTURE(f.op);
  CAPTURE(f.layouts);
  const Registers all = registers_of(f);
  Setup setup;
  for (const auto* part : {&all.a, &all.b, &all.c, &all.metadata})
    setup.in.insert(setup.in.end(), part->begin(), part->end());
  setup.out_words = all.d.size();
  const size_t words = setup.in.size() / 32, results = all.count(all.d);
  std::string body;
  for (size_t i = 0; i < words; ++i)
    body += "ld.global.u32 %r" + std::to_string(i) + ", [%src+" + std::to_string(i * 128) + "];\n";
  const int b = static_cast<int>(all.count(all.a)), c = b + static_cast<int>(all.count(all.b)),
            e = c + static_cast<int>(all.count(all.c));
  body += f.op + " " + list(40, results) + ", " + list(0, all.count(all.a)) + ", " +
          list(b, all.count(all.b)) + ", " + list(c, all.count(all.c));
  if (f.sparse()) body += ", %r" + std::to_string(e) + ", " + std::to_string(f.selector);
  body += ";\n";
  for (size_t i = 0; i < results; ++i)
    body +=
        "st.global.u32 [%dst+" + std::to_string(i * 128) + "], %r" + std::to_string(40 + i) + ";\n";
  CHECK(finish(body, setup).out == all.d);
}

void check(std::string op, int k, const Kind& a, const Kind& b, const Kind& sum,
           int selector = -1) {
  const std::string shape = "m16n8k" + std::to_string(k);
  check({op + ".sync.aligned." + shape + ".row.col." + sum.name + "." + a.name + "." + b.name +
             "." + sum.name,
         k, a, b, sum, selector});
}

}  // namespace

TEST_CASE("core: products: m8n8k4 of halves is four products, in every layout") {
  for (const std::string layouts : {"row.row", "row.col", "col.row", "col.col"})
    for (const Kind& sum : {kHalf, kFloat})
      check({"mma.sync.aligned.m8n8k4." + layouts + "." + sum.name + ".f16.f16." + sum.name, 4,
             kHalf, kHalf, sum, -1, layouts});
}

TEST_CASE("core: products: 8-bit floats of both formats are multiplied to halves and floats") {
  for (const Kind& a : {kE4m3, kE5m2})
    for (const Kind& b : {kE4m3, kE5m2})
      for (const Kind& sum : {kHalf, kFloat})
        for (const int k : {16, 32}) check("mma", k, a, b, sum);
}

TEST_CASE("core: products: a sparse A is multiplied in every shape and with every selector") {
  for (const std::string op : {"mma.sp", "mma.sp::ordered_metadata"}) {
    for (const int selector : {0, 1, 2, 3}) {
      check(op, 16, kHalf, kHalf, kHalf, selector);
      check(op, 16, kBrain, kBrain, kFloat, selector);
      check(op, 8, kTensor, kTensor, kFloat, selector);
    }
    for (const int selector : {0, 1}) {
      check(op, 32, kHalf, kHalf, kFloat, selector);
      check(op, 32, kBrain, kBrain, kFloat, selector);
      check(op, 16, kTensor, kTensor, kFloat, selector);
      check(op, 32, kS8, kU8, kInteger, selector);
      check(op, 64, kU4, kS4, kInteger, selector);
    }
    check(op, 64, kU8, kS8, kInteger, 0);
    check(op, 128, kS4, kU4, kInteger, 0);
    for (const Kind& a : {kE4m3, kE5m2})
      for (const Kind& b : {kE4m3, kE5m2}) check(op, 64, a, b, kFloat, 0);
  }
}

TEST_CASE("core: products: forms that ptxas emulates add like the emulating instructions") {
  constexpr uint64_t kOne = 0x3f800000;
  sim::MmaForm form;
  form.m = form.n = 1;
  form.c = form.d = ptx::DataType::f32;
  uint64_t d = 0;
  // 8-bit floats: C is added last, and rounded: 1 + (2^-24 + 2^-25).
  form.a = form.b = ptx::DataType::e5m2;
  form.k = 16, form.block = 8, form.order = sim::MmaForm::Order::halves_apart;
  std::vector<uint64_t> a(16), b(16);
  a[0] = a[6] = b[0] = 0x0c, b[6] = 0x08;  // 2^-12, 2^-13
  sim::multiply_tile(form, a.data(), b.data(), &kOne, &d);
  CHECK(d == kOne + 1);
  // The first two of each four, then the others: 2^24 + 1 + 1 - 2^24, where 1 is truncated once.
  std::vector<uint64_t> large(16), ones(16);
  large[0] = 0x6c, ones[0] = 0x6c, large[2] = 0xec, ones[2] = 0x6c;  // ±2^12 * 2^12
  large[1] = ones[1] = large[3] = ones[3] = 0x3c;
  uint64_t zero = 0;
  sim::multiply_tile(form, large.data(), ones.data(), &zero, &d);
  CHECK(d == kOne);
  // m8n8k4: one product after the other, each rounded: 1 + 2^-24 + 2^-24 is 1.
  form.a = form.b = ptx::DataType::f16;
  form.k = form.block = 4, form.order = sim::MmaForm::Order::float_chain;
  const std::vector<uint64_t> x = {0x3c00, 0x0c00, 0x0c00, 0}, y = {0x3c00, 0x0c00, 0x0c00, 0};
  sim::multiply_tile(form, x.data(), y.data(), &zero, &d);
  CHECK(d == kOne);
  // To halves: C and the first two, then the others; 2^15 + 2^15 exceeds the range of a half.
  form.c = form.d = ptx::DataType::f16;
  const std::vector<uint64_t> p = {0x7800, 0x7800, 0x7800, 0}, q = {0x3c00, 0x3c00, 0xbc00, 0};
  sim::multiply_tile(form, p.data(), q.data(), &zero, &d);
  CHECK(d == 0x7800);
}

TEST_CASE("core: products: unwritten metadata make their rows undefined") {
  const auto faults = [](const std::string& stored) {
    return run("mov.u32 %r0, 0;\nmov.u32 %r1, 0x44444444;\nsetp.eq.u32 %p0, %t, 12;\n"
               "@%p0 ld.global.u32 %r1, [%out];\nbar.warp.sync -1;\n"
               "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r2,%r3,%r4,%r5}, "
               "{%r0,%r0}, {%r0,%r0}, {%r0,%r0,%r0,%r0}, %r1, 0;\n"
               "st.global.u32 [%in], " +
               stored + ";\n")
        .trap.has_value();
  };
  CHECK(faults("%r2"));        // row 3, whose metadata lane 12 holds
  CHECK_FALSE(faults("%r4"));  // row 11: lane 13
}

}  // namespace lab32::tests::products
