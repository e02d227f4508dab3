#include "simulator/sass/emitted.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/control_flow.h"
#include "simulator/sass/operands.h"

namespace lab32::sass {

namespace {

bool becomes_one_sass_instruction(const ptx::Instruction& in) {
  const ptx::InstructionTraits& t = in.op->traits;
  return t.has_counted_memory_access() || t.is_block_barrier() ||
         t.issue == ptx::CostClass::shuffle || t.issue == ptx::CostClass::fp;
}

// Whether the SASS instruction implements the anchor `in`. Each copy of an anchor has exactly one
// such instruction.
bool can_implement(const SassInstructionSite& site, const ptx::Instruction& in) {
  const ptx::InstructionTraits& t = in.op->traits;
  const std::string_view base = site.instruction->base();
  if (t.has_counted_memory_access()) return site.op.has_value();
  if (t.is_block_barrier()) return base == "BAR";
  if (t.issue == ptx::CostClass::shuffle) return base == "SHFL";
  return t.issue == ptx::CostClass::fp && (base.front() == 'F' || base.front() == 'D');
}

// For each SASS block: the number of copies of one PTX instruction that it contains. If several
// instructions implement a copy and none of them is the anchor's, the opcode that occurs least
// often gives the number.
std::map<int, int> count_copies_by_block(const std::vector<const SassInstructionSite*>& sites,
                                         const ptx::Instruction& in) {
  std::map<int, int> copies;
  for (const SassInstructionSite* site : sites)
    if (can_implement(*site, in)) ++copies[site->block];
  if (!copies.empty()) return copies;
  std::map<int, std::map<std::string_view, int>> in_block;
  for (const SassInstructionSite* site : sites) ++in_block[site->block][site->instruction->opcode];
  for (const auto& [block, of_opcode] : in_block) {
    int fewest = of_opcode.begin()->second;
    for (const auto& [opcode, count] : of_opcode) fewest = std::min(fewest, count);
    copies[block] = fewest;
  }
  return copies;
}

// Whether the instruction calls the slow path of a root or quotient, which handles operands that
// are tiny, huge or NaN.
bool calls_slow_path(const SassInstruction& in) {
  if (in.base() != "CALL") return false;
  for (const char* name : {"_slowpath", "_mediumpath", "_f64_full"})
    if (in.operands.find(name) != std::string::npos) return true;
  return false;
}

EmittedInstruction emitted_instruction_of(const SassInstruction& in) {
  EmittedInstruction to;
  to.opcode = in.opcode;
  to.address = static_cast<int32_t>(in.address);
  to.control = in.control;
  to.registers = operands_of(in);
  return to;
}

// The internal functions of ptxas, such as a 64-bit quotient, by name. Each is treated as
// straight-line code.
std::map<std::string, std::vector<const SassInstructionSite*>> code_of_ptxas_internal_functions(
    const SassInstructionsByPtxLine& sites) {
  std::map<std::string, std::vector<const SassInstructionSite*>> functions;
  for (const auto& [line, of_line] : sites.by_line())
    for (const SassInstructionSite& site : of_line)
      if (site.function->name.rfind("$__internal", 0) == 0)
        functions[site.function->name].push_back(&site);
  for (auto& [name, code] : functions)
    std::sort(code.begin(), code.end(),
              [](const SassInstructionSite* a, const SassInstructionSite* b) {
                return a->index < b->index;
              });
  return functions;
}

// The name of a called function in "`($__internal_0_$__cuda_sm20_div_u64)".
std::string called_function_name(const SassInstruction& in) {
  const size_t open = in.operands.find('('), close = in.operands.find(')', open);
  if (in.base() != "CALL" || close == std::string::npos) return {};
  return in.operands.substr(open + 1, close - open - 1);
}

// Adds to each block its instructions in their order, and the loops around it.
void append_sass_and_loops_to_blocks(const ptx::Function& function,
                                     const SassInstructionsByPtxLine& sites,
                                     std::vector<const SassInstructionSite*> code,
                                     std::map<int, EmittedSassBlock>& blocks) {
  const auto functions = code_of_ptxas_internal_functions(sites);
  std::map<int, int32_t> of_line;
  for (size_t i = 0; i < function.body.size(); ++i)
    of_line.emplace(function.body[i].ptx_line, static_cast<int32_t>(i));
  std::sort(code.begin(), code.end(),
            [](const SassInstructionSite* a, const SassInstructionSite* b) {
              return a->index < b->index;
            });
  std::map<int, RegisterBanks> banks;
  for (const SassInstructionSite* site : code) {
    EmittedSassBlock& block = blocks[site->block];
    EmittedInstruction& to = block.code.emplace_back(emitted_instruction_of(*site->instruction));
    to.banks = banks[site->block].operands_by_bank(*site->instruction);
    block.rare |= calls_slow_path(*site->instruction);
    // operands "SB0, 0x1"
    const size_t comma = site->instruction->operands.find(", 0x");
    if (site->instruction->base() == "DEPBAR" && comma != std::string::npos)
      to.pending = static_cast<int>(
          std::strtol(site->instruction->operands.c_str() + comma + 2, nullptr, 16));
    if (const auto at = of_line.find(site->instruction->ptx_line); at != of_line.end()) {
      to.origin = at->second;
      const ptx::Instruction& in = function.body[static_cast<size_t>(to.origin)];
      to.is_copy = becomes_one_sass_instruction(in) && in.op->traits.issue != ptx::CostClass::fp &&
                   can_implement(*site, in);
    }
    const bool first = block.code.size() == 1;
    if (const auto of = functions.find(called_function_name(*site->instruction));
        of != functions.end())
      for (const SassInstructionSite* inside : of->second)
        block.code.push_back(emitted_instruction_of(*inside->instruction));
    if (!first) continue;
    const LoopsAndControlDependence& structure = site->flow->structure;
    for (int loop = structure.loop_of[static_cast<size_t>(site->block)]; loop >= 0;
         loop = structure.loops[static_cast<size_t>(loop)].parent) {
      const auto header = blocks.find(structure.loops[static_cast<size_t>(loop)].header);
      if (header != blocks.end())
        block.loops.insert(block.loops.begin(), static_cast<size_t>(header->first));
    }
  }
  // Blocks without code are not in the list, so block numbers are replaced by indices in the list.
  for (auto& [index, block] : blocks)
    for (size_t& header : block.loops)
      header =
          static_cast<size_t>(std::distance(blocks.begin(), blocks.find(static_cast<int>(header))));
}

constexpr size_t kScatteredOpcodes = 4;  // number of different opcodes

// Gives origins to blocks without one. ptxas distributes a PTX instruction that becomes many SASS
// instructions, such as a root with its check and its steps, over several blocks. Such a block runs
// as often as the instruction whose opcodes it contains, if no other block contains them. (The
// remainder of an unrolled loop has the same opcodes as the loop.)
void add_missing_block_origins(const std::vector<std::vector<const SassInstructionSite*>>& copies,
                               std::map<int, EmittedSassBlock>& blocks) {
  for (size_t i = 0; i < copies.size(); ++i) {
    std::map<std::string_view, std::set<int>> of_opcode;
    for (const SassInstructionSite* site : copies[i])
      of_opcode[site->instruction->base()].insert(site->block);
    if (of_opcode.size() < kScatteredOpcodes) continue;
    for (const auto& [opcode, where] : of_opcode) {
      EmittedSassBlock& block = blocks[*where.begin()];
      if (where.size() == 1 && block.origins.empty() && !block.entry)
        block.origins.push_back({static_cast<int32_t>(i), 1, false});
    }
  }
}

// A branch skips a rare block. The block behind it therefore runs as often as the block before it.
void copy_exec_count_over_rare_blocks(std::map<int, EmittedSassBlock>& blocks) {
  for (auto at = blocks.begin(); at != blocks.end(); ++at) {
    if (!at->second.rare) continue;
    at->second.origins.clear();
    const auto behind = std::next(at);
    if (at == blocks.begin() || behind == blocks.end()) continue;
    behind->second.origins = std::prev(at)->second.origins;
    behind->second.entry = std::prev(at)->second.entry;
  }
}

// For an instruction in a loop: keeps only the copies inside loops, if there are any.
void prefer_sass_copies_in_loops(const std::map<int, EmittedSassBlock>& blocks,
                                 std::map<int, int>& where) {
  std::map<int, int> inside;
  for (const auto& [block, count] : where)
    if (blocks.at(block).in_loop) inside.emplace(block, count);
  if (!inside.empty()) where = std::move(inside);
}

// Whether ptxas replaced the branch around the instruction by a guard: the block then runs even
// when the instruction does not.
bool branch_became_guard(const std::vector<const SassInstructionSite*>& copies, int block,
                         const ptx::Instruction& in) {
  if (in.guard >= 0) return false;
  return std::any_of(copies.begin(), copies.end(), [&](const SassInstructionSite* site) {
    return site->block == block && !site->instruction->guard.empty();
  });
}

// Whether ptxas merged several accesses into one, which then has fewer copies than the others.
bool is_merged(const std::vector<const SassInstructionSite*>& copies, int block,
               const ptx::Instruction& in) {
  const ptx::InstructionTraits& t = in.op->traits;
  if (!t.has_counted_memory_access() || in.has(ptx::Modifier::v2) || in.has(ptx::Modifier::v4))
    return false;
  const int bytes = static_cast<int>(ptx::element_bytes(in));
  return std::any_of(copies.begin(), copies.end(), [&](const SassInstructionSite* site) {
    return site->block == block && site->op && bytes > 0 && site->op->bytes > bytes;
  });
}

// The last instruction of the block without a guard, which is issued whenever the block runs. A
// guarded instruction is not counted if the guard is false in all lanes.
int32_t last_unguarded_or_first_instruction(const ptx::Function& function,
                                            const ptx::BasicBlock& block) {
  for (int i = block.last - 1; i >= block.first; --i)
    if (function.body[static_cast<size_t>(i)].guard < 0) return i;
  return block.first;
}

// For each instruction whose block has a single predecessor: an instruction that is issued whenever
// the predecessor runs; -1: none. If ptxas replaces the branch between them by a guard, both are
// issued equally often.
std::vector<int32_t> unguarded_predecessor_instructions(const ptx::Function& function,
                                                        const ptx::ControlFlow& flow) {
  std::vector<int32_t> before(function.body.size(), -1);
  for (const ptx::BasicBlock& block : flow.blocks) {
    if (block.predecessors.size() != 1) continue;
    const ptx::BasicBlock& from = flow.blocks[static_cast<size_t>(block.predecessors.front())];
    for (int i = block.first; i < block.last; ++i)
      before[static_cast<size_t>(i)] = last_unguarded_or_first_instruction(function, from);
  }
  return before;
}

// For each instruction in a PTX loop: instructions in the blocks from which its innermost loop is
// entered. They are issued as often as the loop is entered.
std::vector<std::vector<int32_t>> instructions_before_loop_of(const ptx::Function& function,
                                                              const ptx::ControlFlow& flow) {
  std::vector<std::vector<int32_t>> entries(function.body.size());
  ControlFlowGraph graph;
  for (const ptx::BasicBlock& block : flow.blocks) graph.next.push_back(block.successors);
  const LoopsAndControlDependence structure = analyse_control_structure(graph);
  for (size_t i = 0; i < function.body.size(); ++i) {
    const int loop = structure.loop_of[static_cast<size_t>(flow.block_of[i])];
    if (loop < 0) continue;
    const Loop& inside = structure.loops[static_cast<size_t>(loop)];
    for (const int from : flow.blocks[static_cast<size_t>(inside.header)].predecessors)
      if (!inside.holds[static_cast<size_t>(from)])
        entries[i].push_back(
            last_unguarded_or_first_instruction(function, flow.blocks[static_cast<size_t>(from)]));
  }
  return entries;
}

}  // namespace

std::vector<EmittedSassBlock> emitted_sass_blocks(const ptx::Function& function,
                                                  const SassInstructionsByPtxLine& sites) {
  std::map<int, EmittedSassBlock> blocks;
  std::vector<const SassInstructionSite*> code;
  for (const auto& [line, of_line] : sites.by_line()) {
    for (const SassInstructionSite& site : of_line) {
      if (site.function->name != function.name || site.slow_path()) continue;
      EmittedSassBlock& block = blocks[site.block];
      block.in_loop = site.loop_depth() > 0;
      block.entry = site.block == 0;
      code.push_back(&site);
    }
  }
  append_sass_and_loops_to_blocks(function, sites, std::move(code), blocks);
  std::vector<std::vector<const SassInstructionSite*>> copies(function.body.size());
  const ptx::ControlFlow flow = ptx::analyse_control_flow(function);
  const std::vector<std::vector<int32_t>> entries = instructions_before_loop_of(function, flow);
  const std::vector<int32_t> before = unguarded_predecessor_instructions(function, flow);
  for (size_t i = 0; i < function.body.size(); ++i) {
    const ptx::Instruction& in = function.body[i];
    for (const SassInstructionSite& site : sites.sites_of_line(in.ptx_line))
      if (site.function->name == function.name && !site.slow_path()) copies[i].push_back(&site);
    const bool is_spin_loop =
        std::any_of(copies[i].begin(), copies[i].end(),
                    [](const SassInstructionSite* site) { return is_cas_spin_site(*site); });
    std::map<int, int> where = is_spin_loop ? cas_copies_in_kernel_loop_by_block(copies[i])
                                            : count_copies_by_block(copies[i], in);
    const bool known = becomes_one_sass_instruction(in) && !entries[i].empty();
    // ptxas copies the test of a loop in front of the loop. This copy runs once each time the loop
    // is entered.
    if (!known && !entries[i].empty()) prefer_sass_copies_in_loops(blocks, where);
    int peeled = 0;
    if (is_spin_loop && entries[i].size() == 1)
      peeled = remove_peeled_cas_loops(copies[i], static_cast<int32_t>(i),
                                       {entries[i].front(), 1, true}, where, blocks);
    std::map<int, int> blocks_with;  // number of copies -> number of blocks with that many
    for (const auto& [block, count] : where) ++blocks_with[count];
    if (is_spin_loop)
      for (auto& [count, with] : blocks_with) with = std::max(1, with / count);
    for (const auto& [block, count] : where) {
      // The block with the most copies is the unrolled loop; the other blocks are its remainder.
      if (!known && count != blocks_with.rbegin()->first) continue;
      EmittedSassBlock::PtxInstructionCopies origin{
          static_cast<int32_t>(i), 1.0 / (count * blocks_with[count]),
          becomes_one_sass_instruction(in) && !is_merged(copies[i], block, in)};
      if (!is_spin_loop && origin.anchor && branch_became_guard(copies[i], block, in)) {
        origin.anchor = known && before[i] >= 0;
        if (origin.anchor) origin.index = before[i];
      }
      if (known && (blocks_with.size() > 1 || peeled > 0)) {
        origin.copies = count;
        origin.peeled = peeled;
        origin.fewest = count == blocks_with.begin()->first;
        for (auto with = blocks_with.rbegin(); with->first > count; ++with)
          origin.more.push_back(with->first);
        origin.entries = entries[i];
      }
      if (!is_spin_loop) {
        blocks[block].origins.push_back(std::move(origin));
        continue;
      }
      for (const SassInstructionSite* site : copies[i])
        if (site->block == block && is_cas_spin_site(*site))
          record_cas_loop(*site, static_cast<int32_t>(i), origin, blocks);
    }
  }
  add_missing_block_origins(copies, blocks);
  copy_exec_count_over_rare_blocks(blocks);
  std::vector<EmittedSassBlock> all;
  for (auto& [index, block] : blocks) all.push_back(std::move(block));
  return all;
}

namespace {

double runs_from_origin(const EmittedSassBlock::PtxInstructionCopies& origin,
                        const std::vector<uint64_t>& times) {
  const auto all = static_cast<double>(times[static_cast<size_t>(origin.index)]);
  double entered = 0;
  for (const int32_t at : origin.entries)
    entered += static_cast<double>(times[static_cast<size_t>(at)]);
  if (origin.copies == 0 || entered <= 0) return all * origin.share;
  entered = std::min(entered, all);
  if (all <= 0) return 0;
  constexpr double kRounding = 1e-6;
  double left = all / entered - origin.peeled;
  for (const int copies : origin.more) left -= std::floor(left / copies + kRounding) * copies;
  const double here = std::max(left, 0.0) / origin.copies;
  const double blocks = 1 / (origin.share * origin.copies);
  return (origin.fewest ? here : std::floor(here + kRounding)) * entered / blocks;
}

}  // namespace

double expected_runs(const EmittedSassBlock& block, const std::vector<uint64_t>& times) {
  if (times.empty()) return 0;
  const auto warps = static_cast<double>(times.front());
  if (block.entry) return warps;
  double anchor = 0;
  bool anchored = false;
  std::vector<double> others;
  for (const EmittedSassBlock::PtxInstructionCopies& origin : block.origins) {
    const double here = runs_from_origin(origin, times);
    if (origin.anchor) anchor = std::max(anchor, here), anchored = true;
    others.push_back(here);
  }
  if (!anchored && !others.empty()) {
    std::sort(others.begin(), others.end());
    anchor = others[others.size() / 2];
  }
  return block.in_loop ? anchor : std::min(anchor, warps);
}

}  // namespace lab32::sass
