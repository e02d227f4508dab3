#include "simulator/ptx/control_flow.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <tuple>

#include "simulator/ptx/register_uses.h"

namespace lab32::ptx {

uint32_t ControlFlow::reconvergence_instruction(int instruction) const {
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

BasicBlockLiveness analyse_liveness(const Function& function, const ControlFlow& flow) {
  const size_t count = flow.blocks.size();
  const RegisterSet none(function.registers.size());
  BasicBlockLiveness live{std::vector<RegisterSet>(count, none),
                          std::vector<RegisterSet>(count, none)};
  // Registers that every path through the block writes.
  std::vector<RegisterSet> written(count, none);

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

  // The blocks are processed backwards, in an order that is nearly the one in which liveness
  // propagates.
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
struct LiveInterval {
  int first = -1, last = -1;
  void extend_to(int at) {
    first = first < 0 ? at : std::min(first, at);
    last = std::max(last, at);
  }
};

std::vector<LiveInterval> live_intervals_of(const Function& function, const ControlFlow& flow,
                                            const BasicBlockLiveness& live) {
  std::vector<LiveInterval> intervals(function.registers.size());
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    const BasicBlock& block = flow.blocks[b];
    for (int reg : live.live_in[b].members())
      intervals[static_cast<size_t>(reg)].extend_to(block.first);
    for (int reg : live.live_out[b].members()) {
      intervals[static_cast<size_t>(reg)].extend_to(block.last - 1);
    }
    for (int i = block.first; i < block.last; ++i) {
      for_each_register(function, function.body[static_cast<size_t>(i)],
                        [&](int reg, bool) { intervals[static_cast<size_t>(reg)].extend_to(i); });
    }
  }
  return intervals;
}

template <class T>
using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<T>>;

}  // namespace

RegisterSlotAssignment assign_register_slots(const Function& function, const ControlFlow& flow) {
  RegisterSlotAssignment slots;
  slots.slot_of_register.assign(function.registers.size(), -1);
  if (flow.blocks.empty()) return slots;
  const BasicBlockLiveness live = analyse_liveness(function, flow);
  const std::vector<LiveInterval> intervals = live_intervals_of(function, flow, live);
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
    const LiveInterval& interval = intervals[static_cast<size_t>(reg)];
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

// ---------------------------------------------------------------------------------------------

namespace {

bool may_poll(const Instruction& in) {
  const InstructionTraits& traits = in.op->traits;
  return traits.memory_count == 1 && traits.memory[0].kind != AddressUse::Kind::store &&
         memory_order(in).strong;
}

// Whether the instruction loads a variable of this thread or a parameter. Code that is compiled
// without optimisation keeps all values there.
bool loads_local_param_or_constant(const Instruction& in) {
  const InstructionTraits& traits = in.op->traits;
  if (traits.memory_count != 1 || traits.memory[0].kind != AddressUse::Kind::load) return false;
  const Space space = memory_space(in, 0);
  return space == Space::local || space == Space::param || space == Space::constant;
}

bool stores_thread_private_variable(const Instruction& in) {
  const InstructionTraits& traits = in.op->traits;
  return traits.memory_count == 1 && traits.memory[0].kind == AddressUse::Kind::store &&
         memory_space(in, 0) == Space::local;
}

// The instructions of a loop.
class LoopBody {
 public:
  LoopBody(const Function& function, const BasicBlocks& blocks, const Loop& loop)
      : function_(function), blocks_(blocks), loop_(loop) {
    for (size_t b = 0; b < blocks.blocks.size(); ++b)
      if (loop.holds[b])
        for (int i = blocks.blocks[b].first; i < blocks.blocks[b].last; ++i)
          body_.push_back(static_cast<size_t>(i));
    definitions_.assign(function.registers.size(), 0);
    for (const size_t i : body_)
      for_each_register(function, function.body[i], [&](int r, bool is_destination) {
        definitions_[static_cast<size_t>(r)] += is_destination;
      });
  }

  const std::vector<size_t>& instructions() const { return body_; }

  // Whether every iteration loads from the same address.
  bool has_invariant_address(const Instruction& load) const {
    bool fixed = true;
    for_each_register(function_, load, [&](int r, bool is_destination) {
      fixed &= is_destination || r == load.guard || is_loop_invariant(r, 0);
    });
    return fixed;
  }

  // Whether the loaded value decides whether the loop goes on.
  bool loop_end_depends_on(const Instruction& load) const {
    std::vector<bool> depends(function_.registers.size());
    bool own_variables = false;
    mark_result_registers(load, depends);
    for (bool changed = true; changed;) {
      changed = false;
      for (const size_t i : body_) {
        const Instruction& in = function_.body[i];
        bool uses = own_variables && loads_local_param_or_constant(in), marked = true;
        for_each_register(function_, in, [&](int r, bool is_destination) {
          if (is_destination)
            marked &= depends[static_cast<size_t>(r)];
          else
            uses |= depends[static_cast<size_t>(r)];
        });
        if (!uses) continue;
        if (stores_thread_private_variable(in) && !own_variables) own_variables = changed = true;
        if (marked) continue;
        mark_result_registers(in, depends);
        changed = true;
      }
    }
    return std::any_of(body_.begin(), body_.end(), [&](size_t i) {
      const Instruction& in = function_.body[i];
      return in.guard >= 0 && depends[static_cast<size_t>(in.guard)] && may_leave_loop(i);
    });
  }

 private:
  void mark_result_registers(const Instruction& in, std::vector<bool>& registers) const {
    for_each_register(function_, in, [&](int r, bool is_destination) {
      if (is_destination) registers[static_cast<size_t>(r)] = true;
    });
  }

  // Whether the register has the same value in all iterations of the loop.
  bool is_loop_invariant(int reg, int depth) const {
    constexpr int kDeepest = 16;
    if (definitions_[static_cast<size_t>(reg)] == 0) return true;
    if (definitions_[static_cast<size_t>(reg)] > 1 || depth > kDeepest) return false;
    for (const size_t i : body_) {
      const Instruction& in = function_.body[i];
      bool defines = false, fixed = true;
      for_each_register(function_, in,
                        [&](int r, bool is_destination) { defines |= is_destination && r == reg; });
      if (!defines) continue;
      if (loads_local_param_or_constant(in)) return true;
      if (in.op->traits.may_differ_when_repeated() || in.call >= 0) return false;
      for_each_register(function_, in, [&](int r, bool is_destination) {
        fixed &= is_destination || is_loop_invariant(r, depth + 1);
      });
      return fixed;
    }
    return false;
  }

  bool may_leave_loop(size_t instruction) const {
    const Instruction& in = function_.body[instruction];
    if (in.op->traits.leaves_function()) return true;
    if (!is_branch(in)) return false;
    const BasicBlock& block = blocks_.blocks[static_cast<size_t>(blocks_.block_of[instruction])];
    return block.may_exit ||
           std::any_of(block.successors.begin(), block.successors.end(),
                       [&](int to) { return !loop_.holds[static_cast<size_t>(to)]; });
  }

  const Function& function_;
  const BasicBlocks& blocks_;
  const Loop& loop_;
  std::vector<size_t> body_;
  // For each register: the number of instructions in the loop that write it.
  std::vector<int> definitions_;
};

}  // namespace

std::vector<bool> find_polling_loads(const Module& module, const Function& function,
                                     const BasicBlocks& blocks) {
  std::vector<bool> polls(function.body.size());
  if (std::none_of(function.body.begin(), function.body.end(), may_poll)) return polls;
  Edges next;
  for (const BasicBlock& block : blocks.blocks) next.push_back(block.successors);
  const Loops loops = find_loops(next, immediate_dominators(next, 0));
  // The position in the source (file, line, column), then those of the calls that were inlined.
  // Different loads of an atomic class have one position in its header.
  using Place = std::vector<std::tuple<int, int, int>>;
  const auto place_of = [&](const Instruction& in) {
    Place place;
    for (int at = in.loc; at >= 0; at = module.locs[static_cast<size_t>(at)].inlined_at) {
      const Loc& loc = module.locs[static_cast<size_t>(at)];
      place.emplace_back(loc.file, loc.line, loc.column);
    }
    return place;
  };
  std::set<Place> places;
  for (const Loop& loop : loops.all) {
    const LoopBody body(function, blocks, loop);
    for (const size_t i : body.instructions()) {
      const Instruction& in = function.body[i];
      if (polls[i] || !may_poll(in) || !body.has_invariant_address(in) ||
          !body.loop_end_depends_on(in))
        continue;
      polls[i] = true;
      places.insert(place_of(in));
    }
  }
  places.erase(Place{});
  for (size_t i = 0; i < polls.size(); ++i)
    polls[i] =
        polls[i] || (may_poll(function.body[i]) && places.count(place_of(function.body[i])) != 0);
  return polls;
}

}  // namespace lab32::ptx
