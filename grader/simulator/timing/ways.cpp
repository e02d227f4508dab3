#include "simulator/timing/ways.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace lab32::model {
namespace {

// Warps whose way differs from the mean by less are taken as that.
constexpr double kMuchLonger = 0.05;

}  // namespace

Ways::Ways(const WarpTrace& trace, const BlocksAtWork& work)
    : trace_(trace), work_(work), mean_(instructions_of(trace)) {
  for (const TraceBlock& b : trace.blocks) {
    if (b.loops.empty()) continue;
    in_loops_ += b.runs * static_cast<double>(b.code.size());
    for (const TraceInstruction& in : b.code)
      meets_in_loop_ |= in.kind == TraceInstruction::Kind::barrier;
  }
  if (work.issued.size() != work.blocks * work.warps) return;
  std::map<uint32_t, uint32_t, std::greater<>> count;
  for (const uint32_t issued : work.issued) {
    mean_issued_ += issued;
    nth_.push_back(count[issued]++);
  }
  const auto warps = static_cast<double>(work.issued.size());
  if (warps > 0) mean_issued_ /= warps;
  double more = 0;
  for (const auto& [issued, times] : count) {
    alike_.push_back({issued, more / warps, times / warps});
    more += times;
  }
}

// As long as the instructions that it issued. Of the blocks of code that only a part of the warps
// runs, each is run by so many of every hundred warps; where that is not what this warp issued, by
// those that issued most.
std::vector<uint16_t> Ways::way(uint64_t block, uint32_t w) const {
  const uint64_t number = block * work_.warps + w;
  Standing standing{0, 1, number};
  std::vector<uint16_t> way = way_of(trace_, number, 1, standing);
  if (number >= work_.issued.size() || mean_issued_ <= 0) return way;
  const double wanted = of_warp(block, w) / mean_issued_ * mean_;
  double longer = wanted - length(way);
  const auto fits = [&] { return std::abs(longer) <= kMuchLonger * mean_; };
  if (fits()) return way;
  const Standing by_issued = this->standing(number);
  std::vector<uint16_t> other = way_of(trace_, number, 1, by_issued);
  if (const double then = wanted - length(other); std::abs(then) < std::abs(longer))
    way = std::move(other), longer = then, standing = by_issued;
  if (fits() || in_loops_ <= 0) return way;
  return way_of(trace_, number, std::max(0.0, 1 + longer / in_loops_), standing);
}

double Ways::length(const std::vector<uint16_t>& way) const {
  double sum = 0;
  for (const uint16_t b : way) sum += static_cast<double>(trace_.blocks[b].code.size());
  return sum;
}

// Warps that meet at a barrier in a loop take as many turns.
double Ways::of_warp(uint64_t block, uint32_t w) const {
  const size_t first = block * work_.warps;
  if (!meets_in_loop_) return work_.issued[first + w];
  double sum = 0;
  for (uint32_t i = 0; i < work_.warps; ++i) sum += work_.issued[first + i];
  return sum / work_.warps;
}

Standing Ways::standing(uint64_t number) const {
  const auto at =
      std::lower_bound(alike_.begin(), alike_.end(), work_.issued[number],
                       [](const Alike& alike, uint32_t issued) { return alike.issued > issued; });
  return {at->more, at->equal, nth_[number]};
}

}  // namespace lab32::model
