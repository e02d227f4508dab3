// Proves before a launch that no block accesses a byte that another block writes. The proof works
// for kernels whose addresses are all affine in the coordinates of their threads. Such blocks can
// run in parallel without a SerialEquivalenceRollback. The entry point is
// prove_independent_blocks(), at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/grid.h"
#include "simulator/core/warp/launch_context.h"

namespace lab32::sim {

// The coordinates of a thread: %tid.x to .z, then %ctaid.x to .z.
constexpr size_t kCoordinates = 6;
constexpr bool is_of_block(size_t coordinate) { return coordinate >= 3; }

// An integer that is affine in the coordinates: constant + the sum of factor * coordinate.
// Operations that would overflow return nothing.
struct AffineExpression {
  int64_t constant = 0;
  std::array<int64_t, kCoordinates> factor{};

  bool is_constant() const { return factor == std::array<int64_t, kCoordinates>{}; }
};

inline std::optional<AffineExpression> multiply_checked(AffineExpression a, int64_t k) {
  bool over = __builtin_mul_overflow(a.constant, k, &a.constant);
  for (int64_t& f : a.factor) over |= __builtin_mul_overflow(f, k, &f);
  return over ? std::nullopt : std::optional<AffineExpression>(a);
}

inline std::optional<AffineExpression> add_checked(AffineExpression a, const AffineExpression& b) {
  bool over = __builtin_add_overflow(a.constant, b.constant, &a.constant);
  for (size_t i = 0; i < kCoordinates; ++i)
    over |= __builtin_add_overflow(a.factor[i], b.factor[i], &a.factor[i]);
  return over ? std::nullopt : std::optional<AffineExpression>(a);
}

inline std::optional<AffineExpression> subtract_checked(const AffineExpression& a,
                                                        const AffineExpression& b) {
  const std::optional<AffineExpression> negative = multiply_checked(b, -1);
  return negative ? add_checked(a, *negative) : std::nullopt;
}

using Exact = __int128;  // so wide that no sum of products overflows
struct ValueRange {
  Exact low, high;
};

// The condition form <= most, from a branch or a guard before an access.
struct AffineInequality {
  AffineExpression form;
  int64_t most;
};

// The ranges of the coordinates in a launch: each runs from 0 to last().
class LaunchIndexRanges {
 public:
  LaunchIndexRanges(const Dim3& grid, const Dim3& block)
      : last_{block.x - 1, block.y - 1, block.z - 1, grid.x - 1, grid.y - 1, grid.z - 1} {}

  int64_t last(size_t coordinate) const { return last_[coordinate]; }
  ValueRange range(const AffineExpression& a) const {
    ValueRange r{a.constant, a.constant};
    for (size_t i = 0; i < kCoordinates; ++i) {
      const Exact end = Exact{a.factor[i]} * last_[i];
      (end < 0 ? r.low : r.high) += end;
    }
    return r;
  }

  // The range under the bounds. A bound applies where the factors of its coordinates in `a` are a
  // common multiple of those in the bound.
  ValueRange range(const AffineExpression& a, const std::vector<AffineInequality>& bounds) const {
    ValueRange r = range(a);
    std::array<bool, kCoordinates> taken{};
    for (const AffineInequality& bound : bounds) {
      const Exact k = multiple_of_form(a, bound.form, taken);
      if (k <= 0) continue;
      const Exact off = range(bound.form).high - bound.most;
      if (off <= 0) continue;
      r.high -= k * off;
      for (size_t i = 0; i < kCoordinates; ++i) taken[i] |= varies(bound.form, i);
    }
    return r;
  }

 private:
  bool varies(const AffineExpression& a, size_t i) const {
    return a.factor[i] != 0 && last_[i] > 0;
  }
  // The k for which the factors of `a` are k times those of `form`, in all coordinates of `form`.
  // 0: there is no such k, or another bound has used one of the coordinates.
  int64_t multiple_of_form(const AffineExpression& a, const AffineExpression& form,
                           const std::array<bool, kCoordinates>& taken) const {
    int64_t k = 0;
    for (size_t i = 0; i < kCoordinates; ++i) {
      if (!varies(form, i)) continue;
      if (taken[i] || a.factor[i] % form.factor[i] != 0) return 0;
      const int64_t here = a.factor[i] / form.factor[i];
      if (here == 0 || (k != 0 && k != here)) return 0;
      k = here;
    }
    return k;
  }

  std::array<int64_t, kCoordinates> last_;
};

// ---------------------------------------------------------------------------------------------
// An access to device memory with an affine address, and the bounds from the branches around it.

struct AffineAccess {
  AffineExpression address;
  unsigned bytes;
  bool store;
  std::vector<AffineInequality> bounds;  // true for every thread that makes the access
};

// All accesses of a kernel to device memory. Returns nothing if an address is not affine, an access
// is atomic, a load is in a loop (it may poll for another block's store), or the kernel calls
// functions.
std::optional<std::vector<AffineAccess>> affine_accesses(const LaunchContext& launch,
                                                         const LaunchIndexRanges& ranges);

// ---------------------------------------------------------------------------------------------

// Ranges of device memory, {begin, end}.
using ByteRanges = std::vector<std::pair<uint64_t, uint64_t>>;

struct IndependenceProof {
  // No block accesses a byte of device memory that another block writes, and no block waits for
  // another. False: the proof failed. It can succeed only for kernels without calls and atomics
  // whose addresses are all affine (AffineExpression) and whose loads are outside loops.
  bool proven = false;
  ByteRanges written;  // ranges that include all writes of the kernel
};
IndependenceProof prove_independent_blocks(const LaunchContext& launch);

}  // namespace lab32::sim
