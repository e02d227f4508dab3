#include "simulator/sass/operands.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <string_view>
#include <vector>

namespace lab32::sass {

// ---- registers -------------------------------------------------------------------------------

namespace {

// Reads the register at position `i` of `text`, such as "R4.64", "UR4", "P0", "!UP1" or
// "-R3.reuse", and returns its number; -1: there is no register.
int parse_register(std::string_view text, size_t& i) {
  const size_t start = i;
  const bool uniform = text[i] == 'U';
  if (uniform) ++i;
  const bool predicate = i < text.size() && text[i] == 'P';
  if (i >= text.size() || (text[i] != 'R' && !predicate)) {
    i = start + 1;
    return -1;
  }
  size_t digit = i + 1;
  int number = 0;
  while (digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit])) != 0)
    number = 10 * number + (text[digit++] - '0');
  const bool some = digit > i + 1;
  i = digit;
  if (!some || number > 254) return -1;
  if (predicate) return (uniform ? kUniformPredicates : kPredicates) + std::min(number, 7);
  return uniform ? kUniformRegisters + std::min(number, 63) : number;
}

// The numbers of the registers in one operand, in their order.
std::vector<int> register_numbers_in(std::string_view text) {
  std::vector<int> found;
  for (size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0;
    if (!begins || (text[i] != 'R' && text[i] != 'U' && text[i] != 'P')) {
      ++i;
      continue;
    }
    if (const int number = parse_register(text, i); number >= 0) found.push_back(number);
  }
  return found;
}

// The number of consecutive registers that an instruction writes.
int count_registers_written(const SassInstruction& in) {
  const std::string_view base = in.base();
  if (in.has("128")) return 4;
  if (in.has("64") || in.has("WIDE")) return 2;
  if (base == "DADD" || base == "DMUL" || base == "DFMA") return 2;
  if (base == "HMMA" || base == "IMMA") return 4;
  if (base == "LDSM") return in.has("4") ? 4 : 2;
  return 1;
}

bool is_sass_without_destination(std::string_view base) {
  static const std::set<std::string_view> none{"BRA",      "EXIT",  "BAR",    "RET",    "NOP",
                                               "BSSY",     "BSYNC", "RED",    "MEMBAR", "ERRBAR",
                                               "CCTL",     "BRX",   "CALL",   "DEPBAR", "LDGDEPBAR",
                                               "WARPSYNC", "YIELD", "LDGSTS", "BREAK",  "REDG"};
  return none.count(base) != 0 || base.substr(0, 2) == "ST";
}

}  // namespace

// The registers that the instruction reads and writes. It writes its first operand, and also its
// second one if that is a predicate: a carry, or the negation of a comparison.
RegisterOperands operands_of(const SassInstruction& in) {
  RegisterOperands to;
  const std::string_view base = in.base();
  if (!in.guard.empty()) to.reads = register_numbers_in(in.guard);
  int place = 0;
  bool wrote_predicate = false;
  std::string_view rest = in.operands;
  const bool none = is_sass_without_destination(base);
  while (!rest.empty()) {
    // A comma inside brackets does not separate operands.
    size_t end = 0;
    for (int depth = 0; end < rest.size() && (depth > 0 || rest[end] != ','); ++end)
      depth += rest[end] == '[' || rest[end] == '('   ? 1
               : rest[end] == ']' || rest[end] == ')' ? -1
                                                      : 0;
    const std::string_view operand = rest.substr(0, end);
    rest = end < rest.size() ? rest.substr(end + 1) : std::string_view{};
    std::vector<int> numbers = register_numbers_in(operand);
    const bool predicate =
        operand.find('P') != std::string_view::npos && operand.find('R') == std::string_view::npos;
    const bool second = place == 1 && ((predicate && base != "SEL" && base != "FSEL" &&
                                        base != "FMNMX" && base != "IMNMX" && base != "VIMNMX") ||
                                       (wrote_predicate && base == "SHFL"));
    if (!none && (place == 0 || second)) {
      wrote_predicate |= predicate;
      if (!numbers.empty()) {
        const int first = numbers.front();
        const int count = first < kUniformRegisters ? count_registers_written(in) : 1;
        for (int i = 0; i < count; ++i) to.writes.push_back(first + i);
      }
    } else {
      to.reads.insert(to.reads.end(), numbers.begin(), numbers.end());
    }
    ++place;
  }
  return to;
}

// ---- banks of the register file --------------------------------------------------------------

namespace {

// Whether the instruction writes memory. It then reads its first operand, too.
bool is_store_or_reduction(std::string_view base) {
  return base.substr(0, 2) == "ST" || base.substr(0, 3) == "RED";
}

// Whether the instruction computes doubles. It reads its operands in two halves of the warp, and no
// other instruction waits for that (h200-mix.csv, `doubles`).
bool is_double_arithmetic(std::string_view base) {
  return base == "DADD" || base == "DMUL" || base == "DFMA" || base == "DSETP";
}

}  // namespace

std::array<uint8_t, 2> RegisterBanks::operands_by_bank(const SassInstruction& in) {
  const std::string_view base = in.base(), text = in.operands;
  std::map<int, int> kept;
  std::set<int> read;
  int place = 0, depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (text[i] == ',' && depth == 0) ++place;
    const bool begins = i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0;
    if (text[i] != 'R' || !begins || i + 1 == text.size() ||
        std::isdigit(static_cast<unsigned char>(text[i + 1])) == 0)
      continue;
    const int number = std::atoi(text.data() + i + 1);
    if (place == 0 && !is_store_or_reduction(base)) continue;
    while (i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0) ++i;
    const std::string_view behind = text.substr(i + 1);
    const bool pair =
        behind.substr(0, 3) == ".64" || (place == 3 && in.has("WIDE") && base == "IMAD");
    const auto there = kept_.find(place);
    if (there == kept_.end() || there->second != number) {
      read.insert(number);
      if (pair) read.insert(number + 1);
    }
    if (behind.substr(0, 6) == ".reuse") kept[place] = number;
  }
  kept_ = kept;
  std::array<uint8_t, 2> banks{};
  if (is_double_arithmetic(base)) return banks;
  for (const int number : read) ++banks[static_cast<size_t>(number % 2)];
  return banks;
}

// ---- memory ----------------------------------------------------------------------------------

namespace {

using sim::AccessKind;

struct MemoryOpcodeRow {
  std::string_view opcode;
  MemorySpace space;
  AccessKind kind;
};

constexpr MemoryOpcodeRow kRows[] = {
    {"LDG", MemorySpace::global, AccessKind::load},
    {"STG", MemorySpace::global, AccessKind::store},
    {"RED", MemorySpace::global, AccessKind::red},
    {"REDG", MemorySpace::global, AccessKind::red},
    {"ATOMG", MemorySpace::global, AccessKind::atom},
    {"LDGSTS", MemorySpace::global, AccessKind::load},
    {"LD", MemorySpace::generic, AccessKind::load},
    {"ST", MemorySpace::generic, AccessKind::store},
    {"ATOM", MemorySpace::generic, AccessKind::atom},
    {"LDS", MemorySpace::shared, AccessKind::load},
    {"STS", MemorySpace::shared, AccessKind::store},
    {"ATOMS", MemorySpace::shared, AccessKind::atom},
    {"LDSM", MemorySpace::shared, AccessKind::load},
    {"STSM", MemorySpace::shared, AccessKind::store},
    {"LDL", MemorySpace::local, AccessKind::load},
    {"STL", MemorySpace::local, AccessKind::store},
};

struct SassWidthModifier {
  std::string_view modifier;
  int bytes;
};

// The modifiers that change the width of an access. Without them it is 4 bytes. F64 and the packed
// halves name the operation of an atomic.
constexpr SassWidthModifier kWidths[] = {
    {"U8", 1},    {"S8", 1},      {"U16", 2},     {"S16", 2},    {"64", 8},    {"U64", 8},
    {"S64", 8},   {"F64", 8},     {"128", 16},    {"F16", 2},    {"BF16", 2},  {"F16x2", 4},
    {"32", 4},    {"BF16_V2", 4}, {"F16_V2", 4},  {"BF16x2", 4}, {"F16x4", 8}, {"BF16x4", 8},
    {"F32x2", 8}, {"F16x8", 16},  {"BF16x8", 16}, {"F32x4", 16},
};

int access_bytes_of_opcode(std::string_view opcode) {
  int bytes = 4;
  for (size_t dot = opcode.find('.'); dot != std::string_view::npos; dot = opcode.find('.')) {
    opcode.remove_prefix(dot + 1);
    const std::string_view word = opcode.substr(0, opcode.find('.'));
    // 32 bytes per lane: it is not known how counters count such accesses.
    if (word == "256" || word == "ENL2") return 0;
    for (const SassWidthModifier& w : kWidths) {
      if (w.modifier == word) bytes = w.bytes;
    }
  }
  return bytes;
}

// "R2.64+0xc" -> "R2.64", 12. Negative constants are printed as "+-0x800".
void parse_sass_address(std::string_view address, MemoryOp& op) {
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

std::optional<MemoryOp> memory_op(const SassInstruction& in) {
  const std::string_view base = in.base();
  for (const MemoryOpcodeRow& row : kRows) {
    if (row.opcode != base) continue;
    MemoryOp op;
    op.space = row.space;
    op.kind = row.kind;
    op.matrix = base == "LDSM" || base == "STSM";
    op.async_copy = base == "LDGSTS";
    op.bytes = op.matrix ? 16 : access_bytes_of_opcode(in.opcode);
    // An operand desc[UR4][R2.64] begins with a descriptor, and the operands of LDGSTS begin with
    // the destination.
    const std::string_view operands = in.operands;
    const size_t open = operands.rfind('[');
    const size_t close = operands.find(']', open);
    if (open != std::string_view::npos && close != std::string_view::npos)
      parse_sass_address(operands.substr(open + 1, close - open - 1), op);
    return op;
  }
  return std::nullopt;
}

}  // namespace lab32::sass
