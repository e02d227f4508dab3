#include "simulator/ptx/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace lab32::ptx {

// ---- diagnostics -----------------------------------------------------------------------------

namespace {

// The longest part of a PTX line that is printed: a terminal of 100 columns minus the indent.
constexpr size_t kExcerptWidth = 96;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string excerpt_at(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  size_t begin = before == std::string_view::npos ? 0 : before + 1;
  size_t end = std::min(text.find('\n', offset), text.size());
  while (begin < offset && is_blank(text[begin])) ++begin;
  while (end > offset && is_blank(text[end - 1])) --end;

  std::string_view lead, trail;
  if (offset - begin > kExcerptWidth - 20) {
    begin = offset - 20;
    lead = "...";
  }
  if (end - begin > kExcerptWidth) {
    end = begin + kExcerptWidth;
    trail = "...";
  }
  std::string line(text.substr(begin, end - begin));
  // Tabs and control bytes become blanks, so that the caret below points at the right column.
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  std::string out = "\n  ";
  out.append(lead).append(line).append(trail).append("\n  ");
  out.append(lead.size() + offset - begin, ' ').append("^");
  return out;
}

}  // namespace

int line_of(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(offset), '\n'));
}

std::string diagnostic_text(const Module& module, const PtxParseError& diagnostic, int loc) {
  std::string out = "PTX line " + std::to_string(line_of(module.text, diagnostic.offset)) + ": " +
                    diagnostic.message;
  if (const auto position = module.student_source_position(loc)) {
    const size_t slash = position->file.rfind('/');
    out += " (source: " + position->file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
           std::to_string(position->line) + ")";
  }
  return out + excerpt_at(module.text, diagnostic.offset);
}

// ---- tokens ----------------------------------------------------------------------------------

namespace {

enum CharClass : unsigned char { kOther, kLetter, kDigit, kPunct };

constexpr std::array<CharClass, 256> make_char_classes() {
  std::array<CharClass, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<size_t>(c)] = kLetter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<size_t>(c)] = kLetter;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = kDigit;
  for (char c : {'_', '$', '%', '.'}) classes[static_cast<size_t>(c)] = kLetter;
  for (char c : {',', ';', ':', '(', ')', '{', '}', '[', ']', '<', '>', '+',
                 '-', '!', '|', '@', '=', '*', '&', '~', '/', '?', '^'}) {
    classes[static_cast<size_t>(c)] = kPunct;
  }
  return classes;
}
constexpr std::array<CharClass, 256> kClasses = make_char_classes();

CharClass class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool is_word_char(char c) { return class_of(c) == kLetter || class_of(c) == kDigit; }

}  // namespace

std::vector<Token> lex(std::string_view text) {
  std::vector<Token> tokens;
  tokens.reserve(text.size() / 4 + 8);
  const size_t size = text.size();
  int line = 1;
  size_t i = 0;
  const auto at = [&](size_t k) { return k < size ? text[k] : '\0'; };
  const auto add = [&](Token::Kind kind, size_t begin, size_t end) {
    Token token;
    token.kind = kind;
    token.line = line;
    token.text = text.substr(begin, end - begin);
    tokens.push_back(token);
  };

  while (i < size) {
    const char c = text[i];
    const size_t begin = i;
    if (c == '\n') {
      ++line;
      ++i;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++i;
    } else if (c == '/' && at(i + 1) == '/') {
      i = std::min(text.find('\n', i), size);
    } else if (c == '/' && at(i + 1) == '*') {
      const size_t end = text.find("*/", i + 2);
      if (end == std::string_view::npos) throw PtxParseError{i, "this comment has no end"};
      for (; i < end + 2; ++i) line += text[i] == '\n';
    } else if (class_of(c) == kLetter) {
      // "L1::no_allocate" and "param::entry" are words; "label:" is a word and a colon. An opcode
      // is one word, but ".reg.b32" is two.
      const bool is_directive = c == '.';
      ++i;
      while ((is_word_char(at(i)) && !(is_directive && at(i) == '.')) ||
             (at(i) == ':' && at(i + 1) == ':' && is_word_char(at(i + 2)))) {
        i += at(i) == ':' ? 2 : 1;
      }
      add(Token::Kind::word, begin, i);
    } else if (class_of(c) == kDigit) {
      // The sign of an exponent belongs to the number. 0x1e+4, however, is a sum.
      const char prefix = at(i + 1);
      const bool hex = c == '0' && (prefix == 'x' || prefix == 'X' || prefix == 'f' ||
                                    prefix == 'F' || prefix == 'd' || prefix == 'D');
      while (is_word_char(at(i)) || (!hex && (at(i) == '+' || at(i) == '-') &&
                                     (text[i - 1] == 'e' || text[i - 1] == 'E'))) {
        ++i;
      }
      add(Token::Kind::number, begin, i);
    } else if (c == '"') {
      size_t end = i + 1;
      while (end < size && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      if (at(end) != '"') throw PtxParseError{i, "this string has no end"};
      add(Token::Kind::string, begin + 1, end);
      i = end + 1;
    } else if (class_of(c) == kPunct) {
      ++i;
      add(Token::Kind::punct, begin, i);
    } else {
      throw PtxParseError{i, "this character does not belong in PTX"};
    }
  }
  add(Token::Kind::end, size, size);
  return tokens;
}

// ---- numbers ---------------------------------------------------------------------------------

namespace {

std::optional<uint64_t> parse_digits(std::string_view text, int base) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool has_base_prefix(std::string_view text, char letter) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == letter;
}

}  // namespace

std::optional<uint64_t> parse_integer_literal(std::string_view text) {
  if (text.size() > 1 && text.back() == 'U') text.remove_suffix(1);
  if (has_base_prefix(text, 'x')) return parse_digits(text.substr(2), 16);
  if (has_base_prefix(text, 'b')) return parse_digits(text.substr(2), 2);
  if (text.size() > 1 && text[0] == '0') return parse_digits(text.substr(1), 8);
  return parse_digits(text, 10);
}

std::optional<RealLiteral> parse_real(std::string_view text) {
  for (const auto& [letter, length] : {std::pair<char, size_t>{'f', 10}, {'d', 18}}) {
    if (!has_base_prefix(text, letter)) continue;
    if (text.size() != length) return std::nullopt;
    const auto bits = parse_digits(text.substr(2), 16);
    if (!bits) return std::nullopt;
    return RealLiteral{*bits, letter == 'd'};
  }
  if (has_base_prefix(text, 'x') || text.find_first_of(".eE") == std::string_view::npos) {
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

uint64_t TokenCursor::expect_integer() {
  if (peek().kind != Token::Kind::number) fail_expected("an integer");
  const auto value = parse_integer_literal(peek().text);
  if (!value) fail_expected("an integer");
  next();
  return *value;
}

}  // namespace lab32::ptx
