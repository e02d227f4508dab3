// Types, modifiers, special registers and the opcode table of the supported PTX. opcodes.def has
// one row per instruction form; match_opcode() finds the row of an instruction, and the row's
// traits say what it does.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/ptx/traits.h"

namespace lab32::ptx {

// clang-format off
enum class DataType : uint8_t {
  none,
  u8, u16, u32, u64,
  s8, s16, s32, s64,
  b8, b16, b32, b64, b128,
  u16x2, s16x2,
  f16, f16x2, bf16, bf16x2, f32, f64, tf32, e4m3, e5m2, e4m3x2, e5m2x2,
  b1, u4, s4,
  pred,
};
// clang-format on

DataType type_from_word_or_none(std::string_view word);  // DataType::none: the word is no type
std::string_view to_string(DataType type);
unsigned bits_of(DataType type);  // pred: 1
inline unsigned bytes_of(DataType type) { return (bits_of(type) + 7) / 8; }
inline bool is_signed(DataType t) { return t >= DataType::s8 && t <= DataType::s64; }
inline bool is_float(DataType t) { return t >= DataType::f16 && t <= DataType::e5m2x2; }

enum class Modifier : uint8_t {
#define MOD(id, text) id,
#include "simulator/ptx/modifiers.def"
#undef MOD
  count_
};
using Mods = std::bitset<static_cast<size_t>(Modifier::count_)>;
std::string_view to_string(Modifier mod);

// clang-format off
enum class SpecialReg : uint8_t {
  tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z,
  ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z,
  laneid, warpid, nwarpid, smid, nsmid, gridid,
  lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
  clock, clock_hi, clock64, globaltimer, globaltimer_lo, globaltimer_hi,
  total_smem_size, dynamic_smem_size, envreg1, envreg2, warpsize,  // warpsize: WARP_SZ
  clusterid_x, clusterid_y, clusterid_z, nclusterid_x, nclusterid_y, nclusterid_z,
  cluster_ctaid_x, cluster_ctaid_y, cluster_ctaid_z,
  cluster_nctaid_x, cluster_nctaid_y, cluster_nctaid_z, cluster_ctarank, cluster_nctarank,
  is_explicit_cluster,  // a predicate
  reserved_smem_begin, reserved_smem_end, reserved_smem_cap, reserved_smem_0, reserved_smem_1,
  count_
};
// clang-format on
// Accepts the spelling with '%' ("%tid.x"; "WARP_SZ"). Returns false if the name is unknown.
bool parse_special_register(std::string_view spelling, SpecialReg* out);
std::string_view to_string(SpecialReg reg);

enum class OpId : uint16_t {
#define OP(id, pattern, operands, traits) id,
#include "simulator/ptx/opcodes.def"
#undef OP
  count_
};

// One operand slot of a row; see the legend in opcodes.def.
struct OperandSpec {
  std::string name;  // "T", "U", "W", "u32", "pred", "mem", "vec", …
  bool is_dest = false;
  bool optional = false;
  bool may_be_dropped = false;  // a destination that `_` may replace
};

// One row of opcodes.def, with its pattern split into parts.
struct OpInfo {
  OpId id;
  // The pattern as the table has it; instructions are printed from it, too.
  std::string_view pattern;
  std::string_view operand_text;
  std::string_view base;  // "add"
  struct Part {           // one dot-separated position
    std::vector<std::string_view> choices;
    bool optional;
  };
  std::vector<Part> parts;
  std::vector<OperandSpec> operands;
  InstructionTraits traits;
};

const std::vector<OpInfo>& opcode_table();

// Finds the first row of the table whose pattern matches the words ("add", "rn", "f32"). Sets
// `mods`, and `types` in the order of their appearance. nullptr: no row matches.
const OpInfo* match_opcode(const std::vector<std::string_view>& words, Mods* mods,
                           std::vector<DataType>* types);

// A quick check whether some statement begins with an opcode that has no row in opcodes.def. It may
// return true for a text that has none (C++ in a comment), but never false for one in which parse()
// would find one. It takes a twelfth of the time of parsing.
bool may_have_unknown_ptx_opcodes(std::string_view text);

}  // namespace lab32::ptx
