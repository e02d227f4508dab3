#include "simulator/ptx/lexer.h"

#include <algorithm>
#include <array>

#include "simulator/ptx/diagnostic.h"

namespace lab32::ptx {
namespace {

enum CharClass : unsigned char { kOther, kLetter, kDigit, kPunct };

constexpr std::array<CharClass, 256> make_classes() {
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
constexpr std::array<CharClass, 256> kClasses = make_classes();

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
      if (end == std::string_view::npos) throw Diagnostic{i, "this comment has no end"};
      for (; i < end + 2; ++i) line += text[i] == '\n';
    } else if (class_of(c) == kLetter) {
      // "L1::no_allocate" and "param::entry" are words; "label:" is a word and a colon. An opcode
      // is one word, ".reg.b32" are two.
      const bool is_directive = c == '.';
      ++i;
      while ((is_word_char(at(i)) && !(is_directive && at(i) == '.')) ||
             (at(i) == ':' && at(i + 1) == ':' && is_word_char(at(i + 2)))) {
        i += at(i) == ':' ? 2 : 1;
      }
      add(Token::Kind::word, begin, i);
    } else if (class_of(c) == kDigit) {
      // The sign of an exponent belongs to the number, but 0x1e+4 is a sum.
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
      if (at(end) != '"') throw Diagnostic{i, "this string has no end"};
      add(Token::Kind::string, begin + 1, end);
      i = end + 1;
    } else if (class_of(c) == kPunct) {
      ++i;
      add(Token::Kind::punct, begin, i);
    } else {
      throw Diagnostic{i, "this character does not belong in PTX"};
    }
  }
  add(Token::Kind::end, size, size);
  return tokens;
}

}  // namespace lab32::ptx
