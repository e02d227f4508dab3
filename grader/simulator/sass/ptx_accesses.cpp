// Analyses a PTX function: traces addresses through additions. A register is taken as live if any
// instruction has it as a source.
#include "simulator/sass/ptx_accesses.h"

#include <algorithm>

#include "base/error.h"
#include "simulator/core/isa/fragments.h"
#include "simulator/ptx/module.h"
#include "simulator/ptx/register_uses.h"

namespace lab32::sass {
namespace {

using ptx::Modifier;
using ptx::Operand;
using ptx::OpId;
using sim::AccessKind;

const Operand* address_operand_of(const ptx::Instruction& in) {
  // cp.async names the address in shared memory first. The counters count its load, from the
  // address in global memory.
  const Operand* found = nullptr;
  for (const Operand& op : in.operands) {
    if (op.kind == Operand::Kind::address) found = &op;
  }
  return found;
}

AccessKind access_kind_of(const ptx::Instruction& in) {
  switch (in.op->traits.memory[in.op->traits.memory_count - 1u].kind) {
    case ptx::AddressUse::Kind::store:
      return AccessKind::store;
    case ptx::AddressUse::Kind::update:
      return in.op->operands[0].is_dest ? AccessKind::atom : AccessKind::red;
    default:
      return AccessKind::load;
  }
}

PtxAccess::Form access_form_of(const ptx::InstructionTraits& traits) {
  if (traits.matrix) return PtxAccess::Form::matrix;
  if (traits.fragments) return PtxAccess::Form::fragment;
  if (traits.memory_count == 2) return PtxAccess::Form::async_copy;
  return traits.is_atomic() ? PtxAccess::Form::atomic : PtxAccess::Form::plain;
}

// The bytes per lane of the accesses that move a fragment; empty for a form that the simulator does
// not support.
std::vector<int> fragment_access_bytes_per_lane(const ptx::Instruction& in) {
  std::vector<int> bytes;
  try {
    sim::FragmentOp op = sim::fragment_op_of(in);
    op.moved.compute_positions();
    for (const sim::FragmentRegisterSlice& part : sim::access_parts_of(op))
      bytes.push_back(static_cast<int>(part.count * part.bytes));
  } catch (const Error&) {
  }
  return bytes;
}

MemorySpace memory_space_of(ptx::Space space) {
  switch (space) {
    case ptx::Space::shared:
      return MemorySpace::shared;
    case ptx::Space::local:
      return MemorySpace::local;
    case ptx::Space::global:
      return MemorySpace::global;
    default:
      return MemorySpace::generic;
  }
}

}  // namespace

bool PtxAccess::any_live() const { return std::find(live.begin(), live.end(), true) != live.end(); }

PtxFunction::PtxFunction(const ptx::Function& function)
    : function_(&function), flow_(ptx::analyse_control_flow(function)) {
  ControlFlowGraph graph;
  const int exit = static_cast<int>(flow_.blocks.size());
  for (const ptx::BasicBlock& block : flow_.blocks) {
    graph.next.push_back(block.successors);
    if (block.may_exit) graph.next.back().push_back(exit);
  }
  structure_ = analyse_control_structure(graph);
  find_definitions();
  for (size_t i = 0; i < function.body.size(); ++i) add_access(static_cast<int>(i));
}

void PtxFunction::find_definitions() {
  definitions_.resize(function_->registers.size());
  read_.assign(function_->registers.size(), false);
  for (size_t i = 0; i < function_->body.size(); ++i) {
    ptx::for_each_register(*function_, function_->body[i], [&](int reg, bool is_destination) {
      if (is_destination)
        definitions_[static_cast<size_t>(reg)].push_back(static_cast<int>(i));
      else
        read_[static_cast<size_t>(reg)] = true;
    });
  }
}

// Identifies the definition of a register that reaches an instruction: the last one before it in
// its block, or the one that enters the block.
int PtxFunction::definition_version(int reg, int at) const {
  const auto& definitions = definitions_[static_cast<size_t>(reg)];
  if (definitions.size() <= 1) return 0;
  const int block = flow_.block_of[static_cast<size_t>(at)];
  int last = -1 - block;
  for (int d : definitions) {
    if (flow_.block_of[static_cast<size_t>(d)] == block && d < at) last = std::max(last, d);
  }
  return last;
}

void PtxFunction::trace_address_base(int reg, int at, PtxAccess& access) const {
  while (true) {
    const auto& definitions = definitions_[static_cast<size_t>(reg)];
    if (definitions.size() != 1) break;
    const ptx::Instruction& in = function_->body[static_cast<size_t>(definitions[0])];
    if (in.guard >= 0) break;
    auto is = [&](size_t i, Operand::Kind kind) {
      return i < in.operands.size() && in.operands[i].kind == kind;
    };
    const OpId id = in.op->id;
    if (id == OpId::add_int && is(1, Operand::Kind::reg) && is(2, Operand::Kind::integer)) {
      access.offset += in.operands[2].value;
    } else if (id == OpId::sub_int && is(1, Operand::Kind::reg) && is(2, Operand::Kind::integer)) {
      access.offset -= in.operands[2].value;
    } else if (id != OpId::mov && id != OpId::cvta && id != OpId::cvta_to) {
      break;
    } else if (is(1, Operand::Kind::symbol)) {
      access.root = AddressBase{-1, 0, in.operands[1].name};
      access.offset += in.operands[1].value;
      return;
    } else if (!is(1, Operand::Kind::reg)) {
      break;
    }
    at = definitions[0];
    reg = in.operands[1].reg;
  }
  access.root = AddressBase{reg, definition_version(reg, at), {}};
}

void PtxFunction::add_access(int index) {
  const ptx::Instruction& in = function_->body[static_cast<size_t>(index)];
  const ptx::InstructionTraits& traits = in.op->traits;
  if (traits.ptx_level) return;
  if (traits.is_texture()) return add_texel_access(index);
  if (!traits.has_counted_memory_access()) return;
  const ptx::Space space = ptx::memory_space(in, traits.memory_count - 1u);
  if (space == ptx::Space::constant) return;  // no counter includes constant loads
  const int block = flow_.block_of[static_cast<size_t>(index)];
  if (!structure_.reachable[static_cast<size_t>(block)]) return;
  PtxAccess a;
  a.index = index;
  a.kind = access_kind_of(in);
  a.form = access_form_of(traits);
  a.space = memory_space_of(space);
  a.element_bytes = static_cast<int>(ptx::element_bytes(in));
  a.bytes = a.element_bytes * (in.has(Modifier::v4) ? 4 : in.has(Modifier::v2) ? 2 : 1);
  a.live.assign(static_cast<size_t>(a.bytes / std::max(a.element_bytes, 1)), true);
  if (a.form == PtxAccess::Form::plain && a.kind == AccessKind::load) {
    const Operand* data = &in.operands[0];
    auto is_live = [&](const Operand& op) {
      return op.kind == Operand::Kind::reg && read_[static_cast<size_t>(op.reg)];
    };
    if (data->kind == Operand::Kind::vector) {
      for (size_t e = 0; e < a.live.size() && e < data->elements.size(); ++e)
        a.live[e] = is_live(data->elements[e]);
    } else {
      a.live[0] = is_live(*data);
    }
    // A volatile load is executed even if its result is not used.
    if (in.has(Modifier::op_volatile)) a.live.assign(a.live.size(), true);
  }
  if (a.form == PtxAccess::Form::fragment) a.parts = fragment_access_bytes_per_lane(in);
  a.guard = in.guard;
  a.guard_negated = in.guard_negated;
  a.block = block;
  if (const Operand* address = address_operand_of(in)) {
    a.offset = address->value;
    if (address->reg >= 0)
      trace_address_base(address->reg, index, a);
    else
      a.root = AddressBase{-1, 0, address->name};
  }
  accesses_.push_back(std::move(a));
}

void PtxFunction::add_texel_access(int index) {
  const ptx::Instruction& in = function_->body[static_cast<size_t>(index)];
  PtxTextureOrSurfaceAccess t;
  t.index = index;
  t.store = t.live = in.op->traits.writes_texels;
  ptx::for_each_register(*function_, in, [&](int r, bool is_destination) {
    if (is_destination)
      t.live = t.live || read_[static_cast<size_t>(r)];
    else
      t.sources.push_back(r);
  });
  t.block = flow_.block_of[static_cast<size_t>(index)];
  texels_.push_back(std::move(t));
}

bool PtxFunction::register_varies(int reg, int loop, std::vector<int>& asked) const {
  if (std::find(asked.begin(), asked.end(), reg) != asked.end()) return false;
  asked.push_back(reg);
  const auto& definitions = definitions_[static_cast<size_t>(reg)];
  const Loop& l = structure_.loops[static_cast<size_t>(loop)];
  for (int d : definitions) {
    if (!l.holds[static_cast<size_t>(flow_.block_of[static_cast<size_t>(d)])]) continue;
    const ptx::Instruction& in = function_->body[static_cast<size_t>(d)];
    if (definitions.size() > 1 || in.call >= 0) return true;
    if (in.op->traits.may_differ_when_repeated()) return true;
    bool varies = false;
    ptx::for_each_register(*function_, in, [&](int r, bool is_destination) {
      if (!is_destination && !varies) varies = register_varies(r, loop, asked);
    });
    if (varies) return true;
  }
  return false;
}

bool PtxFunction::varies_in_loop(const PtxAccess& access, int loop) const {
  if (access.root.reg < 0) return false;
  std::vector<int> asked;
  return register_varies(access.root.reg, loop, asked);
}

bool PtxFunction::varies_in_loop(const PtxTextureOrSurfaceAccess& texels, int loop) const {
  std::vector<int> asked;
  bool any = false;
  for (int r : texels.sources) any |= register_varies(r, loop, asked);
  return any;
}

bool PtxFunction::sources_are_defined_once(const PtxTextureOrSurfaceAccess& texels) const {
  return std::all_of(texels.sources.begin(), texels.sources.end(),
                     [&](int r) { return definitions_[static_cast<size_t>(r)].size() <= 1; });
}

std::vector<int> PtxFunction::controlling_lines(int block) const {
  std::vector<int> lines;
  for (int d : structure_.controlling_branches[static_cast<size_t>(block)]) {
    const Loop* around = nullptr;
    for (const Loop& l : structure_.loops) {
      if (l.holds[static_cast<size_t>(block)] && l.holds[static_cast<size_t>(d)]) around = &l;
    }
    // If a branch of an enclosing loop can leave that loop, it decides only the number of
    // iterations.
    if (around != nullptr) {
      bool leaves = false;
      for (int to : flow_.blocks[static_cast<size_t>(d)].successors)
        leaves |= !around->holds[static_cast<size_t>(to)];
      if (leaves) continue;
    }
    const int last = flow_.blocks[static_cast<size_t>(d)].last - 1;
    lines.push_back(function_->body[static_cast<size_t>(last)].ptx_line);
    add_lines_of_other_arm(d, block, lines);
  }
  return lines;
}

// Adds the lines of the branch's other arm, because ptxas may give the branch a line from it.
void PtxFunction::add_lines_of_other_arm(int decider, int block, std::vector<int>& lines) const {
  const auto is_decided = [&](int b) {
    const auto& by = structure_.controlling_branches[static_cast<size_t>(b)];
    return b != decider && std::find(by.begin(), by.end(), decider) != by.end();
  };
  for (int arm : flow_.blocks[static_cast<size_t>(decider)].successors) {
    std::vector<int> found;
    if (is_decided(arm)) found.push_back(arm);
    for (size_t i = 0; i < found.size(); ++i)
      for (int to : flow_.blocks[static_cast<size_t>(found[i])].successors)
        if (is_decided(to) && std::find(found.begin(), found.end(), to) == found.end())
          found.push_back(to);
    if (std::find(found.begin(), found.end(), block) != found.end()) continue;
    for (int b : found) {
      const ptx::BasicBlock& other = flow_.blocks[static_cast<size_t>(b)];
      for (int at = other.first; at < other.last; ++at)
        lines.push_back(function_->body[static_cast<size_t>(at)].ptx_line);
    }
  }
}

std::vector<int32_t> PtxFunction::loop_exit_branches(int loop) const {
  std::vector<int32_t> branches;
  const Loop& outer = structure_.loops[static_cast<size_t>(loop)];
  for (size_t b = 0; b < flow_.blocks.size(); ++b) {
    if (!outer.holds[b]) continue;
    bool leaves = false;
    for (const Loop& l : structure_.loops) {
      if (!l.holds[b] || !outer.holds[static_cast<size_t>(l.header)]) continue;
      for (int to : flow_.blocks[b].successors) leaves |= !l.holds[static_cast<size_t>(to)];
    }
    if (leaves) branches.push_back(flow_.blocks[b].last - 1);
  }
  return branches;
}

}  // namespace lab32::sass
