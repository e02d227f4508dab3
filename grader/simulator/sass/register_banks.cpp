#include "simulator/sass/register_banks.h"

#include <cctype>
#include <cstdlib>
#include <set>
#include <string_view>

namespace lab32::sass {
namespace {

// The first operand is read, too.
bool writes_memory(std::string_view base) {
  return base.substr(0, 2) == "ST" || base.substr(0, 3) == "RED";
}

// Doubles are read in two halves of a warp, which nothing waits for (h200-mix.csv, `doubles`).
bool is_double(std::string_view base) {
  return base == "DADD" || base == "DMUL" || base == "DFMA" || base == "DSETP";
}

}  // namespace

std::array<uint8_t, 2> RegisterBanks::reads(const Instruction& in) {
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
    if (place == 0 && !writes_memory(base)) continue;
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
  if (is_double(base)) return banks;
  for (const int number : read) ++banks[static_cast<size_t>(number % 2)];
  return banks;
}

}  // namespace lab32::sass
