// D = A B + C on whole matrices, as the tensor cores of an H200 compute it, bit for bit.
//
// Half, bf16 and tf32: a block of `block` products and C are added at once. Products are exact.
// Each addend is shifted to the largest exponent among them (of a product: the sum of its factors'
// exponents) and cut off 25 binary places below it; the sum of these is exact. A float result is
// cut off, a half is rounded to nearest. A sum of zero is +0. Infinities and NaN as in IEEE 754;
// NaN has one pattern. Double: a chain of fused multiply-adds in the order of k. Integers are
// exact.
//
// Of a sparse A only the elements that are kept are multiplied, each by the element of B that it
// k_index; all of these are one block, added as others are.
//
// What a Hopper GPU has no instruction for, ptxas makes of others, and the result is theirs. 8-bit
// floats become halves: from zero, a block of the first two of each four elements of A, then one of
// the other two; C is added last, rounded to nearest. m8n8k4 of halves is arithmetic of floats.
//
// Where that is from: tiles of random numbers, near each other and far apart, sparse, subnormal and
// special, on an H200, 2026-11-25. `runtime/tests/programs/tensor_cores`
// holds what they gave. (Fasi, Higham, Mikaitis, Pranesh: "Numerical behavior of NVIDIA tensor
// cores", 2021, found the same way of adding, with other widths, on older cards.) Sparse products,
// 8-bit floats and m8n8k4: how large the blocks of sparse ones are and how many places they keep
// was asked for (two large products that cancel, and a small one, at every place), the rest read
// from the machine code of ptxas 13.0 for sm_90 or taken from dense ones; then an H200 gave the
// same bits for all tiles of `mma_sparse.cu`, `mma_float8.cu` and `mma_m8n8k4.cu` (2026-11-26).
#pragma once

#include <cstdint>

#include "simulator/ptx/opcodes.h"

namespace lab32::sim {

struct TileForm {
  int m = 0, n = 0, k = 0;
  ptx::Type a{}, b{}, c{}, d{};  // of the elements; b1, s4 and their like: integers of so many bits
  int block = 0;                 // products that are added at once
  enum class Order : uint8_t { blocks, halves_apart, float_chain };
  Order order = Order::blocks;
  bool sparse = false;  // half of A's elements are there
  bool saturates = false;
  bool is_and = false;                                       // b1: AND, else XOR
  int stored_columns() const { return sparse ? k / 2 : k; }  // elements of a row of A
};

// Elements as bit patterns: a[row * kept + i], b[column * k + i], c and d[row * n + column]. Of a
// sparse A, k_index[row * kept + i] is the k of the element that a[row * kept + i] is multiplied
// by.
void multiply_tile(const TileForm& form, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                   uint64_t* d, const uint16_t* k_index = nullptr);

}  // namespace lab32::sim
