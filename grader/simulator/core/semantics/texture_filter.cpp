#include "simulator/core/semantics/texture_filter.h"

#include <algorithm>
#include <cmath>

#include "simulator/core/semantics/approx.h"
#include "simulator/core/semantics/half.h"

namespace lab32::sim {

namespace {

constexpr int kCoordinatePlaces = 21;  // fraction bits of a coordinate
constexpr double kTexel = 1 << kCoordinatePlaces;
constexpr uint32_t kNaN = 0x7fffffff;

// The linear value of each 8-bit sRGB code in units of 1/16384, as measured on a GPU. (It
// approximates the curve of the standard.)
constexpr std::array<uint16_t, 256> kLinearOfSrgb = {
    0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,
    66,    72,    78,    85,    92,    99,    107,   115,   123,   131,   140,   150,   159,
    169,   180,   190,   201,   213,   224,   236,   250,   262,   276,   290,   304,   318,
    332,   348,   364,   380,   396,   412,   430,   448,   466,   484,   504,   524,   544,
    564,   584,   604,   624,   648,   672,   692,   716,   740,   764,   788,   816,   840,
    864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,  1184,  1216,
    1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,
    1712,  1752,  1792,  1832,  1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,
    2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,  2752,  2816,  2864,
    2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,
    3664,  3712,  3776,  3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,
    4512,  4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,  5152,  5216,  5280,  5376,
    5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,
    6496,  6592,  6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,  7488,  7584,
    7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,  8448,  8512,  8640,  8768,  8832,
    8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240,
    10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712,
    11840, 11968, 12096, 12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376,
    13504, 13632, 13760, 13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104,
    15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384};
constexpr double kSrgbUnit = 1.0 / 16384;

using Kind = TexelFormat::Kind;

float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

// NaN keeps its bits.
uint32_t float_bits_of_half(uint32_t half) {
  if ((half & 0x7fff) > 0x7c00) return (half & 0x8000) << 16 | 0x7f800000u | (half & 0x3ff) << 13;
  return bits(to_float(F16{static_cast<uint16_t>(half)}));
}

bool is_srgb(const TexelFormat& format, const TextureSamplingSettings& sampler, unsigned channel) {
  return sampler.srgb && sampler.reads_normalized && format.bits == 8 && channel < 3;
}

int32_t sign_extended_texel(const TexelFormat& format, uint32_t bits) {
  if (format.kind == Kind::signed_integer)
    return format.bits == 8    ? static_cast<int8_t>(bits)
           : format.bits == 16 ? static_cast<int16_t>(bits)
                               : static_cast<int32_t>(bits);
  return static_cast<int32_t>(bits);
}

uint32_t normalize_texel(int32_t value, int32_t largest) {
  return bits(std::max(static_cast<float>(value) / static_cast<float>(largest), -1.0f));
}

int32_t largest_value_of(const TexelFormat& format) {
  const int value_bits = format.bits - (format.kind == Kind::signed_integer ? 1 : 0);
  return (1 << value_bits) - 1;
}

// The parameters of a weighted sum of floats or halves. Texels keep 4 places below the last place
// of the largest.
struct TexelSumFloatFormat {
  int places;    // bits of a mantissa, the leading one included
  int smallest;  // exponent of the smallest normal number; smaller results are subnormal halves
};
constexpr TexelSumFloatFormat kSingle{24, -126}, kHalf{11, -14};
constexpr int kMorePlaces = 4, kWeightPlaces = 8, kPartPlaces = 1;

// The weighted sum of the texels of one slice or level, in units of 2^exponent.
struct WeightedTexelSum {
  int64_t value = 0;
  int exponent = 0;
  bool any = false;
};

WeightedTexelSum sum_of_slice_or_level(const double* texel, const WeightedTexel* taps,
                                       unsigned count, unsigned part,
                                       const TexelSumFloatFormat& rules) {
  WeightedTexelSum sum;
  for (unsigned i = 0; i < count; ++i) {
    if (taps[i].part != part || taps[i].weight == 0 || texel[i] == 0) continue;
    const int exponent = std::ilogb(texel[i]);
    if (!sum.any || exponent > sum.exponent) sum.exponent = exponent;
    sum.any = true;
  }
  if (!sum.any) return sum;
  sum.exponent -= rules.places - 1 + kMorePlaces;
  for (unsigned i = 0; i < count; ++i)
    if (taps[i].part == part && taps[i].weight != 0)
      sum.value += static_cast<int64_t>(std::ldexp(texel[i], -sum.exponent)) * taps[i].weight;
  sum.exponent -= kWeightPlaces;
  return sum;
}

// Rounds to nearest, halves away from zero; a subnormal float becomes zero.
double round_half_away(int64_t value, int exponent, const TexelSumFloatFormat& rules) {
  if (value == 0) return 0;
  uint64_t magnitude = static_cast<uint64_t>(std::llabs(value));
  const int leading = 63 - __builtin_clzll(magnitude);
  const int last = std::max(leading + exponent, rules.smallest) - (rules.places - 1);
  if (const int cut = last - exponent; cut > 0) {
    if (cut > 62) return 0;
    magnitude = (magnitude + (uint64_t{1} << (cut - 1))) >> cut;
    exponent = last;
  }
  const double result = std::ldexp(static_cast<double>(magnitude), exponent);
  return value < 0 ? -result : result;
}

// The value of a sum that is zero. It is -0 only if all texels are negative zeros.
double signed_zero_of_sum(const double* texel, const WeightedTexel* taps, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (taps[i].weight != 0 && !std::signbit(texel[i])) return 0;
  return -0.0;
}

double weighted_sum(const double* texel, const WeightedTexel* taps, unsigned count,
                    const TexelSumFloatFormat& rules) {
  std::array<WeightedTexelSum, 4> parts;
  unsigned last = 0;
  for (unsigned i = 0; i < count; ++i) last = std::max(last, unsigned{taps[i].part});
  bool any = false;
  int highest = 0;
  for (unsigned p = 0; p <= last; ++p) {
    parts[p] = sum_of_slice_or_level(texel, taps, count, p, rules);
    if (!parts[p].any) continue;
    highest = any ? std::max(highest, parts[p].exponent) : parts[p].exponent;
    any = true;
  }
  if (!any) return signed_zero_of_sum(texel, taps, count);
  int64_t total = 0;
  const int unit = highest - kPartPlaces;
  for (const WeightedTexelSum& p : parts) {
    if (!p.any) continue;
    const int up = p.exponent - unit;
    total += up >= 0 ? p.value * (int64_t{1} << up) : p.value >> std::min(-up, 63);
  }
  return round_half_away(total, unit, rules);
}

// Handles sums with an infinity or NaN: sets `result` and returns true. False: all texels are
// finite.
bool try_nonfinite_sum(const double* texel, unsigned count, uint32_t nan, uint32_t* result) {
  bool plus = false, minus = false, not_a_number = false;
  for (unsigned i = 0; i < count; ++i) {
    not_a_number |= std::isnan(texel[i]);
    plus |= std::isinf(texel[i]) && texel[i] > 0;
    minus |= std::isinf(texel[i]) && texel[i] < 0;
  }
  if (!plus && !minus && !not_a_number) return false;
  *result = not_a_number || (plus && minus) ? nan : plus ? 0x7f800000u : 0xff800000u;
  return true;
}

uint32_t filter_float_texels_to_float_bits(const WeightedTexel* taps, unsigned count,
                                           double* texel) {
  for (unsigned i = 0; i < count; ++i) texel[i] = flushed(bit_copy<float>(taps[i].bits));
  uint32_t result = 0;
  if (try_nonfinite_sum(texel, count, kNaN, &result)) return result;
  const double sum = weighted_sum(texel, taps, count, kSingle);
  return bits(flushed(static_cast<float>(sum)));
}

uint32_t filter_half_texels_to_float_bits(const WeightedTexel* taps, unsigned count,
                                          const double* texel) {
  uint32_t result = 0;
  if (try_nonfinite_sum(texel, count, kNaN & ~0x1fffu, &result)) return result;
  const double sum = weighted_sum(texel, taps, count, kHalf);
  return bits(std::fabs(sum) < 0x1p16 ? static_cast<float>(sum)
                                      : std::copysign(INFINITY, static_cast<float>(sum)));
}

// Scales n, 256 times an 8-bit snorm texel, to the range of 32767 as a GPU does.
int64_t widened_snorm(int64_t n) { return (n * 8 + (n >> 4) + (n >> 12) + 4) >> 3; }

uint32_t filter_integer_texels_to_float_bits(const TexelFormat& format, const WeightedTexel* taps,
                                             unsigned count) {
  int64_t sum = 0;
  for (unsigned i = 0; i < count; ++i)
    sum += int64_t{sign_extended_texel(format, taps[i].bits)} * taps[i].weight;
  const bool is_signed = format.kind == Kind::signed_integer;
  if (format.bits == 8 && is_signed)
    return normalize_texel(static_cast<int32_t>(widened_snorm(sum)), 0x7fff);
  if (format.bits == 8) sum *= 257;
  return normalize_texel(static_cast<int32_t>((sum + 128) >> kWeightPlaces),
                         is_signed ? 0x7fff : 0xffff);
}

// Reduces a normalised coordinate according to its address mode. In the modes that repeat the
// texture only the fraction (or twice it) matters; in the other modes a number far outside remains
// far outside.
double range_reduce_coordinate(double x, AddressMode mode) {
  switch (mode) {
    case AddressMode::wrap:
      return std::isinf(x) ? 0 : x - std::floor(x);
    case AddressMode::mirror:
      return std::isinf(x) ? 0 : x - 2 * std::floor(x / 2);
    default:
      return std::clamp(x, -4.0, 4.0);
  }
}

}  // namespace

int64_t fixed_point_position(float coordinate, uint32_t size, AddressMode mode, bool normalized) {
  const double x = std::isnan(coordinate) ? 0 : flushed(coordinate);
  if (!normalized) return static_cast<int64_t>(std::floor(std::clamp(x, -0x1p30, 0x1p30) * kTexel));
  return static_cast<int64_t>(std::floor(range_reduce_coordinate(x, mode) * kTexel)) * size;
}

int32_t apply_address_mode(int64_t texel, uint32_t size, AddressMode mode) {
  const auto n = static_cast<int64_t>(size);
  const auto modulo = [](int64_t a, int64_t b) { return (a % b + b) % b; };
  switch (mode) {
    case AddressMode::wrap:
      return static_cast<int32_t>(modulo(texel, n));
    case AddressMode::clamp:
      return static_cast<int32_t>(std::clamp<int64_t>(texel, 0, n - 1));
    case AddressMode::mirror: {
      const int64_t there = modulo(texel, 2 * n);
      return static_cast<int32_t>(there < n ? there : 2 * n - 1 - there);
    }
    case AddressMode::border:
      break;
  }
  return texel >= 0 && texel < n ? static_cast<int32_t>(texel) : kBorder;
}

int32_t nearest_texel(int64_t position, uint32_t size, AddressMode mode) {
  return apply_address_mode(position >> kCoordinatePlaces, size, mode);
}

TexelPairOnAxis texel_pair_on_axis(int64_t position, uint32_t size, AddressMode mode,
                                   bool filters) {
  constexpr int kCut = kCoordinatePlaces - 8;
  int64_t rounded =
      (position - (int64_t{1} << (kCoordinatePlaces - 1)) + (1 << (kCut - 1))) >> kCut;
  if (filters && mode == AddressMode::clamp)
    rounded = std::clamp<int64_t>(rounded, 0, (int64_t{size} - 1) * 256);
  TexelPairOnAxis n;
  n.texel = {apply_address_mode(rounded >> 8, size, mode),
             apply_address_mode((rounded >> 8) + 1, size, mode)};
  n.fraction = static_cast<uint32_t>(rounded & 255);
  return n;
}

void split_weight(unsigned dimensions, const std::array<uint32_t, 3>& fraction, uint32_t whole,
                  uint32_t* weights, bool nearer) {
  const auto share = [](uint32_t of, uint32_t part) { return (of * part + 128) >> 8; };
  const unsigned planes = dimensions == 3 ? 2 : 1;
  uint32_t far = 0;
  if (dimensions == 3)
    far = nearer ? whole - share(256 - fraction[2], whole) : share(fraction[2], whole);
  for (unsigned z = 0; z < planes; ++z) {
    uint32_t* const w = weights + 4 * z;
    const uint32_t plane = z == 1 ? far : whole - far;
    const uint32_t right = share(fraction[0], plane), left = plane - right;
    w[0] = left;
    w[1] = right;
    if (dimensions == 1) return;
    w[3] = share(fraction[1], right);
    w[1] = right - w[3];
    w[0] = share(256 - fraction[1], left);
    w[2] = left - w[0];
  }
}

uint32_t convert_channel_bits(const TexelFormat& format, const TextureSamplingSettings& sampler,
                              unsigned channel, uint32_t bits_read) {
  if (format.kind == Kind::floating)
    return format.bits == 32 ? bits_read : float_bits_of_half(bits_read);
  if (is_srgb(format, sampler, channel))
    return bits(static_cast<float>(kLinearOfSrgb[bits_read & 255] * kSrgbUnit));
  const int32_t value = sign_extended_texel(format, bits_read);
  return sampler.reads_normalized ? normalize_texel(value, largest_value_of(format))
                                  : static_cast<uint32_t>(value);
}

uint32_t filter_channel(const TexelFormat& format, const TextureSamplingSettings& sampler,
                        unsigned channel, const WeightedTexel* taps, unsigned count) {
  std::array<double, 16> texel;
  if (format.kind == Kind::floating && format.bits == 32)
    return filter_float_texels_to_float_bits(taps, count, texel.data());
  if (format.kind == Kind::floating || is_srgb(format, sampler, channel)) {
    for (unsigned i = 0; i < count; ++i)
      texel[i] = bit_copy<float>(convert_channel_bits(format, sampler, channel, taps[i].bits));
    return filter_half_texels_to_float_bits(taps, count, texel.data());
  }
  return filter_integer_texels_to_float_bits(format, taps, count);
}

uint32_t border_bits(const TexelFormat& format, const TextureSamplingSettings& sampler,
                     unsigned channel) {
  const uint32_t own = sampler.border[channel];
  if (format.kind == Kind::floating)
    return format.bits == 32 ? own : to_half<F16>(bit_copy<float>(own), Rounding::rn).bits;
  const uint32_t mask = format.bits == 32 ? ~0u : (1u << format.bits) - 1;
  if (!sampler.reads_normalized) return own & mask;
  const double lowest = format.kind == Kind::signed_integer ? -1 : 0;
  const double colour = std::clamp<double>(bit_copy<float>(own), lowest, 1.0);
  return static_cast<uint32_t>(std::lround(colour * largest_value_of(format))) & mask;
}

// ---------------------------------------------------------------------------------------------
// Directions and the faces of a cube.

namespace {

// ptxas normalises the direction before the fetch: it scales the largest component to 1 by an
// approximate reciprocal that flushes subnormals.
float flushing_reciprocal(float x) {
  if (x < 0x1p-126f) return INFINITY;
  const float r = RcpApprox::apply(x);
  return r < 0x1p-126f ? 0.0f : r;
}

int64_t fixed_point_on_face(float along) {
  const double x = std::isnan(along) ? 0 : std::fmin(std::fmax(along, -1.0f), 1.0f);
  return static_cast<int64_t>(std::floor((x + 1) / 2 * 0x1p21));
}

// Twice the coordinates of a texel's centre relative to the cube's centre: a point on a cube whose
// faces are at ±size.
struct CubeTexelCentre3d {
  int32_t x, y, z;
};
CubeTexelCentre3d cube_texel_centre_3d(const CubeTexel& t, int32_t size) {
  const int32_t s = 2 * t.x + 1 - size, u = 2 * t.y + 1 - size;
  switch (t.face) {
    case 0:
      return {size, -u, -s};
    case 1:
      return {-size, -u, s};
    case 2:
      return {s, size, u};
    case 3:
      return {s, -size, -u};
    case 4:
      return {s, -u, size};
    default:
      return {-s, -u, -size};
  }
}

}  // namespace

PointOnCubeFace point_on_cube_face(float x, float y, float z) {
  const float scale =
      flushing_reciprocal(std::fmax(std::fmax(std::fabs(x), std::fabs(y)), std::fabs(z)));
  x *= scale;
  y *= scale;
  z *= scale;
  const auto size = [](float v) { return std::isnan(v) ? 0 : std::fabs(v); };
  if (size(z) >= size(y) && size(z) >= size(x))
    return z < 0 ? PointOnCubeFace{5, fixed_point_on_face(-x), fixed_point_on_face(-y)}
                 : PointOnCubeFace{4, fixed_point_on_face(x), fixed_point_on_face(-y)};
  if (size(y) >= size(x))
    return y >= 0 ? PointOnCubeFace{2, fixed_point_on_face(x), fixed_point_on_face(z)}
                  : PointOnCubeFace{3, fixed_point_on_face(x), fixed_point_on_face(-z)};
  return x >= 0 ? PointOnCubeFace{0, fixed_point_on_face(-z), fixed_point_on_face(-y)}
                : PointOnCubeFace{1, fixed_point_on_face(z), fixed_point_on_face(-y)};
}

void drop_corner_texel(unsigned corner, uint32_t* weights) {
  const uint32_t third = (weights[corner] * 85 + 128) >> 8;
  weights[corner ^ 1] += third;
  weights[corner ^ 2] += third;
  weights[corner ^ 3] += weights[corner] - 2 * third;
  weights[corner] = 0;
}

CubeTexel texel_across_edge(const CubeTexel& outside, int32_t size) {
  // The texel's centre is half a texel beyond the edge, so on the neighbour face it is half a texel
  // inside.
  const auto inside = [&](int32_t i) { return i < 0 ? 0 : i >= size ? size - 1 : i; };
  const CubeTexelCentre3d edge =
      cube_texel_centre_3d({outside.face, inside(outside.x), inside(outside.y)}, size);
  const CubeTexelCentre3d beyond = cube_texel_centre_3d(outside, size);
  const bool out_x = std::abs(beyond.x) > size, out_y = std::abs(beyond.y) > size;
  const auto sign = [](int32_t v) { return v < 0 ? -1 : 1; };
  const bool had_x = outside.face < 2, had_y = outside.face == 2 || outside.face == 3;
  // The old face is perpendicular to one axis; along that axis the point is now half a texel
  // inside.
  CubeTexelCentre3d p = edge;
  if (had_x)
    p.x = sign(p.x) * (size - 1);
  else if (had_y)
    p.y = sign(p.y) * (size - 1);
  else
    p.z = sign(p.z) * (size - 1);
  CubeTexel t;
  int32_t s = 0, u = 0;
  if (out_x) {
    t.face = beyond.x > 0 ? 0 : 1;
    s = beyond.x > 0 ? -p.z : p.z;
    u = -p.y;
  } else if (out_y) {
    t.face = beyond.y > 0 ? 2 : 3;
    s = p.x;
    u = beyond.y > 0 ? p.z : -p.z;
  } else {
    t.face = beyond.z > 0 ? 4 : 5;
    s = beyond.z > 0 ? p.x : -p.x;
    u = -p.y;
  }
  t.x = (s + size - 1) / 2;
  t.y = (u + size - 1) / 2;
  return t;
}

// ---------------------------------------------------------------------------------------------

namespace {

// 256 log2(1 + m/256) as measured on a GPU: close to the value in the middle of a step, but not
// rounded consistently (H200, 2026-11-26: 1 Mi steps from 1 to 2 and 1 Mi from 4 to 8).
constexpr uint8_t kLogarithm[256] = {
    0,   2,   4,   5,   6,   8,   9,   11,  12,  13,  15,  16,  18,  19,  20,  22,  23,  24,  26,
    27,  28,  30,  31,  32,  34,  35,  36,  38,  39,  40,  42,  43,  44,  45,  47,  48,  49,  50,
    52,  53,  54,  55,  57,  58,  59,  60,  62,  63,  64,  65,  66,  68,  69,  70,  71,  72,  74,
    75,  76,  77,  78,  79,  81,  82,  83,  84,  85,  86,  88,  89,  90,  91,  92,  93,  94,  95,
    97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116,
    117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 135, 136,
    137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154,
    155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172,
    173, 173, 174, 175, 176, 177, 178, 179, 180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188,
    189, 190, 191, 192, 193, 194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205,
    205, 206, 207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219, 220,
    221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232, 233, 233, 234, 235,
    236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244, 245, 245, 246, 247, 248, 248, 249,
    250, 251, 251, 252, 253, 253, 254, 255, 255};

}  // namespace

int32_t mipmap_level_of_step(double texels) {
  if (!(texels > 0)) return kLowestLevel;
  int exponent;
  const double mantissa = std::frexp(texels, &exponent);  // in [1/2, 1)
  const auto place = static_cast<int>(mantissa * 512) - 256;
  return (exponent - 1) * 256 + kLogarithm[place];
}

}  // namespace lab32::sim
