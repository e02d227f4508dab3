#include "simulator/timing/machine_issue.h"

#include <map>

namespace lab32::model {
namespace {

// The pipeline of each opcode, where it is not the integer one: sm_70 to sm_90 (CUDA Binary
// Utilities, "Instruction Set Reference"; which pipeline was told by
// sm__inst_executed_pipe_*, data/measured/h200-model-counters.csv).
const std::map<std::string_view, double IssueSlots::*>& pipes() {
  static const std::map<std::string_view, double IssueSlots::*> table{
      {"FADD", &IssueSlots::fp32},
      {"FMUL", &IssueSlots::fp32},
      {"FFMA", &IssueSlots::fp32},
      {"VIADD", &IssueSlots::multiply},
      {"IMAD", &IssueSlots::multiply},
      {"IDP", &IssueSlots::multiply},
      {"IDP4A", &IssueSlots::multiply},
      {"HADD2", &IssueSlots::half},
      {"HMUL2", &IssueSlots::half},
      {"HFMA2", &IssueSlots::half},
      {"DADD", &IssueSlots::fp64},
      {"DMUL", &IssueSlots::fp64},
      {"DFMA", &IssueSlots::fp64},
      {"DSETP", &IssueSlots::fp64},
      {"MUFU", &IssueSlots::special},
      {"FCHK", &IssueSlots::special},
      {"I2F", &IssueSlots::special},
      {"F2I", &IssueSlots::special},
      {"F2F", &IssueSlots::special},
      {"I2I", &IssueSlots::special},
      {"POPC", &IssueSlots::special},
      {"FLO", &IssueSlots::special},
      {"BREV", &IssueSlots::special},
      {"LDG", &IssueSlots::memory},
      {"STG", &IssueSlots::memory},
      {"LDS", &IssueSlots::memory},
      {"STS", &IssueSlots::memory},
      {"LDL", &IssueSlots::memory},
      {"STL", &IssueSlots::memory},
      {"LD", &IssueSlots::memory},
      {"ST", &IssueSlots::memory},
      {"LDSM", &IssueSlots::memory},
      {"STSM", &IssueSlots::memory},
      {"LDGSTS", &IssueSlots::memory},
      {"ATOM", &IssueSlots::memory},
      {"ATOMG", &IssueSlots::memory},
      {"ATOMS", &IssueSlots::memory},
      {"RED", &IssueSlots::memory},
      {"SHFL", &IssueSlots::memory},
      {"REDUX", nullptr},
      {"BRA", nullptr},
      {"EXIT", nullptr},
      {"RET", nullptr},
      {"CALL", nullptr},
      {"BRX", nullptr},
      {"BSSY", nullptr},
      {"BSYNC", nullptr},
      {"BREAK", nullptr},
      {"WARPSYNC", nullptr},
      {"NOP", nullptr},
      {"BAR", nullptr},
      {"MEMBAR", nullptr},
      {"DEPBAR", nullptr},
      {"ERRBAR", nullptr},
      {"CCTL", nullptr},
      {"YIELD", nullptr},
      {"S2R", nullptr},
      {"S2UR", nullptr},
      {"CS2R", nullptr},
      {"LDC", nullptr},
      {"ULDC", nullptr},
      {"R2UR", nullptr},
      {"LDGDEPBAR", nullptr},
      {"MATCH", nullptr},
      {"BMOV", nullptr},
  };
  return table;
}

using Kind = TraceInstruction::Kind;
using Unit = TraceInstruction::Unit;

const std::map<std::string_view, Kind>& kinds() {
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

// Cycles until a dependent instruction can be issued: where it is not kFixed, on all cards since
// Volta (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018,
// table 4.1; Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
// Microbenchmarking", 2024; kernels fma_one, waves and doubles of data/measured/model). Of shared
// memory: besides Time::shared_latency.
const std::map<std::string_view, float>& latencies() {
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
// Of ATOMS.CAST.SPIN: 82 cycles until a warp whose swap was in vain swaps again
// (data/measured/h200-spins.csv, `same`: each of two to eight warps more).
constexpr float kCast = -3;

// How many times as long as others an instruction keeps its unit busy: products of which the upper
// half is wanted, too (wide_fill_0, high_fill_0 of data/measured/model); comparisons of doubles
// (data/measured/h200-mix.csv).
double turns_of(std::string_view opcode) {
  const auto has = [&](std::string_view word) {
    return opcode.find(word) != std::string_view::npos;
  };
  if (opcode.substr(0, 4) == "IMAD" && (has(".WIDE") || has(".HI"))) return 2;
  if (opcode.substr(0, 5) == "DSETP") return 3;
  return 1;
}

}  // namespace

TraceInstruction machine_instruction(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  TraceInstruction in;
  const IssueSlots issue = machine_issue(opcode);
  in.unit = issue.multiply > 0  ? Unit::multiply
            : issue.fp32 > 0    ? Unit::fma
            : issue.half > 0    ? Unit::half
            : issue.fp64 > 0    ? Unit::fp64
            : issue.special > 0 ? Unit::special
            : issue.memory > 0  ? Unit::memory
            : issue.alu > 0     ? Unit::alu
                                : Unit::none;
  in.turns = static_cast<float>(turns_of(opcode));
  const auto latency = latencies().find(base);
  in.latency = latency == latencies().end() ? kFixed : latency->second;
  if (base == "ATOMS" && opcode.find(".CAST") != std::string_view::npos) in.latency = kCast;
  if (const auto kind = kinds().find(base); kind != kinds().end()) in.kind = kind->second;
  // A barrier that it only arrives at.
  if (base == "BAR" && opcode.find(".ARV") != std::string_view::npos) in.kind = Kind::plain;
  return in;
}

IssueSlots machine_issue(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  IssueSlots issue;
  issue.all = 1;
  const auto found = pipes().find(base);
  if (found == pipes().end()) {
    // The uniform datapath is a pipeline of its own that is never the busiest.
    if (base.front() != 'U') issue.alu = 1;
    return issue;
  }
  if (found->second == nullptr) return issue;
  issue.*found->second = turns_of(opcode);
  // One half of the multiply-add pipeline takes integers, both take floats.
  if (found->second == &IssueSlots::multiply) issue.fp32 = 1;
  return issue;
}

}  // namespace lab32::model
