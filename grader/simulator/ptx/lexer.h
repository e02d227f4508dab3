// PTX text -> tokens.
#pragma once

#include <string_view>
#include <vector>

namespace lab32::ptx {

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

// All tokens and one of Kind::end. Comments are dropped. Opcodes are not taken apart here: modules
// repeat few of them many times, and the parser looks whole ones up. Throws Diagnostic.
std::vector<Token> lex(std::string_view text);

}  // namespace lab32::ptx
