// Points stand beside the check: TEST_CASE("scale: sectors" * points(4)) is one line of the score
// board, worth 4.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace lab32::labs {

// A decorator, as doctest's own: `fill` is called once for each TEST_CASE, before main().
struct points {
  double value;
  explicit points(double v) : value(v) {}
  void fill(doctest::detail::TestCase& test) const;
};

// The same for a check of time. It exists where there is a stopwatch, beside the hundred points.
struct timed {
  double value;
  explicit timed(double v) : value(v) {}
  void fill(doctest::detail::TestCase& test) const;
};

// A TEST_CASE of a suite, known before it runs: a lab that does not compile still has a price.
struct Rubric {
  std::string suite, name, file;
  unsigned line = 0;
  double points = 0;
  bool timed = false;
};

// In the order in which doctest runs them: by file, then line.
std::vector<Rubric> rubrics(const std::string& suite);

// The suite of a lab: "lab:coalescing". The grader's own tests leave suites of this prefix out.
inline std::string suite_of(const std::string& lab) { return "lab:" + lab; }

// The labs that have a suite, sorted. One whose name begins with a dot is hidden, as files are: a
// test of the harness has such a suite.
std::vector<std::string> known_labs();

}  // namespace lab32::labs
