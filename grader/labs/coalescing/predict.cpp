// The coalescing lab, part C: questions. The answers and hints are in data/limits/coalescing.toml,
// each with where it was measured.

#include "grading/engine/questions.h"
#include "grading/engine/suite.h"

namespace lab32::checks::coalescing {

TEST_SUITE("lab:coalescing") {
  TEST_CASE("C1 one element off the line" * takes("questions")) { ask_questions(); }

  TEST_CASE("C2 three floats a point" * takes("questions")) { ask_questions(); }
}

}  // namespace lab32::checks::coalescing
