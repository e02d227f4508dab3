// The arithmetic of the texture unit: which texels a coordinate selects, the weight of each, and
// their weighted sum. The results equal a Hopper GPU's bit for bit except where noted.
//
// Positions. A coordinate is cut off to 21 binary places; a normalised one is multiplied by the
// size after that, exactly. Linear filtering then rounds the position less 1/2 to 8 places, halves
// up. Weights are multiples of 1/256. The weight is split along depth first, then along x, then
// along y, and each split rounds to nearest. Clamped coordinates stop at the centres of the outer
// texels. (Between two levels of a box a weight is one unit off now and then: 4 of 2,304 fetches.)
// Sums. Floats: texels are cut off 4 places below the last one of the largest, the weighted sum is
// exact and rounded to nearest, halves away from zero; subnormals are zero. Halves follow the same
// rule and are rounded to a half. Two slices or levels are summed separately, and each sum is
// truncated 9 places below that; three in 4,000 sums of floats whose exponents differ by 40 are off
// by one unit. Normalised integers: exact, rounded to 16 bits (halves up, for unorm and snorm).
// sRGB: converted by a table, then summed as halves (on a GPU code 47 is 8/65536 lower in some
// neighbourhoods).
//
// Sources: sweeps and random texels on an H100, 2026-11-25; `runtime/tests/programs/textures` holds
// the results. (The CUDA programming guide, "texture fetching", has the formulas and says that
// fractions have 8 places.)
#pragma once

#include <array>
#include <cstdint>

#include "simulator/core/memory/descriptors.h"

namespace lab32::sim {

constexpr int32_t kBorder = -1;

// The two texels around a coordinate along one axis, and the distance of the coordinate from the
// first texel's centre in 1/256.
struct TexelPairOnAxis {
  std::array<int32_t, 2> texel{};  // kBorder: outside, in border mode
  uint32_t fraction = 0;
};

// The position of a coordinate in the texture, in units of 2^-21 texels.
int64_t fixed_point_position(float coordinate, uint32_t size, AddressMode mode, bool normalized);
int32_t nearest_texel(int64_t position, uint32_t size, AddressMode mode);
// `filters`: the fetch combines the two texels by linear filtering. False (tld4): it returns both.
TexelPairOnAxis texel_pair_on_axis(int64_t position, uint32_t size, AddressMode mode, bool filters);
// The index of a texel after the address mode has been applied, or kBorder if the texel is the
// border.
int32_t apply_address_mode(int64_t texel, uint32_t size, AddressMode mode);

// Splits the weight `whole` (256, or a level's share of it) among the 2, 4 or 8 texels around a
// point, x fastest. `nearer`: the weight of the nearer plane is the rounded one, as in the first of
// two levels.
void split_weight(unsigned dimensions, const std::array<uint32_t, 3>& fraction, uint32_t whole,
                  uint32_t* weights, bool nearer = false);

// A face of a cube and the position on it, 0 … 1 in units of 2^-21.
struct PointOnCubeFace {
  uint32_t face = 0;
  int64_t x = 0, y = 0;
};
PointOnCubeFace point_on_cube_face(float x, float y, float z);
// Distributes the weight of texel `corner`, which is beyond a corner of the cube, among the other
// three.
void drop_corner_texel(unsigned corner, uint32_t* weights);
// A texel of a face. Beyond an edge of the face, one of x and y is -1 or `size`.
struct CubeTexel {
  uint32_t face = 0;
  int32_t x = 0, y = 0;
};
CubeTexel texel_across_edge(const CubeTexel& outside, int32_t size);

// One texel of a weighted sum, which has up to two slices or levels of up to eight texels. A texel
// with weight 0 still counts if it is infinite or NaN.
struct WeightedTexel {
  uint32_t weight = 0;  // in 1/256
  uint8_t part = 0;     // the slice or level, each summed separately
  uint32_t bits = 0;    // bits of one channel of the texel
};

// The result of a fetch for one channel: a single texel, or the weighted sum of the taps.
uint32_t convert_channel_bits(const TexelFormat& format, const TextureSamplingSettings& sampler,
                              unsigned channel, uint32_t bits);
uint32_t filter_channel(const TexelFormat& format, const TextureSamplingSettings& sampler,
                        unsigned channel, const WeightedTexel* taps, unsigned count);
// The border's colour in the texture's format.
uint32_t border_bits(const TexelFormat& format, const TextureSamplingSettings& sampler,
                     unsigned channel);

// ---------------------------------------------------------------------------------------------

// The level that a step of length 0 selects, in 1/256.
constexpr int32_t kLowestLevel = -1024 * 256;

// The mipmap level that a step of `texels` texels of the first level selects, in 1/256: the
// logarithm of the step, truncated to eight binary places of its mantissa. The step must be finite
// and not negative.
int32_t mipmap_level_of_step(double texels);

}  // namespace lab32::sim
