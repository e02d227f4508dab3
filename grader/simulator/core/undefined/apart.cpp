#include "simulator/core/undefined/apart.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "simulator/core/warp/affine_accesses.h"

namespace lab32::sim {
namespace {

// Longer ones hardly ever qualify, and are looked at before each launch.
constexpr size_t kMostInstructions = 1000;

// Whether accesses at these addresses, which differ in the constant only, touch bytes of `reach` in
// front of or behind each other from one block only. The coordinates are digits: where each step of
// one is longer than all that the smaller ones add up to, no two sums are equal.
bool digits_tell(const Affine& address, const std::vector<Bound>& bounds, Exact reach,
                 const Extents& extents) {
  std::vector<size_t> order;
  for (size_t i = 0; i < kCoordinates; ++i) {
    if (extents.last(i) == 0) continue;
    if (address.factor[i] != 0)
      order.push_back(i);
    else if (is_of_block(i))
      return false;
  }
  const auto step = [&](size_t i) { return Exact{std::abs(address.factor[i])}; };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return step(a) < step(b); });
  Exact span = reach;
  bool blocks = false;
  Affine below;  // the digits so far
  for (const size_t i : order) {
    blocks |= is_of_block(i);
    if (blocks && step(i) < span) return false;
    span += step(i) * extents.last(i);
    below.factor[i] = address.factor[i];
    const Range bounded = extents.range(below, bounds);
    span = std::min(span, reach + bounded.high - bounded.low);
  }
  return true;
}

bool apart(const AffineAccess& store, const AffineAccess& other, const Extents& extents) {
  const Range a = extents.range(store.address, store.bounds),
              b = extents.range(other.address, other.bounds);
  if (a.high + store.bytes <= b.low || b.high + other.bytes <= a.low) return true;
  if (store.address.factor != other.address.factor) return false;
  // Only where the same is known of both.
  std::vector<Bound> both;
  for (const Bound& bound : store.bounds)
    if (std::any_of(other.bounds.begin(), other.bounds.end(), [&](const Bound& o) {
          return o.most == bound.most && o.form.constant == bound.form.constant &&
                 o.form.factor == bound.form.factor;
        }))
      both.push_back(bound);
  const Exact off = Exact{store.address.constant} - other.address.constant;
  return digits_tell(store.address, both,
                     (off < 0 ? -off : off) + std::max(store.bytes, other.bytes), extents);
}

}  // namespace

Apart keep_apart(const LaunchContext& launch) {
  const KernelProgram& program = *launch.program;
  if (program.functions.size() != 1 || program.order_sensitive || program.uses_heap ||
      program.launches_kernels || program.reads_clock || launch.has_clusters() ||
      launch.keep_going || launch.grid_workspace != 0)
    return {};
  // A register that is read before it is written has no value that is known.
  if (!program.functions[0].undefined.empty() ||
      program.functions[0].ptx->body.size() > kMostInstructions)
    return {};
  const Extents extents(launch.grid, launch.block);
  const auto accesses = affine_accesses(launch, extents);
  if (!accesses) return {};
  Apart result;
  for (const AffineAccess& store : *accesses) {
    if (!store.store) continue;
    for (const AffineAccess& other : *accesses)
      if (!apart(store, other, extents)) return {};
    const Range r = extents.range(store.address, store.bounds);
    result.written.emplace_back(static_cast<uint64_t>(r.low),
                                static_cast<uint64_t>(r.high) + store.bytes);
  }
  result.proven = true;
  return result;
}

}  // namespace lab32::sim
