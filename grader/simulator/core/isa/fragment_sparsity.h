// Where the elements of a sparse A stand (PTX ISA 9.0, 9.7.14.6): the metadata of mma.sp.
//
// A row is made of chunks of 4 places (of tf32: 2, of 4-bit integers: 8), of which half are there.
// Four bits of metadata say which of a chunk: two indices, of 4-bit integers those of pairs; of
// tf32 the index is that of a half of the element, so that the first is 0b0100 and the second
// 0b1110. The lanes of group g hold those of rows g and g + 8, eight chunks each; which of the four
// lanes do where fewer are needed, the selector says. The ISA shows it in figures; an H200 was
// asked (2026-11-26), one chunk at a time.
#pragma once

#include <cstdint>

#include "simulator/core/isa/fragments.h"

namespace lab32::sim {

// How many selectors there are for the form of `op`.
int selectors_of(const FragmentOp& op);

constexpr int kMostMet = 16 * 64;  // elements of a sparse A
// For each element of A, as multiply_tile wants it, the k at which it stands.
void read_sparsity(const FragmentOp& op, const std::byte* regs, uint16_t* meets);
// A bit for each row of A of whose metadata some bit is undefined.
uint32_t rows_of_undefined_metadata(const FragmentOp& op, const std::byte* undefined);

}  // namespace lab32::sim
