// Matches PTX and SASS instructions by line: ptxas records for each SASS instruction the PTX line
// from which it comes.
#include "simulator/sass/reconcile.h"

#include <algorithm>
#include <deque>
#include <set>

#include "simulator/sass/control_flow.h"
#include "simulator/sass/function_plan.h"

namespace lab32::sass {
namespace {

// Does the work of reconcile() for one module and listing.
class PtxSassReconciler {
 public:
  PtxSassReconciler(const ptx::Module& module, const Disassembly& listing)
      : module_(module), sites_(listing) {
    for (const ptx::Function& f : module.functions) {
      if (f.body.empty()) continue;
      functions_.emplace_back(f);
      for (const ptx::Instruction& in : f.body) origin_[in.ptx_line].function = &functions_.back();
      for (const PtxAccess& a : functions_.back().accesses())
        origin_[f.body[static_cast<size_t>(a.index)].ptx_line].access = &a;
    }
  }

  PtxSassReconciliation reconcile_functions() {
    for (const auto& [line, sites] : sites_.by_line()) {
      for (const SassInstructionSite& s : sites) {
        if (s.op) check_unexplained_access(s, line);
      }
    }
    for (const PtxFunction& f : functions_) {
      const std::string& name = f.function().name;
      result_.emitted[name] = emitted_sass_blocks(f.function(), sites_);
      const auto doubt = doubts_.find(&f);
      if (!has_sass_of_any_instruction(f.function()))
        result_.plans[name] = make_unmatched_plans(
            f, make_unmatched(sim::AccessWithoutSassMatch::Reason::not_listed));
      else if (doubt != doubts_.end())
        result_.plans[name] = make_unmatched_plans(f, doubt->second);
      else
        result_.plans[name] = map_ptx_accesses_to_sass(module_, f, sites_);
      plan_texel_accesses(f, sites_, result_.plans[name]);
      record_widest_sass_of_unmatched(f, result_.plans[name]);
    }
    return std::move(result_);
  }

 private:
  struct PtxAccessInFunction {
    const PtxFunction* function = nullptr;
    const PtxAccess* access = nullptr;
  };

  // A memory instruction that no PTX access explains makes all accesses of its kernel doubtful,
  // except local ones, which are spills.
  void check_unexplained_access(const SassInstructionSite& s, int line) {
    const auto found = origin_.find(line);
    const PtxAccess* access = found == origin_.end() ? nullptr : found->second.access;
    if (s.op->space == MemorySpace::local) {
      result_.local_lines[s.function->kernel].push_back(line);
    } else if (access == nullptr) {
      distrust_accesses_of_kernel(
          s.function->kernel,
          make_unmatched(sim::AccessWithoutSassMatch::Reason::unexplained_instruction,
                         s.instruction->opcode));
    }
  }

  void distrust_accesses_of_kernel(const std::string& kernel,
                                   const sim::AccessWithoutSassMatch& why) {
    for (const auto& [line, sites] : sites_.by_line()) {
      const auto found = origin_.find(line);
      if (found == origin_.end()) continue;
      for (const SassInstructionSite& s : sites) {
        if (s.function->kernel == kernel) doubts_.emplace(found->second.function, why);
      }
    }
  }

  // Records the widest machine instruction that may serve an access. If an instruction serves
  // several accesses, it has the line of one of them, and all have the same base.
  void record_widest_sass_of_unmatched(const PtxFunction& f, sim::FunctionPlans& plans) const {
    const auto is_like = [](const PtxAccess& a, const PtxAccess& b) {
      return a.space == b.space && a.kind == b.kind && a.root == b.root;
    };
    for (const PtxAccess& a : f.accesses()) {
      auto& unmatched = plans[static_cast<size_t>(a.index)].unmatched;
      if (!unmatched) continue;
      for (const PtxAccess& b : f.accesses()) {
        if (!is_like(a, b)) continue;
        const ptx::Instruction& in = f.function().body[static_cast<size_t>(b.index)];
        for (const SassInstructionSite& s : sites_.sites_of_line(in.ptx_line))
          if (s.op && s.op->kind == a.kind)
            unmatched->widest = std::max(unmatched->widest, static_cast<uint32_t>(s.op->bytes));
      }
    }
  }

  bool has_sass_of_any_instruction(const ptx::Function& f) const {
    for (const ptx::Instruction& in : f.body) {
      if (!sites_.sites_of_line(in.ptx_line).empty()) return true;
    }
    return false;
  }

  static sim::AccessWithoutSassMatch make_unmatched(sim::AccessWithoutSassMatch::Reason reason,
                                                    const std::string& seen = "") {
    sim::AccessWithoutSassMatch why;
    why.reason = reason;
    why.seen = seen;
    return why;
  }

  static sim::FunctionPlans make_unmatched_plans(const PtxFunction& f,
                                                 const sim::AccessWithoutSassMatch& why) {
    sim::FunctionPlans plans(f.function().body.size());
    for (const PtxAccess& a : f.accesses()) {
      plans[static_cast<size_t>(a.index)].unmatched = why;
    }
    return plans;
  }

  const ptx::Module& module_;
  const SassInstructionsByPtxLine sites_;
  std::deque<PtxFunction> functions_;
  std::map<int, PtxAccessInFunction> origin_;  // by PTX line
  std::map<const PtxFunction*, sim::AccessWithoutSassMatch> doubts_;
  PtxSassReconciliation result_;
};

}  // namespace

PtxSassReconciliation reconcile(const ptx::Module& module, const Disassembly& listing) {
  return PtxSassReconciler(module, listing).reconcile_functions();
}

}  // namespace lab32::sass
