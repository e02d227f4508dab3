#include <doctest/doctest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "grading/engine/registry.h"

namespace lab32::grading {
namespace {

// While it lives, this program counts as one that links some of the suites.
struct Partial {
  Partial() { all_suites_linked() = false; }
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;
  ~Partial() { all_suites_linked() = true; }
};

TEST_CASE("grading: labs are known by their suites") {
  const auto labs = known_labs();
  CHECK(std::find(labs.begin(), labs.end(), "coalescing") != labs.end());
  CHECK(std::find(labs.begin(), labs.end(), ".harness") == labs.end());
}

TEST_CASE("grading: a build with some of the suites does not take them for all") {
  CHECK(labs_or_all({}) == known_labs());
  CHECK(labs_or_all({"transpose"}) == std::vector<std::string>{"transpose"});
  CHECK_THROWS_WITH_AS(labs_or_all({"transposition"}),
                       doctest::Contains("there is no lab `transposition`; the labs are: bank_"),
                       Error);
  const Partial partial;
  CHECK(labs_or_all({"transpose"}) == std::vector<std::string>{"transpose"});
  CHECK_THROWS_WITH_AS(labs_or_all({}), doctest::Contains("name a lab: `make grade` has built"),
                       Error);
  CHECK_THROWS_WITH_AS(labs_or_all({"transpose", "transposition"}),
                       doctest::Contains("there is no lab `transposition` here: `make grade` has"),
                       Error);
}

}  // namespace
}  // namespace lab32::grading
