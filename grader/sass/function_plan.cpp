// Three steps: find the instructions of each PTX access (merged, split, alone or gone), then check
// that they run as often and under the conditions that the PTX has them, then mark what cannot be
// vouched for. README.md gives the rules.
#include "sass/function_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sass/atomics.h"
#include "sass/windows.h"

namespace lab32::sass {
namespace {

using sim::AccessKind;
using sim::AccessPlan;
using sim::Issue;

bool space_fits(const PtxAccess& a, const MemoryOp& op) {
  return a.space == op.space || a.space == Space::generic || op.space == Space::generic;
}

bool is_plain(const PtxAccess& a) { return a.form == PtxAccess::Form::plain; }

class Planner {
 public:
  Planner(const ptx::Module& module, const PtxFunction& function, const Sites& sites)
      : module_(module), ptx_(function), sites_(sites), accesses_(ptx_.accesses()) {
    work_.resize(accesses_.size());
    plans_.resize(function.function().body.size());
  }

  sim::FunctionPlans run() {
    for (size_t i = 0; i < accesses_.size(); ++i) find_instructions(i);
    plan_groups();
    for (size_t i = 0; i < accesses_.size(); ++i) check_structure(i);
    check_copies();
    spread_doubt();
    for (size_t i = 0; i < accesses_.size(); ++i) {
      plan(i).ptx_level = work_[i].failed;
      if (work_[i].failed) plan(i).issues.clear();
    }
    return std::move(plans_);
  }

 private:
  struct Work {
    std::vector<Site> own;       // memory instructions of its line, detours left out
    int copies = 0;              // times it stands in the code, as own or as part of a merged one
    int own_loops = 0;           // loops that its instructions bring with them
    bool own_guard = false;
    bool failed = false;
    bool missing = false;        // gone without an explanation
  };

  const ptx::Instruction& instruction(size_t i) const {
    return ptx_.function().body[static_cast<size_t>(accesses_[i].index)];
  }
  AccessPlan& plan(size_t i) { return plans_[static_cast<size_t>(accesses_[i].index)]; }

  std::string where(size_t i) const {
    const auto position = module_.position(instruction(i).loc);
    if (position) return "line " + std::to_string(position->line);
    return "PTX line " + std::to_string(instruction(i).ptx_line);
  }

  static const char* space_word(Space space) {
    switch (space) {
      case Space::global: return "global ";
      case Space::shared: return "shared ";
      case Space::local: return "local ";
      case Space::generic: break;
    }
    return "";
  }

  std::string name(size_t i) const {
    const PtxAccess& a = accesses_[i];
    const char* kind = a.kind == AccessKind::load    ? "load"
                       : a.kind == AccessKind::store ? "store"
                       : a.kind == AccessKind::red   ? "reduction"
                                                     : "atomic";
    return std::string(space_word(a.space)) + kind + " of " + std::to_string(a.bytes) + " bytes";
  }

  void fail(size_t i, const std::string& why) {
    if (work_[i].failed) return;
    work_[i].failed = true;
    plan(i).note = where(i) + ": " + name(i) + ": " + why;
  }

  void issue_as_written(size_t i) {
    const PtxAccess& a = accesses_[i];
    Issue issue;
    issue.bytes = static_cast<uint8_t>(a.bytes);
    issue.kind = a.kind;
    plan(i).issues = {issue};
  }

  // --- which instructions ---------------------------------------------------------------------

  void find_instructions(size_t i) {
    const PtxAccess& a = accesses_[i];
    Work& w = work_[i];
    const auto& sites = sites_.of_line(instruction(i).ptx_line);
    for (const Site& s : sites) {
      // A local instruction on another access's line keeps a register (spill).
      if (!s.op || s.detour() || (s.op->space == Space::local && a.space != Space::local)) continue;
      w.own.push_back(s);
    }
    if (a.form == PtxAccess::Form::atomic) {
      std::string seen;
      const auto found = recognise_atomic(a, sites, &seen);
      if (!found) return fail(i, "the machine code has " + seen + ": this form is not known");
      plan(i).issues = {found->issue};
      plan(i).note = found->note;
      w.copies = found->copies;
      w.own_loops = found->own_loops;
      w.own_guard = found->own_guard;
      return;
    }
    for (const Site& s : w.own) {
      const bool same_form = s.op->matrix == (a.form == PtxAccess::Form::matrix) &&
                             s.op->async_copy == (a.form == PtxAccess::Form::async_copy);
      if (!space_fits(a, *s.op) || s.op->kind != a.kind || !same_form || s.op->bytes == 0)
        return fail(i, "the machine code has " + s.instruction->opcode + " in its place");
    }
    if (is_plain(a)) return;
    w.copies = static_cast<int>(w.own.size());
    for (const Site& s : w.own) {
      if (s.op->bytes != a.bytes) return fail(i, "issued as " + s.instruction->opcode);
    }
    if (w.own.empty()) return fail(i, "no instruction stands for it");
    issue_as_written(i);
  }

  // --- merged, split, gone --------------------------------------------------------------------

  // Accesses whose addresses differ by known constants and that run together.
  void plan_groups() {
    using Key = std::tuple<int, Space, AccessKind, Root, int, bool>;
    std::map<Key, std::vector<size_t>> groups;
    for (size_t i = 0; i < accesses_.size(); ++i) {
      const PtxAccess& a = accesses_[i];
      if (!is_plain(a) || work_[i].failed) continue;
      groups[{a.block, a.space, a.kind, a.root, a.guard, a.guard_negated}].push_back(i);
    }
    for (auto& [key, members] : groups) {
      std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) {
        return accesses_[a].offset < accesses_[b].offset;
      });
      // No window is wider than 16 bytes: what lies further apart is another puzzle.
      for (size_t from = 0; from < members.size();) {
        size_t to = from + 1;
        int64_t end = accesses_[members[from]].offset + accesses_[members[from]].bytes;
        while (to < members.size() && accesses_[members[to]].offset < end + 16) {
          end = std::max(end, accesses_[members[to]].offset + accesses_[members[to]].bytes);
          ++to;
        }
        plan_cluster({members.begin() + static_cast<std::ptrdiff_t>(from),
                      members.begin() + static_cast<std::ptrdiff_t>(to)});
        from = to;
      }
    }
  }

  bool all_as_written(size_t i) const {
    const auto& own = work_[i].own;
    return !own.empty() && std::all_of(own.begin(), own.end(), [&](const Site& s) {
      return s.op->bytes == accesses_[i].bytes;
    });
  }

  void plan_cluster(const std::vector<size_t>& cluster) {
    bool simple = true;
    for (size_t i : cluster)
      simple &= all_as_written(i) || (work_[i].own.empty() && is_explained(i));
    if (simple) {
      for (size_t i : cluster) {
        work_[i].copies = static_cast<int>(work_[i].own.size());
        if (!work_[i].own.empty()) issue_as_written(i);
        else explain(i);
      }
      return;
    }
    std::vector<Member> members;
    for (size_t i : cluster) {
      const PtxAccess& a = accesses_[i];
      Member m;
      m.offset = a.offset;
      m.bytes = a.bytes;
      for (bool live : a.live) m.live.insert(m.live.end(), static_cast<size_t>(a.element_bytes), live);
      m.shapes = shapes(i);
      m.must_be_covered = !is_explained(i);
      if (!work_[i].own.empty() && m.shapes.empty())
        return fail_cluster(cluster, "its instructions differ from copy to copy");
      members.push_back(std::move(m));
    }
    const auto placements = place(members, distances(cluster));
    if (!placements) return fail_cluster(cluster, "more than one way, or none, to group them");
    for (size_t k = 0; k < cluster.size(); ++k) apply(cluster, members, *placements, k);
  }

  void fail_cluster(const std::vector<size_t>& cluster, const std::string& why) {
    std::string seen;
    int count = 0;
    for (size_t i : cluster) {
      for (const Site& s : work_[i].own) {
        if (++count > 4) continue;
        seen += (seen.empty() ? "" : ", ") + s.instruction->opcode;
      }
    }
    if (count > 4) seen += " …";
    for (size_t i : cluster) {
      if (work_[i].own.empty() && !is_explained(i)) work_[i].missing = true;
      fail(i, "PTX has " + std::to_string(cluster.size()) + " such here, the machine code " +
                  std::to_string(count) + " (" + seen + "): " + why);
    }
  }

  void apply(const std::vector<size_t>& cluster, const std::vector<Member>& members,
             const std::vector<Placement>& placements, size_t k) {
    const size_t i = cluster[k];
    const PtxAccess& a = accesses_[i];
    const Placement& p = placements[k];
    if (p.shape >= 0) {
      const Shape& shape = members[k].shapes[static_cast<size_t>(p.shape)];
      work_[i].copies = static_cast<int>(work_[i].own.size() / shape.size());
      for (const Part& part : shape) {
        Issue issue;
        issue.offset = static_cast<int32_t>(p.at + part.at - a.offset);
        issue.bytes = static_cast<uint8_t>(part.bytes);
        issue.kind = a.kind;
        plan(i).issues.push_back(issue);
      }
      if (shape.size() > 1) plan(i).note = "split into " + std::to_string(shape.size());
      else if (shape[0].bytes != a.bytes || p.at != a.offset)
        plan(i).note = "issued as " + work_[i].own[0].instruction->opcode;
      return;
    }
    // Whose window holds it?
    for (size_t j = 0; j < cluster.size(); ++j) {
      if (placements[j].shape < 0) continue;
      const Shape& shape = members[j].shapes[static_cast<size_t>(placements[j].shape)];
      for (const Part& part : shape) {
        const int64_t at = placements[j].at + part.at;
        if (a.offset + a.bytes <= at || at + part.bytes <= a.offset) continue;
        plan(i).note = "merged into the " + work_[cluster[j]].own[0].instruction->opcode + " of " +
                       where(cluster[j]);
        return;
      }
    }
    explain(i);
  }

  // What one execution of the access may consist of: its instructions dealt into equal copies.
  std::vector<Shape> shapes(size_t i) const {
    std::map<decltype(std::declval<Site>().cell()), std::vector<Part>> cells;
    for (const Site& s : work_[i].own) cells[s.cell()].push_back({s.op->offset, s.op->bytes});
    std::vector<Shape> found;
    for (size_t size = 1; size <= 4; ++size) {
      Shape shape;
      bool equal = !cells.empty();
      for (auto& [cell, parts] : cells) {
        std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.at < b.at; });
        equal &= parts.size() % size == 0;
        for (size_t from = 0; equal && from < parts.size(); from += size) {
          Shape one(parts.begin() + static_cast<std::ptrdiff_t>(from),
                    parts.begin() + static_cast<std::ptrdiff_t>(from + size));
          const int64_t start = one[0].at;
          for (Part& p : one) p.at -= start;
          for (size_t p = 1; p < size; ++p) equal &= one[p].at >= one[p - 1].at + one[p - 1].bytes;
          if (shape.empty()) shape = one;
          equal &= shape == one;
        }
      }
      if (equal) found.push_back(std::move(shape));
    }
    return found;
  }

  // Two accesses with one instruction each in one cell lie as far apart as their constants say.
  std::vector<Distance> distances(const std::vector<size_t>& cluster) const {
    std::vector<Distance> found;
    for (size_t i = 0; i < cluster.size(); ++i) {
      for (size_t j = 0; j < cluster.size(); ++j) {
        const auto& a = work_[cluster[i]].own;
        const auto& b = work_[cluster[j]].own;
        if (i == j || a.empty() || a.size() != b.size()) continue;
        std::set<int64_t> bytes;
        for (size_t k = 0; k < a.size(); ++k)
          bytes.insert(a[k].cell() == b[k].cell() ? b[k].op->offset - a[k].op->offset : INT64_MAX);
        if (bytes.size() == 1 && *bytes.begin() != INT64_MAX)
          found.push_back({static_cast<int>(i), static_cast<int>(j), *bytes.begin()});
      }
    }
    return found;
  }

  // --- why an access may have no instruction ----------------------------------------------------

  bool is_explained(size_t i) const { return !reason_to_be_gone(i).empty(); }
  void explain(size_t i) {
    const std::string reason = reason_to_be_gone(i);
    if (!reason.empty()) {
      plan(i).note = reason;
      return;
    }
    work_[i].missing = true;
    fail(i, "no instruction stands for it");
  }

  std::string reason_to_be_gone(size_t i) const {
    const PtxAccess& a = accesses_[i];
    if (!is_plain(a)) return {};
    if (a.space == Space::local) return "kept in registers";
    if (a.kind == AccessKind::load && !a.any_live()) return "removed: nobody reads it";
    for (size_t j = 0; j < accesses_.size(); ++j) {
      const PtxAccess& b = accesses_[j];
      if (j == i || !is_plain(b) || b.space != a.space || !(b.root == a.root) ||
          b.offset > a.offset || b.offset + b.bytes < a.offset + a.bytes)
        continue;
      const bool same_guard = b.guard < 0 || (b.guard == a.guard && b.guard_negated == a.guard_negated);
      if (!same_guard || (work_[j].own.empty() && j > i)) continue;
      if (a.kind == AccessKind::load) {
        const bool before = b.block == a.block ? b.index < a.index || b.kind == AccessKind::load
                                               : ptx_.structure().dominates(b.block, a.block);
        if (before) return "removed: " + where(j) + " has the value already";
      } else if (b.kind == AccessKind::store && b.block == a.block && b.index > a.index) {
        return "removed: " + where(j) + " overwrites it";
      }
    }
    return {};
  }

  // --- as often, and under the same conditions --------------------------------------------------

  // Where the loops of the SASS function are the PTX function's own: not where ptxas inlined it.
  bool same_function(const Site& s) const {
    const std::string& name = ptx_.function().name;
    const std::string& host = s.function->name;
    return host == name || (host.size() > name.size() &&
                            host.compare(host.size() - name.size() - 1, std::string::npos, "$" + name) == 0);
  }

  void check_structure(size_t i) {
    const PtxAccess& a = accesses_[i];
    Work& w = work_[i];
    if (w.failed || plan(i).issues.empty()) return;
    const Structure& structure = ptx_.structure();
    const int depth = structure.depth(a.block);
    const std::vector<int> deciders = ptx_.deciding_lines(a.block);
    bool unrolled = w.copies > 1;
    for (const Site& s : w.own) {
      if (!s.flow->known) return fail(i, "the kernel jumps through a table, so its loops are not known");
      const int sass_depth = s.depth() - w.own_loops;
      const bool own_code = same_function(s);
      if (own_code ? sass_depth > depth : sass_depth < depth)
        return fail(i, "it stands in another loop than in the PTX");
      if (own_code && sass_depth < depth) {
        if (!cannot_move(i) && !has_witness(i)) return fail(i, "ptxas moved it out of a loop");
        unrolled = true;
      }
      const bool guarded = !s.instruction->guard.empty() && !w.own_guard;
      if (own_code && !deciders.empty() && !guarded && !is_decided(s, deciders))
        return fail(i, "it runs without the condition that the PTX puts before it");
    }
    if (!unrolled) return;
    int loop = structure.loop_of[static_cast<size_t>(a.block)];
    if (loop < 0) {
      // A called function stands once in each kernel that calls it.
      std::map<const Function*, int> in_function;
      for (const Site& s : w.own) ++in_function[s.function];
      const int parts = static_cast<int>(w.own.size()) / w.copies;
      for (const auto& [function, count] : in_function) {
        if (count > parts) return fail(i, "ptxas duplicated the code around it");
      }
      return;
    }
    while (structure.loops[static_cast<size_t>(loop)].parent >= 0)
      loop = structure.loops[static_cast<size_t>(loop)].parent;
    plan(i).if_uniform = ptx_.loop_branches(loop);
  }

  // An instruction that stands outside a loop of the PTX was unrolled, or moved out. An address that
  // changes from turn to turn cannot move.
  bool cannot_move(size_t i) const {
    const PtxAccess& a = accesses_[i];
    for (int l = ptx_.structure().loop_of[static_cast<size_t>(a.block)]; l >= 0;
         l = ptx_.structure().loops[static_cast<size_t>(l)].parent) {
      if (!ptx_.varies(a, l)) return false;
    }
    return true;
  }

  // How often the code holds an instruction in which function and how deep in loops.
  using Profile = std::map<std::pair<const Function*, int>, int>;

  // Another instruction of the same block that cannot move, and has as many copies at the same depths.
  bool has_witness(size_t i) const {
    Profile wanted;
    const int parts = static_cast<int>(work_[i].own.size()) / std::max(work_[i].copies, 1);
    for (const Site& s : work_[i].own) ++wanted[{s.function, s.depth() - work_[i].own_loops}];
    for (auto& [place, count] : wanted) count /= parts;
    const ptx::BasicBlock& block = ptx_.flow().blocks[static_cast<size_t>(accesses_[i].block)];
    for (int at = block.first; at < block.last; ++at) {
      const ptx::Instruction& in = ptx_.function().body[static_cast<size_t>(at)];
      Profile profile;
      for (const Site& s : sites_.of_line(in.ptx_line)) {
        if (s.instruction->base() == "BAR" && !s.detour()) ++profile[{s.function, s.depth()}];
      }
      if (profile == wanted) return true;
    }
    for (size_t j = 0; j < accesses_.size(); ++j) {
      if (accesses_[j].block != accesses_[i].block || !cannot_move(j) ||
          static_cast<int>(work_[j].own.size()) != work_[j].copies)
        continue;
      Profile profile;
      for (const Site& s : work_[j].own) ++profile[{s.function, s.depth()}];
      if (profile == wanted) return true;
    }
    return false;
  }

  // Does one of the PTX branches decide in the SASS too? A jump table stands for a chain of them.
  static bool is_decided(const Site& s, const std::vector<int>& lines) {
    for (int d : s.flow->structure.all_deciders(s.block)) {
      const int last = s.flow->blocks[static_cast<size_t>(d)].last - 1;
      const Instruction& branch = s.function->code[static_cast<size_t>(last)];
      if (branch.base() == "BRX" ||
          std::find(lines.begin(), lines.end(), branch.ptx_line) != lines.end())
        return true;
    }
    return false;
  }

  // All accesses of a block run equally often, so they stand in the code equally often. One that
  // does not was shared between iterations.
  void check_copies() {
    std::map<int, std::vector<size_t>> blocks;
    for (size_t i = 0; i < accesses_.size(); ++i) {
      if (work_[i].failed || plan(i).issues.empty() || accesses_[i].space == Space::local) continue;
      blocks[accesses_[i].block].push_back(i);
    }
    for (const auto& [block, members] : blocks) {
      std::set<int> copies;
      for (size_t i : members) copies.insert(work_[i].copies);
      if (copies.size() <= 1) continue;
      for (size_t i : members)
        fail(i, "ptxas unrolled a loop and shares accesses between its iterations");
    }
  }

  // An access that is gone without a reason may have been joined with any other of its kind.
  void spread_doubt() {
    for (size_t i = 0; i < accesses_.size(); ++i) {
      if (!work_[i].missing) continue;
      for (size_t j = 0; j < accesses_.size(); ++j) {
        if (is_plain(accesses_[j]) && accesses_[j].space == accesses_[i].space &&
            accesses_[j].kind == accesses_[i].kind)
          fail(j, where(i) + " has the same kind of access and no instruction stands for that");
      }
    }
  }

  const ptx::Module& module_;
  const PtxFunction& ptx_;
  const Sites& sites_;
  const std::vector<PtxAccess>& accesses_;
  std::vector<Work> work_;
  sim::FunctionPlans plans_;
};

}  // namespace

sim::FunctionPlans plan_function(const ptx::Module& module, const PtxFunction& function,
                                 const Sites& sites) {
  return Planner(module, function, sites).run();
}

}  // namespace lab32::sass
