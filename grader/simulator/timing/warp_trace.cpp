#include "simulator/timing/warp_trace.h"

#include <algorithm>
#include <cmath>

namespace lab32::model {
namespace {

class Way {
 public:
  Way(const WarpTrace& trace, uint64_t warp, double times, const Standing& standing)
      : trace_(trace),
        warp_(warp),
        times_(times),
        standing_(standing),
        taken_(trace.blocks.size(), 0) {}

  std::vector<uint16_t> all() {
    walk(0, trace_.blocks.size(), 0, 1);
    return std::move(way_);
  }

 private:
  // Blocks [first, last) inside of `depth` loops, which run `around` times per warp in all.
  void walk(size_t first, size_t last, size_t depth, double around) {
    for (size_t i = first; i < last;) {
      const TraceBlock& block = trace_.blocks[i];
      if (block.loops.size() <= depth) {
        run(i, around);
        ++i;
        continue;
      }
      const size_t header = block.loops[depth];
      size_t end = i;
      double most = 0;
      for (; end < last && trace_.blocks[end].loops.size() > depth &&
             trace_.blocks[end].loops[depth] == header;
           ++end) {
        // Those of inner loops run more often.
        const TraceBlock& inside = trace_.blocks[end];
        if (inside.loops.size() == depth + 1) most = std::max(most, inside.runs);
      }
      loop(i, end, depth, most, around);
      i = end;
    }
  }

  void run(size_t i, double around) {
    const double rate = around > 0 ? trace_.blocks[i].runs / around : 0;
    const bool runs =
        depth_ == 0 ? is_one_of(rate) : turns(warp_ + taken_[i]++, std::min(rate, 1.0)) > 0;
    if (runs) way_.push_back(static_cast<uint16_t>(i));
  }

  // Of so many of all warps.
  bool is_one_of(double rate) const {
    const double beside = (rate - standing_.before) / standing_.beside;
    return beside > 0 && turns(standing_.number, std::min(beside, 1.0)) > 0;
  }

  void loop(size_t first, size_t last, size_t depth, double runs, double around) {
    if (runs <= 0 || around <= 0) return;
    const double rate = runs / around * (depth == 0 ? times_ : 1);
    const uint64_t n = turns(depth_ == 0 ? warp_ : warp_ + taken_[first]++, rate);
    ++depth_;
    for (uint64_t k = 0; k < n; ++k) walk(first, last, depth + 1, runs);
    --depth_;
  }

  const WarpTrace& trace_;
  const uint64_t warp_;
  const double times_;
  const Standing standing_;
  std::vector<uint64_t> taken_;  // by block: how often it came up
  std::vector<uint16_t> way_;
  int depth_ = 0;
};

}  // namespace

uint64_t turns(uint64_t number, double rate) {
  const double n = static_cast<double>(number);
  return static_cast<uint64_t>(std::ceil((n + 1) * rate - 1e-9) - std::ceil(n * rate - 1e-9));
}

double instructions_of(const WarpTrace& trace) {
  double sum = 0;
  for (const TraceBlock& block : trace.blocks)
    sum += block.runs * static_cast<double>(block.code.size());
  return sum;
}

std::vector<uint16_t> way_of(const WarpTrace& trace, uint64_t warp, double times,
                             const Standing& standing) {
  return Way(trace, warp, times, standing).all();
}

}  // namespace lab32::model
