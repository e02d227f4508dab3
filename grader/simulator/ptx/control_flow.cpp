#include "simulator/ptx/control_flow.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>

#include "simulator/ptx/register_uses.h"

namespace lab32::ptx {

uint32_t ControlFlow::reconverge(int instruction) const {
  const auto block = static_cast<size_t>(block_of[static_cast<size_t>(instruction)]);
  const int meeting = reconvergence_of[block];
  if (meeting < 0 || blocks[block].last != instruction + 1) return kNoReconverge;
  return static_cast<uint32_t>(
      blocks[static_cast<size_t>(reconvergence_points[static_cast<size_t>(meeting)].block)].first);
}

ControlFlow analyse_control_flow(const Function& function) {
  ControlFlow flow;
  static_cast<BasicBlocks&>(flow) = find_basic_blocks(function);
  if (!flow.blocks.empty())
    static_cast<ReconvergencePoints&>(flow) = find_reconvergence_points(flow.blocks);
  return flow;
}

bool RegisterSet::insert_all(const RegisterSet& other, const RegisterSet* without) {
  bool added = false;
  for (size_t i = 0; i < words_.size(); ++i) {
    const uint64_t more =
        without != nullptr ? other.words_[i] & ~without->words_[i] : other.words_[i];
    added = added || (more & ~words_[i]) != 0;
    words_[i] |= more;
  }
  return added;
}

std::vector<int> RegisterSet::members() const {
  std::vector<int> members;
  for (size_t i = 0; i < words_.size(); ++i) {
    for (uint64_t rest = words_[i]; rest != 0; rest &= rest - 1) {
      members.push_back(static_cast<int>(i) * 64 + __builtin_ctzll(rest));
    }
  }
  return members;
}

Liveness analyse_liveness(const Function& function, const ControlFlow& flow) {
  const size_t count = flow.blocks.size();
  const RegisterSet none(function.registers.size());
  Liveness live{std::vector<RegisterSet>(count, none), std::vector<RegisterSet>(count, none)};
  std::vector<RegisterSet> written(count, none);  // written on every path through the block

  for (size_t b = 0; b < count; ++b) {
    for (int i = flow.blocks[b].first; i < flow.blocks[b].last; ++i) {
      const Instruction& in = function.body[static_cast<size_t>(i)];
      for_each_register(function, in, [&](int reg, bool is_destination) {
        if (!is_destination) {
          if (!written[b].contains(reg)) live.live_in[b].insert(reg);
        } else if (in.guard < 0) {
          written[b].insert(reg);
        }
      });
    }
  }

  // Backwards through the text, which is nearly the order in which liveness propagates.
  std::vector<char> queued(count, 1);
  std::vector<int> work;
  for (size_t b = 0; b < count; ++b) work.push_back(static_cast<int>(b));
  while (!work.empty()) {
    const auto b = static_cast<size_t>(work.back());
    work.pop_back();
    queued[b] = 0;
    for (int s : flow.blocks[b].successors) {
      live.live_out[b].insert_all(live.live_in[static_cast<size_t>(s)]);
    }
    if (!live.live_in[b].insert_all(live.live_out[b], &written[b])) continue;
    for (int p : flow.blocks[b].predecessors) {
      if (queued[static_cast<size_t>(p)]) continue;
      queued[static_cast<size_t>(p)] = 1;
      work.push_back(p);
    }
  }
  return live;
}

namespace {

// The first and last instruction, in textual order, at which a register is live. Registers that are
// live together at some instruction both have it in their interval, whatever the control flow, so
// registers with disjoint intervals can share a slot. Ends are inclusive: a source that is read for
// the last time overlaps a destination of the same instruction.
struct Interval {
  int first = -1, last = -1;
  void cover(int at) {
    first = first < 0 ? at : std::min(first, at);
    last = std::max(last, at);
  }
};

std::vector<Interval> intervals_of(const Function& function, const ControlFlow& flow,
                                   const Liveness& live) {
  std::vector<Interval> intervals(function.registers.size());
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    const BasicBlock& block = flow.blocks[b];
    for (int reg : live.live_in[b].members())
      intervals[static_cast<size_t>(reg)].cover(block.first);
    for (int reg : live.live_out[b].members()) {
      intervals[static_cast<size_t>(reg)].cover(block.last - 1);
    }
    for (int i = block.first; i < block.last; ++i) {
      for_each_register(function, function.body[static_cast<size_t>(i)],
                        [&](int reg, bool) { intervals[static_cast<size_t>(reg)].cover(i); });
    }
  }
  return intervals;
}

template <class T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<T>>;

}  // namespace

RegisterSlots assign_slots(const Function& function, const ControlFlow& flow) {
  RegisterSlots slots;
  slots.slot_of_register.assign(function.registers.size(), -1);
  if (flow.blocks.empty()) return slots;
  const Liveness live = analyse_liveness(function, flow);
  const std::vector<Interval> intervals = intervals_of(function, flow, live);
  slots.live_into_entry = live.live_in[0].members();

  std::vector<int> by_start;
  for (size_t reg = 0; reg < intervals.size(); ++reg) {
    if (intervals[reg].first >= 0) by_start.push_back(static_cast<int>(reg));
  }
  std::stable_sort(by_start.begin(), by_start.end(), [&](int a, int b) {
    return intervals[static_cast<size_t>(a)].first < intervals[static_cast<size_t>(b)].first;
  });

  struct Class {                        // the slots of one width
    MinHeap<std::pair<int, int>> busy;  // (end of the interval, slot)
    MinHeap<int> idle;                  // free slots; the lowest is used first
  };
  std::map<uint16_t, Class> classes;
  for (int reg : by_start) {
    const Interval& interval = intervals[static_cast<size_t>(reg)];
    const uint16_t bits = function.registers[static_cast<size_t>(reg)].bits;
    Class& c = classes[bits];
    while (!c.busy.empty() && c.busy.top().first < interval.first) {
      c.idle.push(c.busy.top().second);
      c.busy.pop();
    }
    int slot = 0;
    if (c.idle.empty()) {
      slot = static_cast<int>(slots.slot_bits.size());
      slots.slot_bits.push_back(bits);
    } else {
      slot = c.idle.top();
      c.idle.pop();
    }
    c.busy.push({interval.last, slot});
    slots.slot_of_register[static_cast<size_t>(reg)] = slot;
  }
  return slots;
}

}  // namespace lab32::ptx
