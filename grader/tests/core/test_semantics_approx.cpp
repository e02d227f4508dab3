// The approximations compared with long double: within the documented error, and exact at the ISA's
// special values.
#include <functional>
#include <limits>

#include "simulator/core/semantics/approx.h"
#include "tests/fixtures/host_reference.h"
#include "tests/fixtures/opcode_harness.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

// want within `relative` of got (or `absolute`); zeros, infinities and NaN must agree to the bit.
auto within(long double relative, long double absolute = 0) {
  return [=](auto got, auto want) {
    if (std::isnan(want) || std::isinf(want) || want == 0) {
      return std::isnan(want) ? std::isnan(got) : same_bits(got, want) || std::fabs(got) < absolute;
    }
    const long double error = std::fabs(static_cast<long double>(got) - want);
    return error <= relative * std::fabs(static_cast<long double>(want)) || error <= absolute ||
           error <= 2 * static_cast<long double>(std::numeric_limits<decltype(got)>::denorm_min());
  };
}

template <class F>
void check_f32(const std::string& opcode, F exact, std::function<bool(float, float)> accept) {
  const auto narrowed = [=](float a) { return canonical(static_cast<float>(exact(a))); };
  check_line<float, float>(opcode + ".f32 %f1, %f2;", narrowed, accept);
  check_line<float, float>(
      opcode + ".ftz.f32 %f1, %f2;", [=](float a) { return flushed(narrowed(flushed(a))); },
      accept);
}

using LD = long double;

}  // namespace

TEST_CASE("core: rcp, sqrt, rsqrt, lg2, ex2, tanh .approx.f32 are within the documented error") {
  check_f32(
      "rcp.approx", [](LD a) { return 1 / a; }, within(0x1p-23L));
  check_f32(
      "sqrt.approx", [](LD a) { return std::sqrt(a); }, within(0x1p-23L));
  check_f32(
      "rsqrt.approx", [](LD a) { return 1 / std::sqrt(a); }, within(0x1p-22L));
  check_f32(
      "lg2.approx", [](LD a) { return std::log2(a); }, within(0x1p-22L, 0x1p-22L));
  check_f32(
      "ex2.approx", [](LD a) { return std::exp2(a); }, within(0x1p-22L));
  check_line<float, float>(
      "tanh.approx.f32 %f1, %f2;",
      [](float a) { return canonical(static_cast<float>(std::tanh(LD(a)))); }, within(0x1p-11L));
}

namespace {

// The polynomials for a whole warp give the results of the function for one lane.
template <class Op>
void check_rows(const std::string& opcode) {
  for (const bool ftz : {false, true}) {
    Line line(opcode + (ftz ? ".ftz" : "") + ".f32 %f2, %f1;");
    sim::FloatModifiers modifiers;
    modifiers.ftz = ftz;
    uint32_t next = 12345, differ = 0;
    for (int warp = 0; warp < 4000; ++warp) {
      uint32_t of[kWarpSize];
      for (int lane = 0; lane < kWarpSize; ++lane) {
        next = next * 1664525u + 1013904223u;
        // Random bits, or numbers of usual size.
        of[lane] = warp % 2 == 0 ? next : (next & 0x83ffffffu) + 0x3e000000u;
        line.set(line.inst().src[0], lane, of[lane]);
      }
      const uint32_t mask = warp % 4 < 2 ? sim::kFullMask : next;
      for (int lane = 0; lane < kWarpSize; ++lane) line.set(line.inst().dst[0], lane, uint32_t{77});
      line.run(mask);
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const float one =
            sim::WithFtzSatAndCanonicalNan<Op>::apply(modifiers, sim::bit_copy<float>(of[lane]));
        const uint32_t want = (mask >> lane & 1) != 0 ? sim::bits(one) : 77;
        differ += line.get<uint32_t>(line.inst().dst[0], lane) != want;
      }
    }
    CHECK_MESSAGE(differ == 0, opcode);
  }
}

}  // namespace

TEST_CASE("core: ex2, lg2, rsqrt .approx.f32 of a warp equal those of its lanes bit for bit") {
  check_rows<sim::Ex2Approx>("ex2.approx");
  check_rows<sim::Lg2Approx>("lg2.approx");
  check_rows<sim::RsqrtApprox>("rsqrt.approx");
}

TEST_CASE("core: sin, cos .approx.f32 are within the documented error in [-pi, pi]") {
  const auto check = [](const std::string& opcode, auto exact) {
    const auto in_range = [=](float a) {
      return std::fabs(a) <= 3.14159f ? static_cast<float>(exact(LD(a)))
             : std::isfinite(a)       ? 0.0f  // no bound is documented
                                      : canonical(NAN);
    };
    // 0 stands for "anything in [-1, 1]".
    const auto accept = [](float got, float want) {
      if (want == 0) return std::fabs(got) <= 1;
      return within(0, 0x1p-20L)(got, want);
    };
    check_line<float, float>(opcode + ".f32 %f1, %f2;", in_range, accept);
    check_line<float, float>(opcode + ".ftz.f32 %f1, %f2;", in_range, accept);
  };
  check("sin.approx", [](LD a) { return std::sin(a); });
  check("cos.approx", [](LD a) { return std::cos(a); });
}

TEST_CASE("core: div.approx and div.full are within the documented error") {
  const auto quotient = [](float a, float b) {
    return canonical(static_cast<float>(LD(a) / LD(b)));
  };
  const auto approx = [=](float a, float b) {
    if (std::fabs(b) > 0x1p126f && std::isfinite(b)) {
      return std::isinf(a) || std::isnan(a)
                 ? canonical(NAN)
                 : std::copysign(0.0f, std::signbit(a) == std::signbit(b) ? 1.0f : -1.0f);
    }
    return quotient(a, b);
  };
  const auto ftz = [](auto f) {
    return [=](float a, float b) { return flushed(f(flushed(a), flushed(b))); };
  };
  const auto accept = within(0x1p-22L);
  check_line<float, float, float>("div.approx.f32 %f1, %f2, %f3;", approx, accept);
  check_line<float, float, float>("div.approx.ftz.f32 %f1, %f2, %f3;", ftz(approx), accept);
  check_line<float, float, float>("div.full.f32 %f1, %f2, %f3;", quotient, accept);
  check_line<float, float, float>("div.full.ftz.f32 %f1, %f2, %f3;", ftz(quotient), accept);
}

TEST_CASE("core: rcp, rsqrt .approx.ftz.f64 read and write the upper words") {
  const auto upper = [](double x) {
    return reinterpret<double>(reinterpret<uint64_t>(x) & 0xffffffff00000000u);
  };
  const auto flush64 = [](double x) { return std::fpclassify(x) == FP_SUBNORMAL ? x * 0.0 : x; };
  const auto check = [=](const std::string& opcode, auto exact) {
    check_line<double, double>(
        opcode + ".ftz.f64 %fd1, %fd2;",
        [=](double a) { return upper(flush64(static_cast<double>(exact(flush64(upper(a)))))); },
        [=](double got, double want) {
          return within(0x1p-20L)(got, want) && (reinterpret<uint64_t>(got) & 0xffffffffu) == 0;
        });
  };
  check("rcp.approx", [](double a) { return 1 / LD(a); });
  check("rsqrt.approx", [](double a) { return 1 / std::sqrt(LD(a)); });
  check_line<double, double>(
      "rsqrt.approx.f64 %fd1, %fd2;",
      [](double a) { return static_cast<double>(1 / std::sqrt(LD(a))); }, within(0x1p-50L));
  check_refused("rcp.approx.f64 %fd1, %fd2;");
}
