// The parser's place in the token list, and what every part of it does there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/ptx/diagnostic.h"
#include "simulator/ptx/lexer.h"

namespace lab32::ptx {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text), tokens_(lex(text)) {}

  // The end token repeats, so that looking ahead needs no bounds check by the caller.
  const Token& peek(size_t ahead = 0) const {
    return tokens_[std::min(place_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() {
    const Token& token = peek();
    if (place_ + 1 < tokens_.size()) ++place_;
    return token;
  }
  bool at_end() const { return peek().kind == Token::Kind::end; }

  bool accept(char c) {
    if (!peek().is(c)) return false;
    next();
    return true;
  }
  bool accept(std::string_view word) {
    if (!peek().is(word)) return false;
    next();
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail_expected(std::string("`") + c + "`");
  }
  std::string_view expect_name() {
    if (peek().kind != Token::Kind::word || peek().text[0] == '.') fail_expected("a name");
    return next().text;
  }
  uint64_t expect_integer();  // literals.cpp

  size_t offset() const { return offset_of(peek()); }
  size_t offset_of(const Token& token) const {
    return static_cast<size_t>(token.text.data() - text_.data());
  }

  // Going back: a refused function is left by matching braces from its last good statement.
  size_t place() const { return place_; }
  void set_place(size_t place) { place_ = place; }

  [[noreturn]] void fail(std::string message) const {
    throw Diagnostic{offset(), std::move(message)};
  }
  [[noreturn]] void fail_expected(const std::string& what) const {
    fail(what + " is expected here" +
         (at_end() ? ", but the text ends" : ", not `" + std::string(peek().text) + "`"));
  }

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
  size_t place_ = 0;
};

}  // namespace lab32::ptx
