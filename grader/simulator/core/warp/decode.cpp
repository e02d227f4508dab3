#include "simulator/core/warp/decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "simulator/core/isa/device_calls.h"
#include "simulator/core/isa/fragments.h"
#include "simulator/core/warp/binding.h"
#include "simulator/core/warp/function_slots.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/pointer_origin.h"

namespace lab32::sim {
namespace {

using ptx::DataType;
using ptx::Operand;
using ptx::OpId;
using ptx::Space;
using Kind = ptx::Operand::Kind;

class KernelDecoder {
 public:
  KernelDecoder(const ptx::Module& module, const SymbolTable& symbols, bool heap,
                KernelProgram& program)
      : module_(module), symbols_(symbols), heap_(heap), program_(program) {}

  void decode_reachable_functions(const ptx::Function& kernel,
                                  const std::map<std::string, FunctionPlans>& plans) {
    ReachableFunctions reach = find_reachable_functions(module_, kernel);
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
        program_.uses_heap |= calls_heap_;
      } else {
        decode_if_possible(static_cast<uint32_t>(i), plans);
      }
    }
  }

 private:
  // A table of function pointers contains functions that this kernel may never call (a virtual
  // destructor, for example, calls `free`). A function that cannot run is therefore refused only
  // when it is called.
  void decode_if_possible(uint32_t index, const std::map<std::string, FunctionPlans>& plans) {
    DecodedFunction& code = program_.functions[index];
    const size_t sites = program_.sites.size(), calls = program_.calls.size(),
                 tables = program_.branch_tables.size(), fragments = program_.fragment_ops.size(),
                 textures = program_.texture_ops.size(), bulk = program_.bulk_ops.size();
    try {
      if (!functions_[index]->refusal.empty()) throw Error(functions_[index]->refusal);
      decode_function(index, plans);
    } catch (const Error& e) {
      code = DecodedFunction{};
      code.ptx = functions_[index];
      code.index = index;
      code.refusal = e.what();
      program_.sites.resize(sites);
      program_.plans.resize(sites);
      program_.calls.resize(calls);
      program_.branch_tables.resize(tables);
      program_.fragment_ops.resize(fragments);
      program_.texture_ops.resize(textures);
      program_.bulk_ops.resize(bulk);
    }
  }

  // --- one function -----------------------------------------------------------------------------

  void decode_function(uint32_t index, const std::map<std::string, FunctionPlans>& plans) {
    const ptx::Function& f = *functions_[index];
    code_ = &program_.functions[index];
    function_ = &f;
    code_->ptx = &f;
    code_->index = index;
    const ptx::ControlFlow flow = ptx::analyse_control_flow(f);
    slots_.emplace(names_, flow, *code_);
    if (f.is_entry) program_.param_bytes = slots_->kernel_param_bytes();
    auto found = plans.find(f.name);
    const FunctionPlans* own = found == plans.end() ? nullptr : &found->second;

    const std::vector<bool> polls = ptx::find_polling_loads(module_, f, flow);
    for (size_t i = 0; i < f.body.size(); ++i) {
      const ptx::Instruction& in = f.body[i];
      Inst out;
      try {
        decode_instruction(in, out);
      } catch (const Error& e) {
        throw Error(refusal_with_position(module_, in, e.what()));
      }
      out.order.polls = polls[i];
      out.site = static_cast<uint32_t>(program_.sites.size());
      program_.sites.push_back({index, static_cast<uint32_t>(i), &in});
      program_.plans.push_back(access_plan_for(in, own, i));
      program_.order_sensitive |= needs_block_order(in, out);
      program_.cluster_barriers |= in.op->traits.is_cluster_barrier();
      code_->code.push_back(out);
    }
    find_straight_line_runs(flow, code_->code);
    // The end of a function's body acts as a return.
    static const ptx::Instruction kReturn = [] {
      ptx::Instruction r;
      for (const auto& row : ptx::opcode_table())
        if (row.traits.transfer == ptx::ControlTransfer::ret) r.op = &row;
      return r;
    }();
    Inst end;
    end.ptx = &kReturn;
    end.flow = DispatchKind::ret;
    end.exec = pick_exec_fn(kReturn);
    end.site = static_cast<uint32_t>(program_.sites.size());
    program_.sites.push_back({index, static_cast<uint32_t>(f.body.size()), &kReturn});
    program_.plans.emplace_back();
    code_->code.push_back(end);
    mark_reconvergence(flow, *code_);
    link_accesses_to_shared_variables();
    code_->register_bytes = slots_->bytes();
  }

  // Records for each access to shared memory which variable the program means.
  void link_accesses_to_shared_variables() {
    const std::vector<std::string> origins = ptx::base_variable_by_instruction(*function_);
    for (size_t i = 0; i < origins.size(); ++i) {
      if (function_->body[i].op->traits.memory_count == 0) continue;
      for (const SharedVariable& v : program_.shared) {
        if (v.bytes == 0 || v.name != origins[i]) continue;
        code_->code[i].shared_begin = v.offset;
        code_->code[i].shared_end = v.offset + v.bytes;
      }
    }
  }

  // --- operands ---------------------------------------------------------------------------------

  static uint8_t bytes_of_operand_spec(const std::string& spec, const ptx::Instruction& in) {
    auto bytes = [](DataType t) { return static_cast<uint8_t>(std::max(2u, ptx::bytes_of(t))); };
    if (spec == "T" || spec == "Tp" || spec == "vec" || spec == "any") return bytes(in.type(0));
    if (spec == "U") return bytes(in.type(1));
    if (spec == "V") return bytes(in.type(2));
    if (spec == "W") return static_cast<uint8_t>(2 * ptx::bytes_of(in.type(0)));
    if (spec == "u32p") return 4;
    const DataType t = ptx::type_from_word_or_none(spec);
    return t == DataType::none ? 4 : bytes(t);
  }

  // The type of an immediate operand: the mask in `vote.sync.all.pred p, q, -1` is not a predicate.
  static DataType type_of_operand_spec(const std::string& spec, const ptx::Instruction& in) {
    if (spec == "U") return in.type(1);
    if (spec == "V") return in.type(2);
    const DataType fixed = ptx::type_from_word_or_none(spec);
    return fixed == DataType::none ? in.type(0) : fixed;
  }

  void add_operand_slot(Inst& out, const RegisterSlot& slot, bool is_dest) {
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
    const ptx::InstructionTraits& traits = in.op->traits;
    out.flow = dispatch_of(traits);
    if (in.guard >= 0) {
      out.has_guard = true;
      out.guard_negated = in.guard_negated;
      out.guard = slots_->reg(in.guard).offset;
    }
    out.exec = pick_exec_fn(in);
    out.order = ptx::memory_order(in);
    if (out.flow == DispatchKind::call) return decode_call(in, out);
    if (out.flow == DispatchKind::branch) {
      out.target = static_cast<uint32_t>(in.operands[0].value);
      return;
    }
    if (traits.fragments) return decode_fragments(in, out);
    if (traits.is_texture()) return decode_texture_or_surface(in, out);
    if (traits.bulk) return decode_bulk(in, out);
    if (out.flow == DispatchKind::table_branch) {
      const auto& table = function_->branch_tables[static_cast<size_t>(in.branch_table)];
      out.target = static_cast<uint32_t>(program_.branch_tables.size());
      program_.branch_tables.emplace_back(table.begin(), table.end());
      out.src[out.src_count++] = slots_->value_slot(in.operands[0], 4, DataType::u32, in);
      return;
    }
    const bool of_parameter = traits.memory_count > 0 && traits.memory[0].space == Space::param;
    if (of_parameter) decode_param(in, out);

    bool second_address = false;
    for (size_t i = 0; i < in.operands.size(); ++i) {
      const Operand& op = in.operands[i];
      const ptx::OperandSpec& spec = in.op->operands[i];
      if (op.kind == Kind::none) continue;
      if (op.kind == Kind::address) {
        if (of_parameter) continue;
        if (second_address) {
          slots_->decode_address(op, in, out.mem_base2, out.mem_offset2);
        } else {
          slots_->decode_address(op, in, out.mem_base, out.mem_offset);
        }
        second_address = true;
        continue;
      }
      const uint8_t bytes = bytes_of_operand_spec(spec.name, in);
      const DataType type = type_of_operand_spec(spec.name, in);
      if (op.kind == Kind::vector || op.kind == Kind::pair) {
        // In mov with {a, b} the elements together are as wide as the instruction's type.
        const auto n = static_cast<uint8_t>(op.elements.size());
        const bool packs = in.op->id == OpId::mov;
        for (const Operand& e : op.elements)
          add_operand_slot(
              out,
              slots_->value_slot(e, packs ? static_cast<uint8_t>(std::max(2, bytes / n)) : bytes,
                                 type, in),
              spec.is_dest);
      } else {
        if (op.kind == Kind::special && is_time_varying_special(op.special)) {
          out.exec = pick_read_clock(in);
          program_.reads_clock = true;
          continue;
        }
        program_.reserves_shared |=
            op.kind == Kind::special && is_reserved_shared_register(op.special);
        add_operand_slot(out, slots_->value_slot(op, bytes, type, in), spec.is_dest);
      }
    }
    // An atomic whose result is unused is a reduction, except compare-and-swap, which has no
    // reduction form.
    if (traits.is_atomic() && !in.has(ptx::Modifier::cas) && !is_result_read(*function_, in))
      std::fill(std::begin(out.dst), std::end(out.dst), RegisterSlot{});
    if (traits.carry) out.mem_base.offset = code_->carry_offset;
  }

  void decode_fragments(const ptx::Instruction& in, Inst& out) {
    if (in.op->traits.memory_count > 0)
      slots_->decode_address(in.operands[in.op->operands[0].is_dest ? 1 : 0], in, out.mem_base,
                             out.mem_offset);
    out.target = static_cast<uint32_t>(program_.fragment_ops.size());
    program_.fragment_ops.push_back(fragment_op_of(in, *slots_));
  }

  void decode_texture_or_surface(const ptx::Instruction& in, Inst& out) {
    const TextureOrSurfaceOp op = texture_or_surface_op_of(in, *slots_);
    for (size_t i = 0; i < op.values; ++i)
      add_operand_slot(out, op.value[i], !in.op->traits.writes_texels);
    out.target = static_cast<uint32_t>(program_.texture_ops.size());
    program_.texture_ops.push_back(op);
  }

  void decode_bulk(const ptx::Instruction& in, Inst& out) {
    out.target = static_cast<uint32_t>(program_.bulk_ops.size());
    program_.bulk_ops.push_back(bulk_op_of(in, *slots_));
  }

  void decode_param(const ptx::Instruction& in, Inst& out) {
    const bool is_store = in.op->traits.has_address_used_as(ptx::AddressUse::Kind::store);
    for (const Operand& op : in.operands) {
      if (op.kind != Kind::address) continue;
      if (op.reg >= 0) {
        if (is_store) throw Error("st.param through a pointer is not supported");
        out.exec = pick_ld_param_pointer(in);
        slots_->decode_address(op, in, out.mem_base, out.mem_offset);
        return;
      }
      if (function_->is_entry && !is_store) {
        for (size_t p = 0; p < function_->params.size(); ++p) {
          if (function_->params[p].name != op.name) continue;
          out.exec = pick_ld_kernel_param(in);
          out.mem_offset = slots_->kernel_params()[p] + op.value;
          return;
        }
      }
      auto found = code_->param_offset.find(op.name);
      if (found == code_->param_offset.end())
        throw Error(fmt::format("`{}` is not a parameter", op.name));
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
      site.pointer = slots_->reg(call.target.reg);
    } else {
      site.name = call.target.name;
      const ptx::Function* callee = module_.find_function(site.name);
      using Target = CallSite::Target;
      site.target = call_target(site.name, callee, heap_);
      program_.launches_kernels |= site.target == Target::prepare_launch ||
                                   site.target == Target::launch || site.target == Target::runtime;
      calls_heap_ |= site.target == Target::malloc || site.target == Target::free ||
                     (site.target == Target::runtime && is_kernel_malloc_function(site.name));
      if (site.target == Target::function)
        site.function = static_cast<uint32_t>(
            std::find(functions_.begin(), functions_.end(), callee) - functions_.begin());
    }
    out.target = static_cast<uint32_t>(program_.calls.size());
    program_.calls.push_back(std::move(site));
  }

  const ptx::Module& module_;
  const SymbolTable& symbols_;
  const bool heap_;
  bool calls_heap_ = false;
  KernelProgram& program_;
  std::vector<const ptx::Function*> functions_;
  std::unordered_map<std::string, uint32_t> shared_;  // offsets
  const KernelSymbolAddresses names_{module_, symbols_, shared_, program_.param_address};

  // The function being decoded:
  const ptx::Function* function_ = nullptr;
  DecodedFunction* code_ = nullptr;
  std::optional<RegisterFileLayout> slots_;
};

}  // namespace

std::unique_ptr<KernelProgram> decode(const ptx::Module& module, const ptx::Function& kernel,
                                      const SymbolTable& symbols, uint64_t param_address,
                                      const std::map<std::string, FunctionPlans>& plans,
                                      bool heap) {
  auto program = std::make_unique<KernelProgram>();
  program->module = &module;
  program->param_address = param_address;
  KernelDecoder(module, symbols, heap, *program).decode_reachable_functions(kernel, plans);
  return program;
}

// ---------------------------------------------------------------------------------------------

std::optional<ptx::Module::SourcePosition> KernelProgram::position(uint32_t site) const {
  return module->student_source_position(sites[site].ptx->loc);
}

std::vector<SharedVariable> KernelProgram::shared_variables_of(uint32_t shared_bytes) const {
  std::vector<SharedVariable> all = shared;
  for (SharedVariable& v : all)
    if (v.bytes == 0) v.bytes = shared_bytes - v.offset;
  return all;
}

// ---------------------------------------------------------------------------------------------

namespace {

void check_supported(const ptx::Module& module, const ptx::Function& f, const ptx::Instruction& in,
                     bool heap) {
  pick_exec_fn(in);
  if (in.op->traits.transfer != ptx::ControlTransfer::call) return;
  const ptx::Operand& target = f.calls[static_cast<size_t>(in.call)].target;
  if (target.kind != ptx::Operand::Kind::reg)
    call_target(target.name, module.find_function(target.name), heap);
}

std::string find_refusal(const ptx::Module& module, const ptx::Function& f, bool heap) {
  for (const ptx::Instruction& in : f.body) {
    try {
      check_supported(module, f, in, heap);
    } catch (const Error& e) {
      return refusal_with_position(module, in, e.what());
    }
  }
  return f.refusal;
}

}  // namespace

std::map<std::string, std::string> unsupported_reasons_by_kernel(const ptx::Module& module,
                                                                 bool heap) {
  std::map<const ptx::Function*, std::string> refused;
  for (const ptx::Function& f : module.functions)
    if (std::string why = find_refusal(module, f, heap); !why.empty()) refused[&f] = std::move(why);
  std::map<std::string, std::string> kernels;
  if (refused.empty()) return kernels;
  for (const ptx::Function& kernel : module.functions) {
    if (!kernel.is_entry) continue;
    // The parser has propagated a function's refusal to all its callers.
    if (!kernel.refusal.empty()) {
      kernels[kernel.name] = kernel.refusal;
      continue;
    }
    const ReachableFunctions reach = find_reachable_functions(module, kernel);
    for (size_t i = 0; i < reach.by_name; ++i)
      if (const auto found = refused.find(reach.functions[i]); found != refused.end()) {
        kernels[kernel.name] = found->second;
        break;
      }
  }
  return kernels;
}

}  // namespace lab32::sim
