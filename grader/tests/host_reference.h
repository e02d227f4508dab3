// What a row must compute, by other means than the simulator's: the host's own arithmetic in wider
// types, and its floating-point unit set to each rounding mode.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace lab32::tests {

using Wide = __int128;

struct Mode {
  const char* name;
  int host;
};
inline constexpr Mode kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

// f's operands must be read from volatile variables inside f, so that nothing is computed outside.
template <class F>
auto in_mode(int host_mode, F f) {
  std::fesetround(host_mode);
  volatile auto result = f();
  std::fesetround(FE_TONEAREST);
  return result;
}

template <class To, class From>
To reinterpret(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// float: the canonical NaN for every NaN. double: any NaN (see same_or_nan).
inline float canonical(float x) { return std::isnan(x) ? reinterpret<float>(0x7fffffffu) : x; }
inline double canonical(double x) { return x; }

template <class T>
bool same_or_nan(T got, T want) {
  if (std::is_same_v<T, double> && std::isnan(want)) return std::isnan(got);
  return std::memcmp(&got, &want, sizeof got) == 0;
}

inline float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? x * 0.0f : x; }

template <class T>
T clamp_unit(T x) {
  return std::isnan(x) || x <= 0 ? T(0) : x >= 1 ? T(1) : x;
}

template <class T>
struct Names;  // the PTX spelling of a type, and nvcc's name of a register that holds it
template <>
struct Names<uint8_t> {
  static constexpr const char *type = "u8", *reg = "%rs";
};
template <>
struct Names<int8_t> {
  static constexpr const char *type = "s8", *reg = "%rs";
};
template <>
struct Names<uint16_t> {
  static constexpr const char *type = "u16", *reg = "%rs";
};
template <>
struct Names<int16_t> {
  static constexpr const char *type = "s16", *reg = "%rs";
};
template <>
struct Names<uint32_t> {
  static constexpr const char *type = "u32", *reg = "%r";
};
template <>
struct Names<int32_t> {
  static constexpr const char *type = "s32", *reg = "%r";
};
template <>
struct Names<uint64_t> {
  static constexpr const char *type = "u64", *reg = "%rd";
};
template <>
struct Names<int64_t> {
  static constexpr const char *type = "s64", *reg = "%rd";
};
template <>
struct Names<float> {
  static constexpr const char *type = "f32", *reg = "%f";
};
template <>
struct Names<double> {
  static constexpr const char *type = "f64", *reg = "%fd";
};
template <>
struct Names<bool> {
  static constexpr const char *type = "pred", *reg = "%p";
};

// "opcode D1, S2, S3, …;"
template <class D, class... S>
std::string line(const std::string& opcode) {
  std::string text = opcode + " " + Names<D>::reg + "1";
  int i = 2;
  ((text += std::string(", ") + Names<S>::reg + std::to_string(i++)), ...);
  return text + ";";
}

// "op.u32"
template <class T>
std::string typed(const std::string& op) {
  return op + "." + Names<T>::type;
}

// Calls f with a value of each type.
template <class... T, class F>
void for_types(F f) {
  (f(T{}), ...);
}

}  // namespace lab32::tests
