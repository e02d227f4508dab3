// Checks that SASS runs each access as often as the PTX: it compares the loops around an
// instruction and the branches on which it is control-dependent.
#include <algorithm>
#include <map>
#include <set>

#include "simulator/sass/function_plan.h"

namespace lab32::sass {
namespace {

using Reason = SassAccessPlanningState::Reason;

class SassPtxControlMatchCheck {
 public:
  explicit SassPtxControlMatchCheck(SassAccessPlanningState& draft) : d_(draft) {}

  void compare_control_of_accesses() {
    for (size_t i = 0; i < d_.accesses.size(); ++i) check_sass_control_matches_ptx(i);
    check_equal_copies_in_ptx_blocks();
  }

 private:
  // Whether the SASS function was compiled from this PTX function alone, so that both have the same
  // loops. False: ptxas inlined the PTX function into another.
  bool is_not_inlined(const SassInstructionSite& s) const {
    const std::string& name = d_.function.function().name;
    const std::string& host = s.function->name;
    return host == name ||
           (host.size() > name.size() &&
            host.compare(host.size() - name.size() - 1, std::string::npos, "$" + name) == 0);
  }

  void check_sass_control_matches_ptx(size_t i) {
    const PtxAccess& a = d_.accesses[i];
    SassAccessPlanningState::AccessSassMatchState& w = d_.states[i];
    if (w.failed || d_.plan(i).issues.empty()) return;
    const LoopsAndControlDependence& structure = d_.function.structure();
    const int depth = structure.loop_depth(a.block);
    const std::vector<int> deciders = d_.function.controlling_lines(a.block);
    bool unrolled = w.copies > 1;
    for (const SassInstructionSite& s : w.own) {
      if (!s.flow->known) return d_.fail(i, Reason::jump_table);
      const int sass_depth = s.loop_depth() - w.own_loops;
      const bool own_code = is_not_inlined(s);
      if (own_code ? sass_depth > depth : sass_depth < depth) return d_.fail(i, Reason::other_loop);
      if (own_code && sass_depth < depth) {
        if (!is_unhoistable_from_loops(i) && !has_unhoistable_in_same_block(i))
          return d_.fail(i, Reason::moved_out_of_loop);
        unrolled = true;
      }
      const bool guarded = !s.instruction->guard.empty() && !w.own_guard;
      if (own_code && !deciders.empty() && !guarded && !is_controlled(s, deciders))
        return d_.fail(i, Reason::condition_dropped);
    }
    if (!unrolled) return;
    int loop = structure.loop_of[static_cast<size_t>(a.block)];
    if (loop < 0) {
      // A called function that is not inlined has a copy in each kernel that calls it.
      std::map<const SassFunction*, int> in_function;
      for (const SassInstructionSite& s : w.own) ++in_function[s.function];
      const int parts = static_cast<int>(w.own.size()) / w.copies;
      for (const auto& [function, count] : in_function) {
        if (count > parts) return d_.fail(i, Reason::duplicated);
      }
      return;
    }
    while (structure.loops[static_cast<size_t>(loop)].parent >= 0)
      loop = structure.loops[static_cast<size_t>(loop)].parent;
    d_.plan(i).if_uniform = d_.function.loop_exit_branches(loop);
  }

  // Whether ptxas cannot have moved the instruction out of its loop, because its address changes
  // from one iteration to the next. If such an instruction is outside of its PTX loop, the loop was
  // unrolled.
  bool is_unhoistable_from_loops(size_t i) const {
    const PtxAccess& a = d_.accesses[i];
    for (int l = d_.function.structure().loop_of[static_cast<size_t>(a.block)]; l >= 0;
         l = d_.function.structure().loops[static_cast<size_t>(l)].parent) {
      if (!d_.function.varies_in_loop(a, l)) return false;
    }
    return true;
  }

  // For each function and loop depth: the number of copies of an instruction.
  using Profile = std::map<std::pair<const SassFunction*, int>, int>;

  // Whether another instruction of the same PTX block cannot have been moved, and has as many
  // copies at the same loop depths.
  bool has_unhoistable_in_same_block(size_t i) const {
    Profile wanted;
    const int parts = static_cast<int>(d_.states[i].own.size()) / std::max(d_.states[i].copies, 1);
    for (const SassInstructionSite& s : d_.states[i].own)
      ++wanted[{s.function, s.loop_depth() - d_.states[i].own_loops}];
    for (auto& [place, count] : wanted) count /= parts;
    const ptx::BasicBlock& block =
        d_.function.flow().blocks[static_cast<size_t>(d_.accesses[i].block)];
    for (int at = block.first; at < block.last; ++at) {
      const ptx::Instruction& in = d_.function.function().body[static_cast<size_t>(at)];
      Profile profile;
      for (const SassInstructionSite& s : d_.sites.sites_of_line(in.ptx_line)) {
        if (s.instruction->base() == "BAR" && !s.slow_path())
          ++profile[{s.function, s.loop_depth()}];
      }
      if (profile == wanted) return true;
    }
    for (size_t j = 0; j < d_.accesses.size(); ++j) {
      if (d_.accesses[j].block != d_.accesses[i].block || !is_unhoistable_from_loops(j) ||
          static_cast<int>(d_.states[j].own.size()) != d_.states[j].copies)
        continue;
      Profile profile;
      for (const SassInstructionSite& s : d_.states[j].own) ++profile[{s.function, s.loop_depth()}];
      if (profile == wanted) return true;
    }
    return false;
  }

  // Whether one of the PTX branches in `lines` controls the instruction in the SASS, too. ptxas may
  // replace a chain of branches by one jump through a table.
  static bool is_controlled(const SassInstructionSite& s, const std::vector<int>& lines) {
    for (int d : s.flow->structure.all_controlling_branches(s.block)) {
      const int last = s.flow->blocks[static_cast<size_t>(d)].last - 1;
      const SassInstruction& branch = s.function->code[static_cast<size_t>(last)];
      if (branch.base() == "BRX" ||
          std::find(lines.begin(), lines.end(), branch.ptx_line) != lines.end())
        return true;
    }
    return false;
  }

  // All accesses and barriers of a block run equally often, so they must have equally many copies.
  // If an access has another number of copies, several iterations share it.
  void check_equal_copies_in_ptx_blocks() {
    std::map<int, std::set<int>> copies;  // by PTX block
    for (size_t i = 0; i < d_.accesses.size(); ++i) {
      if (d_.states[i].failed || d_.plan(i).issues.empty() ||
          d_.accesses[i].space == MemorySpace::local)
        continue;
      copies[d_.accesses[i].block].insert(d_.states[i].copies);
    }
    const auto& body = d_.function.function().body;
    for (size_t at = 0; at < body.size(); ++at) {
      const auto block = copies.find(d_.function.flow().block_of[at]);
      if (block == copies.end()) continue;
      int count = 0;
      for (const SassInstructionSite& s : d_.sites.sites_of_line(body[at].ptx_line))
        count += s.instruction->base() == "BAR" && !s.slow_path();
      if (count > 0) block->second.insert(count);
    }
    for (size_t i = 0; i < d_.accesses.size(); ++i) {
      const auto block = copies.find(d_.accesses[i].block);
      if (block == copies.end() || block->second.size() <= 1) continue;
      if (d_.accesses[i].space != MemorySpace::local) d_.fail(i, Reason::shared_by_iterations);
    }
  }

  SassAccessPlanningState& d_;
};

}  // namespace

void check_sass_ptx_control_match(SassAccessPlanningState& draft) {
  SassPtxControlMatchCheck(draft).compare_control_of_accesses();
}

}  // namespace lab32::sass
