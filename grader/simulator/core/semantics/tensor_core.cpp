#include "simulator/core/semantics/tensor_core.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "simulator/core/semantics/half.h"
#include "simulator/core/semantics/rounding.h"

namespace lab32::sim {
namespace {

using ptx::DataType;

constexpr int kPlaces = 25;      // binary places that are kept below the largest exponent
constexpr int kNone = -1000000;  // no exponent: a zero
constexpr uint32_t kNan32 = 0x7fffffff;

// A decoded factor or element of C: significand * 2^(exponent - fraction bits of its format).
struct UnpackedNumber {
  int64_t significand = 0;
  int exponent = 0;
  bool is_negative = false, is_infinite = false, is_nan = false;
};

UnpackedNumber unpack_number(uint64_t bits, int exponent_bits, int fraction_bits) {
  UnpackedNumber x;
  const auto top = (1 << exponent_bits) - 1;
  const auto field = static_cast<int>(bits >> fraction_bits) & top;
  const auto fraction = static_cast<int64_t>(bits & ((uint64_t{1} << fraction_bits) - 1));
  x.is_negative = (bits >> (exponent_bits + fraction_bits) & 1) != 0;
  x.is_nan = field == top && fraction != 0;
  x.is_infinite = field == top && fraction == 0;
  x.significand = field == 0 ? fraction : fraction | int64_t{1} << fraction_bits;
  x.exponent = std::max(field, 1) - top / 2;
  return x;
}

int fraction_bits_of(DataType type) { return type == DataType::bf16 ? 7 : 10; }

// Decodes a factor. A tf32 is stored as a float, whose low bits are ignored.
UnpackedNumber decode_factor(DataType type, uint64_t bits) {
  if (type == DataType::e4m3)
    return unpack_number(half_of<E4M3>(static_cast<uint8_t>(bits)).bits, 5, 10);
  if (type == DataType::e5m2)
    return unpack_number(half_of<E5M2>(static_cast<uint8_t>(bits)).bits, 5, 10);
  if (type == DataType::f16) return unpack_number(bits, 5, 10);
  return type == DataType::bf16 ? unpack_number(bits, 8, 7) : unpack_number(bits >> 13, 8, 10);
}

uint64_t infinity_of(bool is_half, bool is_negative) {
  if (is_half) return is_negative ? 0xfc00 : 0x7c00;
  return is_negative ? 0xff800000 : 0x7f800000;
}

// Converts magnitude * 2^exponent to a float by truncation.
uint64_t truncate_to_float(bool is_negative, uint64_t magnitude, int exponent) {
  const int top = 63 - __builtin_clzll(magnitude) + exponent;
  if (top > 127) return infinity_of(false, is_negative);
  const int shift = std::max(top - 23, -149) - exponent;
  const uint64_t kept = shift > 63 ? 0 : shift >= 0 ? magnitude >> shift : magnitude << -shift;
  if (kept == 0) return 0;
  const auto field = static_cast<uint64_t>(top < -126 ? 0 : top + 127);
  return (is_negative ? 0x80000000u : 0u) | field << 23 | (kept & 0x7fffff);
}

uint64_t round_to_half(bool is_negative, uint64_t magnitude, int exponent) {
  const double exact = std::ldexp(static_cast<double>(magnitude), exponent);
  const uint16_t half = to_half<F16>(exact, Rounding::rn).bits;
  return half == 0 ? 0 : half | (is_negative ? 0x8000u : 0u);
}

// Adds one block, as the hardware does in one step: C (the bits of a float or a half) and the
// products of a[i] and b[i].
uint64_t add_product_block(const UnpackedNumber* a, const UnpackedNumber* b, int count,
                           int fraction_bits, uint64_t c_bits, bool c_is_half, bool d_is_half) {
  if (c_is_half) c_bits = bits(to_float(F16{static_cast<uint16_t>(c_bits)}));
  const UnpackedNumber c = unpack_number(c_bits, 8, 23);
  bool nan = c.is_nan, plus = c.is_infinite && !c.is_negative,
       minus = c.is_infinite && c.is_negative;
  int largest = c.significand != 0 ? c.exponent : kNone;
  for (int i = 0; i < count; ++i) {
    const bool special = a[i].is_nan || b[i].is_nan || a[i].is_infinite || b[i].is_infinite;
    if (special) {
      const bool of_zero = a[i].significand == 0 || b[i].significand == 0;
      if (a[i].is_nan || b[i].is_nan || of_zero)
        nan = true;
      else
        (a[i].is_negative != b[i].is_negative ? minus : plus) = true;
    }
    if (a[i].significand != 0 && b[i].significand != 0)
      largest = std::max(largest, a[i].exponent + b[i].exponent);
  }
  if (nan || (plus && minus)) return d_is_half ? F16::nan : kNan32;
  if (plus || minus) return infinity_of(d_is_half, minus);
  if (largest == kNone) return 0;

  int64_t sum = 0;
  const auto add = [&](bool is_negative, int64_t magnitude, int exponent, int fraction) {
    const int shift = kPlaces - fraction - (largest - exponent);
    if (shift < -62) return;
    const int64_t cut = shift >= 0 ? magnitude << shift : magnitude >> -shift;
    sum += is_negative ? -cut : cut;
  };
  for (int i = 0; i < count; ++i)
    if (a[i].significand != 0 && b[i].significand != 0)
      add(a[i].is_negative != b[i].is_negative, a[i].significand * b[i].significand,
          a[i].exponent + b[i].exponent, 2 * fraction_bits);
  if (c.significand != 0) add(c.is_negative, c.significand, c.exponent, 23);
  if (sum == 0) return 0;
  const auto magnitude = static_cast<uint64_t>(std::abs(sum));
  return d_is_half ? round_to_half(sum < 0, magnitude, largest - kPlaces)
                   : truncate_to_float(sum < 0, magnitude, largest - kPlaces);
}

uint64_t float_bits(float x) { return std::isnan(x) ? kNan32 : bits(x); }
uint64_t half_bits(double x) { return to_half<F16>(x, Rounding::rn).bits; }
float float_of_half(uint64_t bits) { return to_float(F16{static_cast<uint16_t>(bits)}); }

// Adds two halves or two floats and rounds to nearest, as a separate instruction does.
uint64_t add_half_or_float_bits(bool are_halves, uint64_t a, uint64_t b) {
  if (are_halves) return half_bits(double{float_of_half(a)} + double{float_of_half(b)});
  return float_bits(bit_copy<float>(static_cast<uint32_t>(a)) +
                    bit_copy<float>(static_cast<uint32_t>(b)));
}

// The blocks may take the elements of a row of A in another order. Returns the position of element
// `i` in that order.
int position_in_summation_order(const MmaForm& form, int i) {
  if (form.order != MmaForm::Order::halves_apart) return i;
  return i % 4 / 2 * (form.stored_columns() / 2) + i / 4 * 2 + i % 2;
}

void multiply_narrow_float_tile(const MmaForm& form, const uint64_t* a, const uint64_t* b,
                                const uint64_t* c, uint64_t* d, const uint16_t* k_index) {
  constexpr int kMost = 32 * 16, kMostKept = 32;
  UnpackedNumber left[kMost], right[kMost], matched[kMostKept];
  const int kept = form.stored_columns(), fraction_bits = fraction_bits_of(form.a);
  for (int i = 0; i < form.m * kept; ++i)
    left[i / kept * kept + position_in_summation_order(form, i % kept)] =
        decode_factor(form.a, a[i]);
  for (int i = 0; i < form.n * form.k; ++i) {
    const int k = i % form.k;
    right[i - k + (form.sparse ? k : position_in_summation_order(form, k))] =
        decode_factor(form.b, b[i]);
  }
  const bool c_apart = form.order == MmaForm::Order::halves_apart,
             to_half = form.d == DataType::f16;
  for (int row = 0; row < form.m; ++row)
    for (int column = 0; column < form.n; ++column) {
      const UnpackedNumber* of_b = right + column * form.k;
      if (form.sparse) {
        for (int i = 0; i < kept; ++i)
          matched[position_in_summation_order(form, i)] = of_b[k_index[row * kept + i]];
        of_b = matched;
      }
      const uint64_t own = c[row * form.n + column];
      uint64_t sum = c_apart ? 0 : own;
      bool is_half = form.c == DataType::f16;
      for (int at = 0; at < kept; at += form.block) {
        sum = add_product_block(left + row * kept + at, of_b + at, form.block, fraction_bits, sum,
                                is_half, to_half);
        is_half = to_half;
      }
      d[row * form.n + column] = c_apart ? add_half_or_float_bits(to_half, own, sum) : sum;
    }
}

// m8n8k4 of halves. For a float result: a chain of fused multiply-adds from zero, to which C is
// added last. For a half result: C plus the first two products, then the other two products, all in
// single precision and rounded to a half at the end.
void multiply_in_float_arithmetic(const MmaForm& form, const uint64_t* a, const uint64_t* b,
                                  const uint64_t* c, uint64_t* d) {
  for (int row = 0; row < form.m; ++row)
    for (int column = 0; column < form.n; ++column) {
      float x[4], y[4];
      for (int i = 0; i < 4; ++i) {
        x[i] = float_of_half(a[row * form.k + i]);
        y[i] = float_of_half(b[column * form.k + i]);
      }
      const uint64_t c_bits = c[row * form.n + column];
      const float own = form.c == DataType::f16 ? float_of_half(c_bits)
                                                : bit_copy<float>(static_cast<uint32_t>(c_bits));
      uint64_t& to = d[row * form.n + column];
      if (form.d == DataType::f16) {
        const float first = std::fma(x[1], y[1], x[0] * y[0]),
                    second = std::fma(x[3], y[3], x[2] * y[2]);
        to = half_bits(own + first + second);
      } else {
        float sum = 0;
        for (int i = 0; i < 4; ++i) sum = std::fma(x[i], y[i], sum);
        to = float_bits(own + sum);
      }
    }
}

// A fused multiply-add of doubles. A NaN result is the NaN of B, else of C, else of A, made quiet;
// a newly generated NaN is negative.
uint64_t fma_double(uint64_t a, uint64_t b, uint64_t c) {
  for (const uint64_t x : {b, c, a})
    if (std::isnan(bit_copy<double>(x))) return x | uint64_t{1} << 51;
  const double sum = std::fma(bit_copy<double>(a), bit_copy<double>(b), bit_copy<double>(c));
  return std::isnan(sum) ? 0xfff8000000000000u : bits(sum);
}

int64_t integer_of(DataType type, uint64_t bits) {
  switch (type) {
    case DataType::s8:
      return static_cast<int8_t>(bits);
    case DataType::s4:
      return static_cast<int64_t>(bits ^ 8) - 8;
    default:
      return static_cast<int64_t>(bits);
  }
}

uint64_t integer_dot_product(const MmaForm& form, const uint64_t* a, const uint64_t* b, uint64_t c,
                             const uint16_t* k_index) {
  int64_t sum = static_cast<int32_t>(c);
  for (int i = 0; i < form.stored_columns(); ++i) {
    const uint64_t of_b = b[form.sparse ? k_index[i] : i];
    if (form.a == DataType::b1)
      sum += static_cast<int64_t>(form.is_and ? a[i] & of_b : a[i] ^ of_b);
    else
      sum += integer_of(form.a, a[i]) * integer_of(form.b, of_b);
  }
  if (form.saturates)
    sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                              std::numeric_limits<int32_t>::max());
  return static_cast<uint32_t>(sum);
}

}  // namespace

void multiply_tile(const MmaForm& form, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                   uint64_t* d, const uint16_t* k_index) {
  if (form.order == MmaForm::Order::float_chain)
    return multiply_in_float_arithmetic(form, a, b, c, d);
  if (form.a != DataType::f64 && ptx::is_float(form.a))
    return multiply_narrow_float_tile(form, a, b, c, d, k_index);
  for (int row = 0; row < form.m; ++row)
    for (int column = 0; column < form.n; ++column) {
      const uint64_t *const left = a + row * form.stored_columns(), *const right =
                                                                        b + column * form.k;
      uint64_t& to = d[row * form.n + column];
      to = c[row * form.n + column];
      if (form.a == DataType::f64)
        for (int i = 0; i < form.k; ++i) to = fma_double(left[i], right[i], to);
      else
        to = integer_dot_product(form, left, right, to,
                                 form.sparse ? k_index + row * form.stored_columns() : nullptr);
    }
}

}  // namespace lab32::sim
