// The single and double precision rows compared with the host's floating-point unit in each
// rounding mode. The table of hardware results (test_semantics_hardware.cpp) checks which NaN a
// double result is.
#include <limits>

#include "tests/fixtures/host_reference.h"
#include "tests/fixtures/opcode_harness.h"

using namespace lab32::tests;

namespace {

// The operation in one rounding mode with canonical NaN, like T's row without modifiers.
template <class F>
auto rounded(int mode, F f) {
  return [=](auto... s) { return canonical(in_mode(mode, [&] { return f(s...); })); };
}

const auto kAdd = [](auto a, auto b) {
  volatile auto x = a, y = b;
  return x + y;
};
const auto kSub = [](auto a, auto b) {
  volatile auto x = a, y = b;
  return x - y;
};
const auto kMul = [](auto a, auto b) {
  volatile auto x = a, y = b;
  return x * y;
};
const auto kDiv = [](auto a, auto b) {
  volatile auto x = a, y = b;
  return x / y;
};
const auto kRcp = [](auto a) { return kDiv(static_cast<decltype(a)>(1), a); };
const auto kSqrt = [](auto a) {
  volatile auto x = a;
  return std::sqrt(x);
};
const auto kFma = [](auto a, auto b, auto c) {
  volatile auto x = a, y = b, z = c;
  return std::fma(x, y, z);
};

// op{.rnd}.T and, for float, its .ftz and .sat forms. For a tiny product that .ftz flushes although
// as a subnormal it would be rounded up, the reference allows 0 or the smallest normal number; the
// table of hardware results decides.
template <class... T, class F>
void check_modes(const std::string& op, bool has_sat, F f) {
  using R = std::common_type_t<T...>;
  const std::string type = std::string(".") + TypeNames<R>::type;
  const auto accept = [](R got, R want) {
    if (same_or_nan(got, want)) return true;
    return got == 0 && std::fabs(want) == std::numeric_limits<float>::min();
  };
  for (const Mode& mode : kModes) {
    const std::string opcode = op + "." + mode.name;
    const auto exact = rounded(mode.host, f);
    check_line<R, T...>(line<R, T...>(opcode + type), exact, same_or_nan<R>);
    if constexpr (std::is_same_v<R, float>) {
      const auto ftz = [=](auto... s) { return flushed(exact(flushed(s)...)); };
      check_line<R, T...>(line<R, T...>(opcode + ".ftz" + type), ftz, accept);
      if (!has_sat) continue;
      check_line<R, T...>(line<R, T...>(opcode + ".sat" + type),
                          [=](auto... s) { return clamp_unit(exact(s...)); });
      check_line<R, T...>(
          line<R, T...>(opcode + ".ftz.sat" + type),
          [=](auto... s) { return clamp_unit(ftz(s...)); }, accept);
    } else if (has_sat) {
      check_refused(line<R, T...>(opcode + ".sat" + type));
      check_refused(line<R, T...>(opcode + ".ftz" + type));
    }
  }
}

}  // namespace

TEST_CASE("core: float add, sub, mul, fma, mad, div, rcp, sqrt round correctly in all modes") {
  for_types<float, double>([](auto t) {
    using T = decltype(t);
    check_modes<T, T>("add", true, kAdd);
    check_modes<T, T>("sub", true, kSub);
    check_modes<T, T>("mul", true, kMul);
    check_modes<T, T, T>("fma", true, kFma);
    check_modes<T, T, T>("mad", true, kFma);
    check_modes<T, T>("div", false, kDiv);
    check_modes<T>("rcp", false, kRcp);
    check_modes<T>("sqrt", false, kSqrt);
    // Without a rounding modifier: to nearest.
    const auto nearest = rounded(FE_TONEAREST, kAdd);
    check_line<T, T, T>(line<T, T, T>(typed<T>("add")), nearest, same_or_nan<T>);
    check_refused(line<T, T, T, T>(typed<T>("mad")));
  });
}

// Random operands seldom cancel, overflow or give results below the normal numbers; these operands
// do.
TEST_CASE("core: float rounding is correct at the ends of the range and under cancellation") {
  std::mt19937_64 random(11);
  const auto scaled = [&](int low, int high) {
    const double m = 1.0 + static_cast<double>(random() >> 12) * 0x1p-52;
    const int e = low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    return std::ldexp((random() & 1) != 0 ? m : -m, e);
  };
  for (const Mode& mode : kModes) {
    Line fma("fma." + std::string(mode.name) + ".f64 %fd1, %fd2, %fd3, %fd4;");
    Line div("div." + std::string(mode.name) + ".f64 %fd1, %fd2, %fd3;");
    Line fma32("fma." + std::string(mode.name) + ".f32 %f1, %f2, %f3, %f4;");
    for (int round = 0; round < 4000; ++round) {
      const int lane = round % 32;
      // The product is near c (cancellation), near the smallest, or near the largest numbers.
      const int ea = round % 3 == 0 ? 0 : round % 3 == 1 ? -540 : 511;
      const double a = scaled(ea - 3, ea + 3), b = scaled(ea - 3, ea + 3);
      double c = scaled(2 * ea - 60, 2 * ea + 60);
      if (round % 4 == 0) c = -(a * b);
      const auto run = [&](Line& line, std::initializer_list<double> s) {
        int i = 0;
        for (double v : s) line.set(line.inst().src[i++], lane, v);
        line.run(1u << lane);
        return line.get<double>(line.inst().dst[0], lane);
      };
      const double want = in_mode(mode.host, [&] { return kFma(a, b, c); });
      REQUIRE(same_or_nan(run(fma, {a, b, c}), want));
      const double tiny = scaled(-1040, -1000), huge = scaled(20, 70);
      const double quotient = in_mode(mode.host, [&] { return kDiv(tiny, huge); });
      REQUIRE(same_or_nan(run(div, {tiny, huge}), quotient));

      const int e32 = round % 3 == 0 ? 0 : round % 3 == 1 ? -68 : 63;
      const auto x = static_cast<float>(scaled(e32 - 3, e32 + 1));
      const auto y = static_cast<float>(scaled(e32 - 3, e32 + 1));
      auto z = static_cast<float>(scaled(std::max(2 * e32 - 30, -140), std::min(2 * e32, 126)));
      if (round % 4 == 0) z = -(x * y);
      const float want32 = in_mode(mode.host, [&] { return kFma(x, y, z); });
      int i = 0;
      for (float v : {x, y, z}) fma32.set(fma32.inst().src[i++], lane, v);
      fma32.run(1u << lane);
      REQUIRE(same_or_nan(fma32.get<float>(fma32.inst().dst[0], lane), canonical(want32)));
    }
  }
}

TEST_CASE("core: testp, copysign, abs and neg follow their definitions") {
  for_types<float, double>([](auto t) {
    using T = decltype(t);
    const auto check_class = [](const std::string& name, auto in_class) {
      check_line<bool, T>(line<bool, T>(typed<T>("testp." + name)),
                          [=](T a) { return in_class(std::fpclassify(a)); });
    };
    check_class("finite", [](int c) { return c != FP_INFINITE && c != FP_NAN; });
    check_class("infinite", [](int c) { return c == FP_INFINITE; });
    check_class("number", [](int c) { return c != FP_NAN; });
    check_class("notanumber", [](int c) { return c == FP_NAN; });
    check_class("normal", [](int c) { return c == FP_NORMAL || c == FP_ZERO; });
    check_class("subnormal", [](int c) { return c == FP_SUBNORMAL; });
    check_line<T, T, T>(line<T, T, T>(typed<T>("copysign")),
                        [](T a, T b) { return std::copysign(b, a); });
    check_line<T, T>(
        line<T, T>(typed<T>("abs")), [](T a) { return canonical(std::fabs(a)); }, same_or_nan<T>);
    check_line<T, T>(
        line<T, T>(typed<T>("neg")), [](T a) { return canonical(-a); }, same_or_nan<T>);
  });
  check_line<float, float>("abs.ftz.f32 %f1, %f2;",
                           [](float a) { return canonical(std::fabs(flushed(a))); });
  check_line<float, float>("neg.ftz.f32 %f1, %f2;", [](float a) { return canonical(-flushed(a)); });
  check_refused("abs.ftz.f64 %fd1, %fd2;");
}

TEST_CASE("core: float min and max follow their definitions") {
  const auto lesser = [](auto a, auto b) {
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    if (a == b) return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  const auto greater = [=](auto a, auto b) {
    if (std::isnan(a) || std::isnan(b)) return lesser(a, b);
    return -lesser(-a, -b);
  };
  const auto check = [](const std::string& op, auto pick) {
    using F = float;
    check_line<double, double, double>(op + ".f64 %fd1, %fd2, %fd3;", pick, same_or_nan<double>);
    const auto plain = [=](F a, F b) { return canonical(pick(a, b)); };
    const auto strict = [=](F a, F b) {
      return std::isnan(a) || std::isnan(b) ? canonical(NAN) : pick(a, b);
    };
    const auto three = [](auto f) { return [=](F a, F b, F c) { return f(f(a, b), c); }; };
    const auto with_sign = [](auto f) {
      return [=](F a, F b) {
        const F r = f(std::fabs(a), std::fabs(b));
        return std::isnan(r) ? r : std::copysign(r, std::signbit(a) != std::signbit(b) ? -1.0f : 1);
      };
    };
    check_line<F, F, F>(op + ".f32 %f1, %f2, %f3;", plain);
    check_line<F, F, F>(op + ".ftz.f32 %f1, %f2, %f3;",
                        [=](F a, F b) { return plain(flushed(a), flushed(b)); });
    check_line<F, F, F>(op + ".NaN.f32 %f1, %f2, %f3;", strict);
    check_line<F, F, F>(op + ".xorsign.abs.f32 %f1, %f2, %f3;", with_sign(plain));
    check_line<F, F, F>(op + ".NaN.xorsign.abs.f32 %f1, %f2, %f3;", with_sign(strict));
    check_line<F, F, F, F>(op + ".f32 %f1, %f2, %f3, %f4;", three(plain));
    check_line<F, F, F, F>(op + ".NaN.f32 %f1, %f2, %f3, %f4;", three(strict));
    check_line<F, F, F, F>(op + ".abs.f32 %f1, %f2, %f3, %f4;", [=](F a, F b, F c) {
      return three(plain)(std::fabs(a), std::fabs(b), std::fabs(c));
    });
    check_refused(op + ".abs.f32 %f1, %f2, %f3;");
    check_refused(op + ".xorsign.f32 %f1, %f2, %f3;");
    check_refused(op + ".xorsign.abs.f32 %f1, %f2, %f3, %f4;");
    check_refused(op + ".NaN.f64 %fd1, %fd2, %fd3;");
  };
  check("min", lesser);
  check("max", greater);
}
