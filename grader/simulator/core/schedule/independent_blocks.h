// Blocks that are known, before anything runs, to touch no byte that another block writes: their
// addresses are sums over the coordinates of their threads.
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

// Integers that are a sum over the coordinates of their thread: what most addresses are.

// %tid.x to .z, and then %ctaid.x to .z.
constexpr size_t kCoordinates = 6;
constexpr bool is_of_block(size_t coordinate) { return coordinate >= 3; }

// constant + the sum of each coordinate times its factor. Operations that would overflow give
// nothing.
struct Affine {
  int64_t constant = 0;
  std::array<int64_t, kCoordinates> factor{};

  bool is_constant() const { return factor == std::array<int64_t, kCoordinates>{}; }
};

inline std::optional<Affine> times(Affine a, int64_t k) {
  bool over = __builtin_mul_overflow(a.constant, k, &a.constant);
  for (int64_t& f : a.factor) over |= __builtin_mul_overflow(f, k, &f);
  return over ? std::nullopt : std::optional<Affine>(a);
}

inline std::optional<Affine> plus(Affine a, const Affine& b) {
  bool over = __builtin_add_overflow(a.constant, b.constant, &a.constant);
  for (size_t i = 0; i < kCoordinates; ++i)
    over |= __builtin_add_overflow(a.factor[i], b.factor[i], &a.factor[i]);
  return over ? std::nullopt : std::optional<Affine>(a);
}

inline std::optional<Affine> minus(const Affine& a, const Affine& b) {
  const std::optional<Affine> negative = times(b, -1);
  return negative ? plus(a, *negative) : std::nullopt;
}

using Exact = __int128;  // no sum of products overflows it
struct Range {
  Exact low, high;
};

// form <= most, as a branch or a guard in front of an access says.
struct Bound {
  Affine form;
  int64_t most;
};

// What a launch's coordinates can be.
class CoordinateRanges {
 public:
  CoordinateRanges(const Dim3& grid, const Dim3& block)
      : last_{block.x - 1, block.y - 1, block.z - 1, grid.x - 1, grid.y - 1, grid.z - 1} {}

  int64_t last(size_t coordinate) const { return last_[coordinate]; }
  Range range(const Affine& a) const {
    Range r{a.constant, a.constant};
    for (size_t i = 0; i < kCoordinates; ++i) {
      const Exact end = Exact{a.factor[i]} * last_[i];
      (end < 0 ? r.low : r.high) += end;
    }
    return r;
  }

  // The same where the bounds hold: each limits the coordinates that it is about, where they have
  // its proportions.
  Range range(const Affine& a, const std::vector<Bound>& bounds) const {
    Range r = range(a);
    std::array<bool, kCoordinates> taken{};
    for (const Bound& bound : bounds) {
      const Exact k = proportion(a, bound.form, taken);
      if (k <= 0) continue;
      const Exact off = range(bound.form).high - bound.most;
      if (off <= 0) continue;
      r.high -= k * off;
      for (size_t i = 0; i < kCoordinates; ++i) taken[i] |= varies(bound.form, i);
    }
    return r;
  }

 private:
  bool varies(const Affine& a, size_t i) const { return a.factor[i] != 0 && last_[i] > 0; }
  // How often `form`, without its constant, is in the coordinates of `a` that it is about; 0: it is
  // not, or one is taken.
  int64_t proportion(const Affine& a, const Affine& form,
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
// The accesses of device memory of a kernel whose addresses are all affine in the coordinates of
// their thread, and what the branches around them say of those.

struct AffineAccess {
  Affine address;
  unsigned bytes;
  bool store;
  std::vector<Bound> bounds;  // hold for every thread that makes it
};

// Nothing: some access is not known, or is an update, or a load in a loop, which may wait for what
// another block will store; or the kernel calls functions.
std::optional<std::vector<AffineAccess>> affine_accesses(const LaunchContext& launch,
                                                         const CoordinateRanges& ranges);

// ---------------------------------------------------------------------------------------------
// Whether the blocks of a launch keep to bytes of their own: a proof from the kernel's text, its
// parameters and the launch's dimensions, before anything runs.

// Ranges of device memory.
using ByteRanges = std::vector<std::pair<uint64_t, uint64_t>>;

struct IndependentBlocks {
  // No block touches a byte of device memory that another one writes, and none waits for another.
  // False: that is not known. Known are kernels without calls and atomics whose every address is
  // affine in the coordinates of its thread (Affine), and whose loads are in no loop.
  bool proven = false;
  ByteRanges written;  // nothing outside of them is
};
IndependentBlocks prove_independent_blocks(const LaunchContext& launch);

}  // namespace lab32::sim
