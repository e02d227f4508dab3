#include "simulator/sass/function_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace lab32::sass {

// ---- the draft plan --------------------------------------------------------------------------

namespace {

std::optional<sim::AccessSpace> space_of(MemorySpace space) {
  switch (space) {
    case MemorySpace::global:
      return sim::AccessSpace::global;
    case MemorySpace::shared:
      return sim::AccessSpace::shared;
    case MemorySpace::local:
      return sim::AccessSpace::local;
    case MemorySpace::generic:
      break;
  }
  return std::nullopt;
}

}  // namespace

SassAccessPlanningState::SassAccessPlanningState(const ptx::Module& m, const PtxFunction& f,
                                                 const SassInstructionsByPtxLine& s)
    : module(m), function(f), sites(s), accesses(f.accesses()) {
  states.resize(accesses.size());
  plans.resize(f.function().body.size());
}

const ptx::Instruction& SassAccessPlanningState::instruction(size_t i) const {
  return function.function().body[static_cast<size_t>(accesses[i].index)];
}

std::string SassAccessPlanningState::access_line_label(size_t i) const {
  const auto position = module.student_source_position(instruction(i).loc);
  if (position) return "line " + std::to_string(position->line);
  return "PTX line " + std::to_string(instruction(i).ptx_line);
}

void SassAccessPlanningState::fail(size_t i, Reason reason, const std::string& seen) {
  sim::AccessWithoutSassMatch why;
  why.reason = reason;
  why.seen = seen;
  fail(i, std::move(why));
}

void SassAccessPlanningState::fail(size_t i, sim::AccessWithoutSassMatch why) {
  if (states[i].failed) return;
  states[i].failed = true;
  why.kind = accesses[i].kind;
  why.space = space_of(accesses[i].space);
  why.bytes = static_cast<uint32_t>(accesses[i].bytes);
  plan(i).unmatched = std::move(why);
}

void SassAccessPlanningState::issue_as_written(size_t i) {
  sim::SassAccessOfPtxInstruction issue;
  issue.bytes = static_cast<uint8_t>(accesses[i].bytes);
  issue.kind = accesses[i].kind;
  plan(i).issues = {issue};
}

// ---- texture fetches and surface accesses ----------------------------------------------------

namespace {

bool is_in_sass_function(const SassInstructionSite& s, const std::string& name) {
  const std::string& host = s.function->name;
  return host == name ||
         (host.size() > name.size() &&
          host.compare(host.size() - name.size() - 1, std::string::npos, "$" + name) == 0);
}

// The opcodes of texture and surface instructions, from NVIDIA's "CUDA Binary Utilities" for Turing
// to Blackwell.
bool accesses_texels(const SassInstruction& in) {
  constexpr std::array<std::string_view, 6> kOpcodes{"TEX", "TLD", "TLD4", "TXD", "SULD", "SUST"};
  return std::find(kOpcodes.begin(), kOpcodes.end(), in.base()) != kOpcodes.end();
}

// Whether the function contains two equal fetches, which ptxas may have merged.
bool has_mergeable_texel_fetches(const PtxFunction& f) {
  constexpr int kAnywhere = -1;
  std::set<std::tuple<const ptx::OpInfo*, std::vector<int>, int>> seen;  // (row, sources, block)
  for (const PtxTextureOrSurfaceAccess& t : f.texture_and_surface_accesses()) {
    const ptx::Instruction& in = f.function().body[static_cast<size_t>(t.index)];
    const int where = f.sources_are_defined_once(t) ? kAnywhere : t.block;
    if (t.live && !t.store && !seen.emplace(in.op, t.sources, where).second) return true;
  }
  return false;
}

// Whether ptxas cannot have moved the fetch out of a loop, because the texels may differ in each
// iteration of every enclosing loop.
bool is_unhoistable_from_loops(const PtxFunction& f, const PtxTextureOrSurfaceAccess& t) {
  for (int l = f.structure().loop_of[static_cast<size_t>(t.block)]; l >= 0;
       l = f.structure().loops[static_cast<size_t>(l)].parent)
    if (!t.store && !f.varies_in_loop(t, l)) return false;
  return true;
}

// The branches of the outermost loop around the fetch.
std::vector<int32_t> outermost_loop_branches(const PtxFunction& f,
                                             const PtxTextureOrSurfaceAccess& t) {
  int loop = f.structure().loop_of[static_cast<size_t>(t.block)];
  if (loop < 0) return {};
  while (f.structure().loops[static_cast<size_t>(loop)].parent >= 0)
    loop = f.structure().loops[static_cast<size_t>(loop)].parent;
  return f.loop_exit_branches(loop);
}

}  // namespace

void plan_texel_accesses(const PtxFunction& function, const SassInstructionsByPtxLine& sites,
                         sim::FunctionPlans& plans) {
  if (function.texture_and_surface_accesses().empty()) return;
  std::multiset<int> in_ptx, in_code;  // loop depths
  bool fixed = true;
  for (const PtxTextureOrSurfaceAccess& t : function.texture_and_surface_accesses()) {
    if (!t.live) continue;
    in_ptx.insert(function.structure().loop_depth(t.block));
    fixed &= is_unhoistable_from_loops(function, t);
  }
  bool jumps_known = true;
  for (const auto& [line, all] : sites.by_line())
    for (const SassInstructionSite& s : all) {
      if (s.slow_path() || !accesses_texels(*s.instruction) ||
          !is_in_sass_function(s, function.function().name))
        continue;
      in_code.insert(s.loop_depth());
      jumps_known &= s.flow->known;
    }
  const bool as_written =
      jumps_known && in_code == in_ptx && !has_mergeable_texel_fetches(function);
  // The loop was unrolled.
  const bool unrolled = jumps_known && fixed && in_code.size() > in_ptx.size() &&
                        !has_mergeable_texel_fetches(function);
  for (const PtxTextureOrSurfaceAccess& t : function.texture_and_surface_accesses()) {
    sim::AccessPlan& plan = plans[static_cast<size_t>(t.index)];
    if (!t.live) continue;
    if (as_written || unrolled) {
      plan.issues.emplace_back();
      if (!as_written) plan.if_uniform = outermost_loop_branches(function, t);
      continue;
    }
    sim::AccessWithoutSassMatch why;
    why.reason = sim::AccessWithoutSassMatch::Reason::no_single_grouping;
    why.in_ptx = static_cast<uint32_t>(in_ptx.size());
    why.in_machine_code = static_cast<uint32_t>(in_code.size());
    plan.unmatched = why;
  }
}

// ---- the plan --------------------------------------------------------------------------------

namespace {

bool may_be_same_space(const PtxAccess& a, const MemoryOp& op) {
  return a.space == op.space || a.space == MemorySpace::generic || op.space == MemorySpace::generic;
}

// Plans a load or store of a fragment. The machine code must have one instruction for each part of
// the fragment, or several copies of this sequence.
void plan_fragment_access(SassAccessPlanningState& d, size_t i) {
  const PtxAccess& a = d.accesses[i];
  std::map<int, size_t> wanted, seen;  // bytes -> number of instructions
  for (const int bytes : a.parts) ++wanted[bytes];
  for (const SassInstructionSite& s : d.states[i].own) ++seen[s.op->bytes];
  const size_t copies = a.parts.empty() ? 0 : d.states[i].own.size() / a.parts.size();
  for (auto& [bytes, count] : wanted) count *= copies;
  if (copies == 0 || wanted != seen)
    return d.fail(
        i, SassAccessPlanningState::Reason::other_width,
        d.states[i].own.empty() ? "no memory instruction" : d.states[i].own[0].instruction->opcode);
  d.states[i].copies = static_cast<int>(copies);
  for (const int bytes : a.parts) {
    sim::SassAccessOfPtxInstruction issue;
    issue.bytes = static_cast<uint8_t>(bytes);
    issue.kind = a.kind;
    d.plan(i).issues.push_back(issue);
  }
}

void find_sass_sites_of_access(SassAccessPlanningState& d, size_t i) {
  const PtxAccess& a = d.accesses[i];
  SassAccessPlanningState::AccessSassMatchState& w = d.states[i];
  const auto& sites = d.sites.sites_of_line(d.instruction(i).ptx_line);
  for (const SassInstructionSite& s : sites) {
    // A register spill is a local access on the PTX line of another access.
    if (!s.op || s.slow_path() ||
        (s.op->space == MemorySpace::local && a.space != MemorySpace::local))
      continue;
    w.own.push_back(s);
  }
  if (a.form == PtxAccess::Form::atomic) {
    std::string seen;
    const auto found = match_ptx_atomic_to_sass(a, sites, &seen);
    if (!found) return d.fail(i, SassAccessPlanningState::Reason::unknown_atomic, seen);
    d.plan(i).issues = {found->issue};
    if (found->in_shared) d.plan(i).issues.push_back(*found->in_shared);
    if (!found->once.empty()) w.own = found->once;
    d.plan(i).note = found->note;
    w.copies = found->copies;
    w.own_loops = found->own_loops;
    w.own_guard = found->own_guard;
    return;
  }
  for (const SassInstructionSite& s : w.own) {
    const bool same_form = s.op->matrix == (a.form == PtxAccess::Form::matrix) &&
                           s.op->async_copy == (a.form == PtxAccess::Form::async_copy);
    if (!may_be_same_space(a, *s.op) || s.op->kind != a.kind || !same_form || s.op->bytes == 0)
      return d.fail(i, SassAccessPlanningState::Reason::other_instruction, s.instruction->opcode);
  }
  if (is_plain(a)) return;
  if (a.form == PtxAccess::Form::fragment) return plan_fragment_access(d, i);
  w.copies = static_cast<int>(w.own.size());
  for (const SassInstructionSite& s : w.own) {
    if (s.op->bytes != a.bytes)
      return d.fail(i, SassAccessPlanningState::Reason::other_width, s.instruction->opcode);
  }
  if (w.own.empty()) return d.fail(i, SassAccessPlanningState::Reason::no_instruction);
  d.issue_as_written(i);
}

// If an access has no instruction for an unknown reason, ptxas may have merged it with any other
// access of its kind. All of these are therefore marked as failed, too.
void fail_possibly_merged_accesses(SassAccessPlanningState& d) {
  for (size_t i = 0; i < d.accesses.size(); ++i) {
    if (!d.states[i].missing) continue;
    sim::AccessWithoutSassMatch like_one_without;
    like_one_without.reason = SassAccessPlanningState::Reason::like_one_without;
    like_one_without.ptx_line = d.instruction(i).ptx_line;
    if (const auto at = d.module.student_source_position(d.instruction(i).loc))
      like_one_without.line = at->line;
    for (size_t j = 0; j < d.accesses.size(); ++j) {
      if (is_plain(d.accesses[j]) && d.accesses[j].space == d.accesses[i].space &&
          d.accesses[j].kind == d.accesses[i].kind)
        d.fail(j, like_one_without);
    }
  }
}

}  // namespace

sim::FunctionPlans map_ptx_accesses_to_sass(const ptx::Module& module, const PtxFunction& function,
                                            const SassInstructionsByPtxLine& sites) {
  SassAccessPlanningState d(module, function, sites);
  for (size_t i = 0; i < d.accesses.size(); ++i) find_sass_sites_of_access(d, i);
  group_accesses(d);
  check_sass_ptx_control_match(d);
  fail_possibly_merged_accesses(d);
  for (size_t i = 0; i < d.accesses.size(); ++i) {
    if (d.states[i].failed) d.plan(i).issues.clear();
  }
  return std::move(d.plans);
}

}  // namespace lab32::sass
