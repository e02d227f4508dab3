// The reduction lab: v7 and v8 against the card's memory, v8 beside CUB, and each version against
// the one before.

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "labs/reduction/ladder.h"

namespace lab32::checks::reduction {
namespace {

MakeWork work_of(int version) {
  return [=](uint32_t n, size_t sets) { return ladder_work(version, n, sets); };
}

// The step up to a version. v1 is given.
void check_step(int version) {
  StepCheck check;
  check.kernel = fmt::format("reduce_v{}", version);
  check.form_before = fmt::format("v{}", version - 1);
  check.before = "reduce_" + check.form_before;
  check.make = [=](uint32_t n, size_t sets) { return ladder_step(version, n, sets); };
  credit_step(check);
}

}  // namespace

TEST_SUITE("lab:reduction") {
  TEST_CASE("v7: time" * takes_of_speed()) { credit_speed({"reduce_v7", work_of(7)}); }

  TEST_CASE("v8: time" * takes_of_speed()) {
    credit_speed({"reduce_v8", work_of(8), device::Baseline::cub_sum_int});
  }

  TEST_CASE("v1 to v2: time" * takes_of_step()) { check_step(2); }
  TEST_CASE("v2 to v3: time" * takes_of_step()) { check_step(3); }
  TEST_CASE("v3 to v4: time" * takes_of_step()) { check_step(4); }
  TEST_CASE("v4 to v5: time" * takes_of_step()) { check_step(5); }
  TEST_CASE("v5 to v6: time" * takes_of_step()) { check_step(6); }
  TEST_CASE("v6 to v7: time" * takes_of_step()) { check_step(7); }
  TEST_CASE("v7 to v8: time" * takes_of_step()) { check_step(8); }
}

}  // namespace lab32::checks::reduction
