// The checks that are linked into this program: every LAB_CHECK in a suite "lab:<lab>". The code of
// a check says how to measure something, and which values of the rubric it takes; the rubric holds
// everything else about the check. A check that a rubric declares (declared/declaration.h) has no
// LAB_CHECK.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "grading/rubric/value_range.h"

// Defines a check: LAB_CHECK("B1 scale: sectors" * takes_rubric_keys("n", "ideal")) {
// check.measured(...); } The body is a function of the running check `check`, inside a doctest
// TEST_CASE whose function only run_suite() can call.
#define LAB_CHECK(decorators) LAB_CHECK_IN(DOCTEST_ANONYMOUS(lab_check_), decorators)
#define LAB_CHECK_IN(function, decorators)                               \
  static void function(lab32::grading::Check& check);                    \
  TEST_CASE(decorators* lab32::grading::check_registering_decorator()) { \
    lab32::grading::run_check_body(&(function));                         \
  }                                                                      \
  static void function([[maybe_unused]] lab32::grading::Check& check)

namespace lab32::grading {

struct Check;
// Runs the body of a LAB_CHECK with the check that run_suite() has started.
void run_check_body(void (*body)(Check&));

// A doctest decorator that adds the LAB_CHECK to the registered checks.
struct check_registering_decorator {
  void fill(doctest::detail::TestCase& test) const;
};

// A doctest decorator: the keys of the rubric that the check reads, from its own table or from the
// top of the file, with the range of each: takes_rubric_keys("n", whole("nodes", 8, 1 << 24)).
// doctest calls `fill` once per check, before main().
struct takes_rubric_keys {
  std::vector<RubricKey> keys;
  template <class... Keys>
  explicit takes_rubric_keys(Keys... taken) : keys{RubricKey(taken)...} {}
  void fill(doctest::detail::TestCase& test) const;
};

struct RegisteredCheck {
  std::string name, file;
  unsigned line = 0;
  std::vector<RubricKey> takes;
};

// The LAB_CHECKs of a lab by file, then by line.
std::vector<RegisteredCheck> registered_checks(const std::string& lab);

// The function of the doctest TEST_CASE of a LAB_CHECK. Throws std::logic_error if the lab has no
// LAB_CHECK of that name.
using CaseFunction = void (*)();
CaseFunction doctest_function_of_check(const std::string& lab, const std::string& check);

// The suite of a lab: "lab:coalescing". The grader's own tests leave suites of this prefix out.
inline std::string suite_of(const std::string& lab) { return "lab:" + lab; }

// The names of all labs that can be graded, sorted: those of LAB32_LABS, and those with a rubric
// that have a suite in this program or whose rubric declares all checks.
std::vector<std::string> known_labs();

// Whether each lab that has a rubric also has a suite in this program.
bool all_suites_linked();

// The labs that a command works on: `named` or, if that is empty, those of LAB32_LABS, or all labs.
// Throws Error for a lab without a suite in this program.
std::vector<std::string> labs_or_all(const std::vector<std::string>& named);

}  // namespace lab32::grading
