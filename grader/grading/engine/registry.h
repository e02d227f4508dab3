// The checks that are linked in: each LAB_CHECK in a suite "lab:<lab>". A check says how a thing is
// measured and which values of the rubric it takes for that; all else about it is the rubric's.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

// LAB_CHECK("B1 scale: sectors" * takes("n", "ideal")) { check.measured(...); }: a TEST_CASE whose
// body is a function of the running check. run_suite() alone can run it.
#define LAB_CHECK(decorators) LAB_CHECK_IN(DOCTEST_ANONYMOUS(lab_check_), decorators)
#define LAB_CHECK_IN(function, decorators)              \
  static void function(lab32::grading::Check& check);   \
  TEST_CASE(decorators* lab32::grading::registered()) { \
    lab32::grading::run_in_suite(&(function));          \
  }                                                     \
  static void function([[maybe_unused]] lab32::grading::Check& check)

namespace lab32::grading {

struct Check;
// Runs the body of a LAB_CHECK with the check that run_suite() has begun.
void run_in_suite(void (*body)(Check&));

// Enters a LAB_CHECK among the registered ones.
struct registered {
  void fill(doctest::detail::TestCase& test) const;
};

// LAB_CHECK("B1 scale: sectors" * takes("n", "ideal")): the keys of the rubric that this check
// reads, in its own table or, where that has none, at the top of the file. A decorator as doctest's
// own: `fill` is called once for each check, before main().
struct takes {
  std::vector<std::string> keys;
  template <class... Keys>
  explicit takes(Keys... names) : keys{names...} {}
  void fill(doctest::detail::TestCase& test) const;
};

struct RegisteredCheck {
  std::string name, file;
  unsigned line = 0;
  std::vector<std::string> takes;
};

// In the order in which doctest runs them: by file, then line.
std::vector<RegisteredCheck> registered_checks(const std::string& lab);

// The suite of a lab: "lab:coalescing". The grader's own tests leave suites of this prefix out.
inline std::string suite_of(const std::string& lab) { return "lab:" + lab; }

// The labs that have a suite, sorted. One whose name begins with a dot is hidden, as files are: a
// test of the harness has such a suite.
std::vector<std::string> known_labs();

// Whether each lab that has a rubric has a suite in this program.
bool all_suites_linked();

// What a command is to work on: `named`, or all labs where none is. Throws Error for a lab that has
// no suite here.
std::vector<std::string> labs_or_all(const std::vector<std::string>& named);

}  // namespace lab32::grading
