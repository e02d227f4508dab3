// Three steps: find the instructions of each PTX access (merged, split, alone or gone), then check
// that they run as often and under the conditions that the PTX has them, then mark what cannot be
// vouched for. README.md gives the rules.
#include "sass/function_plan.h"

#include "sass/atomics.h"
#include "sass/conditions.h"
#include "sass/draft.h"
#include "sass/grouping.h"

namespace lab32::sass {
namespace {

bool space_fits(const PtxAccess& a, const MemoryOp& op) {
  return a.space == op.space || a.space == Space::generic || op.space == Space::generic;
}

void find_instructions(Draft& d, size_t i) {
  const PtxAccess& a = d.accesses[i];
  Draft::Work& w = d.work[i];
  const auto& sites = d.sites.of_line(d.instruction(i).ptx_line);
  for (const Site& s : sites) {
    // A local instruction on another access's line keeps a register (spill).
    if (!s.op || s.detour() || (s.op->space == Space::local && a.space != Space::local)) continue;
    w.own.push_back(s);
  }
  if (a.form == PtxAccess::Form::atomic) {
    std::string seen;
    const auto found = recognise_atomic(a, sites, &seen);
    if (!found) return d.fail(i, "the machine code has " + seen + ": this form is not known");
    d.plan(i).issues = {found->issue};
    d.plan(i).note = found->note;
    w.copies = found->copies;
    w.own_loops = found->own_loops;
    w.own_guard = found->own_guard;
    return;
  }
  for (const Site& s : w.own) {
    const bool same_form = s.op->matrix == (a.form == PtxAccess::Form::matrix) &&
                           s.op->async_copy == (a.form == PtxAccess::Form::async_copy);
    if (!space_fits(a, *s.op) || s.op->kind != a.kind || !same_form || s.op->bytes == 0)
      return d.fail(i, "the machine code has " + s.instruction->opcode + " in its place");
  }
  if (is_plain(a)) return;
  w.copies = static_cast<int>(w.own.size());
  for (const Site& s : w.own) {
    if (s.op->bytes != a.bytes) return d.fail(i, "issued as " + s.instruction->opcode);
  }
  if (w.own.empty()) return d.fail(i, "no instruction stands for it");
  d.issue_as_written(i);
}

// An access that is gone without a reason may have been joined with any other of its kind.
void spread_doubt(Draft& d) {
  for (size_t i = 0; i < d.accesses.size(); ++i) {
    if (!d.work[i].missing) continue;
    for (size_t j = 0; j < d.accesses.size(); ++j) {
      if (is_plain(d.accesses[j]) && d.accesses[j].space == d.accesses[i].space &&
          d.accesses[j].kind == d.accesses[i].kind)
        d.fail(j, d.where(i) + " has the same kind of access and no instruction stands for that");
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
    d.plan(i).ptx_level = d.work[i].failed;
    if (d.work[i].failed) d.plan(i).issues.clear();
  }
  return std::move(d.plans);
}

}  // namespace lab32::sass
