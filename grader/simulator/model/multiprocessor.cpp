#include "simulator/model/multiprocessor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>

#include "simulator/model/block_dealing.h"

namespace lab32::model {
namespace {

using Unit = TraceInstruction::Unit;
using Kind = TraceInstruction::Kind;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr size_t kParts = 4, kUnits = 9;

// Instructions of one multiprocessor that are looked at; what is more goes on as before.
constexpr double kMostIssued = 1.5e6;

// Cycles that a sector takes on the way from L2 to a multiprocessor: 64 bytes a clock (Nsight
// Compute's l1tex__m_xbar2l1tex_read_sectors has its peak there).
constexpr double kPort = 0.5;

// Warps whose way differs from the mean by less are taken as that.
constexpr double kMuchLonger = 0.05;

// Cycles' work of L1 that may wait before it until warps cannot issue more.
constexpr double kBacklog = 40;
// Cycles that one warp's arrival at a barrier takes, and a branch until the next instruction comes
// (kernels barriers and fma_one of data/measured/model).
constexpr double kArrival = 2, kBranch = 9;

struct Warp {
  std::vector<uint16_t> way;
  size_t block = 0, instruction = 0;
  double next = 0;  // when its next instruction has what it needs
  double free = 0;
  size_t scheduler = 0;
  size_t place = 0;  // of its block
  double copied = 0;
  std::deque<double> groups;
  std::vector<double> ready;
  uint64_t number = 0;
  std::vector<uint32_t> asked, missed;  // by load
  const TraceInstruction* in = nullptr;
  size_t flat = 0;
};

struct Place {  // where a block resides
  size_t live = 0, arrived = 0;
  double last = 0;  // arrival
  std::vector<size_t> warps;
};

class Simulation {
 public:
  Simulation(const Profile& profile, const WarpTrace& trace, const BlocksAtWork& work)
      : t_(profile.time), trace_(trace), work_(work) {
    const auto every = [](double per_clock) { return kParts / std::max(per_clock, 1e-9); };
    every_[size_t(Unit::none)] = 0;
    every_[size_t(Unit::fma)] = every(t_.fp32_per_clock);
    every_[size_t(Unit::multiply)] = every(t_.multiply_per_clock);
    every_[size_t(Unit::alu)] = every(t_.alu_per_clock);
    every_[size_t(Unit::half)] = every(t_.half_per_clock);
    every_[size_t(Unit::fp64)] = every(t_.fp64_per_clock);
    every_[size_t(Unit::special)] = every(t_.special_per_clock);
    every_[size_t(Unit::memory)] = 1;
    every_[size_t(Unit::barrier)] = 0;
    slot_ = kParts / t_.issue_per_clock;
    size_t flat = 0;
    for (const TraceBlock& b : trace.blocks) {
      first_.push_back(flat);
      flat += b.code.size();
    }
    ordinal_.assign(flat, 0);
    size_t at = 0;
    for (const TraceBlock& b : trace.blocks)
      for (const TraceInstruction& in : b.code) {
        if (in.misses > 0) {
          ordinal_[at] = runs_.size();
          runs_.push_back(b.runs);
        }
        ++at;
      }
    runs_.push_back(1);  // of all others
    for (size_t& which : ordinal_) which = std::min(which, runs_.size() - 1);
    misses_.assign(runs_.size(), 0);
    lines_.assign(trace.lines + 1, -1);
    mean_ = instructions_of(trace);
    double loops = 0;
    for (const TraceBlock& b : trace.blocks)
      if (!b.loops.empty()) loops += b.runs * static_cast<double>(b.code.size());
    in_loops_ = loops;
    shared_latency_ = t_.shared_latency * t_.sm_hz;
    l1_latency_ = t_.l1_latency * t_.sm_hz;
    l2_latency_ = t_.l2_latency * t_.sm_hz;
    dram_latency_ = t_.dram_latency * t_.sm_hz;
    barrier_ = t_.barrier_latency * t_.sm_hz;
    meets_ = 0;
    for (const TraceBlock& b : trace.blocks)
      for (const TraceInstruction& in : b.code)
        meets_in_loop_ |= in.kind == Kind::barrier && !b.loops.empty();
    for (const TraceBlock& b : trace.blocks)
      for (const TraceInstruction& in : b.code) meets_ += in.kind == Kind::meet ? b.runs : 0;
  }

  // That L2 or device memory was busy.
  double memory_cycles() const { return memory_busy_; }

  AtWork run(const std::vector<uint64_t>& blocks) {
    AtWork result;
    result.blocks = static_cast<double>(blocks.size());
    const double of_block = std::max(mean_ * work_.warps, 1.0);
    size_t count = blocks.size();
    if (of_block * static_cast<double>(count) > kMostIssued) {
      // Whole rounds of those that reside.
      const auto rounds = static_cast<size_t>(kMostIssued / of_block / work_.resident);
      count = std::min(count, std::max<size_t>(rounds, 3) * work_.resident);
    }
    places_.resize(std::min<size_t>(work_.resident, count));
    warps_.resize(places_.size() * work_.warps);
    for (size_t p = 0; p < places_.size(); ++p) begin(p, blocks[next_++], 0);
    double at_half = 0;
    size_t done_at_half = 0;
    while (true) {
      size_t best = kParts;
      double when = kNever;
      for (size_t s = 0; s < kParts; ++s) {
        if (stale_[s]) choose(s);
        if (when_[s] < when) when = when_[s], best = s;
      }
      if (best == kParts) break;
      const size_t ended = ended_;
      issue(warps_[which_[best]], when);
      if (ended_ != ended) {
        if (next_ < count) begin(freed_, blocks[next_++], when + block_start());
        if (ended_ == count / 2) at_half = when, done_at_half = ended_;
      }
    }
    const double end = std::max({end_, lsu_, memory_});
    result.cycles = end;
    result.issued = issued_;
    if (count < blocks.size() && done_at_half > 0) {
      const double each = (end - at_half) / static_cast<double>(count - done_at_half);
      result.cycles += each * static_cast<double>(blocks.size() - count);
      result.issued *= static_cast<double>(blocks.size()) / static_cast<double>(count);
    }
    return result;
  }

 private:
  double block_start() const { return t_.block_seconds * t_.sm_hz; }

  void begin(size_t p, uint64_t block, double now) {
    Place& place = places_[p];
    place = {};
    place.live = work_.warps;
    for (uint32_t w = 0; w < work_.warps; ++w) {
      const size_t slot = p * work_.warps + w;
      Warp& warp = warps_[slot];
      const uint64_t number = block * work_.warps + w;
      warp.way = way_of(trace_, number, 1);
      if (number < work_.issued.size() && in_loops_ > 0 && mean_issued_ > 0) {
        const double own = of_warp(block, w) / mean_issued_ * mean_;
        const double longer = own - length(warp.way);
        if (std::abs(longer) > kMuchLonger * mean_)
          warp.way = way_of(trace_, number, std::max(0.0, 1 + longer / in_loops_));
      }
      warp.block = warp.instruction = 0;
      starter_ = std::max(starter_, now) + 1 / t_.warps_per_clock;
      warp.free = starter_;
      warp.copied = 0;
      warp.number = number;
      warp.asked.assign(runs_.size(), 0);
      warp.missed.assign(runs_.size(), 0);
      warp.groups.clear();
      warp.ready.assign(trace_.registers, 0);
      warp.scheduler = slot % kParts;
      warp.place = p;
      place.warps.push_back(slot);
      fetch(warp);
      if (!scheduled_) of_scheduler_[warp.scheduler].push_back(slot);
      stale_[warp.scheduler] = true;
    }
    if (p + 1 == places_.size()) scheduled_ = true;
  }

 public:
  double mean_issued_ = 0;
  double crowd_ = 1;

 private:
  double known_ = -1, memory_busy_ = 0;
  double length(const std::vector<uint16_t>& way) const {
    size_t sum = 0;
    for (const uint16_t b : way) sum += trace_.blocks[b].code.size();
    return static_cast<double>(sum);
  }

  // Warps that meet at a barrier in a loop take as many turns.
  double of_warp(uint64_t block, uint32_t w) const {
    const size_t first = block * work_.warps;
    if (!meets_in_loop_) return work_.issued[first + w];
    double sum = 0;
    for (uint32_t i = 0; i < work_.warps; ++i) sum += work_.issued[first + i];
    return sum / work_.warps;
  }

  // When the warp's next instruction could be issued, if its unit were free.
  void fetch(Warp& warp) {
    while (warp.block < warp.way.size() &&
           warp.instruction >= trace_.blocks[warp.way[warp.block]].code.size()) {
      ++warp.block;
      warp.instruction = 0;
    }
    if (warp.block >= warp.way.size()) {
      warp.in = nullptr;
      end(warp);
      return;
    }
    const uint16_t b = warp.way[warp.block];
    warp.in = &trace_.blocks[b].code[warp.instruction];
    warp.flat = first_[b] + warp.instruction;
    double next = warp.free;
    for (const uint16_t reg : warp.in->reads) next = std::max(next, warp.ready[reg]);
    for (const uint16_t reg : warp.in->writes)
      next = std::max(next, warp.ready[reg] - warp.in->latency);
    double& line = lines_[warp.in->line];
    if (line < 0)
      line = std::max(warp.free, fetched_) + t_.code_seconds * t_.sm_hz, fetched_ = line;
    next = std::max(next, line);
    if (warp.in->kind == Kind::copy_wait) {
      const size_t left = warp.in->slots - 1u;
      while (warp.groups.size() > left) {
        next = std::max(next, warp.groups.front());
        warp.groups.pop_front();
      }
    }
    warp.next = next;
  }

  void choose(size_t s) {
    stale_[s] = false;
    when_[s] = kNever;
    for (const size_t slot : of_scheduler_[s]) {
      const Warp& warp = warps_[slot];
      if (warp.in == nullptr) continue;
      double at = std::max(warp.next, slots_[s]);
      if (at >= when_[s]) continue;
      const auto unit = static_cast<size_t>(warp.in->unit);
      at = std::max(at, units_[s][unit]);
      if (warp.in->unit == Unit::memory) at = std::max(at, lsu_ - kBacklog);
      if (at < when_[s]) when_[s] = at, which_[s] = slot;
    }
  }

  void issue(Warp& warp, double now) {
    const TraceInstruction& in = *warp.in;
    const size_t s = warp.scheduler;
    issued_ += 1;
    slots_[s] = now + slot_;
    const auto unit = static_cast<size_t>(in.unit);
    units_[s][unit] = now + every_[unit];
    if (in.unit == Unit::multiply)
      units_[s][size_t(Unit::fma)] = std::max(units_[s][size_t(Unit::fma)], now) + 1;
    warp.free = now + 1;
    double ready = now + in.latency;
    stale_[s] = true;
    switch (in.kind) {
      case Kind::plain:
      case Kind::copy_wait:
        break;
      case Kind::branch:
        warp.free = now + kBranch;
        break;
      case Kind::meet:
        if (meets_ > 0) {
          warp.free = now + in.latency +
                      t_.split_seconds * t_.sm_hz * std::min(1.0, trace_.splits / meets_);
          slots_[s] += t_.split_slots * std::min(1.0, trace_.splits / meets_);
        }
        break;
      case Kind::shared: {
        const double start = std::max(now, lsu_);
        lsu_ = start + in.busy;
        ready = lsu_ - 1 + shared_latency_ + in.latency;
        renew_memory();
        break;
      }
      case Kind::global_load:
      case Kind::global_store:
      case Kind::copy:
        ready = global(warp, in, now);
        renew_memory();
        if (in.kind == Kind::copy) warp.copied = std::max(warp.copied, ready);
        break;
      case Kind::commit:
        warp.groups.push_back(std::max(warp.copied, now));
        warp.copied = 0;
        break;
      case Kind::barrier:
        arrive(warp, now);
        return;
    }
    for (const uint16_t reg : in.writes) warp.ready[reg] = ready;
    ++warp.instruction;
    fetch(warp);
  }

  // Whether this access of the warp's waits for L2, and then for device memory. What is loaded
  // again and again misses first: the loads of one round of a loop miss together.
  bool asks_l2(Warp& warp, const TraceInstruction& in, bool& late) {
    const size_t which = ordinal_[warp.flat];
    const uint32_t asked = warp.asked[which]++;
    const double of_a_warp = in.misses * std::max(1.0, runs_[which]);
    const bool misses = of_a_warp < 1 ? asked == 0 && turns(warp.number, of_a_warp) > 0
                                      : turns(asked, in.misses) > 0;
    if (!misses) return false;
    const uint32_t missed = warp.missed[which]++;
    const double late_of_a_warp = in.late * of_a_warp;
    if (of_a_warp < 1 || late_of_a_warp >= 1) {
      late = turns(of_a_warp < 1 ? misses_[which]++ : missed, in.late) > 0;
    } else {
      late = missed == 0 && turns(warp.number, late_of_a_warp) > 0;
    }
    return true;
  }

  double global(Warp& warp, const TraceInstruction& in, double now) {
    const bool store = in.kind == Kind::global_store;
    double& way = store ? store_way_ : lsu_;
    const double start = std::max(now, way);
    way = start + in.busy;
    if (store) lsu_ = std::max(lsu_, now) + 1;
    double ready = way - 1 + l1_latency_;
    bool late = false;
    const bool misses = store || asks_l2(warp, in, late);
    const double weight = in.weight;
    if (weight > 0) {
      const double asked = std::max(way, memory_);
      memory_busy_ += weight * work_.memory_cycles;
      memory_ = asked + weight * std::max(work_.memory_cycles, kPort);
      if (misses) ready = asked + (late ? dram_latency_ : l2_latency_) * crowd_;
    } else if (misses) {
      ready = way + (late ? dram_latency_ : l2_latency_) * crowd_;
    }
    // Where the page lies is asked for first.
    if (misses && !store) {
      if (known_ < 0) known_ = now + t_.first_access_seconds * t_.sm_hz;
      ready = std::max(ready, known_ + (late ? dram_latency_ : l2_latency_));
    }
    return ready;
  }

  // Those that want to go to memory may have to wait longer.
  void renew_memory() { stale_ = {true, true, true, true}; }

  void arrive(Warp& warp, double now) {
    Place& place = places_[warp.place];
    bar_ = std::max(bar_, now) + kArrival;
    place.last = std::max(place.last, bar_);
    ++place.arrived;
    warp.in = nullptr;
    ++warp.instruction;
    warp.free = kNever;
    release(place);
  }

  void release(Place& place) {
    if (place.arrived == 0 || place.arrived < place.live) return;
    const double then = place.last + barrier_;
    place.arrived = 0;
    place.last = 0;
    for (const size_t slot : place.warps) {
      Warp& warp = warps_[slot];
      if (warp.free != kNever) continue;
      warp.free = then;
      stale_[warp.scheduler] = true;
      fetch(warp);
    }
  }

  void end(Warp& warp) {
    Place& place = places_[warp.place];
    end_ = std::max(end_, warp.free);
    warp.free = -1;
    if (--place.live == 0) {
      ++ended_;
      freed_ = warp.place;
    } else {
      release(place);
    }
  }

  const Time& t_;
  const WarpTrace& trace_;
  const BlocksAtWork& work_;
  std::array<double, kUnits> every_{};
  double slot_ = 1, mean_ = 0, in_loops_ = 0;
  double l1_latency_ = 0, shared_latency_ = 0, l2_latency_ = 0, dram_latency_ = 0, barrier_ = 0,
         meets_ = 0;
  std::vector<size_t> first_;
  std::vector<double> runs_, lines_;
  std::vector<size_t> ordinal_;   // among loads, by instruction
  std::vector<uint64_t> misses_;  // that have been, of loads that few warps miss at
  std::vector<Warp> warps_;
  std::vector<Place> places_;
  bool scheduled_ = false, meets_in_loop_ = false;
  std::array<std::vector<size_t>, kParts> of_scheduler_;
  std::array<std::array<double, kUnits>, kParts> units_{};
  std::array<double, kParts> slots_{}, when_{};
  std::array<size_t, kParts> which_{};
  std::array<bool, kParts> stale_{true, true, true, true};
  double lsu_ = 0, store_way_ = 0, memory_ = 0, bar_ = 0, starter_ = 0, fetched_ = 0;
  double end_ = 0, issued_ = 0;
  size_t next_ = 0, ended_ = 0, freed_ = 0;
};

}  // namespace

AtWork run_multiprocessor(const Profile& profile, const WarpTrace& trace,
                          const BlocksAtWork& work) {
  std::vector<uint64_t> of_block;
  double sum = 0;
  const uint64_t known = work.warps > 0 ? work.issued.size() / work.warps : 0;
  if (known == work.blocks) {
    for (uint64_t b = 0; b < known; ++b) {
      of_block.push_back(0);
      for (uint32_t w = 0; w < work.warps; ++w) of_block.back() += work.issued[b * work.warps + w];
      sum += static_cast<double>(of_block.back());
    }
  }
  const std::vector<uint64_t> blocks =
      blocks_of_the_last(profile.multiprocessors, work.resident, work.blocks, work.warps, of_block);
  const double mean = known > 0 ? sum / static_cast<double>(work.issued.size()) : 0;
  const Time& time = profile.time;
  AtWork result;
  double crowd = 1;
  for (int turn = 0; turn < 3; ++turn) {
    Simulation simulation(profile, trace, work);
    simulation.mean_issued_ = mean;
    simulation.crowd_ = crowd;
    const AtWork next = simulation.run(blocks);
    result = next;
    const double share = simulation.memory_cycles() / std::max(result.cycles, 1.0);
    const double queue = 4 * share * std::max(0.0, 1 - share);
    const double then = 1 + queue * (time.memory_queue + time.memory_turn * work.both_ways);
    if (std::abs(then - crowd) < 0.02) break;
    crowd = turn == 0 ? then : (then + crowd) / 2;
  }
  return result;
}

}  // namespace lab32::model
