// The approximations against long double: within the error that the ISA documents, and exactly at
// its special values.
#include <functional>
#include <limits>

#include "tests/fixtures/host_reference.h"
#include "tests/fixtures/opcode_harness.h"

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

TEST_CASE("core: rcp, sqrt, rsqrt, lg2, ex2, tanh .approx.f32") {
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

TEST_CASE("core: sin, cos .approx.f32: the documented error holds in [-pi, pi]") {
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

TEST_CASE("core: div.approx, div.full") {
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

TEST_CASE("core: rcp, rsqrt .approx.ftz.f64: from and to the upper words") {
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
