// multiply_tile(): D = A B + C on whole matrices, bit for bit as the tensor cores of an H200
// compute it.
//
// Half, bf16 and tf32: `block` products and C are added in one step. Products are exact. Each
// addend is aligned to the largest exponent among them (a product's exponent is the sum of its
// factors') and truncated 25 binary places below it; the sum of these is exact. A float result is
// truncated, a half is rounded to nearest. A sum of zero is +0. Infinities and NaN follow IEEE 754;
// NaN has one pattern. Double: a chain of fused multiply-adds in the order of k. Integers are
// exact.
//
// If A is sparse, each stored element is multiplied by the element of B at its k_index. All these
// products are one block and are added like others.
//
// For forms without a Hopper instruction ptxas emits other instructions, and the results are
// theirs. 8-bit floats become halves: starting from zero, one block adds the first two of every
// four elements of A, the next block the other two; C is added last, rounded to nearest. m8n8k4 of
// halves uses float arithmetic.
//
// Sources: tiles of random numbers with near and distant exponents, sparse, subnormal and special
// values, on an H200, 2026-11-25; `runtime/tests/programs/tensor_cores` holds the results. (Fasi,
// Higham, Mikaitis, Pranesh: "Numerical behavior of NVIDIA tensor cores", 2021, found the same
// method of adding, with other widths, on older cards.) For sparse products the block size and the
// number of places were measured (two large products that cancel, and a small one, at every place).
// The other rules of sparse products, 8-bit floats and m8n8k4 were read from the machine code of
// ptxas 13.0 for sm_90 or taken over from dense products. An H200 then gave the same bits for all
// tiles of `mma_sparse.cu`, `mma_float8.cu` and `mma_m8n8k4.cu` (2026-11-26).
#pragma once

#include <cstdint>

#include "simulator/ptx/opcodes.h"

namespace lab32::sim {

struct MmaForm {
  int m = 0, n = 0, k = 0;
  // Types of elements; b1, s4 and similar ones are integers of that many bits.
  ptx::DataType a{}, b{}, c{}, d{};
  int block = 0;  // products that are added in one step
  enum class Order : uint8_t { blocks, halves_apart, float_chain };
  Order order = Order::blocks;
  bool sparse = false;  // half of A's elements are stored
  bool saturates = false;
  bool is_and = false;                                       // b1: AND, else XOR
  int stored_columns() const { return sparse ? k / 2 : k; }  // stored elements of a row of A
};

// Multiplies one tile. Elements are bit patterns at a[row * stored_columns() + i], b[column * k +
// i], and c and d[row * n + column]. For a sparse A, k_index has the layout of a and gives the k of
// each element's factor in B.
void multiply_tile(const MmaForm& form, const uint64_t* a, const uint64_t* b, const uint64_t* c,
                   uint64_t* d, const uint16_t* k_index = nullptr);

}  // namespace lab32::sim
