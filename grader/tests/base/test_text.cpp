// Foreign text is made safe for a terminal.
#include <doctest/doctest.h>

#include "base/text.h"

using namespace lab32;

TEST_CASE(
    "base: control characters, hidden marks and invalid UTF-8 in foreign text are made visible") {
  CHECK(visible("a\tb\n") == "a\tb\n");
  CHECK(visible("\x1b[31mred\x07\x7f") == "\\x1b[31mred\\x07\\x7f");
  CHECK(visible(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(visible("one\r\ntwo\rthree") == "one\ntwo\\x0dthree");
  CHECK(visible("grün 中 😀 ²") == "grün 中 😀 ²");
  CHECK(visible("\xc2\x9b"
                "2J") == "\\x9b2J");  // CSI as one character
  CHECK(visible("a\u202e"
                "b\u2066\u200b\ufeff") == "a\\u202eb\\u2066\\u200b\\ufeff");
  CHECK(visible("\xff\xc0\xaf\xe2\x82") == "\\xff\\xc0\\xaf\\xe2\\x82");
  CHECK(visible("\xed\xa0\x80\xf4\x90\x80\x80") == "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
  CHECK(visible("") == "");
}

TEST_CASE("base: a foreign name is shown on one line, without quotation marks") {
  CHECK(visible_name("labs/a b.cu") == "labs/a b.cu");
  CHECK(visible_name("a\nb\t\"c\"\\\r\n") == "a\\x0ab\\x09\\x22c\\x22\\x5c\\x0d\\x0a");
}
