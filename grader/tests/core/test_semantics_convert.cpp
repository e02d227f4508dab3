// cvt for every pair of types, compared with the host's conversions in each rounding mode and, for
// halves, with the search in host_half.h.
#include <algorithm>
#include <limits>

#include "tests/fixtures/host_half.h"

using namespace lab32::tests;

namespace {

template <class F>
void all_integers(F f) {
  for_types<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t>(f);
}

// "cvt{words}.D.S"
template <class D, class S>
std::string cvt(const std::string& words) {
  return "cvt" + words + "." + TypeNames<D>::type + "." + TypeNames<S>::type + " " +
         TypeNames<D>::reg + "1, " + TypeNames<S>::reg + "2;";
}

template <class D, class S>
bool holds_all(S) {
  return Wide(std::numeric_limits<D>::min()) <= Wide(std::numeric_limits<S>::min()) &&
         Wide(std::numeric_limits<D>::max()) >= Wide(std::numeric_limits<S>::max());
}

// x rounded to a whole number, clamped to D. NaN: 0, or the top bit for 64-bit types.
template <class D>
D to_integer(double x, int mode, bool wide_source) {
  if (std::isnan(x)) {
    return wide_source || sizeof(D) == 8 ? static_cast<D>(uint64_t{1} << (sizeof(D) * 8 - 1))
                                         : D{0};
  }
  const double whole = in_mode(mode, [&] {
    volatile double v = x;
    return std::nearbyint(v);
  });
  const auto low = static_cast<Quad>(std::numeric_limits<D>::min());
  const auto high = static_cast<Quad>(std::numeric_limits<D>::max());
  return static_cast<D>(std::clamp<Quad>(whole, low, high));
}

const std::string kIntegral[] = {".rni", ".rzi", ".rmi", ".rpi"};

template <class D, class S>
D host_cast(S s, int mode) {
  return in_mode(mode, [&] {
    volatile S v = s;
    return static_cast<D>(v);
  });
}

struct HalfType {
  const char* name;
  const HalfFormat& format;
  bool brain;
};
const HalfType kHalves[] = {{"f16", f16(), false}, {"bf16", bf16(), true}};

}  // namespace

TEST_CASE("core: cvt converts between integers") {
  all_integers([](auto d) {
    all_integers([](auto s) {
      using D = decltype(d);
      using S = decltype(s);
      check_line<D, S>(cvt<D, S>(""), [](S a) { return static_cast<D>(a); });
      if (holds_all<D>(S{})) {
        check_refused(cvt<D, S>(".sat"));
        return;
      }
      check_line<D, S>(cvt<D, S>(".sat"), [](S a) {
        return static_cast<D>(
            std::clamp<Wide>(a, std::numeric_limits<D>::min(), std::numeric_limits<D>::max()));
      });
    });
    using D = decltype(d);
    check_refused(cvt<D, int32_t>(".rzi"));
  });
}

// Registers wider than the types: the low bits count, and the result is extended according to its
// type.
TEST_CASE("core: cvt accepts registers wider than the types") {
  using U = uint32_t;
  check_line<U, U>("cvt.u8.u32 %r1, %r2;", [](U a) { return a & 0xff; });
  check_line<U, U>("cvt.s8.s32 %r1, %r2;", [](U a) { return U(int8_t(a)); });
  check_line<U, U>("cvt.s32.s8 %r1, %r2;", [](U a) { return U(int8_t(a)); });
  check_line<U, U>("cvt.u32.u8 %r1, %r2;", [](U a) { return a & 0xff; });
  check_line<uint64_t, U>("cvt.s64.s16 %rd1, %r2;", [](U a) { return uint64_t(int16_t(a)); });
  check_line<uint64_t, U>("cvt.u16.u32 %rd1, %r2;", [](U a) { return uint64_t(a & 0xffff); });
  check_line<U, float>("cvt.rzi.s8.f32 %r1, %f2;",
                       [](float a) { return U(to_integer<int8_t>(a, FE_TOWARDZERO, false)); });
  check_line<float, U>("cvt.rn.f32.u16 %f1, %r2;", [](U a) { return float(a & 0xffff); });
  check_line<U, int16_t>("cvt.sat.u8.s16 %r1, %rs2;",
                         [](int16_t a) { return U(std::clamp<int>(a, 0, 255)); });
}

TEST_CASE("core: cvt converts integers to floats") {
  all_integers([](auto s) {
    using S = decltype(s);
    for_types<float, double>([](auto d) {
      using D = decltype(d);
      for (const Mode& mode : kModes) {
        const std::string rnd = std::string(".") + mode.name;
        const int host = mode.host;
        check_line<D, S>(cvt<D, S>(rnd), [=](S a) { return host_cast<D>(a, host); });
        check_line<D, S>(cvt<D, S>(rnd + ".sat"),
                         [=](S a) { return clamp_unit(host_cast<D>(a, host)); });
      }
      check_refused(cvt<D, S>(""));
      check_refused(cvt<D, S>(".rzi"));
    });
    for (const HalfType& h : kHalves) {
      const std::string rest = std::string(".") + h.name + "." + TypeNames<S>::type + " %rs1, " +
                               TypeNames<S>::reg + "2;";
      for (const Mode& mode : kModes) {
        const std::string opcode = std::string("cvt.") + mode.name;
        if (h.brain && sizeof(S) == 1) {
          check_refused(opcode + rest);
          continue;
        }
        check_line<HalfBits, S>(opcode + rest, [=](S a) {
          return HalfBits{h.format.round(Exact{static_cast<Quad>(a)}, mode.host)};
        });
        if (h.brain) {
          check_refused(opcode + ".sat" + rest);
        } else {
          check_line<HalfBits, S>(opcode + ".sat" + rest, [=](S a) {
            return HalfBits{static_cast<uint16_t>(a <= 0 ? 0 : 0x3c00)};
          });
        }
      }
    }
  });
}

TEST_CASE("core: cvt converts floats to integers") {
  all_integers([](auto d) {
    using D = decltype(d);
    for (int i = 0; i < 4; ++i) {
      const int mode = kModes[i].host;
      const auto f32 = [=](float a) { return to_integer<D>(a, mode, false); };
      const auto f64 = [=](double a) { return to_integer<D>(a, mode, true); };
      for (const std::string sat : {"", ".sat"}) {
        check_line<D, float>(cvt<D, float>(kIntegral[i] + sat), f32);
        check_line<D, float>(cvt<D, float>(kIntegral[i] + ".ftz" + sat),
                             [=](float a) { return f32(flushed(a)); });
        check_line<D, double>(cvt<D, double>(kIntegral[i] + sat), f64);
      }
      for (const HalfType& h : kHalves) {
        const std::string text = "cvt" + kIntegral[i] + "." + TypeNames<D>::type + "." + h.name +
                                 " " + TypeNames<D>::reg + "1, %rs2;";
        if (h.brain && sizeof(D) == 1) {
          check_refused(text);
          continue;
        }
        check_line<D, HalfBits>(
            text, [=](HalfBits a) { return to_integer<D>(h.format.value(a.bits), mode, false); });
      }
    }
    check_refused(cvt<D, float>(""));
    check_refused(cvt<D, float>(".rn"));
    check_refused(cvt<D, double>(".rzi.ftz"));
  });
}

TEST_CASE("core: cvt converts between float and double") {
  using F = float;
  using D = double;
  const auto nan_ok = [](F got, F want) {
    return std::isnan(want) ? std::isnan(got) : same_bits(got, want);
  };
  for (const Mode& mode : kModes) {
    const std::string rnd = std::string(".") + mode.name;
    const int host = mode.host;
    const auto plain = [=](D a) { return host_cast<F>(a, host); };
    const auto ftz = [=](D a) {
      // Tiny after rounding to 24 bits with an unbounded exponent (see semantics/float.h).
      const F r = plain(a);
      return std::fabs(plain(std::fabs(a) < 1 ? a * 0x1p64 : 1)) < 0x1p-62f ? r * 0.0f : flushed(r);
    };
    check_line<F, D>(cvt<F, D>(rnd), plain, nan_ok);
    check_line<F, D>(cvt<F, D>(rnd + ".ftz"), ftz, nan_ok);
    check_line<F, D>(cvt<F, D>(rnd + ".sat"), [=](D a) { return clamp_unit(plain(a)); });
    check_line<F, D>(cvt<F, D>(rnd + ".ftz.sat"), [=](D a) { return clamp_unit(ftz(a)); });
  }
  check_line<D, F>(
      cvt<D, F>(""), [](F a) { return D(a); }, same_or_nan<D>);
  check_line<D, F>(
      cvt<D, F>(".ftz"), [](F a) { return D(flushed(a)); }, same_or_nan<D>);
  check_line<D, F>(cvt<D, F>(".sat"), [](F a) { return clamp_unit(D(a)); });
  check_refused(cvt<F, D>(""));
  check_refused(cvt<D, F>(".rn"));
}

TEST_CASE("core: cvt rounds and clamps a float to its own type") {
  for_types<float, double>([](auto t) {
    using T = decltype(t);
    check_line<T, T>(cvt<T, T>(""), [](T a) { return a; });
    check_line<T, T>(cvt<T, T>(".sat"), [](T a) { return clamp_unit(a); });
    for (int i = 0; i < 4; ++i) {
      const auto whole = [=](T a) {
        return canonical(in_mode(kModes[i].host, [&] {
          volatile T v = a;
          return std::nearbyint(v);
        }));
      };
      check_line<T, T>(cvt<T, T>(kIntegral[i]), whole, same_or_nan<T>);
      check_line<T, T>(cvt<T, T>(kIntegral[i] + ".sat"), [=](T a) { return clamp_unit(whole(a)); });
      if constexpr (std::is_same_v<T, float>) {
        check_line<T, T>(cvt<T, T>(kIntegral[i] + ".ftz"), [=](T a) { return whole(flushed(a)); });
      }
    }
    check_refused(cvt<T, T>(".rn"));
    check_refused(cvt<T, T>(".relu"));
  });
  check_line<float, float>("cvt.ftz.f32.f32 %f1, %f2;",
                           [](float a) { return canonical(flushed(a)); });
  for (const HalfType& h : kHalves) {
    const std::string rest = std::string(".") + h.name + "." + h.name + " %rs1, %rs2;";
    for (int i = 0; i < 4; ++i) {
      check_line<HalfBits, HalfBits>("cvt" + kIntegral[i] + rest, [=](HalfBits a) {
        const double whole = in_mode(kModes[i].host, [&] {
          volatile double v = h.format.value(a.bits);
          return std::nearbyint(v);
        });
        return HalfBits{h.format.round(whole, FE_TONEAREST)};
      });
    }
  }
}

TEST_CASE("core: cvt converts to and from halves") {
  for (const HalfType& h : kHalves) {
    const std::string name = h.name;
    const auto is_nan = [=](HalfBits a) { return h.format.is_nan(a.bits); };
    check_line<float, HalfBits>(
        "cvt.f32." + name + " %f1, %rs2;",
        [=](HalfBits a) { return static_cast<float>(h.format.value(a.bits)); },
        [](float got, float want) { return std::isnan(want) ? std::isnan(got) : got == want; });
    check_line<double, HalfBits>(
        "cvt.f64." + name + " %fd1, %rs2;", [=](HalfBits a) { return h.format.value(a.bits); },
        same_or_nan<double>);
    for (const Mode& mode : kModes) {
      const std::string opcode = std::string("cvt.") + mode.name;
      const auto round = [=](double a) { return HalfBits{h.format.round(a, mode.host)}; };
      check_line<HalfBits, float>(opcode + "." + name + ".f32 %rs1, %f2;", round);
      check_line<HalfBits, double>(opcode + "." + name + ".f64 %rs1, %fd2;", round,
                                   [=](HalfBits got, HalfBits want) {
                                     return is_nan(want) ? is_nan(got) : got.bits == want.bits;
                                   });
      const HalfType& other = h.brain ? kHalves[0] : kHalves[1];
      check_line<HalfBits, HalfBits>(opcode + "." + name + "." + other.name + " %rs1, %rs2;",
                                     [=](HalfBits a) { return round(other.format.value(a.bits)); });
      const bool may_clamp = mode.host == FE_TONEAREST || mode.host == FE_TOWARDZERO;
      const std::string rest = "." + name + ".f32 %rs1, %f2;";
      if (!may_clamp) {
        check_refused(opcode + ".relu" + rest);
        continue;
      }
      const auto relu = [=](HalfBits r) { return !is_nan(r) && r.bits >> 15 ? HalfBits{0} : r; };
      const auto finite = [=](HalfBits r) {
        const bool inf = (r.bits & 0x7fff) == h.format.infinity();
        return HalfBits{static_cast<uint16_t>(inf ? r.bits - 1 : r.bits)};
      };
      check_line<HalfBits, float>(opcode + ".relu" + rest, [=](float a) { return relu(round(a)); });
      check_line<HalfBits, float>(opcode + ".satfinite" + rest,
                                  [=](float a) { return finite(round(a)); });
      check_line<HalfBits, float>(opcode + ".relu.satfinite" + rest,
                                  [=](float a) { return finite(relu(round(a))); });
      const auto packed = [=](auto f) {
        return [=](float a, float b) { return HalfPairBits{f(b), f(a)}; };
      };
      const std::string pack = "." + name + "x2.f32 %r1, %f2, %f3;";
      check_line<HalfPairBits, float, float>(opcode + pack, packed(round));
      check_line<HalfPairBits, float, float>(
          opcode + ".relu.satfinite" + pack,
          packed([=](float a) { return finite(relu(round(a))); }));
    }
  }
  check_refused("cvt.f16.f32 %rs1, %f2;");
  check_refused("cvt.rn.f32.f16 %f1, %rs2;");
  check_refused("cvt.rn.relu.sat.f16.f32 %rs1, %f2;");
}

// tf32: the upper 19 bits of a float; the rest of the register is zero.
TEST_CASE("core: cvt converts to tf32") {
  const auto is_nan = [](uint32_t b) { return (b & 0x7fffffff) > 0x7f800000; };
  const auto accept = [=](uint32_t got, uint32_t want) {
    return is_nan(want) ? (got & 0x1fff) == 0 : got == want;
  };
  const auto rounded = [=](float a, const std::string& mode) {
    const uint32_t b = reinterpret<uint32_t>(a), low = b & 0x1fff;
    if (is_nan(b)) return b;
    const bool up = mode == "rna"  ? low >= 0x1000
                    : mode == "rn" ? low > 0x1000 || (low == 0x1000 && (b & 0x2000) != 0)
                                   : false;
    return std::isinf(a) ? b : b - low + (up ? 0x2000 : 0);
  };
  for (const std::string mode : {"rn", "rz", "rna"}) {
    check_line<uint32_t, float>(
        "cvt." + mode + ".tf32.f32 %r1, %f2;", [=](float a) { return rounded(a, mode); }, accept);
  }
  for (const std::string mode : {"rn", "rz"}) {
    check_line<uint32_t, float>(
        "cvt." + mode + ".relu.tf32.f32 %r1, %f2;",
        [=](float a) {
          const uint32_t r = rounded(a, mode);
          return !is_nan(r) && r >> 31 != 0 ? 0u : r;
        },
        accept);
  }
  check_line<uint32_t, float>(
      "cvt.rna.satfinite.tf32.f32 %r1, %f2;",
      [=](float a) {
        const uint32_t r = rounded(a, "rna");
        return (r & 0x7fffffff) == 0x7f800000 ? r - 0x2000 : r;
      },
      accept);
  check_refused("cvt.rm.tf32.f32 %r1, %f2;");
  check_refused("cvt.rna.f32.f64 %f1, %fd2;");
  check_refused("cvt.rna.relu.tf32.f32 %r1, %f2;");
}
