#include "sim/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "ptx/control_flow.h"
#include "sim/opcode_traits.h"
#include "sim/reach.h"
#include "sim/warp.h"

namespace lab32::sim {
namespace {

using ptx::Operand;
using ptx::OpId;
using ptx::Space;
using ptx::Type;
using Kind = ptx::Operand::Kind;

uint32_t align_up(uint32_t value, uint32_t to) { return (value + to - 1) / to * to; }

// Bytes of one lane's element in a slot for a register of so many bits; predicates: see Slot.
uint8_t element_bytes(unsigned bits) {
  return static_cast<uint8_t>(bits <= 16 ? 2 : bits <= 32 ? 4 : bits <= 64 ? 8 : 16);
}

class Decoder {
 public:
  Decoder(const ptx::Module& module, const SymbolTable& symbols, KernelProgram& program)
      : module_(module), symbols_(symbols), program_(program) {}

  void run(const ptx::Function& kernel, const std::map<std::string, FunctionPlans>& plans) {
    Reach reach = find_functions(module_, kernel);
    functions_ = std::move(reach.functions);
    SharedLayout layout = lay_out_shared(module_, functions_);
    shared_ = std::move(layout.offset);
    program_.shared = std::move(layout.variables);
    program_.static_shared = layout.static_bytes;
    program_.dynamic_offset = layout.dynamic_offset;
    program_.functions.resize(functions_.size());
    for (size_t i = 1; i < functions_.size(); ++i)
      program_.function_at[code_address(static_cast<size_t>(
          functions_[i] - module_.functions.data()))] = static_cast<uint32_t>(i);
    for (size_t i = 0; i < functions_.size(); ++i) {
      if (i < reach.by_name) {
        decode_function(static_cast<uint32_t>(i), plans);
      } else {
        decode_if_possible(static_cast<uint32_t>(i), plans);
      }
    }
  }

 private:
  // A table holds functions that this kernel may never call (a virtual destructor calls `free`), so
  // one that cannot run is refused when it is called.
  void decode_if_possible(uint32_t index, const std::map<std::string, FunctionPlans>& plans) {
    CodeFunction& code = program_.functions[index];
    const size_t sites = program_.sites.size(), calls = program_.calls.size(),
                 tables = program_.branch_tables.size();
    try {
      if (!functions_[index]->refusal.empty()) throw Error(functions_[index]->refusal);
      decode_function(index, plans);
    } catch (const Error& e) {
      code = CodeFunction{};
      code.ptx = functions_[index];
      code.index = index;
      code.refusal = e.what();
      program_.sites.resize(sites);
      program_.plans.resize(sites);
      program_.calls.resize(calls);
      program_.branch_tables.resize(tables);
    }
  }

  // --- one function -----------------------------------------------------------------------------

  void decode_function(uint32_t index, const std::map<std::string, FunctionPlans>& plans) {
    const ptx::Function& f = *functions_[index];
    code_ = &program_.functions[index];
    function_ = &f;
    code_->ptx = &f;
    code_->index = index;
    fixed_.clear();
    specials_.clear();
    locals_.clear();
    local_slots_.clear();
    file_bytes_ = 0;

    const ptx::ControlFlow flow = ptx::analyse_control_flow(f);
    place_registers(flow);
    place_variables();
    auto found = plans.find(f.name);
    const FunctionPlans* own = found == plans.end() ? nullptr : &found->second;

    for (size_t i = 0; i < f.body.size(); ++i) {
      const ptx::Instruction& in = f.body[i];
      Inst out;
      try {
        decode_instruction(in, out);
      } catch (const Error& e) {
        const auto at = module_.position(in.loc);
        throw Error(fmt::format("PTX line {}: {}{}", in.ptx_line, e.what(),
                                at ? fmt::format(" (source: {}:{})", at->file, at->line) : ""));
      }
      out.reconverge = flow.reconverge[i];
      out.site = static_cast<uint32_t>(program_.sites.size());
      program_.sites.push_back({index, static_cast<uint32_t>(i), &in});
      program_.plans.push_back(plan_for(in, own, i));
      program_.order_sensitive |= needs_block_order(in, out);
      code_->code.push_back(out);
    }
    // The end of a body is a return.
    static const ptx::Instruction kReturn = [] {
      ptx::Instruction r;
      for (const auto& row : ptx::opcode_table())
        if (row.id == OpId::ret) r.op = &row;
      return r;
    }();
    Inst end;
    end.ptx = &kReturn;
    end.flow = Flow::ret;
    end.exec = pick(kReturn);
    end.site = static_cast<uint32_t>(program_.sites.size());
    program_.sites.push_back({index, static_cast<uint32_t>(f.body.size()), &kReturn});
    program_.plans.emplace_back();
    code_->code.push_back(end);
    code_->register_bytes = file_bytes_;
  }

  void place_registers(const ptx::ControlFlow& flow) {
    const ptx::RegisterSlots slots = ptx::assign_slots(*function_, flow);
    std::vector<uint32_t> offset(slots.slot_bits.size());
    for (size_t s = 0; s < offset.size(); ++s)
      offset[s] = allocate_slot(slots.slot_bits[s] == 1 ? 0 : element_bytes(slots.slot_bits[s]));
    registers_.assign(function_->registers.size(), Slot{});
    for (size_t r = 0; r < registers_.size(); ++r) {
      const int s = slots.slot_of_register[r];
      if (s < 0) continue;
      Slot& slot = registers_[r];
      slot.offset = offset[static_cast<size_t>(s)];
      slot.is_predicate = function_->registers[r].bits == 1;
      slot.bytes = slot.is_predicate ? 1 : element_bytes(function_->registers[r].bits);
    }
    for (int r : slots.live_into_entry) {
      const Slot& slot = registers_[static_cast<size_t>(r)];
      code_->zero.emplace_back(slot.offset, slot.is_predicate ? 4u : slot.bytes * 32u);
    }
    code_->carry_offset = allocate_slot(0);
    code_->zero.emplace_back(code_->carry_offset, 4u);
  }

  // bytes 0: a predicate, one word for all lanes.
  uint32_t allocate_slot(uint8_t bytes) {
    const uint32_t size = bytes == 0 ? 4 : bytes * static_cast<uint32_t>(kWarpSize);
    file_bytes_ = align_up(file_bytes_, std::min<uint32_t>(size, 64));
    const uint32_t at = file_bytes_;
    file_bytes_ += size;
    return at;
  }

  void place_variables() {
    auto place_param = [&](const ptx::Variable& v) {
      code_->param_bytes = align_up(code_->param_bytes, std::max(8u, v.align));
      code_->param_offset[v.name] = code_->param_bytes;
      CodeFunction::ParamRange range{code_->param_bytes, static_cast<uint32_t>(v.size)};
      code_->param_bytes += static_cast<uint32_t>(v.size);
      return range;
    };
    if (!function_->is_entry) {
      for (const auto& v : function_->params) code_->arguments.push_back(place_param(v));
      for (const auto& v : function_->returns) code_->results.push_back(place_param(v));
    } else {
      kernel_params_ = ptx::parameter_offsets(function_->params, &program_.param_bytes);
    }
    for (const auto& v : function_->locals) {
      if (v.space == Space::param) place_param(v);
      if (v.space == Space::local) {
        code_->local_bytes = align_up(code_->local_bytes, std::max(16u, v.align));
        locals_[v.name] = code_->local_bytes;
        code_->local_bytes += static_cast<uint32_t>(v.size);
      }
    }
    code_->param_bytes = align_up(code_->param_bytes, 16);
    code_->local_bytes = align_up(code_->local_bytes, 16);
  }

  // --- operands ---------------------------------------------------------------------------------

  Slot fixed(uint64_t value, uint8_t bytes) {
    const auto key = std::make_pair(value, bytes);
    auto it = fixed_.find(key);
    if (it == fixed_.end()) {
      it = fixed_.emplace(key, allocate_slot(bytes)).first;
      code_->fixed.push_back({it->second, bytes, value});
    }
    return {it->second, bytes, false, false};
  }

  Slot special(ptx::SpecialReg reg) {
    auto it = specials_.find(reg);
    if (it == specials_.end()) {
      it = specials_.emplace(reg, allocate_slot(4)).first;
      code_->specials.push_back({it->second, reg});
    }
    return {it->second, 4, false, false};
  }

  // The value of a variable's or function's name, in `bytes`.
  Slot symbol(const Operand& op, uint8_t bytes, const ptx::Instruction& in) {
    if (auto s = shared_.find(op.name); s != shared_.end())
      return fixed(s->second + static_cast<uint64_t>(op.value), bytes);
    if (auto l = locals_.find(op.name); l != locals_.end()) {
      const auto offset = static_cast<uint32_t>(l->second + op.value);
      const uint32_t key = offset * 2 + (in.op->id == OpId::cvta ? 1 : 0);
      auto it = local_slots_.find(key);
      if (it == local_slots_.end()) {
        it = local_slots_.emplace(key, allocate_slot(bytes)).first;
        // cvta of a name adds the window itself.
        code_->local_addresses.push_back({it->second, bytes, offset, false});
      }
      return {it->second, bytes, false, false};
    }
    if (auto g = symbols_.find(op.name); g != symbols_.end())
      return fixed(g->second + static_cast<uint64_t>(op.value), bytes);
    if (function_->is_entry)
      for (size_t p = 0; p < function_->params.size(); ++p)
        if (function_->params[p].name == op.name)
          return fixed(program_.param_address + kernel_params_[p] + static_cast<uint64_t>(op.value),
                       bytes);
    if (const ptx::Function* f = module_.find_function(op.name); f && !f->is_declaration)
      return fixed(code_address(static_cast<size_t>(f - module_.functions.data())), bytes);
    if (code_->param_offset.count(op.name))
      throw Error(
          fmt::format("the address of the function parameter `{}` is not supported", op.name));
    throw Error(fmt::format("`{}` is declared, but this module does not define it", op.name));
  }

  // A single value of `bytes` (what an immediate takes; a register keeps its own width).
  Slot value(const Operand& op, uint8_t bytes, Type type, const ptx::Instruction& in) {
    switch (op.kind) {
      case Kind::reg: {
        Slot slot = registers_[static_cast<size_t>(op.reg)];
        slot.negated = op.negated;
        return slot;
      }
      case Kind::special:
        return special(op.special);
      case Kind::integer: {
        if (type == Type::pred) return predicate(op.value != 0, op.negated);
        uint64_t bits = static_cast<uint64_t>(op.value);
        if (bytes < 8) bits &= (uint64_t{1} << (8 * bytes)) - 1;
        return fixed(bits, bytes);
      }
      case Kind::real: {
        uint64_t bits = static_cast<uint64_t>(op.value);
        // A literal takes the type of the instruction.
        if (op.is_double && bytes == 4) {
          double d;
          std::memcpy(&d, &bits, sizeof d);
          const auto f = static_cast<float>(d);
          uint32_t narrow;
          std::memcpy(&narrow, &f, sizeof f);
          bits = narrow;
        } else if (!op.is_double && bytes == 8) {
          const auto narrow = static_cast<uint32_t>(bits);
          float f;
          std::memcpy(&f, &narrow, sizeof f);
          const double d = f;
          std::memcpy(&bits, &d, sizeof d);
        }
        return fixed(bits, bytes);
      }
      case Kind::symbol:
        return symbol(op, bytes, in);
      case Kind::none:
      case Kind::wildcard:
        return Slot{};
      default:
        throw Error("an operand of a form this instruction does not have");
    }
  }

  Slot predicate(bool set, bool negated) {
    const uint32_t at = allocate_slot(0);
    code_->fixed.push_back({at, 0, set != negated ? uint64_t{kFullMask} : 0});  // one word
    return {at, 1, true, false};
  }

  void address(const Operand& op, const ptx::Instruction& in, Slot& base, int64_t& offset) {
    offset = op.value;
    if (op.reg >= 0) {
      base = registers_[static_cast<size_t>(op.reg)];
    } else if (!op.name.empty()) {
      Operand name = op;
      name.kind = Kind::symbol;
      name.value = 0;
      base = symbol(name, 8, in);
    } else {
      base = Slot{};
    }
  }

  static uint8_t spec_bytes(const std::string& spec, const ptx::Instruction& in) {
    auto bytes = [](Type t) { return static_cast<uint8_t>(std::max(2u, ptx::bytes_of(t))); };
    if (spec == "T" || spec == "Tp" || spec == "vec" || spec == "any") return bytes(in.type(0));
    if (spec == "U") return bytes(in.type(1));
    if (spec == "V") return bytes(in.type(2));
    if (spec == "W") return static_cast<uint8_t>(2 * ptx::bytes_of(in.type(0)));
    if (spec == "u32p") return 4;
    const Type t = ptx::parse_type(spec);
    return t == Type::none ? 4 : bytes(t);
  }

  // The type of an immediate in that place: the mask in `vote.sync.all.pred p, q, -1` is no
  // predicate.
  static Type spec_type(const std::string& spec, const ptx::Instruction& in) {
    if (spec == "U") return in.type(1);
    if (spec == "V") return in.type(2);
    const Type fixed = ptx::parse_type(spec);
    return fixed == Type::none ? in.type(0) : fixed;
  }

  void add(Inst& out, const Slot& slot, bool is_dest) {
    if (is_dest) {
      if (out.dst_count >= std::size(out.dst)) throw Error("too many destinations");
      out.dst[out.dst_count++] = slot;
    } else {
      if (out.src_count >= std::size(out.src)) throw Error("too many operands");
      out.src[out.src_count++] = slot;
    }
  }

  void decode_instruction(const ptx::Instruction& in, Inst& out) {
    out.ptx = &in;
    out.flow = flow_of(in.op->id);
    if (in.guard >= 0) {
      out.has_guard = true;
      out.guard_negated = in.guard_negated;
      out.guard = registers_[static_cast<size_t>(in.guard)].offset;
    }
    out.exec = pick(in);
    if (in.op->id == OpId::call) return decode_call(in, out);
    if (in.op->id == OpId::bra) {
      out.target = static_cast<uint32_t>(in.operands[0].value);
      return;
    }
    if (in.op->id == OpId::brx) {
      const auto& table = function_->branch_tables[static_cast<size_t>(in.branch_table)];
      out.target = static_cast<uint32_t>(program_.branch_tables.size());
      program_.branch_tables.emplace_back(table.begin(), table.end());
      out.src[out.src_count++] = value(in.operands[0], 4, Type::u32, in);
      return;
    }
    if (in.op->id == OpId::ld_param || in.op->id == OpId::st_param) decode_param(in, out);

    bool second_address = false;
    for (size_t i = 0; i < in.operands.size(); ++i) {
      const Operand& op = in.operands[i];
      const ptx::OperandSpec& spec = in.op->operands[i];
      if (op.kind == Kind::none) continue;
      if (op.kind == Kind::address) {
        if (in.op->id == OpId::ld_param || in.op->id == OpId::st_param) continue;
        if (second_address) {
          address(op, in, out.mem_base2, out.mem_offset2);
        } else {
          address(op, in, out.mem_base, out.mem_offset);
        }
        second_address = true;
        continue;
      }
      const uint8_t bytes = spec_bytes(spec.name, in);
      const Type type = spec_type(spec.name, in);
      if (op.kind == Kind::vector || op.kind == Kind::pair) {
        // mov of {a,b}: the elements share the width of the whole.
        const auto n = static_cast<uint8_t>(op.elements.size());
        const bool packs = in.op->id == OpId::mov;
        for (const Operand& e : op.elements)
          add(out, value(e, packs ? static_cast<uint8_t>(std::max(2, bytes / n)) : bytes, type, in),
              spec.is_dest);
      } else {
        if (op.kind == Kind::special && is_dynamic_special(op.special)) {
          out.exec = pick_read_clock(in);
          continue;
        }
        add(out, value(op, bytes, type, in), spec.is_dest);
      }
    }
    // An atomic whose result nobody reads is a reduction.
    if (in.op->id == OpId::atom && !is_result_read(*function_, in)) out.dst[0] = Slot{};
    switch (in.op->id) {
      case OpId::add_cc:
      case OpId::addc:
      case OpId::sub_cc:
      case OpId::subc:
      case OpId::mad_cc:
      case OpId::madc:
        out.mem_base.offset = code_->carry_offset;
        break;
      default:
        break;
    }
  }

  void decode_param(const ptx::Instruction& in, Inst& out) {
    for (const Operand& op : in.operands) {
      if (op.kind != Kind::address) continue;
      if (op.reg >= 0) {
        if (in.op->id == OpId::st_param) throw Error("st.param through a pointer is not supported");
        out.exec = pick_ld_param_pointer(in);
        address(op, in, out.mem_base, out.mem_offset);
        return;
      }
      if (function_->is_entry && in.op->id == OpId::ld_param) {
        for (size_t p = 0; p < function_->params.size(); ++p) {
          if (function_->params[p].name != op.name) continue;
          out.exec = pick_ld_kernel_param(in);
          out.mem_offset = kernel_params_[p] + op.value;
          return;
        }
      }
      auto found = code_->param_offset.find(op.name);
      if (found == code_->param_offset.end())
        throw Error(fmt::format("`{}` is no parameter", op.name));
      out.mem_offset = found->second + op.value;
    }
  }

  void decode_call(const ptx::Instruction& in, Inst& out) {
    const ptx::CallInfo& call = function_->calls[static_cast<size_t>(in.call)];
    CallSite site;
    auto param = [&](const Operand& op) {
      auto found = code_->param_offset.find(op.name);
      if (op.kind != Kind::symbol || found == code_->param_offset.end())
        throw Error("a call whose arguments are not .param variables is not supported");
      return found->second;
    };
    for (const Operand& op : call.args) site.arguments.push_back(param(op));
    for (const Operand& op : call.returns) site.results.push_back(param(op));
    if (call.target.kind == Kind::reg) {
      site.target = CallSite::Target::indirect;
      site.pointer = registers_[static_cast<size_t>(call.target.reg)];
    } else {
      site.name = call.target.name;
      const ptx::Function* callee = module_.find_function(site.name);
      if (site.name == "vprintf") {
        site.target = CallSite::Target::vprintf;
      } else if (site.name == "__assertfail") {
        site.target = CallSite::Target::assertfail;
      } else if (callee && !callee->is_declaration) {
        site.function = static_cast<uint32_t>(
            std::find(functions_.begin(), functions_.end(), callee) - functions_.begin());
      } else {
        throw Error(
            fmt::format("the device function `{}` is not supported by the simulator", site.name));
      }
    }
    out.target = static_cast<uint32_t>(program_.calls.size());
    program_.calls.push_back(std::move(site));
  }

  const ptx::Module& module_;
  const SymbolTable& symbols_;
  KernelProgram& program_;
  std::vector<const ptx::Function*> functions_;
  std::unordered_map<std::string, uint32_t> shared_;
  std::vector<uint32_t> kernel_params_;

  // of the function being decoded
  const ptx::Function* function_ = nullptr;
  CodeFunction* code_ = nullptr;
  std::vector<Slot> registers_;
  std::map<std::pair<uint64_t, uint8_t>, uint32_t> fixed_;
  std::map<ptx::SpecialReg, uint32_t> specials_;
  std::unordered_map<std::string, uint32_t> locals_;
  std::unordered_map<uint32_t, uint32_t> local_slots_;
  uint32_t file_bytes_ = 0;
};

}  // namespace

std::unique_ptr<KernelProgram> decode(const ptx::Module& module, const ptx::Function& kernel,
                                      const SymbolTable& symbols, uint64_t param_address,
                                      const std::map<std::string, FunctionPlans>& plans) {
  auto program = std::make_unique<KernelProgram>();
  program->module = &module;
  program->param_address = param_address;
  Decoder(module, symbols, *program).run(kernel, plans);
  return program;
}

std::optional<ptx::Module::Position> KernelProgram::position(uint32_t site) const {
  return module->position(sites[site].ptx->loc);
}

}  // namespace lab32::sim
