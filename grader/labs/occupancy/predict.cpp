// The occupancy lab, part C: questions. The answers and hints are in data/limits/occupancy.toml,
// each with where it was measured.

#include "grading/engine/questions.h"
#include "grading/engine/suite.h"

namespace lab32::checks::occupancy {

TEST_SUITE("lab:occupancy") {
  TEST_CASE("C1 kinds of memory" * takes("questions")) { ask_questions(); }

  TEST_CASE("C2 too few registers" * takes("questions")) { ask_questions(); }
}

}  // namespace lab32::checks::occupancy
