#include "labs/occupancy/inputs.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace lab32::checks::occupancy {

std::vector<int32_t> random_links(uint32_t nodes) {
  Random random(nodes);
  std::vector<int32_t> next(nodes);
  for (uint32_t i = 0; i < nodes; i += 8) {
    const uint32_t to = random.below(nodes / 8) * 8;
    for (uint32_t k = 0; k < 8; ++k) next[i + k] = static_cast<int32_t>(to + k);
  }
  return next;
}

// Positions in quarters of cells, so that their sums are exact.
std::vector<FieldVector> vector_field(uint64_t seed) {
  Random random(seed);
  std::vector<FieldVector> cells(size_t{kSide} * kSide * kSide);
  const auto quarters = [&] { return static_cast<float>(random.below(64)) / 4; };
  for (FieldVector& c : cells)
    c = {quarters(), quarters(), quarters(), static_cast<float>(1 + random.below(16384)) / 16384};
  return cells;
}

std::vector<float> start_positions(uint32_t n, uint32_t first) {
  std::vector<float> start(size_t{3} * n);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t cell = first + i / 16;  // 16 neighbours start in one cell
    start[i] = static_cast<float>(cell % kSide) + static_cast<float>(i % 16) / 16;
    start[size_t{n} + i] = static_cast<float>(cell / kSide % kSide);
    start[size_t{2} * n + i] = static_cast<float>(cell / kSide / kSide % kSide);
  }
  return start;
}

std::vector<float> traced_paths(const std::vector<FieldVector>& field,
                                const std::vector<float>& start, uint32_t n, uint32_t steps) {
  std::vector<float> out(size_t{kTraced} * n);
  for (size_t i = 0; i < n; ++i) {
    double at[3] = {start[i], start[n + i], start[2 * size_t{n} + i]};
    double sums[kTraced] = {};
    sums[4] = 1e30, sums[5] = -1e30;
    for (uint32_t k = 0; k < steps; ++k) {
      const auto side = [](double v) { return static_cast<uint32_t>(v) % kSide; };
      const FieldVector& f =
          field[side(at[0]) + size_t{kSide} * (side(at[1]) + kSide * side(at[2]))];
      const double step[3] = {f.x, f.y, f.z};
      sums[4] = std::min(sums[4], double{f.w}), sums[5] = std::max(sums[5], double{f.w});
      sums[6] += f.w, sums[7] += double{f.w} * f.w;
      for (int axis = 0; axis < 3; ++axis) {
        at[axis] += step[axis];
        sums[3] += step[axis];
        sums[8 + axis] += at[axis];
        sums[11 + axis] += at[axis] * f.w;
      }
    }
    for (int axis = 0; axis < 3; ++axis) sums[axis] = at[axis];
    for (size_t k = 0; k < kTraced; ++k) out[k * n + i] = static_cast<float>(sums[k]);
  }
  return out;
}

void record_usage(grading::Check& check, const device::Kernel& kernel, const device::Shape& shape) {
  const device::KernelInfo& info = kernel.info();
  check.figure("threads", static_cast<double>(shape.block.count()));
  check.figure("registers", info.registers.value_or(0));
  check.figure("shared_bytes", info.static_shared + shape.dynamic_shared);
}

}  // namespace lab32::checks::occupancy
