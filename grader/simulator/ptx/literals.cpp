#include "simulator/ptx/literals.h"

#include <charconv>
#include <cstring>

#include "simulator/ptx/cursor.h"

namespace lab32::ptx {
namespace {

std::optional<uint64_t> digits(std::string_view text, int base) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool has_prefix(std::string_view text, char letter) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == letter;
}

}  // namespace

std::optional<uint64_t> parse_integer(std::string_view text) {
  if (text.size() > 1 && text.back() == 'U') text.remove_suffix(1);
  if (has_prefix(text, 'x')) return digits(text.substr(2), 16);
  if (has_prefix(text, 'b')) return digits(text.substr(2), 2);
  if (text.size() > 1 && text[0] == '0') return digits(text.substr(1), 8);
  return digits(text, 10);
}

std::optional<RealLiteral> parse_real(std::string_view text) {
  for (const auto& [letter, length] : {std::pair<char, size_t>{'f', 10}, {'d', 18}}) {
    if (!has_prefix(text, letter)) continue;
    if (text.size() != length) return std::nullopt;
    const auto bits = digits(text.substr(2), 16);
    if (!bits) return std::nullopt;
    return RealLiteral{*bits, letter == 'd'};
  }
  if (has_prefix(text, 'x') || text.find_first_of(".eE") == std::string_view::npos) {
    return std::nullopt;
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  RealLiteral literal{0, true};
  std::memcpy(&literal.bits, &value, sizeof value);
  return literal;
}

uint64_t Cursor::expect_integer() {
  if (peek().kind != Token::Kind::number) fail_expected("an integer");
  const auto value = parse_integer(peek().text);
  if (!value) fail_expected("an integer");
  next();
  return *value;
}

}  // namespace lab32::ptx
