// The reduction lab: v7 and v8 against the card's memory, v8 beside CUB, and each version against
// the one before.

#include "labs/reduction_ladder.h"
#include "labs/rule.h"
#include "labs/speed.h"
#include "labs/suite.h"

namespace lab32::labs {
namespace {

MakeWork work_of(int version) {
  return [=](uint32_t n, size_t sets) { return ladder_work(version, n, sets); };
}

std::string result_of(int version) {
  return fmt::format(version < 7 ? "v{}: result" : "v{} int: result", version);
}

// The step up to a version. v1 is given.
void check_step(int version) {
  const Rule rule(fmt::format("v{}_step", version));
  StepCheck check;
  check.lab = "reduction";
  check.task = "int";
  check.n = std::to_string(rule.count("n"));
  check.form = fmt::format("v{}", version);
  check.form_before = fmt::format("v{}", version - 1);
  check.kernel = "reduce_" + check.form;
  check.before = "reduce_" + check.form_before;
  check.after = result_of(version);
  if (version > 2) check.after_before = result_of(version - 1);
  check.make = [=](uint32_t n, size_t sets) { return ladder_step(version, n, sets); };
  credit_step(rule, check);
}

}  // namespace

TEST_SUITE("lab:reduction") {
  TEST_CASE("v7: time" * timed(2)) {
    credit_speed(Rule("v7_time"), {"reduce_v7", result_of(7), work_of(7)});
  }

  TEST_CASE("v8: time" * timed(3)) {
    credit_speed(Rule("v8_time"),
                 {"reduce_v8", result_of(8), work_of(8), device::Yardstick::cub_sum_int});
  }

  TEST_CASE("v1 to v2: time" * timed(1)) { check_step(2); }
  TEST_CASE("v2 to v3: time" * timed(1)) { check_step(3); }
  TEST_CASE("v3 to v4: time" * timed(1)) { check_step(4); }
  TEST_CASE("v4 to v5: time" * timed(1)) { check_step(5); }
  TEST_CASE("v5 to v6: time" * timed(1)) { check_step(6); }
  TEST_CASE("v6 to v7: time" * timed(1)) { check_step(7); }
  TEST_CASE("v7 to v8: time" * timed(1)) { check_step(8); }
}

}  // namespace lab32::labs
