#include <doctest/doctest.h>

#include "base/error.h"
#include "base/text.h"

namespace lab32::tests {

using Groups = RegularExpression::Groups;

TEST_CASE("base: a pattern finds, matches and replaces") {
  const RegularExpression number("(-?)([0-9]+)([a-z])?");
  CHECK(number.search("of -12 and 7x") == Groups{"-12", "-", "12", ""});
  CHECK_FALSE(number.search("none"));
  CHECK(number.match("7x") == Groups{"7x", "", "7", "x"});
  CHECK_FALSE(number.match("7xy"));
  CHECK(number.all("1 -2x") == std::vector<Groups>{{"1", "", "1", ""}, {"-2x", "-", "2", "x"}});
  CHECK(number.replace("1 -2x $", "<$2|$9>$") == "<1|>$ <2|>$ $");
}

TEST_CASE("base: a pattern sees the character before the position where it continues") {
  CHECK(RegularExpression("\\btrue\\b").replace("f<true, untrue, true>", "1") == "f<1, untrue, 1>");
  CHECK(RegularExpression("^a").replace("aab", "-") == "-ab");
  CHECK(RegularExpression("x*").replace("ab", "-") == "-a-b-");
  CHECK(RegularExpression("x*").all("ab").size() == 3);
}

TEST_CASE("base: an invalid pattern is refused with the reason") {
  CHECK_THROWS_WITH_AS(RegularExpression("a(b"), "Unmatched ( or \\(", Error);
}

TEST_CASE("base: a pattern matches a long text without deep recursion") {
  const std::string text(4 << 20, 'a');
  CHECK(RegularExpression("(\\w|:)+").match(text)->front().size() == text.size());
}

}  // namespace lab32::tests
