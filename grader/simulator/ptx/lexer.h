// Splits PTX text into tokens, parses numbers, keeps the position of the parser (TokenCursor), and
// renders diagnostics with the PTX line, the source line and a caret.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// ---- diagnostics: the PTX line, the source line from which it came, and a caret ----

// The parser throws this for an error. It leaves the parser as an Error, or as the refusal of one
// function.
struct PtxParseError {
  size_t offset;  // in Module::text
  std::string message;
};

// PTX line 57: `wmma.load.a.sync` is not supported by the simulator (source: reduction.cu:31)
//   wmma.load.a.sync {%r1}, [%rd4], %r3;
//   ^
// No source part without line information (loc -1). Needs Module::files, which PTX lists at the
// end: diagnostic_text only when the whole module is read.
std::string diagnostic_text(const Module& module, const PtxParseError& diagnostic, int loc);

// 1-based line of an offset.
int line_of(std::string_view text, size_t offset);

// ---- tokens ----

struct Token {
  enum class Kind : unsigned char {
    word,    // ld.global.u32  %tid.x  $L__BB0_1 with all their dots; directives: .reg  .b32
    number,  // 12  0x1F  0f3F800000  1.5e-3
    string,  // without its quotes
    punct,   // one character
    end,
  };
  Kind kind = Kind::end;
  int line = 0;           // 1-based
  std::string_view text;  // points into the PTX; the end token is empty and stands at its end

  bool is(char c) const { return kind == Kind::punct && text[0] == c; }
  bool is(std::string_view word) const { return kind == Kind::word && text == word; }
};

// Splits a text into tokens; the last one is of Kind::end. Comments are dropped. An opcode stays
// one word: a module has many instructions and few different opcodes, so the parser looks up whole
// words. Throws PtxParseError.
std::vector<Token> lex(std::string_view text);

// ---- numbers as PTX writes them ----

// Parses 12, 017, 0x1F or 0b11, optionally followed by U; nullopt for other texts, and for values
// of more than 64 bits.
std::optional<uint64_t> parse_integer_literal(std::string_view text);

struct RealLiteral {
  uint64_t bits;  // bits of a float (0f3F800000) or of a double (0d…, 1.5)
  bool is_double;
};
std::optional<RealLiteral> parse_real(std::string_view text);

// The parser's position in the token list, with the operations that every part of the parser needs.
class TokenCursor {
 public:
  explicit TokenCursor(std::string_view text) : text_(text), tokens_(lex(text)) {}

  // Returns the end token beyond the end, so that callers need no bounds check.
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
  uint64_t expect_integer();

  size_t offset() const { return offset_of(peek()); }
  size_t offset_of(const Token& token) const {
    return static_cast<size_t>(token.text.data() - text_.data());
  }

  // The current position. The parser leaves a refused function by going back to its last good
  // statement and matching braces from there.
  size_t place() const { return place_; }
  void set_place(size_t place) { place_ = place; }

  [[noreturn]] void fail(std::string message) const {
    throw PtxParseError{offset(), std::move(message)};
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
