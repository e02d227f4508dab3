#include "simulator/model/machine_issue.h"

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

}  // namespace

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
  issue.*found->second = 1;
  // One half of the multiply-add pipeline takes products of integers, both take floats.
  if (found->second == &IssueSlots::multiply) issue.fp32 = 1;
  return issue;
}

}  // namespace lab32::model
