#include <algorithm>

#include "simulator/sass/function_plan.h"

namespace lab32::sass {

namespace {

using sim::AccessKind;
using sim::AtomicForm;
using sim::IssuedAccess;

bool has_opcode(const std::vector<MemorySite>& sites,
                std::initializer_list<std::string_view> names) {
  return std::any_of(sites.begin(), sites.end(), [&](const MemorySite& s) {
    return std::find(names.begin(), names.end(), s.instruction->base()) != names.end();
  });
}

std::string_view without_negation(std::string_view guard) {
  return guard.substr(guard.empty() || guard[0] != '!' ? 0 : 1);
}

// Whether an instruction of the sequence sets this predicate by comparing a lane's number with the
// elected lane's, or a vote with a full mask.
bool sets_own_guard(const std::vector<MemorySite>& sites, const MemorySite& user) {
  const std::string wanted = std::string(without_negation(user.instruction->guard)) + ",";
  return std::any_of(sites.begin(), sites.end(), [&](const MemorySite& s) {
    return s.function == user.function && s.instruction->base() == "ISETP" &&
           s.instruction->has("EQ") && s.instruction->operands.rfind(wanted, 0) == 0;
  });
}

std::string list_of(const std::vector<MemorySite>& memory) {
  std::string text;
  for (const MemorySite& s : memory) {
    if (!text.empty()) text += ", ";
    if (!s.instruction->guard.empty()) text += "@" + s.instruction->guard + " ";
    text += s.instruction->opcode;
    if (text.size() > 80) return text + " …";
  }
  return text.empty() ? "no memory instruction" : text;
}

}  // namespace

std::optional<AtomicIssue> recognise_atomic(const PtxAccess& access,
                                            const std::vector<MemorySite>& sites,
                                            std::string* why) {
  std::vector<MemorySite> memory, helpers, loads, swaps, guarded, when_true, when_false;
  for (const MemorySite& s : sites) {
    if (s.slow_path()) continue;
    (s.op && s.op->space != MemorySpace::local ? memory : helpers).push_back(s);
  }
  bool widths_agree = !memory.empty();
  for (const MemorySite& s : memory) {
    widths_agree &= s.op->bytes == access.bytes;
    if (s.op->kind == AccessKind::load) loads.push_back(s);
    if (s.instruction->has("CAST")) swaps.push_back(s);
    if (!s.instruction->guard.empty() && sets_own_guard(helpers, s)) {
      guarded.push_back(s);
      (s.instruction->guard[0] == '!' ? when_false : when_true).push_back(s);
    }
  }
  *why = list_of(memory);
  if (!widths_agree) return std::nullopt;

  AtomicIssue found;
  found.issue.bytes = static_cast<uint8_t>(access.bytes);
  found.issue.kind = AccessKind::atom;

  // The sequence LDS, add, ATOMS.CAST.SPIN repeats until the swap succeeds.
  if (!swaps.empty()) {
    if (swaps.size() != loads.size() || memory.size() != 2 * swaps.size()) return std::nullopt;
    found.issue.lanes = IssuedAccess::Lanes::spin;
    found.issue.form = AtomicForm::spin_swap;
    found.copies = static_cast<int>(swaps.size());
    found.own_loops = 1;
    found.note = "a loop of " + loads[0].instruction->opcode + " and " +
                 swaps[0].instruction->opcode +
                 ": more rounds on hardware when warps of a block collide";
    return found;
  }
  if (!loads.empty()) return std::nullopt;

  const Instruction& first = *memory[0].instruction;
  found.issue.kind = memory[0].op->kind;
  if (first.has("POPC")) found.issue.form = AtomicForm::increment;
  if (first.has("CAS")) found.issue.form = AtomicForm::compare_swap;
  for (const MemorySite& s : memory) {
    if (s.op->kind != found.issue.kind || s.instruction->opcode != first.opcode)
      return std::nullopt;
  }

  const bool elects = has_opcode(helpers, {"VOTE", "VOTEU"});
  if (!elects) {
    if (!guarded.empty() || has_opcode(helpers, {"MATCH", "REDUX", "SHFL"})) return std::nullopt;
    found.copies = static_cast<int>(memory.size());
    if (found.issue.kind != access.kind || found.issue.form == AtomicForm::increment)
      found.note = "issued as " + first.opcode;
    return found;
  }
  // The election guards every instruction of a warp-aggregated atomic.
  if (guarded.size() != memory.size()) return std::nullopt;
  found.own_guard = true;
  if (when_false.empty()) {
    found.issue.lanes = IssuedAccess::Lanes::leader;
    found.copies = static_cast<int>(when_true.size());
    found.note = "the warp agrees first, then one lane issues " + first.opcode;
    return found;
  }
  // Turing: @!P0 RED for an incomplete warp, @P0 RED by one lane for a full one.
  if (when_false.size() != when_true.size() || !has_opcode(helpers, {"SHFL"})) return std::nullopt;
  found.issue.lanes = IssuedAccess::Lanes::full_leader;
  found.copies = static_cast<int>(when_true.size());
  found.note = "a whole warp agrees first, then one lane issues " + first.opcode;
  return found;
}

}  // namespace lab32::sass
