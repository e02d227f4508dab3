// Conversions from and to pairs of 8-bit floats, against a search among all their values.
#include <algorithm>

#include "tests/fixtures/host_half.h"

namespace lab32::tests::float8 {
namespace {

struct Format8 {
  std::string name;
  int fraction;
  double largest;

  // NaN, or infinite, as IEEE 754 has it; E4M3 has only one magnitude that is not a number.
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

TEST_CASE("core: cvt to 8-bit floats") {
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

TEST_CASE("core: cvt from 8-bit floats") {
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
