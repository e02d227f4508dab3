#include "simulator/timing/warp_paths.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace lab32::model {
namespace {

class WarpPathBuilder {
 public:
  WarpPathBuilder(const AverageWarpTrace& trace, uint64_t warp, double times,
                  const WarpRankByInstructionCount& rank)
      : trace_(trace), warp_(warp), times_(times), rank_(rank), visits_(trace.blocks.size(), 0) {}

  std::vector<uint16_t> whole_path() {
    walk_blocks(0, trace_.blocks.size(), 0, 1);
    return std::move(path_);
  }

 private:
  // Walks blocks [first, last), which are inside `depth` loops and run `around` times per warp in
  // total.
  void walk_blocks(size_t first, size_t last, size_t depth, double around) {
    for (size_t i = first; i < last;) {
      const TraceBasicBlock& block = trace_.blocks[i];
      if (block.loops.size() <= depth) {
        append_block_if_warp_runs_it(i, around);
        ++i;
        continue;
      }
      const size_t header = block.loops[depth];
      size_t end = i;
      double most = 0;
      for (; end < last && trace_.blocks[end].loops.size() > depth &&
             trace_.blocks[end].loops[depth] == header;
           ++end) {
        // Blocks of inner loops run more often, so they do not give the number of iterations.
        const TraceBasicBlock& inside = trace_.blocks[end];
        if (inside.loops.size() == depth + 1) most = std::max(most, inside.runs);
      }
      append_loop_iterations(i, end, depth, most, around);
      i = end;
    }
  }

  void append_block_if_warp_runs_it(size_t i, double enclosing_runs) {
    const double rate = enclosing_runs > 0 ? trace_.blocks[i].runs / enclosing_runs : 0;
    const bool runs = depth_ == 0
                          ? is_warp_among_share(rate)
                          : repetitions_of_nth_item(warp_ + visits_[i]++, std::min(rate, 1.0)) > 0;
    if (runs) path_.push_back(static_cast<uint16_t>(i));
  }

  // Whether this warp is one of the share `rate` of all warps that run the block.
  bool is_warp_among_share(double rate) const {
    const double equal = (rate - rank_.before) / rank_.equal;
    return equal > 0 && repetitions_of_nth_item(rank_.number, std::min(equal, 1.0)) > 0;
  }

  void append_loop_iterations(size_t first, size_t last, size_t depth, double runs, double around) {
    if (runs <= 0 || around <= 0) return;
    const double rate = runs / around * (depth == 0 ? times_ : 1);
    const uint64_t n =
        repetitions_of_nth_item(depth_ == 0 ? warp_ : warp_ + visits_[first]++, rate);
    ++depth_;
    for (uint64_t k = 0; k < n; ++k) walk_blocks(first, last, depth + 1, runs);
    --depth_;
  }

  const AverageWarpTrace& trace_;
  const uint64_t warp_;
  const double times_;
  const WarpRankByInstructionCount rank_;
  std::vector<uint64_t> visits_;  // for each block: how often the path has reached it
  std::vector<uint16_t> path_;
  int depth_ = 0;
};

}  // namespace

uint64_t repetitions_of_nth_item(uint64_t number, double rate) {
  const double n = static_cast<double>(number);
  return static_cast<uint64_t>(std::ceil((n + 1) * rate - 1e-9) - std::ceil(n * rate - 1e-9));
}

double instructions_per_warp(const AverageWarpTrace& trace) {
  double sum = 0;
  for (const TraceBasicBlock& block : trace.blocks)
    sum += block.runs * static_cast<double>(block.code.size());
  return sum;
}

std::vector<uint16_t> path_of(const AverageWarpTrace& trace, uint64_t warp, double iteration_ratio,
                              const WarpRankByInstructionCount& rank) {
  return WarpPathBuilder(trace, warp, iteration_ratio, rank).whole_path();
}

namespace {

// A warp takes the mean path if its length differs from the mean by less than this share.
constexpr double kMuchLonger = 0.05;

}  // namespace

WarpPathChooser::WarpPathChooser(const AverageWarpTrace& trace, const SmWork& work)
    : trace_(trace), work_(work), mean_(instructions_per_warp(trace)) {
  for (const TraceBasicBlock& b : trace.blocks) {
    if (b.loops.empty()) continue;
    instructions_in_loops_ += b.runs * static_cast<double>(b.code.size());
    for (const ModelledInstruction& in : b.code)
      barrier_in_loop_ |= in.kind == ModelledInstruction::Kind::barrier;
  }
  if (work.issued.size() != work.blocks * work.warps) return;
  std::map<uint32_t, uint32_t, std::greater<>> count;
  for (const uint32_t issued : work.issued) {
    mean_issued_ += issued;
    number_among_equals_.push_back(count[issued]++);
  }
  const auto warps = static_cast<double>(work.issued.size());
  if (warps > 0) mean_issued_ /= warps;
  double more = 0;
  for (const auto& [issued, times] : count) {
    issue_groups_.push_back({issued, more / warps, times / warps});
    more += times;
  }
}

// The path has about as many instructions as the warp issued. If only 30 % of the warps run a basic
// block, it is first put on the paths of 30 of every hundred warps, by warp number. If a path is
// then much longer or shorter than its warp's issued instructions, the basic block is put on the
// paths of those warps that issued most.
std::vector<uint16_t> WarpPathChooser::estimated_path_of_warp(uint64_t block, uint32_t w) const {
  const uint64_t number = block * work_.warps + w;
  WarpRankByInstructionCount rank{0, 1, number};
  std::vector<uint16_t> path = path_of(trace_, number, 1, rank);
  if (number >= work_.issued.size() || mean_issued_ <= 0) return path;
  const double wanted = instructions_issued_by(block, w) / mean_issued_ * mean_;
  double longer = wanted - instructions_on_path(path);
  const auto fits = [&] { return std::abs(longer) <= kMuchLonger * mean_; };
  if (fits()) return path;
  const WarpRankByInstructionCount by_issued = this->issue_count_rank_of_warp(number);
  std::vector<uint16_t> other = path_of(trace_, number, 1, by_issued);
  if (const double then = wanted - instructions_on_path(other); std::abs(then) < std::abs(longer))
    path = std::move(other), longer = then, rank = by_issued;
  if (fits() || instructions_in_loops_ <= 0) return path;
  return path_of(trace_, number, std::max(0.0, 1 + longer / instructions_in_loops_), rank);
}

double WarpPathChooser::instructions_on_path(const std::vector<uint16_t>& path) const {
  double sum = 0;
  for (const uint16_t b : path) sum += static_cast<double>(trace_.blocks[b].code.size());
  return sum;
}

// Warps that wait for each other at a barrier in a loop run equally many iterations, so they get
// the mean of their block.
double WarpPathChooser::instructions_issued_by(uint64_t block, uint32_t w) const {
  const size_t first = block * work_.warps;
  if (!barrier_in_loop_) return work_.issued[first + w];
  double sum = 0;
  for (uint32_t i = 0; i < work_.warps; ++i) sum += work_.issued[first + i];
  return sum / work_.warps;
}

WarpRankByInstructionCount WarpPathChooser::issue_count_rank_of_warp(uint64_t number) const {
  const auto at = std::lower_bound(
      issue_groups_.begin(), issue_groups_.end(), work_.issued[number],
      [](const WarpsOfEqualIssueCount& group, uint32_t issued) { return group.issued > issued; });
  return {at->more, at->equal, number_among_equals_[number]};
}

}  // namespace lab32::model
