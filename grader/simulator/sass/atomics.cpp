#include <algorithm>

#include "simulator/sass/emitted.h"
#include "simulator/sass/function_plan.h"

namespace lab32::sass {

namespace {

using sim::AccessKind;
using sim::SassAccessOfPtxInstruction;
using sim::SharedAtomicForm;

bool any_has_opcode(const std::vector<SassInstructionSite>& sites,
                    std::initializer_list<std::string_view> names) {
  return std::any_of(sites.begin(), sites.end(), [&](const SassInstructionSite& s) {
    return std::find(names.begin(), names.end(), s.instruction->base()) != names.end();
  });
}

std::string_view without_negation(std::string_view guard) {
  return guard.substr(guard.empty() || guard[0] != '!' ? 0 : 1);
}

// Whether an instruction of the sequence computes the predicate of `user`'s guard: by comparing the
// lane's number with that of the elected lane, or by a vote with a full mask.
bool is_guard_set_by_sequence(const std::vector<SassInstructionSite>& sites,
                              const SassInstructionSite& user) {
  const std::string wanted = std::string(without_negation(user.instruction->guard)) + ",";
  return std::any_of(sites.begin(), sites.end(), [&](const SassInstructionSite& s) {
    return s.function == user.function && s.instruction->base() == "ISETP" &&
           s.instruction->has("EQ") && s.instruction->operands.rfind(wanted, 0) == 0;
  });
}

// Recognises a generic atomic for which shared memory has no instruction. ATOM.E.ADD.F32 executes
// it in device memory and sets a predicate if it has done so. For shared memory a loop of LDS and
// ATOMS.CAST.SPIN follows, for local memory a load and a store.
std::optional<AtomicSassLowering> recognise_generic_atomic(
    const PtxAccess& access, const std::vector<SassInstructionSite>& memory) {
  std::vector<SassInstructionSite> atoms;
  size_t swaps = 0, loads = 0, stores = 0;
  for (const SassInstructionSite& s : memory) {
    const bool shared = s.op->space == MemorySpace::shared;
    if (s.op->bytes != access.bytes) return std::nullopt;
    if (s.instruction->has("CAST"))
      swaps += shared ? 1 : 0;
    else if (s.op->kind == AccessKind::load)
      loads += shared ? 1 : 0;
    else if (s.op->kind == AccessKind::store)
      ++stores;
    else
      atoms.push_back(s);
  }
  const size_t copies = atoms.size();
  if (access.space != MemorySpace::generic || copies == 0 || swaps != copies || loads != copies ||
      stores != copies)
    return std::nullopt;
  AtomicSassLowering found;
  found.issue.bytes = static_cast<uint8_t>(access.bytes);
  found.issue.kind = AccessKind::atom;
  found.in_shared = found.issue;
  found.issue.only = sim::AccessSpace::global;
  found.in_shared->only = sim::AccessSpace::shared;
  found.in_shared->lanes = SassAccessOfPtxInstruction::Lanes::spin;
  found.in_shared->form = SharedAtomicForm::spin_swap;
  found.copies = static_cast<int>(copies);
  found.note = "issued as " + atoms[0].instruction->opcode;
  found.once = std::move(atoms);
  return found;
}

// Recognises an atomic of 2 bytes, which the hardware lacks: ptxas loads the word around the value
// and then repeats a compare-and-swap in a loop.
std::optional<AtomicSassLowering> recognise_narrow_cas_loop(
    const PtxAccess& access, const std::vector<SassInstructionSite>& memory) {
  constexpr int kWord = 4;
  AtomicSassLowering found;
  size_t swaps = 0;
  for (const SassInstructionSite& s : memory) {
    if (s.op->bytes != kWord) return std::nullopt;
    if (s.op->kind == AccessKind::load)
      found.once.push_back(s);
    else if (s.op->kind == AccessKind::atom && s.instruction->has("CAS"))
      ++swaps;
    else
      return std::nullopt;
  }
  if (access.bytes >= kWord || swaps == 0 || swaps != found.once.size()) return std::nullopt;
  found.issue.bytes = kWord;
  found.issue.kind = AccessKind::atom;
  found.issue.lanes = SassAccessOfPtxInstruction::Lanes::narrow_cas_loop;
  found.issue.form = SharedAtomicForm::compare_swap;
  found.copies = static_cast<int>(swaps);
  found.note = "a loop of " + found.once[0].instruction->opcode +
               " and a compare-and-swap: more rounds on hardware when warps collide";
  return found;
}

std::string opcode_list(const std::vector<SassInstructionSite>& memory) {
  std::string text;
  for (const SassInstructionSite& s : memory) {
    if (!text.empty()) text += ", ";
    if (!s.instruction->guard.empty()) text += "@" + s.instruction->guard + " ";
    text += s.instruction->opcode;
    if (text.size() > 80) return text + " …";
  }
  return text.empty() ? "no memory instruction" : text;
}

}  // namespace

std::optional<AtomicSassLowering> match_ptx_atomic_to_sass(
    const PtxAccess& access, const std::vector<SassInstructionSite>& sites, std::string* why) {
  std::vector<SassInstructionSite> memory, helpers, loads, swaps, guarded, when_true, when_false;
  for (const SassInstructionSite& s : sites) {
    if (s.slow_path()) continue;
    (s.op && s.op->space != MemorySpace::local ? memory : helpers).push_back(s);
  }
  bool widths_agree = !memory.empty();
  for (const SassInstructionSite& s : memory) {
    widths_agree &= s.op->bytes == access.bytes;
    if (s.op->kind == AccessKind::load) loads.push_back(s);
    if (s.instruction->has("CAST")) swaps.push_back(s);
    if (!s.instruction->guard.empty() && is_guard_set_by_sequence(helpers, s)) {
      guarded.push_back(s);
      (s.instruction->guard[0] == '!' ? when_false : when_true).push_back(s);
    }
  }
  *why = opcode_list(memory);
  if (auto generic = recognise_generic_atomic(access, memory)) return generic;
  if (auto loop = recognise_narrow_cas_loop(access, memory)) return loop;
  if (!widths_agree) return std::nullopt;

  AtomicSassLowering found;
  found.issue.bytes = static_cast<uint8_t>(access.bytes);
  found.issue.kind = AccessKind::atom;

  // The sequence LDS, add, ATOMS.CAST.SPIN repeats until the swap succeeds.
  if (!swaps.empty()) {
    if (swaps.size() != loads.size() || memory.size() != 2 * swaps.size()) return std::nullopt;
    found.issue.lanes = SassAccessOfPtxInstruction::Lanes::spin;
    found.issue.form = SharedAtomicForm::spin_swap;
    found.copies = static_cast<int>(swaps.size());
    found.own_loops = 1;
    found.note = "a loop of " + loads[0].instruction->opcode + " and " +
                 swaps[0].instruction->opcode +
                 ": more rounds on hardware when warps of a block collide";
    return found;
  }
  if (!loads.empty()) return std::nullopt;

  const SassInstruction& first = *memory[0].instruction;
  found.issue.kind = memory[0].op->kind;
  if (first.has("POPC")) found.issue.form = SharedAtomicForm::increment;
  if (first.has("CAS")) found.issue.form = SharedAtomicForm::compare_swap;
  for (const SassInstructionSite& s : memory) {
    if (s.op->kind != found.issue.kind || s.instruction->opcode != first.opcode)
      return std::nullopt;
  }

  const bool elects = any_has_opcode(helpers, {"VOTE", "VOTEU"});
  if (!elects) {
    if (!guarded.empty() || any_has_opcode(helpers, {"MATCH", "REDUX", "SHFL"}))
      return std::nullopt;
    found.copies = static_cast<int>(memory.size());
    if (found.issue.kind != access.kind || found.issue.form == SharedAtomicForm::increment)
      found.note = "issued as " + first.opcode;
    return found;
  }
  // In a warp-aggregated atomic, the election of a lane guards every instruction.
  if (guarded.size() != memory.size()) return std::nullopt;
  found.own_guard = true;
  if (when_false.empty()) {
    found.issue.lanes = SassAccessOfPtxInstruction::Lanes::leader;
    found.copies = static_cast<int>(when_true.size());
    found.note = "the warp agrees first, then one lane issues " + first.opcode;
    return found;
  }
  // On Turing, an incomplete warp executes @!P0 RED in every lane, and a complete warp executes
  // @P0 RED in one lane.
  if (when_false.size() != when_true.size() || !any_has_opcode(helpers, {"SHFL"}))
    return std::nullopt;
  found.issue.lanes = SassAccessOfPtxInstruction::Lanes::full_leader;
  found.copies = static_cast<int>(when_true.size());
  found.note = "a whole warp agrees first, then one lane issues " + first.opcode;
  return found;
}

// ---------------------------------------------------------------------------------------------
// Compare-and-swap loops, by which ptxas implements some sums in shared memory (emitted.h).

namespace {

// The loop of the kernel around a compare-and-swap loop. ptxas may have merged both into one loop.
int kernel_loop_around_cas_loop(const SassInstructionSite& site) {
  const LoopsAndControlDependence& structure = site.flow->structure;
  const int own = structure.loop_of[static_cast<size_t>(site.block)];
  if (own < 0) return own;
  const Loop& loop = structure.loops[static_cast<size_t>(own)];
  const auto blocks = std::count(loop.holds.begin(), loop.holds.end(), true);
  return loop.header != site.block || blocks > 1 ? own : loop.parent;
}

}  // namespace

bool is_cas_spin_site(const SassInstructionSite& site) { return site.instruction->has("CAST"); }

std::map<int, int> cas_copies_in_kernel_loop_by_block(
    const std::vector<const SassInstructionSite*>& sites) {
  std::map<int, int> around, copies;
  for (const SassInstructionSite* site : sites)
    if (is_cas_spin_site(*site)) ++around[kernel_loop_around_cas_loop(*site)];
  for (const SassInstructionSite* site : sites)
    if (is_cas_spin_site(*site)) copies[site->block] = around[kernel_loop_around_cas_loop(*site)];
  return copies;
}

void record_cas_loop(const SassInstructionSite& site, int32_t index,
                     const EmittedSassBlock::PtxInstructionCopies& origin,
                     std::map<int, EmittedSassBlock>& blocks) {
  const LoopsAndControlDependence& structure = site.flow->structure;
  const int own = structure.loop_of[static_cast<size_t>(site.block)],
            around = kernel_loop_around_cas_loop(site);
  for (auto& [number, block] : blocks) {
    if (structure.loop_of[static_cast<size_t>(number)] != own) continue;
    block.spin_loop = index;
    block.origins.push_back(origin);
  }
  if (around == own) return;
  const int before = structure.dominator[static_cast<size_t>(site.block)];
  for (const int beside : {before, site.block + 1})
    if (blocks.count(beside) != 0 && structure.loop_of[static_cast<size_t>(beside)] == around)
      blocks[beside].origins.push_back(origin);
}

int remove_peeled_cas_loops(const std::vector<const SassInstructionSite*>& sites, int32_t index,
                            const EmittedSassBlock::PtxInstructionCopies& entered,
                            std::map<int, int>& where, std::map<int, EmittedSassBlock>& blocks) {
  int inside = 0, peeled = 0;
  for (const SassInstructionSite* site : sites)
    inside += is_cas_spin_site(*site) && kernel_loop_around_cas_loop(*site) >= 0;
  if (inside == 0) return 0;
  for (const SassInstructionSite* site : sites) {
    if (!is_cas_spin_site(*site) || kernel_loop_around_cas_loop(*site) >= 0) continue;
    ++peeled;
    where.erase(site->block);
    record_cas_loop(*site, index, entered, blocks);
  }
  return peeled;
}

}  // namespace lab32::sass
