#include "simulator/ptx/polling.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "simulator/ptx/register_uses.h"

namespace lab32::ptx {
namespace {

bool may_poll(const Instruction& in) {
  const Traits& traits = in.op->traits;
  return traits.memory_count == 1 && traits.memory[0].kind != MemoryUse::Kind::store &&
         memory_order(in).strong;
}

// Whether the instruction loads a variable of this thread or a parameter. Code that is compiled
// without optimisation keeps all values there.
bool loads_own_variable(const Instruction& in) {
  const Traits& traits = in.op->traits;
  if (traits.memory_count != 1 || traits.memory[0].kind != MemoryUse::Kind::load) return false;
  const Space space = memory_space(in, 0);
  return space == Space::local || space == Space::param || space == Space::constant;
}

bool stores_own_variable(const Instruction& in) {
  const Traits& traits = in.op->traits;
  return traits.memory_count == 1 && traits.memory[0].kind == MemoryUse::Kind::store &&
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
  bool has_fixed_address(const Instruction& load) const {
    bool fixed = true;
    for_each_register(function_, load, [&](int r, bool is_destination) {
      fixed &= is_destination || r == load.guard || is_fixed(r, 0);
    });
    return fixed;
  }

  // Whether the loaded value decides when the loop ends.
  bool ends_by(const Instruction& load) const {
    std::vector<bool> depends(function_.registers.size());
    bool own_variables = false;
    mark(load, depends);
    for (bool changed = true; changed;) {
      changed = false;
      for (const size_t i : body_) {
        const Instruction& in = function_.body[i];
        bool uses = own_variables && loads_own_variable(in), marked = true;
        for_each_register(function_, in, [&](int r, bool is_destination) {
          if (is_destination)
            marked &= depends[static_cast<size_t>(r)];
          else
            uses |= depends[static_cast<size_t>(r)];
        });
        if (!uses) continue;
        if (stores_own_variable(in) && !own_variables) own_variables = changed = true;
        if (marked) continue;
        mark(in, depends);
        changed = true;
      }
    }
    return std::any_of(body_.begin(), body_.end(), [&](size_t i) {
      const Instruction& in = function_.body[i];
      return in.guard >= 0 && depends[static_cast<size_t>(in.guard)] && may_leave(i);
    });
  }

 private:
  void mark(const Instruction& in, std::vector<bool>& registers) const {
    for_each_register(function_, in, [&](int r, bool is_destination) {
      if (is_destination) registers[static_cast<size_t>(r)] = true;
    });
  }

  // Whether the register has one value in all iterations.
  bool is_fixed(int reg, int depth) const {
    constexpr int kDeepest = 16;
    if (definitions_[static_cast<size_t>(reg)] == 0) return true;
    if (definitions_[static_cast<size_t>(reg)] > 1 || depth > kDeepest) return false;
    for (const size_t i : body_) {
      const Instruction& in = function_.body[i];
      bool defines = false, fixed = true;
      for_each_register(function_, in,
                        [&](int r, bool is_destination) { defines |= is_destination && r == reg; });
      if (!defines) continue;
      if (loads_own_variable(in)) return true;
      if (in.op->traits.may_change() || in.call >= 0) return false;
      for_each_register(function_, in, [&](int r, bool is_destination) {
        fixed &= is_destination || is_fixed(r, depth + 1);
      });
      return fixed;
    }
    return false;
  }

  bool may_leave(size_t instruction) const {
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
  std::vector<int> definitions_;  // by register: instructions of the loop that write it
};

}  // namespace

std::vector<bool> find_polls(const Module& module, const Function& function,
                             const BasicBlocks& blocks) {
  std::vector<bool> polls(function.body.size());
  if (std::none_of(function.body.begin(), function.body.end(), may_poll)) return polls;
  Edges next;
  for (const BasicBlock& block : blocks.blocks) next.push_back(block.successors);
  const Loops loops = find_loops(next, immediate_dominators(next, 0));
  using Place = std::tuple<int, int, int>;  // in the source: file, line, column
  const auto place_of = [&](const Instruction& in) -> Place {
    if (in.loc < 0) return {};
    const Loc& loc = module.locs[static_cast<size_t>(in.loc)];
    return {loc.file, loc.line, loc.column};
  };
  std::set<Place> places;
  for (const Loop& loop : loops.all) {
    const LoopBody body(function, blocks, loop);
    for (const size_t i : body.instructions()) {
      const Instruction& in = function.body[i];
      if (polls[i] || !may_poll(in) || !body.has_fixed_address(in) || !body.ends_by(in)) continue;
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
