#include "simulator/sass/operands.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace lab32::sass {
namespace {

// A register's number at the start of `text`, or -1: "R4.64", "UR4", "P0", "!UP1", "-R3.reuse".
int register_at(std::string_view text, size_t& i) {
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

// Registers of one operand, in order.
std::vector<int> numbers_in(std::string_view text) {
  std::vector<int> found;
  for (size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0;
    if (!begins || (text[i] != 'R' && text[i] != 'U' && text[i] != 'P')) {
      ++i;
      continue;
    }
    if (const int number = register_at(text, i); number >= 0) found.push_back(number);
  }
  return found;
}

// How many registers an instruction writes from its first on.
int written(const Instruction& in) {
  const std::string_view base = in.base();
  if (in.has("128")) return 4;
  if (in.has("64") || in.has("WIDE")) return 2;
  if (base == "DADD" || base == "DMUL" || base == "DFMA") return 2;
  if (base == "HMMA" || base == "IMMA") return 4;
  if (base == "LDSM") return in.has("4") ? 4 : 2;
  return 1;
}

bool writes_nothing(std::string_view base) {
  static const std::set<std::string_view> none{"BRA",      "EXIT",  "BAR",    "RET",    "NOP",
                                               "BSSY",     "BSYNC", "RED",    "MEMBAR", "ERRBAR",
                                               "CCTL",     "BRX",   "CALL",   "DEPBAR", "LDGDEPBAR",
                                               "WARPSYNC", "YIELD", "LDGSTS", "BREAK",  "REDG"};
  return none.count(base) != 0 || base.substr(0, 2) == "ST";
}

}  // namespace

// What it reads and writes. The first operand is written, and a second one where that is a
// predicate beside: carries, and a comparison's negation.
Operands operands_of(const Instruction& in) {
  Operands to;
  const std::string_view base = in.base();
  if (!in.guard.empty()) to.reads = numbers_in(in.guard);
  int place = 0;
  bool wrote_predicate = false;
  std::string_view rest = in.operands;
  const bool none = writes_nothing(base);
  while (!rest.empty()) {
    // Commas inside of brackets do not part operands.
    size_t end = 0;
    for (int depth = 0; end < rest.size() && (depth > 0 || rest[end] != ','); ++end)
      depth += rest[end] == '[' || rest[end] == '('   ? 1
               : rest[end] == ']' || rest[end] == ')' ? -1
                                                      : 0;
    const std::string_view operand = rest.substr(0, end);
    rest = end < rest.size() ? rest.substr(end + 1) : std::string_view{};
    std::vector<int> numbers = numbers_in(operand);
    const bool predicate =
        operand.find('P') != std::string_view::npos && operand.find('R') == std::string_view::npos;
    const bool second = place == 1 && ((predicate && base != "SEL" && base != "FSEL" &&
                                        base != "FMNMX" && base != "IMNMX" && base != "VIMNMX") ||
                                       (wrote_predicate && base == "SHFL"));
    if (!none && (place == 0 || second)) {
      wrote_predicate |= predicate;
      if (!numbers.empty()) {
        const int first = numbers.front();
        const int count = first < kUniformRegisters ? written(in) : 1;
        for (int i = 0; i < count; ++i) to.writes.push_back(first + i);
      }
    } else {
      to.reads.insert(to.reads.end(), numbers.begin(), numbers.end());
    }
    ++place;
  }
  return to;
}

}  // namespace lab32::sass
