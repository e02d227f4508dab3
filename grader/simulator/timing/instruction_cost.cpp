#include "simulator/timing/instruction_cost.h"

#include <algorithm>
#include <map>
#include <utility>

#include "simulator/ptx/module.h"

namespace lab32::model {
namespace {

using ptx::CostClass;
using ptx::DataType;
using ptx::Modifier;
using Waits = InstructionCost::ResultWaitKind;

// The cycles from the issue of an instruction to that of a dependent one, on all cards since Volta
// (microbenchmarks fma_one, shared_chase and chase of data/measured/model; Jia et al., "Dissecting
// the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, table 4.1).
constexpr double kAlu = 4.5, kDouble = 8, kSpecial = 18;

InstructionCost pipeline_cost(double IssueSlotsByPipeline::*pipe, double slots, double latency) {
  InstructionCost c;
  c.issue.all = slots;
  c.issue.*pipe = slots;
  c.latency = latency;
  return c;
}

InstructionCost logic_cost(double slots) {
  return pipeline_cost(&IssueSlotsByPipeline::alu, slots, slots > 0 ? kAlu : 0);
}

// The cost of additions, moves and left shifts, which ptxas issues alternately to the integer and
// to the multiply-add pipeline.
InstructionCost addition_cost(double slots) {
  InstructionCost c = logic_cost(slots);
  c.issue.alu = slots / 2;
  c.issue.multiply = slots / 4;
  return c;
}

InstructionCost branch_cost() {
  InstructionCost c;
  c.issue.all = 1;
  return c;
}

InstructionCost multiply_cost(double slots) {
  return pipeline_cost(&IssueSlotsByPipeline::multiply, slots, kAlu * slots);
}

// The cost of one pass through the special function unit, with `around` ordinary instructions
// before and after it.
InstructionCost special_function_cost(double around) {
  InstructionCost c = pipeline_cost(&IssueSlotsByPipeline::special, 1, kSpecial + kAlu * around);
  c.issue.all += around;
  c.issue.fp32 += around;
  return c;
}

// The cost of a subroutine or a long inline sequence, which consists of `fused` multiply-adds,
// `other` integer instructions and `specials` passes through the special function unit.
InstructionCost sequence_cost(double fused, double other, double specials) {
  InstructionCost c;
  c.issue.all = fused + other + specials;
  c.issue.fp32 = fused;
  c.issue.alu = other;
  c.issue.special = specials;
  c.latency = kAlu * (fused + other) + kSpecial * specials;
  return c;
}

bool is_wide(DataType type) { return ptx::bits_of(type) == 64; }

InstructionCost memory_unit_cost() { return pipeline_cost(&IssueSlotsByPipeline::memory, 1, 0); }

Waits load_wait_kind_of_space(ptx::Space space) {
  switch (space) {
    case ptx::Space::shared:
      return Waits::shared;
    case ptx::Space::constant:
    case ptx::Space::param:
      return Waits::no;
    default:
      return Waits::global;  // generic addresses are usually global
  }
}

InstructionCost access_cost(const ptx::Instruction& in) {
  InstructionCost c = memory_unit_cost();
  c.has_no_result = !in.op->operands[0].is_dest;
  c.waits = c.has_no_result ? Waits::no : load_wait_kind_of_space(ptx::memory_space(in, 0));
  c.is_atomic = in.op->traits.is_atomic();
  c.reads_only = in.op->traits.read_only;
  return c;
}

InstructionCost copy_wait_cost() {
  InstructionCost c = memory_unit_cost();
  c.waits = Waits::global;
  c.has_no_result = true;
  return c;
}

InstructionCost shuffle_cost() {
  InstructionCost c = memory_unit_cost();
  c.waits = Waits::shuffle;
  return c;
}

// This cost was not measured. The model assumes a half-precision instruction that takes eight
// passes.
InstructionCost tensor_cost() { return pipeline_cost(&IssueSlotsByPipeline::half, 8, 32); }

// This cost was not measured. The model assumes an access to device memory.
InstructionCost texture_cost(const ptx::Instruction& in) {
  InstructionCost c = memory_unit_cost();
  c.has_no_result = in.op->traits.writes_texels;
  c.waits = c.has_no_result ? Waits::no : Waits::global;
  return c;
}

InstructionCost barrier_cost() {
  InstructionCost c;
  c.issue.all = 1;  // barriers have a pipeline of their own: LaunchWorkCounts::barriers
  c.waits = Waits::barrier;
  c.has_no_result = true;
  return c;
}

InstructionCost move_cost(const ptx::Instruction& in) {
  if (in.operands[1].kind == ptx::Operand::Kind::special)
    return pipeline_cost(&IssueSlotsByPipeline::alu, 1, 20);
  return addition_cost(0.25);
}

InstructionCost floating_point_cost(const ptx::Instruction& in) {
  if (in.type() == DataType::f64) return pipeline_cost(&IssueSlotsByPipeline::fp64, 1, kDouble);
  return pipeline_cost(&IssueSlotsByPipeline::fp32, 1, kAlu);
}

// The number of instructions that handle subnormals: without .ftz the argument is scaled before the
// approximation and the result after it.
double scaling(const ptx::Instruction& in) { return in.has(Modifier::ftz) ? 0 : 3; }

InstructionCost conversion_cost(const ptx::Instruction& in) {
  const DataType to = in.type(0), from = in.type(1);
  if (to == DataType::f64 || from == DataType::f64) return special_function_cost(0);
  if (ptx::is_float(to) != ptx::is_float(from)) return special_function_cost(0);
  if (ptx::is_float(to)) return pipeline_cost(&IssueSlotsByPipeline::alu, 1, kAlu);
  return logic_cost(ptx::bits_of(to) > ptx::bits_of(from) && !ptx::is_signed(from) ? 0.5 : 1);
}

}  // namespace

void IssueSlotsByPipeline::add(const IssueSlotsByPipeline& other, double times) {
  for (double IssueSlotsByPipeline::*pipe :
       {&IssueSlotsByPipeline::all, &IssueSlotsByPipeline::fp32, &IssueSlotsByPipeline::alu,
        &IssueSlotsByPipeline::multiply, &IssueSlotsByPipeline::half, &IssueSlotsByPipeline::fp64,
        &IssueSlotsByPipeline::special, &IssueSlotsByPipeline::memory})
    this->*pipe += times * (other.*pipe);
}

InstructionCost cost_of(const ptx::Instruction& in) {
  const bool wide = in.type_count > 0 && is_wide(in.type());
  const bool is_double = in.type() == DataType::f64;
  switch (in.op->traits.issue) {
    case CostClass::unset:
    case CostClass::nothing:
      return {};
    case CostClass::move:
      return move_cost(in);
    // A 64-bit sum is usually an address. ptxas makes it part of a multiply-add or of the access.
    case CostClass::add:
      return addition_cost(1);
    case CostClass::shift_left:
      return addition_cost(wide ? 2 : 1);
    case CostClass::alu:
      return logic_cost(wide ? 2 : 1);
    case CostClass::multiply:
      return multiply_cost(wide ? 4 : 1);
    case CostClass::multiply_high:
      return multiply_cost(wide ? 8 : 2);
    case CostClass::multiply_once:
      return multiply_cost(1);
    case CostClass::divide:
      return wide ? sequence_cost(10, 60, 2) : sequence_cost(4, 14, 2);
    case CostClass::convert:
      return conversion_cost(in);

    case CostClass::fp:
      return floating_point_cost(in);
    case CostClass::fp_divide:
      return is_double ? pipeline_cost(&IssueSlotsByPipeline::fp64, 14, kDouble * 10)
                       : sequence_cost(6, 3, 1);
    case CostClass::fp_root:
      return is_double ? pipeline_cost(&IssueSlotsByPipeline::fp64, 12, kDouble * 9)
                       : sequence_cost(5, 4, 1);
    case CostClass::half:
      return pipeline_cost(&IssueSlotsByPipeline::half, 1, kAlu);
    case CostClass::special:
      return special_function_cost(0);
    case CostClass::special_range:
      return special_function_cost(1);
    case CostClass::special_scaled:
      return special_function_cost(scaling(in));
    case CostClass::special_divide:
      return special_function_cost(in.has(Modifier::full) ? 5 : 1);

    case CostClass::memory:
      return access_cost(in);
    case CostClass::copy_wait:
      return copy_wait_cost();
    case CostClass::shuffle:
      return shuffle_cost();
    case CostClass::vote:
      return logic_cost(2);
    case CostClass::match:
      return logic_cost(8);
    case CostClass::tensor:
      return tensor_cost();
    case CostClass::texture:
      return texture_cost(in);
    case CostClass::barrier:
      return barrier_cost();
    case CostClass::branch:
      return branch_cost();
  }
  return {};
}

ModelledInstruction modelled_instruction_of_ptx(const InstructionCost& cost) {
  using Unit = ModelledInstruction::Unit;
  using Kind = ModelledInstruction::Kind;
  const IssueSlotsByPipeline& i = cost.issue;
  ModelledInstruction in;
  const std::pair<double, Unit> units[] = {{i.alu, Unit::alu},           {i.fp32, Unit::fma},
                                           {i.multiply, Unit::multiply}, {i.half, Unit::half},
                                           {i.special, Unit::special},   {i.fp64, Unit::fp64},
                                           {i.memory, Unit::memory}};
  double most = 0;
  for (const auto& [amount, unit] : units)
    if (amount > most) most = amount, in.unit = unit;
  in.slots = static_cast<uint8_t>(std::clamp(i.all, 1.0, 255.0));
  in.latency = static_cast<float>(cost.latency);
  switch (cost.waits) {
    case Waits::no:
      if (in.unit == Unit::memory) in.kind = cost.has_no_result ? Kind::global_store : Kind::plain;
      break;
    case Waits::global:
      in.kind = Kind::global_load;
      break;
    case Waits::shared:
    case Waits::shuffle:
      in.kind = Kind::shared;
      in.latency = 0;
      break;
    case Waits::barrier:
      in.kind = Kind::barrier;
      break;
  }
  return in;
}

namespace {

// The pipeline of each opcode that is not executed by the integer pipeline: sm_70 to sm_90 (CUDA
// Binary Utilities, "Instruction Set Reference"; sm__inst_executed_pipe_* identified the pipeline,
// data/measured/h200-model-counters.csv).
const std::map<std::string_view, double IssueSlotsByPipeline::*>& pipelines_by_opcode() {
  static const std::map<std::string_view, double IssueSlotsByPipeline::*> table = [] {
    std::map<std::string_view, double IssueSlotsByPipeline::*> pipes;
    const auto add = [&](double IssueSlotsByPipeline::*pipe,
                         std::initializer_list<const char*> opcodes) {
      for (const char* opcode : opcodes) pipes[opcode] = pipe;
    };
    add(&IssueSlotsByPipeline::fp32, {"FADD", "FMUL", "FFMA"});
    add(&IssueSlotsByPipeline::multiply, {"VIADD", "IMAD", "IDP", "IDP4A"});
    add(&IssueSlotsByPipeline::half, {"HADD2", "HMUL2", "HFMA2"});
    add(&IssueSlotsByPipeline::fp64, {"DADD", "DMUL", "DFMA", "DSETP"});
    add(&IssueSlotsByPipeline::special,
        {"MUFU", "FCHK", "I2F", "F2I", "F2F", "I2I", "POPC", "FLO", "BREV"});
    add(&IssueSlotsByPipeline::memory,
        {"LDG", "STG", "LDS", "STS", "LDL", "STL", "LD", "ST", "LDSM", "STSM", "LDGSTS", "ATOM",
         "ATOMG", "ATOMS", "RED", "SHFL"});
    add(nullptr,
        {"REDUX",    "BRA",  "EXIT", "RET",    "CALL",   "BRX",       "BSSY",  "BSYNC", "BREAK",
         "WARPSYNC", "NOP",  "BAR",  "MEMBAR", "DEPBAR", "ERRBAR",    "CCTL",  "YIELD", "S2R",
         "S2UR",     "CS2R", "LDC",  "ULDC",   "R2UR",   "LDGDEPBAR", "MATCH", "BMOV"});
    return pipes;
  }();
  return table;
}

using Kind = ModelledInstruction::Kind;
using Unit = ModelledInstruction::Unit;

const std::map<std::string_view, Kind>& kinds_by_opcode() {
  static const std::map<std::string_view, Kind> table{
      {"LDG", Kind::global_load},   {"LD", Kind::global_load},    {"LDL", Kind::global_load},
      {"ATOM", Kind::global_load},  {"ATOMG", Kind::global_load}, {"STG", Kind::global_store},
      {"ST", Kind::global_store},   {"STL", Kind::global_store},  {"RED", Kind::global_store},
      {"REDG", Kind::global_store}, {"LDS", Kind::shared},        {"STS", Kind::shared},
      {"LDSM", Kind::shared},       {"STSM", Kind::shared},       {"ATOMS", Kind::shared},
      {"SHFL", Kind::shared},       {"LDGSTS", Kind::copy},       {"LDGDEPBAR", Kind::commit},
      {"DEPBAR", Kind::copy_wait},  {"BAR", Kind::barrier},       {"BRA", Kind::branch},
      {"BRX", Kind::branch},        {"CALL", Kind::branch},       {"RET", Kind::branch},
      {"BSYNC", Kind::meet},        {"WARPSYNC", Kind::meet}};
  return table;
}

// Cycles until a dependent instruction can be issued, if not kFixed, on all cards since Volta (Jia
// et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, table 4.1;
// Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
// Microbenchmarking", 2024; kernels fma_one, waves and doubles of data/measured/model). For shared
// memory: in addition to TimeParameters::shared_latency.
const std::map<std::string_view, float>& latency_by_sass_opcode() {
  static const std::map<std::string_view, float> table{
      {"DADD", 8},  {"DMUL", 8},     {"DFMA", 8},   {"DSETP", 12}, {"MUFU", 17}, {"FCHK", 17},
      {"I2F", 17},  {"F2I", 17},     {"F2F", 17},   {"I2I", 17},   {"POPC", 17}, {"FLO", 17},
      {"BREV", 17}, {"LDS", 0},      {"LDSM", 3},   {"ATOMS", 23}, {"SHFL", -3}, {"REDUX", 25},
      {"VOTE", 12}, {"VOTEU", 12},   {"MATCH", 30}, {"S2R", 25},   {"S2UR", 25}, {"CS2R", 20},
      {"LDC", 35},  {"ULDC", 12},    {"R2UR", 12},  {"ISETP", 6},  {"FSETP", 6}, {"PLOP3", 6},
      {"BSYNC", 8}, {"WARPSYNC", 8}, {"HMMA", 33},  {"IMMA", 33}};
  return table;
}

constexpr float kFixed = 4;
// For ATOMS.CAST.SPIN: a warp whose swap failed swaps again after 82 cycles
// (data/measured/model/h200-spins.csv, `same`: each additional warp of two to eight).
constexpr float kCast = -3;

// How many times longer than other instructions an instruction occupies its unit: products whose
// upper half is needed (wide_fill_0, high_fill_0 of data/measured/model), and comparisons of
// doubles (data/measured/model/h200-mix.csv).
double issue_slots_on_own_unit(std::string_view opcode) {
  const auto has = [&](std::string_view word) {
    return opcode.find(word) != std::string_view::npos;
  };
  if (opcode.substr(0, 4) == "IMAD" && (has(".WIDE") || has(".HI"))) return 2;
  if (opcode.substr(0, 5) == "DSETP") return 3;
  return 1;
}

}  // namespace

ModelledInstruction modelled_instruction_of_opcode(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  ModelledInstruction in;
  const IssueSlotsByPipeline issue = issue_slots_of_opcode(opcode);
  in.unit = issue.multiply > 0  ? Unit::multiply
            : issue.fp32 > 0    ? Unit::fma
            : issue.half > 0    ? Unit::half
            : issue.fp64 > 0    ? Unit::fp64
            : issue.special > 0 ? Unit::special
            : issue.memory > 0  ? Unit::memory
            : issue.alu > 0     ? Unit::alu
                                : Unit::none;
  in.unit_passes = static_cast<float>(issue_slots_on_own_unit(opcode));
  const auto latency = latency_by_sass_opcode().find(base);
  in.latency = latency == latency_by_sass_opcode().end() ? kFixed : latency->second;
  if (base == "ATOMS" && opcode.find(".CAST") != std::string_view::npos) in.latency = kCast;
  if (const auto kind = kinds_by_opcode().find(base); kind != kinds_by_opcode().end())
    in.kind = kind->second;
  // BAR.ARV only arrives at the barrier and does not wait.
  if (base == "BAR" && opcode.find(".ARV") != std::string_view::npos) in.kind = Kind::plain;
  return in;
}

IssueSlotsByPipeline issue_slots_of_opcode(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  IssueSlotsByPipeline issue;
  issue.all = 1;
  const auto found = pipelines_by_opcode().find(base);
  if (found == pipelines_by_opcode().end()) {
    // Uniform instructions have a pipeline of their own, which is never the busiest.
    if (base.front() != 'U') issue.alu = 1;
    return issue;
  }
  if (found->second == nullptr) return issue;
  issue.*found->second = issue_slots_on_own_unit(opcode);
  // Only one half of the multiply-add pipeline executes integers, but both halves execute floats.
  if (found->second == &IssueSlotsByPipeline::multiply) issue.fp32 = 1;
  return issue;
}

}  // namespace lab32::model
