// Where a coordinate falls among texels, how much each neighbour counts, and how they are added up:
// the texture unit of a Hopper GPU, bit for bit where not said otherwise.
//
// Positions. A coordinate is cut off to 21 binary places; a normalised one is multiplied by the
// size after that, exactly. Linear filtering then rounds the position less 1/2 to 8 places, halves
// up.
// Weights are multiples of 1/256: those of depth first, each shared out along x, then along y, and
// rounded to nearest where they are shared.
// Clamped coordinates stop at the centres of the outer texels.
// (Between two levels of a box a weight is one unit off now and then: 4 of 2,304 fetches.)
// Sums. Floats: texels are cut off 4 places below the last one of the largest, the weighted sum is
// exact and rounded to nearest, halves away from zero; subnormals are zero. Halves likewise, and
// rounded to a half. Two slices, or levels, are added up each, and their sums cut off (down) 9
// places below that; three in 4,000 sums of floats whose exponents are 40 apart come out one unit
// different. Normalised integers: exact, rounded to 16 bits (unorm halves up, snorm too).
// sRGB: a table, and then as halves (code 47 has 8/65536 less in some neighbourhoods of a GPU).
//
// Where that is from: sweeps and random texels on an H100, 2026-11-25;
// `programs/textures.cu` holds what its fetches gave. (The CUDA programming guide, "texture
// fetching", has the formulas and says that fractions have 8 places.)
#pragma once

#include <array>
#include <cstdint>

#include "simulator/core/memory/descriptors.h"

namespace lab32::sim {

constexpr int32_t kBorder = -1;

// The two texels around a coordinate, and how far it is from the first, in 1/256.
struct Neighbours {
  std::array<int32_t, 2> texel{};  // kBorder: outside, where outside has a colour
  uint32_t fraction = 0;
};

// In 2^-21 of a texel.
int64_t position(float coordinate, uint32_t size, AddressMode mode, bool normalized);
int32_t nearest_texel(int64_t position, uint32_t size, AddressMode mode);
// `filters`: to filter between them, else (tld4) to read both.
Neighbours neighbours(int64_t position, uint32_t size, AddressMode mode, bool filters);
// Where an index comes to lie; kBorder.
int32_t address(int64_t texel, uint32_t size, AddressMode mode);

// Of the 2, 4 or 8 texels around a point, x fastest; of `whole` (256, or a level's share).
// `nearer`: that of the nearer plane is rounded, so it is in the first of two levels.
void split_weight(unsigned dimensions, const std::array<uint32_t, 3>& fraction, uint32_t whole,
                  uint32_t* weights, bool nearer = false);

// A face of a cube and the place on it, 0 … 1 in units of 2^-21.
struct CubePoint {
  uint32_t face = 0;
  int64_t x = 0, y = 0;
};
CubePoint cube_point(float x, float y, float z);
// Of the four texels around a point, which one lies beyond a corner: its weight goes to the others.
void drop_corner_texel(unsigned corner, uint32_t* weights);
// The texel that a face's neighbour has beyond its edge; one of x and y is -1 or `size`.
struct CubeTexel {
  uint32_t face = 0;
  int32_t x = 0, y = 0;
};
CubeTexel across_edge(const CubeTexel& outside, int32_t size);

// Up to two slices or levels of up to eight texels. One whose weight is rounded to 0 counts where
// it is infinite or NaN.
struct Tap {
  uint32_t weight = 0;  // in 1/256
  uint8_t part = 0;     // which of those that are added up on their own
  uint32_t bits = 0;    // of one channel
};

// What a fetch returns for a channel: read, or the weighted sum of the taps.
uint32_t read_channel(const TexelFormat& format, const Sampler& sampler, unsigned channel,
                      uint32_t bits);
uint32_t filter_channel(const TexelFormat& format, const Sampler& sampler, unsigned channel,
                        const Tap* taps, unsigned count);
// The border's colour as a texel of that format.
uint32_t border_bits(const TexelFormat& format, const Sampler& sampler, unsigned channel);

// ---------------------------------------------------------------------------------------------
// Which level of a texture a step on the screen chooses.

// Of no step.
constexpr int32_t kLowestLevel = -1024 * 256;

// The logarithm of a step of so many texels of the first level, in 1/256: of its first eight places
// behind the point, the rest is cut off. A step that is finite, and not negative.
int32_t level_of_step(double texels);

}  // namespace lab32::sim
