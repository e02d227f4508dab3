// The half precision rows, single and packed, compared with quadruple precision and a search for
// the nearest value.
#include <algorithm>

#include "tests/fixtures/host_half.h"

using namespace lab32::tests;

namespace {

template <class>
using PairOf = HalfPairBits;

// A function of 16-bit patterns on single and on packed operands.
template <class... H, class F>
void check_both(const std::string& opcode, const std::string& type, F f) {
  const auto single = [=](auto... s) { return HalfBits{static_cast<uint16_t>(f(s.bits...))}; };
  std::string h = opcode + "." + type + " %rs1", h2 = opcode + "." + type + "x2 %r1";
  for (size_t i = 0; i < sizeof...(H); ++i) {
    h += ", %rs" + std::to_string(i + 2);
    h2 += ", %r" + std::to_string(i + 2);
  }
  check_line<HalfBits, H...>(h + ";", single);
  using P = HalfPairBits;
  const auto pair = [=](auto... s) { return P{single(s.lo...), single(s.hi...)}; };
  check_line<P, PairOf<H>...>(h2 + ";", pair);
}

template <class... H, class F>
void check_arithmetic(const std::string& op, F exact) {
  constexpr bool is_fma = sizeof...(H) == 3;
  for (const HalfFormat* format : {&f16(), &bf16()}) {
    const bool brain = format == &bf16();
    const std::string type = brain ? "bf16" : "f16";
    const auto plain = [=](auto... s) {
      return format->round(exact(Quad(format->value(s))...), FE_TONEAREST);
    };
    const auto ftz = [=](auto... s) {
      // Flushed if the result is below the normal numbers after rounding with an unbounded
      // exponent, which equals the rounding of the 2^8 times larger number.
      const Exact x = exact(Quad(format->value(format->flushed(s)))...);
      const uint16_t scaled = format->round(Exact{x.value * 256, x.rest * 256}, FE_TONEAREST);
      const bool tiny =
          std::fabs(format->value(scaled)) < 256 * format->value(format->smallest_normal());
      const uint16_t r = format->round(x, FE_TONEAREST);
      return static_cast<uint16_t>(tiny ? r & 0x8000 : r);
    };
    const auto sat = [=](uint16_t r) {
      return format->round(clamp_unit(format->value(r)), FE_TONEAREST);
    };
    const auto relu = [=](uint16_t r) {
      return format->is_nan(r) || (r & 0x8000) == 0 ? r : uint16_t{0};
    };
    if (!is_fma) check_both<H...>(op, type, plain);
    check_both<H...>(op + ".rn", type, plain);
    if (is_fma) {
      check_both<H...>(op + ".rn.relu", type, [=](auto... s) { return relu(plain(s...)); });
    }
    const std::string rest = sizeof...(H) == 2 ? " %rs1, %rs2, %rs3;" : " %rs1, %rs2, %rs3, %rs4;";
    if (brain) {
      check_refused(op + ".rn.sat.bf16" + rest);
      check_refused(op + ".rn.ftz.bf16" + rest);
      continue;
    }
    check_both<H...>(op + ".rn.ftz", type, ftz);
    check_both<H...>(op + ".rn.sat", type, [=](auto... s) { return sat(plain(s...)); });
    check_both<H...>(op + ".rn.ftz.sat", type, [=](auto... s) { return sat(ftz(s...)); });
    if (is_fma) {
      check_both<H...>(op + ".rn.ftz.relu", type, [=](auto... s) { return relu(ftz(s...)); });
      check_refused(op + ".rn.sat.relu.f16" + rest);
    } else {
      check_refused(op + ".rz.f16" + rest);
    }
  }
}

using H = HalfBits;

}  // namespace

TEST_CASE("core: half add, sub, mul and fma round correctly") {
  check_arithmetic<H, H>("add", exact_sum);
  check_arithmetic<H, H>("sub", [](Quad a, Quad b) { return exact_sum(a, -b); });
  check_arithmetic<H, H>("mul", [](Quad a, Quad b) { return Exact{a * b}; });
  check_arithmetic<H, H, H>("fma", [](Quad a, Quad b, Quad c) { return exact_sum(a * b, c); });
}

TEST_CASE("core: half neg, abs, min and max follow their definitions") {
  for (const HalfFormat* format : {&f16(), &bf16()}) {
    const bool brain = format == &bf16();
    const std::string type = brain ? "bf16" : "f16";
    const auto neg = [=](uint16_t a) { return format->is_nan(a) ? 0x7fff : a ^ 0x8000; };
    const auto abs = [=](uint16_t a) { return format->is_nan(a) ? 0x7fff : a & 0x7fff; };
    check_both<H>("neg", type, neg);
    check_both<H>("abs", type, abs);
    if (brain) {
      check_refused("neg.ftz.bf16 %rs1, %rs2;");
    } else {
      check_both<H>("neg.ftz", type, [=](uint16_t a) { return neg(format->flushed(a)); });
      check_both<H>("abs.ftz", type, [=](uint16_t a) { return abs(format->flushed(a)); });
    }
    for (const bool max : {false, true}) {
      const std::string op = max ? "max" : "min";
      const auto plain = [=](uint16_t a, uint16_t b) -> uint16_t {
        if (format->is_nan(a) && format->is_nan(b)) return 0x7fff;
        if (format->is_nan(a)) return b;
        if (format->is_nan(b)) return a;
        const double x = format->value(a), y = format->value(b);
        if (x == y) return std::signbit(x) != max ? a : b;
        return (x < y) != max ? a : b;
      };
      const auto strict = [=](uint16_t a, uint16_t b) {
        return format->is_nan(a) || format->is_nan(b) ? uint16_t{0x7fff} : plain(a, b);
      };
      const auto xorsign = [=](uint16_t a, uint16_t b) {
        const uint16_t r = plain(a & 0x7fff, b & 0x7fff);
        return format->is_nan(r) ? r : static_cast<uint16_t>((r & 0x7fff) | ((a ^ b) & 0x8000));
      };
      check_both<H, H>(op, type, plain);
      check_both<H, H>(op + ".NaN", type, strict);
      check_both<H, H>(op + ".xorsign.abs", type, xorsign);
      check_refused(op + ".abs." + type + " %rs1, %rs2, %rs3;");
      if (brain) continue;
      check_both<H, H>(op + ".ftz", type, [=](uint16_t a, uint16_t b) {
        return plain(format->flushed(a), format->flushed(b));
      });
    }
  }
}

// Documented: ex2 of f16 within 2^-9.9, of bf16 within 2^-7; tanh of f16 within 2^-10.987, of bf16
// within 2^-8, all relative. Here the bound is one unit in the last place of the exact result.
TEST_CASE("core: half ex2 and tanh are within one unit in the last place") {
  const auto check = [](const std::string& opcode, const HalfFormat& format, bool ftz, auto exact) {
    const auto near = [&format](uint16_t got, uint16_t want) {
      if (format.is_nan(want)) return got == want;
      return std::abs(static_cast<int>(got) - static_cast<int>(want)) <= 1;
    };
    const auto f = [=, &format](HalfBits a) {
      const uint16_t b = ftz ? format.flushed(a.bits) : a.bits;
      const uint16_t r = format.round(exact(format.value(b)), FE_TONEAREST);
      return HalfBits{ftz ? format.flushed(r) : r};
    };
    const std::string type = &format == &bf16() ? ".bf16" : ".f16";
    check_line<HalfBits, HalfBits>(
        opcode + type + " %rs1, %rs2;", f,
        [=](HalfBits got, HalfBits want) { return near(got.bits, want.bits); });
    check_line<HalfPairBits, HalfPairBits>(
        opcode + type + "x2 %r1, %r2;",
        [=](HalfPairBits a) {
          return HalfPairBits{f(a.lo), f(a.hi)};
        },
        [=](HalfPairBits got, HalfPairBits want) {
          return near(got.lo.bits, want.lo.bits) && near(got.hi.bits, want.hi.bits);
        });
  };
  const auto ex2 = [](double a) { return std::exp2(a); };
  const auto tanh = [](double a) { return std::tanh(a); };
  check("ex2.approx", f16(), false, ex2);
  check("ex2.approx.ftz", bf16(), true, ex2);
  check("tanh.approx", f16(), false, tanh);
  check("tanh.approx", bf16(), false, tanh);
  check_refused("ex2.approx.bf16 %rs1, %rs2;");
}

// ---------------------------------------------------------------------------------------------
// Conversions from and to pairs of 8-bit floats, compared with a search among all their values.

namespace lab32::tests::float8 {
namespace {

struct Format8 {
  std::string name;
  int fraction;
  double largest;

  // NaN or infinity as in IEEE 754; E4M3 has only one such pattern, which is NaN.
  double value(uint8_t bits) const {
    const int bias = fraction == 3 ? 7 : 15, field = (bits & 0x7f) >> fraction;
    const int digits = bits & ((1 << fraction) - 1);
    const double sign = bits >> 7 != 0 ? -1 : 1;
    if (fraction == 3 ? (bits & 0x7f) == 0x7f : field == 31 && digits != 0) return NAN;
    if (fraction == 2 && field == 31) return sign * INFINITY;
    const int whole = field == 0 ? digits : digits + (1 << fraction);
    return sign * std::ldexp(whole, std::max(field, 1) - bias - fraction);
  }
  uint8_t nearest(double x, bool relu) const {
    if (std::isnan(x)) return 0x7f;
    const bool negative = std::signbit(x);
    if (negative && relu) return 0;
    const double magnitude = std::min(std::fabs(x), largest);
    uint8_t best = 0;
    for (uint8_t b = 0; b < 0x7f && value(b) <= largest; ++b) {
      const double own = std::fabs(value(b) - magnitude), its = std::fabs(value(best) - magnitude);
      if (own < its || (own == its && b % 2 == 0)) best = b;
    }
    return static_cast<uint8_t>(best | (negative ? 0x80 : 0));
  }
  HalfBits half(uint8_t bits, bool relu, const HalfFormat& halves) const {
    const double x = value(bits);
    if (relu && std::signbit(x)) return {0};
    return {halves.round({x}, FE_TONEAREST)};
  }
};

const Format8 kFormats[] = {{"e4m3x2", 3, 448}, {"e5m2x2", 2, 57344}};

}  // namespace

TEST_CASE("core: cvt converts to 8-bit floats") {
  const HalfFormat halves(5, 10);
  for (const Format8& f : kFormats)
    for (const bool relu : {false, true}) {
      const std::string opcode = std::string("cvt.rn.satfinite") + (relu ? ".relu." : ".") + f.name;
      const auto pair = [&](double high, double low) {
        return static_cast<uint16_t>(f.nearest(high, relu) << 8 | f.nearest(low, relu));
      };
      check_line<uint16_t, float, float>(opcode + ".f32 %rs1, %f2, %f3;",
                                         [&](float a, float b) { return pair(a, b); });
      check_line<uint16_t, HalfPairBits>(opcode + ".f16x2 %rs1, %r2;", [&](HalfPairBits a) {
        return pair(halves.value(a.hi.bits), halves.value(a.lo.bits));
      });
    }
  check_refused("cvt.rn.e4m3x2.f32 %rs1, %f2, %f3;");
  check_refused("cvt.rz.satfinite.e4m3x2.f32 %rs1, %f2, %f3;");
  check_refused("cvt.rn.satfinite.e5m2x2.bf16x2 %rs1, %r2;");
}

TEST_CASE("core: cvt converts from 8-bit floats") {
  const HalfFormat halves(5, 10);
  for (const Format8& f : kFormats)
    for (const bool relu : {false, true})
      check_line<HalfPairBits, uint16_t>(
          std::string("cvt.rn") + (relu ? ".relu" : "") + ".f16x2." + f.name + " %r1, %rs2;",
          [&](uint16_t a) {
            return HalfPairBits{f.half(static_cast<uint8_t>(a), relu, halves),
                                f.half(static_cast<uint8_t>(a >> 8), relu, halves)};
          });
  check_refused("cvt.f16x2.e4m3x2 %r1, %rs2;");
  check_refused("cvt.rn.satfinite.f16x2.e4m3x2 %r1, %rs2;");
  check_refused("cvt.rn.bf16x2.e5m2x2 %r1, %rs2;");
}

}  // namespace lab32::tests::float8
