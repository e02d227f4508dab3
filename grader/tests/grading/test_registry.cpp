#include <doctest/doctest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "grading/engine/registry.h"

namespace lab32::grading {
namespace {

TEST_CASE("grading: labs are known by their suites") {
  const auto labs = known_labs();
  CHECK(std::find(labs.begin(), labs.end(), "coalescing") != labs.end());
  CHECK(std::find(labs.begin(), labs.end(), ".harness") == labs.end());
}

TEST_CASE("grading: what is linked is all that there is, and a lab of another name is none") {
  CHECK(labs_or_all({}) == known_labs());
  CHECK(labs_or_all({"transpose"}) == std::vector<std::string>{"transpose"});
  CHECK_THROWS_WITH_AS(labs_or_all({"transposition"}),
                       doctest::Contains("there is no lab `transposition`; the labs are: bank_"),
                       Error);
}

}  // namespace
}  // namespace lab32::grading
