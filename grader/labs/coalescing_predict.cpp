// The coalescing lab, part C: questions. The answers and hints are in data/limits/coalescing.toml,
// each with where it was measured.

#include "labs/questions.h"
#include "labs/suite.h"

namespace lab32::labs {

TEST_SUITE("lab:coalescing") {
  TEST_CASE("C1 one element off the line" * points(4)) { ask_questions("add2"); }

  TEST_CASE("C2 three floats a point" * points(4)) { ask_questions("points"); }
}

}  // namespace lab32::labs
