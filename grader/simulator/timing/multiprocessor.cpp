#include "simulator/timing/multiprocessor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "simulator/timing/warp_paths.h"

namespace lab32::model {
namespace {

// Cycles that a sector takes from L2 to a multiprocessor: 64 bytes per clock (the peak of Nsight
// Compute's l1tex__m_xbar2l1tex_read_sectors).
constexpr double kPort = 0.5;

// The backlog of L1, in cycles of work, beyond which warps cannot issue more accesses.
constexpr double kBacklog = 40;

// The cycles by which multiprocessors with equal work drift apart
// (data/measured/model/h200-atomics.csv, `tail`).
constexpr double kSpread = 4500;

constexpr double kTogether = 1.0 / 16;

}  // namespace

MemoryPath::MemoryPath(const TimeParameters& time, const SmWork& work, double congestion)
    : memory_cycles_(work.memory_cycles),
      update_cycles_(work.update_cycles),
      congestion_(congestion),
      shared_latency_(time.shared_latency * time.sm_hz),
      l1_latency_(time.l1_latency * time.sm_hz),
      l2_latency_(time.l2_latency * time.sm_hz),
      dram_latency_(time.dram_latency * time.sm_hz),
      first_access_(time.first_access_seconds * time.sm_hz) {}

double MemoryPath::accepts_from() const { return l1_free_ - kBacklog; }

double MemoryPath::end() const { return std::max({l1_free_, memory_free_, updates_free_}); }

MemoryPath::ResultAndOperandTimes MemoryPath::access_shared(const ModelledInstruction& in,
                                                            double now) {
  const double start = std::max(now, l1_free_);
  l1_free_ = start + in.busy;
  return {l1_free_ - 1 + shared_latency_ + in.latency, start + kOperandsRead};
}

// Whether this access of the warp waits for L2. Sets `waits_for_dram` to whether it waits for
// device memory, too. The first access of a warp has other miss rates than its later ones.
bool MemoryPath::is_next_access_l1_miss(const ModelledInstruction& in, uint64_t warp,
                                        WarpIssuesPerLoad& history, bool& waits_for_dram) {
  const size_t which = in.group % kLoadGroups;
  const uint32_t requests = history.requests[which]++;
  if (requests == 0) {
    if (repetitions_of_nth_item(warp, in.first_l1_misses) == 0) return false;
    waits_for_dram = repetitions_of_nth_item(first_misses_[which]++, in.first_l2_misses) > 0;
    return true;
  }
  // If most accesses miss, warps that advance together miss together. Rare misses are spread over
  // the warps.
  const double rate = in.l1_misses;
  const double phase = rate < kTogether ? std::fmod(static_cast<double>(warp) * kGolden, 1.0) : 0;
  if (std::floor(requests * rate + phase) <= std::floor((requests - 1) * rate + phase))
    return false;
  waits_for_dram = repetitions_of_nth_item(later_misses_[which]++, in.l2_misses) > 0;
  return true;
}

// Half of the latency is the way to L2. Requests of other multiprocessors arrived up to kSpread
// cycles earlier, because the multiprocessors do not run in step. The slices also serve loads and
// stores between atomics. If both kinds of requests keep the slices equally busy, they slow each
// other down.
double MemoryPath::serve_atomic(const ModelledInstruction& in, double now) {
  const double cycles = in.updates * update_cycles_, others = std::min(busy_since_update_, cycles);
  busy_since_update_ = 0;
  const double came = now + l2_latency_ / 2 - std::min(now / 2, kSpread);
  updates_free_ =
      std::max(updates_free_, came) + std::cbrt(std::pow(cycles, 3) + std::pow(others, 3));
  return std::max(updates_free_, now + l2_latency_ / 2) + l2_latency_ / 2;
}

MemoryPath::ResultAndOperandTimes MemoryPath::access_global(const ModelledInstruction& in,
                                                            double now, uint64_t warp,
                                                            WarpIssuesPerLoad& history) {
  const bool store = in.kind == ModelledInstruction::Kind::global_store;
  double& way = store ? stores_free_ : l1_free_;
  way = std::max(now, way) + in.busy;
  if (store) l1_free_ = std::max(l1_free_, now) + 1;
  ResultAndOperandTimes times{way - 1 + l1_latency_, way + kOperandsRead};
  bool waits_for_dram = false;
  const bool misses = store || is_next_access_l1_miss(in, warp, history, waits_for_dram);
  const double latency = (waits_for_dram ? dram_latency_ : l2_latency_) * congestion_;
  const double weight = in.weight;
  if (weight > 0) {
    const double requests = std::max(way, memory_free_);
    busy_ += weight * memory_cycles_;
    busy_since_update_ += weight * memory_cycles_;
    memory_free_ = requests + weight * std::max(memory_cycles_, kPort);
    if (misses) times.ready = requests + latency;
  } else if (misses) {
    times.ready = way + latency;
  }
  if (in.updates > 0) times.ready = std::max(times.ready, serve_atomic(in, way));
  // The first access that misses waits until the address of its page is translated.
  if (misses && !store) {
    if (first_page_known_ < 0) first_page_known_ = now + first_access_;
    times.ready =
        std::max(times.ready, first_page_known_ + (waits_for_dram ? dram_latency_ : l2_latency_));
  }
  return times;
}

// ---------------------------------------------------------------------------------------------

namespace {

// kWarpRate: the most instructions per cycle that one warp issues on average, because it waits for
// results. kIssuedAtOnce: the most that a multiprocessor issues. kAboutTheSame: two ends whose
// ratio is larger count as simultaneous. kLater: later blocks end later by this share.
constexpr double kWarpRate = 0.25, kIssuedAtOnce = 4, kAboutTheSame = 0.9, kLater = 1e-3;

// A multiprocessor that divides its rate equally among its blocks, up to the rate that a block can
// use. Its own clock advances with the work of its blocks.
struct TimeSharedMultiprocessor {
  double clock = 0, since = 0;
  // The times at which the blocks end, on the unit's own clock.
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

std::vector<uint64_t> blocks_of_slowest_multiprocessor(uint32_t multiprocessors, uint32_t resident,
                                                       uint64_t blocks, uint32_t warps,
                                                       const std::vector<uint64_t>& work) {
  std::vector<uint64_t> dealt;
  if (work.empty() || blocks <= multiprocessors) {
    // Either all blocks are equal, or each block has a multiprocessor of its own, and that of the
    // longest block finishes last.
    uint64_t first = 0;
    if (!work.empty())
      first = static_cast<uint64_t>(std::max_element(work.begin(), work.end()) - work.begin());
    for (uint64_t b = first; b < blocks; b += multiprocessors) dealt.push_back(b);
    return dealt;
  }
  std::vector<TimeSharedMultiprocessor> all(multiprocessors);
  const double most = kWarpRate * warps;
  uint64_t next = 0;
  // Blocks with equal work end in the order in which they were distributed.
  for (uint32_t turn = 0; turn < resident; ++turn)
    for (TimeSharedMultiprocessor& server : all)
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
    TimeSharedMultiprocessor& server = all[m];
    server.clock = server.ends.top();
    server.since = now;
    server.ends.pop();
    if (next < blocks) server.add_block(next, static_cast<double>(work[next])), ++next;
    if (!server.ends.empty()) events.push({server.next_end(most), m});
  }
  // If several multiprocessors end at about the same time, the one with the most work is taken.
  double end = 0;
  for (const TimeSharedMultiprocessor& server : all) end = std::max(end, server.since);
  const TimeSharedMultiprocessor* last = nullptr;
  for (const TimeSharedMultiprocessor& server : all)
    if (server.since >= kAboutTheSame * end && (last == nullptr || server.all > last->all))
      last = &server;
  return last->blocks;
}

SmTiming run_multiprocessor(const DeviceProfile& profile, const AverageWarpTrace& trace,
                            const SmWork& work) {
  std::vector<uint64_t> of_block;
  const uint64_t known = work.warps > 0 ? work.issued.size() / work.warps : 0;
  if (known == work.blocks) {
    for (uint64_t b = 0; b < known; ++b) {
      of_block.push_back(0);
      for (uint32_t w = 0; w < work.warps; ++w) of_block.back() += work.issued[b * work.warps + w];
    }
  }
  const std::vector<uint64_t> blocks = blocks_of_slowest_multiprocessor(
      profile.multiprocessors, work.resident, work.blocks, work.warps, of_block);
  const WarpPathChooser paths(trace, work);
  const TimeParameters& time = profile.time;
  SmTiming result;
  double congestion = 1;
  for (int turn = 0; turn < 3; ++turn) {
    SmWarps warps(profile, trace, work, paths, congestion);
    result = warps.run(blocks);
    const double share = warps.memory_cycles() / std::max(result.cycles, 1.0);
    const double busy = std::min(share, 1.0);
    const double then =
        1 + busy * busy * (time.memory_queue + time.memory_turn * work.read_write_mixing_degree);
    if (std::abs(then - congestion) < 0.02) break;
    congestion = turn == 0 ? then : (then + congestion) / 2;
  }
  return result;
}

}  // namespace lab32::model
