#include "model/machine_issue.h"

#include <map>

namespace lab32::model {
namespace {

// The pipeline of each opcode, where it is not the integer one: sm_70 to sm_90 (CUDA Binary
// Utilities, "Instruction Set Reference"; which pipeline was told by
// sm__inst_executed_pipe_*, data/measured/h200-model-counters.csv).
const std::map<std::string_view, double Issue::*>& pipes() {
  static const std::map<std::string_view, double Issue::*> table{
      {"FADD", &Issue::fp32},     {"FMUL", &Issue::fp32},     {"FFMA", &Issue::fp32},
      {"IMAD", &Issue::multiply}, {"IDP", &Issue::multiply},  {"IDP4A", &Issue::multiply},
      {"HADD2", &Issue::half},    {"HMUL2", &Issue::half},    {"HFMA2", &Issue::half},
      {"DADD", &Issue::fp64},     {"DMUL", &Issue::fp64},     {"DFMA", &Issue::fp64},
      {"DSETP", &Issue::fp64},    {"MUFU", &Issue::special},  {"I2F", &Issue::special},
      {"F2I", &Issue::special},   {"F2F", &Issue::special},   {"I2I", &Issue::special},
      {"POPC", &Issue::special},  {"FLO", &Issue::special},   {"BREV", &Issue::special},
      {"LDG", &Issue::memory},    {"STG", &Issue::memory},    {"LDS", &Issue::memory},
      {"STS", &Issue::memory},    {"LDL", &Issue::memory},    {"STL", &Issue::memory},
      {"LD", &Issue::memory},     {"ST", &Issue::memory},     {"LDSM", &Issue::memory},
      {"STSM", &Issue::memory},   {"LDGSTS", &Issue::memory}, {"ATOM", &Issue::memory},
      {"ATOMG", &Issue::memory},  {"ATOMS", &Issue::memory},  {"RED", &Issue::memory},
      {"SHFL", &Issue::memory},   {"REDUX", nullptr},         {"BRA", nullptr},
      {"EXIT", nullptr},          {"RET", nullptr},           {"CALL", nullptr},
      {"BRX", nullptr},           {"BSSY", nullptr},          {"BSYNC", nullptr},
      {"BREAK", nullptr},         {"WARPSYNC", nullptr},      {"NOP", nullptr},
      {"BAR", nullptr},           {"MEMBAR", nullptr},        {"DEPBAR", nullptr},
      {"ERRBAR", nullptr},        {"CCTL", nullptr},          {"YIELD", nullptr},
      {"S2R", nullptr},           {"S2UR", nullptr},          {"CS2R", nullptr},
      {"LDC", nullptr},           {"ULDC", nullptr},          {"R2UR", nullptr},
      {"LDGDEPBAR", nullptr},     {"MATCH", nullptr},         {"BMOV", nullptr},
  };
  return table;
}

}  // namespace

Issue machine_issue(std::string_view opcode) {
  const std::string_view base = opcode.substr(0, opcode.find('.'));
  Issue issue;
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
  if (found->second == &Issue::multiply) issue.fp32 = 1;
  return issue;
}

}  // namespace lab32::model
