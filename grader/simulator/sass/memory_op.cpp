// Spellings from the instruction set tables of NVIDIA's "CUDA Binary Utilities" for Turing to
// Blackwell; widths from the modifiers that nvdisasm prints.
#include "simulator/sass/memory_op.h"

#include <cstdlib>
#include <string_view>

namespace lab32::sass {
namespace {

using sim::AccessKind;

struct Row {
  std::string_view opcode;
  WindowSpace space;
  AccessKind kind;
};

constexpr Row kRows[] = {
    {"LDG", WindowSpace::global, AccessKind::load},
    {"STG", WindowSpace::global, AccessKind::store},
    {"RED", WindowSpace::global, AccessKind::red},
    {"REDG", WindowSpace::global, AccessKind::red},
    {"ATOMG", WindowSpace::global, AccessKind::atom},
    {"LDGSTS", WindowSpace::global, AccessKind::load},
    {"LD", WindowSpace::generic, AccessKind::load},
    {"ST", WindowSpace::generic, AccessKind::store},
    {"ATOM", WindowSpace::generic, AccessKind::atom},
    {"LDS", WindowSpace::shared, AccessKind::load},
    {"STS", WindowSpace::shared, AccessKind::store},
    {"ATOMS", WindowSpace::shared, AccessKind::atom},
    {"LDSM", WindowSpace::shared, AccessKind::load},
    {"STSM", WindowSpace::shared, AccessKind::store},
    {"LDL", WindowSpace::local, AccessKind::load},
    {"STL", WindowSpace::local, AccessKind::store},
};

struct Width {
  std::string_view modifier;
  int bytes;
};

// A modifier that is none of these does not change the width, which is 4 bytes without any. F64
// and the packed halves name the operation of an atomic.
constexpr Width kWidths[] = {
    {"U8", 1},    {"S8", 1},      {"U16", 2},     {"S16", 2},    {"64", 8},    {"U64", 8},
    {"S64", 8},   {"F64", 8},     {"128", 16},    {"F16", 2},    {"BF16", 2},  {"F16x2", 4},
    {"32", 4},    {"BF16_V2", 4}, {"F16_V2", 4},  {"BF16x2", 4}, {"F16x4", 8}, {"BF16x4", 8},
    {"F32x2", 8}, {"F16x8", 16},  {"BF16x8", 16}, {"F32x4", 16},
};

int width_of(std::string_view opcode) {
  int bytes = 4;
  for (size_t dot = opcode.find('.'); dot != std::string_view::npos; dot = opcode.find('.')) {
    opcode.remove_prefix(dot + 1);
    const std::string_view word = opcode.substr(0, opcode.find('.'));
    if (word == "256" || word == "ENL2") return 0;  // 32 bytes per lane: no counter rule is known
    for (const Width& w : kWidths) {
      if (w.modifier == word) bytes = w.bytes;
    }
  }
  return bytes;
}

// "R2.64+0xc" -> "R2.64", 12. Negative constants are printed as "+-0x800".
void split_address(std::string_view address, MemoryOp& op) {
  size_t at = address.rfind("0x");
  if (at == std::string_view::npos) {
    op.base = address;
    return;
  }
  op.offset = std::strtoll(std::string(address.substr(at)).c_str(), nullptr, 16);
  if (at > 0 && address[at - 1] == '-') {
    op.offset = -op.offset;
    --at;
  }
  if (at > 0 && address[at - 1] == '+') --at;
  op.base = address.substr(0, at);
}

}  // namespace

std::optional<MemoryOp> memory_op(const Instruction& in) {
  const std::string_view base = in.base();
  for (const Row& row : kRows) {
    if (row.opcode != base) continue;
    MemoryOp op;
    op.space = row.space;
    op.kind = row.kind;
    op.matrix = base == "LDSM" || base == "STSM";
    op.async_copy = base == "LDGSTS";
    op.bytes = op.matrix ? 16 : width_of(in.opcode);
    // desc[UR4][R2.64] names a descriptor first; LDGSTS its destination.
    const std::string_view operands = in.operands;
    const size_t open = operands.rfind('[');
    const size_t close = operands.find(']', open);
    if (open != std::string_view::npos && close != std::string_view::npos)
      split_address(operands.substr(open + 1, close - open - 1), op);
    return op;
  }
  return std::nullopt;
}

}  // namespace lab32::sass
