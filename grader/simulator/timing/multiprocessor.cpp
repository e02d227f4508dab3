#include "simulator/timing/multiprocessor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "simulator/timing/sm_warps.h"
#include "simulator/timing/warp_paths.h"

namespace lab32::model {
namespace {

// The most instructions per cycle that one warp issues on average, since it waits for results; the
// most that a multiprocessor issues; when two ends count as simultaneous; and the bias by which
// later blocks end later.
constexpr double kWarpRate = 0.25, kIssuedAtOnce = 4, kAboutTheSame = 0.9, kLater = 1e-3;

// A multiprocessor that divides its rate equally among its blocks, up to the rate that a block can
// use. Its own clock advances with the work of its blocks.
struct SharedUnit {
  double clock = 0, since = 0;
  // The end times of the blocks, by the unit's own clock.
  std::priority_queue<double, std::vector<double>, std::greater<>> ends;
  std::vector<uint64_t> blocks;
  double all = 0;  // work

  double rate_per_block(double most) const {
    return std::min(most, kIssuedAtOnce / static_cast<double>(ends.size()));
  }
  double next_end(double most) const { return since + (ends.top() - clock) / rate_per_block(most); }
  void add_block(uint64_t block, double work) {
    blocks.push_back(block);
    all += work;
    ends.push(clock + work);
  }
};

}  // namespace

std::vector<uint64_t> blocks_of_last_multiprocessor(uint32_t multiprocessors, uint32_t resident,
                                                    uint64_t blocks, uint32_t warps,
                                                    const std::vector<uint64_t>& work) {
  std::vector<uint64_t> dealt;
  if (work.empty() || blocks <= multiprocessors) {
    // The longest block has a multiprocessor of its own.
    uint64_t first = 0;
    if (!work.empty())
      first = static_cast<uint64_t>(std::max_element(work.begin(), work.end()) - work.begin());
    for (uint64_t b = first; b < blocks; b += multiprocessors) dealt.push_back(b);
    return dealt;
  }
  std::vector<SharedUnit> all(multiprocessors);
  const double most = kWarpRate * warps;
  uint64_t next = 0;
  // Equal blocks end in the order in which they were distributed.
  for (uint32_t turn = 0; turn < resident; ++turn)
    for (SharedUnit& server : all)
      if (next < blocks) {
        server.add_block(next, static_cast<double>(work[next]) * (1 + kLater * turn));
        ++next;
      }
  using Event = std::pair<double, uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  for (uint32_t m = 0; m < multiprocessors; ++m)
    if (!all[m].ends.empty()) events.push({all[m].next_end(most), m});
  while (!events.empty()) {
    const auto [now, m] = events.top();
    events.pop();
    SharedUnit& server = all[m];
    server.clock = server.ends.top();
    server.since = now;
    server.ends.pop();
    if (next < blocks) server.add_block(next, static_cast<double>(work[next])), ++next;
    if (!server.ends.empty()) events.push({server.next_end(most), m});
  }
  // Among multiprocessors that end at about the same time, the one with the most work.
  double end = 0;
  for (const SharedUnit& server : all) end = std::max(end, server.since);
  const SharedUnit* last = nullptr;
  for (const SharedUnit& server : all)
    if (server.since >= kAboutTheSame * end && (last == nullptr || server.all > last->all))
      last = &server;
  return last->blocks;
}

SmTiming run_multiprocessor(const Profile& profile, const WarpTrace& trace, const SmWork& work) {
  std::vector<uint64_t> of_block;
  const uint64_t known = work.warps > 0 ? work.issued.size() / work.warps : 0;
  if (known == work.blocks) {
    for (uint64_t b = 0; b < known; ++b) {
      of_block.push_back(0);
      for (uint32_t w = 0; w < work.warps; ++w) of_block.back() += work.issued[b * work.warps + w];
    }
  }
  const std::vector<uint64_t> blocks = blocks_of_last_multiprocessor(
      profile.multiprocessors, work.resident, work.blocks, work.warps, of_block);
  const WarpPaths paths(trace, work);
  const Time& time = profile.time;
  SmTiming result;
  double congestion = 1;
  for (int turn = 0; turn < 3; ++turn) {
    SmWarps warps(profile, trace, work, paths, congestion);
    result = warps.run(blocks);
    const double share = warps.memory_cycles() / std::max(result.cycles, 1.0);
    const double busy = std::min(share, 1.0);
    const double then = 1 + busy * busy * (time.memory_queue + time.memory_turn * work.both_ways);
    if (std::abs(then - congestion) < 0.02) break;
    congestion = turn == 0 ? then : (then + congestion) / 2;
  }
  return result;
}

}  // namespace lab32::model
