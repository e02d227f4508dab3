// Three steps: find the instructions of each PTX access (merged, split, alone or gone), then check
// that they run as often and under the conditions that the PTX has them, then mark what cannot be
// vouched for. README.md gives the rules.
#include "simulator/sass/function_plan.h"

#include "simulator/sass/atomics.h"
#include "simulator/sass/conditions.h"
#include "simulator/sass/draft.h"
#include "simulator/sass/grouping.h"

namespace lab32::sass {
namespace {

bool space_fits(const PtxAccess& a, const MemoryOp& op) {
  return a.space == op.space || a.space == WindowSpace::generic || op.space == WindowSpace::generic;
}

void find_instructions(Draft& d, size_t i) {
  const PtxAccess& a = d.accesses[i];
  Draft::Work& w = d.work[i];
  const auto& sites = d.sites.of_line(d.instruction(i).ptx_line);
  for (const MemorySite& s : sites) {
    // A local instruction on another access's line keeps a register (spill).
    if (!s.op || s.slow_path() ||
        (s.op->space == WindowSpace::local && a.space != WindowSpace::local))
      continue;
    w.own.push_back(s);
  }
  if (a.form == PtxAccess::Form::atomic) {
    std::string seen;
    const auto found = recognise_atomic(a, sites, &seen);
    if (!found) return d.fail(i, Draft::Reason::unknown_atomic, seen);
    d.plan(i).issues = {found->issue};
    d.plan(i).note = found->note;
    w.copies = found->copies;
    w.own_loops = found->own_loops;
    w.own_guard = found->own_guard;
    return;
  }
  for (const MemorySite& s : w.own) {
    const bool same_form = s.op->matrix == (a.form == PtxAccess::Form::matrix) &&
                           s.op->async_copy == (a.form == PtxAccess::Form::async_copy);
    if (!space_fits(a, *s.op) || s.op->kind != a.kind || !same_form || s.op->bytes == 0)
      return d.fail(i, Draft::Reason::other_instruction, s.instruction->opcode);
  }
  if (is_plain(a)) return;
  w.copies = static_cast<int>(w.own.size());
  for (const MemorySite& s : w.own) {
    if (s.op->bytes != a.bytes) return d.fail(i, Draft::Reason::other_width, s.instruction->opcode);
  }
  if (w.own.empty()) return d.fail(i, Draft::Reason::no_instruction);
  d.issue_as_written(i);
}

// An access that is gone without a reason may have been joined with any other of its kind.
void spread_doubt(Draft& d) {
  for (size_t i = 0; i < d.accesses.size(); ++i) {
    if (!d.work[i].missing) continue;
    sim::Unmatched like_one_without;
    like_one_without.reason = Draft::Reason::like_one_without;
    like_one_without.ptx_line = d.instruction(i).ptx_line;
    if (const auto at = d.module.position(d.instruction(i).loc)) like_one_without.line = at->line;
    for (size_t j = 0; j < d.accesses.size(); ++j) {
      if (is_plain(d.accesses[j]) && d.accesses[j].space == d.accesses[i].space &&
          d.accesses[j].kind == d.accesses[i].kind)
        d.fail(j, like_one_without);
    }
  }
}

}  // namespace

sim::FunctionPlans plan_function(const ptx::Module& module, const PtxFunction& function,
                                 const Sites& sites) {
  Draft d(module, function, sites);
  for (size_t i = 0; i < d.accesses.size(); ++i) find_instructions(d, i);
  group_accesses(d);
  check_conditions(d);
  spread_doubt(d);
  for (size_t i = 0; i < d.accesses.size(); ++i) {
    if (d.work[i].failed) d.plan(i).issues.clear();
  }
  return std::move(d.plans);
}

}  // namespace lab32::sass
