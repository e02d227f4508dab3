// A swizzle as a picture: a table of groups of 2^M elements, and the column where each of them
// lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pictures/picture.h"

namespace lab32::pictures {

// Swizzle<bits, base, shift>, as CUTLASS has it: YYY, bits of the offset, are XORed onto ZZZ.
struct SwizzleShape {
  int bits = 0, base = 0, shift = 0;
  std::string name() const;
  uint64_t columns() const { return uint64_t{1} << (shift < 0 ? -shift : shift); }
  uint64_t rows() const { return uint64_t{1} << bits; }
};

// "3,4,3". Throws Error where it is none, or where CuTe's Swizzle<B, M, S> does not compile.
SwizzleShape read_swizzle(const std::string& text);

uint32_t swizzled(const SwizzleShape& shape, uint32_t offset);

// The offsets at which the groups begin that are drawn, row by row; and the table of what `to` says
// of them.
std::vector<uint32_t> offsets_of(const SwizzleShape& shape);
Mapping mapping_of(const SwizzleShape& shape, const std::vector<uint32_t>& to);

std::string text(const Mapping& mapping, bool colour);

}  // namespace lab32::pictures
