// D = A B + C on whole matrices, as the tensor cores of an H200 compute it, bit for bit.
//
// Half, bf16 and tf32: a block of `block` products and C are added at once. Products are exact.
// Each addend is shifted to the largest exponent among them (of a product: the sum of its factors'
// exponents) and cut off 25 binary places below it; the sum of these is exact. A float result is
// cut off, a half is rounded to nearest. A sum of zero is +0. Infinities and NaN as in IEEE 754;
// NaN has one pattern. Double: a chain of fused multiply-adds in the order of k. Integers are
// exact.
//
// Where that is from: tiles of random numbers, near each other and far apart, sparse, subnormal and
// special, on an H200, 2026-11-25. `tests/fixtures/programs/tensor_cores.cu` and `mma_sync.cu` hold
// what they gave. (Fasi, Higham, Mikaitis, Pranesh: "Numerical behavior of NVIDIA tensor cores",
// 2021, found the same way of adding, with other widths, on older cards.)
#pragma once

#include <cstdint>

#include "simulator/ptx/opcodes.h"

namespace lab32::sim {

struct TileForm {
  int m = 0, n = 0, k = 0;
  ptx::Type a{}, b{}, c{}, d{};  // of the elements; b1, s4 and their like: integers of so many bits
  int block = 0;                 // products that are added at once
  bool saturates = false;
  bool is_and = false;  // b1: AND, else XOR
};

// Elements as bit patterns: a[row * k + i], b[column * k + i], c and d[row * n + column].
void multiply_tile(const TileForm& form, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                   uint64_t* d);

}  // namespace lab32::sim
