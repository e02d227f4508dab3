#include "simulator/sass/texels.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>

namespace lab32::sass {
namespace {

bool of_function(const MemorySite& s, const std::string& name) {
  const std::string& host = s.function->name;
  return host == name ||
         (host.size() > name.size() &&
          host.compare(host.size() - name.size() - 1, std::string::npos, "$" + name) == 0);
}

// NVIDIA's "CUDA Binary Utilities", instruction sets of Turing to Blackwell.
bool is_texels(const Instruction& in) {
  constexpr std::array<std::string_view, 6> kOpcodes{"TEX", "TLD", "TLD4", "TXD", "SULD", "SUST"};
  return std::find(kOpcodes.begin(), kOpcodes.end(), in.base()) != kOpcodes.end();
}

// Two that ask for the same may have been made one.
bool any_alike(const PtxFunction& f) {
  constexpr int kAnywhere = -1;
  std::set<std::tuple<const ptx::OpInfo*, std::vector<int>, int>> seen;  // and the block
  for (const PtxTexels& t : f.texels()) {
    const ptx::Instruction& in = f.function().body[static_cast<size_t>(t.index)];
    const int where = f.has_fixed_sources(t) ? kAnywhere : t.block;
    if (t.live && !t.store && !seen.emplace(in.op, t.sources, where).second) return true;
  }
  return false;
}

// Each iteration of every loop around it asks for something else, so that it was not moved out.
bool cannot_move(const PtxFunction& f, const PtxTexels& t) {
  for (int l = f.structure().loop_of[static_cast<size_t>(t.block)]; l >= 0;
       l = f.structure().loops[static_cast<size_t>(l)].parent)
    if (!t.store && !f.varies(t, l)) return false;
  return true;
}

// The branches of the outermost loop around it.
std::vector<int32_t> branches_around(const PtxFunction& f, const PtxTexels& t) {
  int loop = f.structure().loop_of[static_cast<size_t>(t.block)];
  if (loop < 0) return {};
  while (f.structure().loops[static_cast<size_t>(loop)].parent >= 0)
    loop = f.structure().loops[static_cast<size_t>(loop)].parent;
  return f.loop_branches(loop);
}

}  // namespace

void plan_texels(const PtxFunction& function, const Sites& sites, sim::FunctionPlans& plans) {
  if (function.texels().empty()) return;
  std::multiset<int> in_ptx, in_code;  // depths in loops
  bool fixed = true;
  for (const PtxTexels& t : function.texels()) {
    if (!t.live) continue;
    in_ptx.insert(function.structure().depth(t.block));
    fixed &= cannot_move(function, t);
  }
  bool jumps_known = true;
  for (const auto& [line, all] : sites.by_line())
    for (const MemorySite& s : all) {
      if (s.slow_path() || !is_texels(*s.instruction) || !of_function(s, function.function().name))
        continue;
      in_code.insert(s.depth());
      jumps_known &= s.flow->known;
    }
  const bool as_written = jumps_known && in_code == in_ptx && !any_alike(function);
  // Rounds of a loop put side by side.
  const bool unrolled =
      jumps_known && fixed && in_code.size() > in_ptx.size() && !any_alike(function);
  for (const PtxTexels& t : function.texels()) {
    sim::AccessPlan& plan = plans[static_cast<size_t>(t.index)];
    if (!t.live) continue;
    if (as_written || unrolled) {
      plan.issues.emplace_back();
      if (!as_written) plan.if_uniform = branches_around(function, t);
      continue;
    }
    sim::Unmatched why;
    why.reason = sim::Unmatched::Reason::no_single_grouping;
    why.in_ptx = static_cast<uint32_t>(in_ptx.size());
    why.in_machine_code = static_cast<uint32_t>(in_code.size());
    plan.unmatched = why;
  }
}

}  // namespace lab32::sass
