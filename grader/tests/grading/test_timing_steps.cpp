// Timing checks against the previous version. The reference solution shows the gain of the step in
// the same rounds.
#include "tests/fixtures/speed_kit.h"

namespace lab32::grading {

using report::Status;
using tests::FakeDevice;

namespace {

report::CheckResult step(FakeTimer& watch, uint64_t seed = 7, bool with_reference = true) {
  return graded(&watch, nullptr, Model::none, seed, kStep, with_reference);
}

}  // namespace

TEST_SUITE("labs steps") {
  // The reference solution gains 45 %. All points need half of that, and a quarter of it gives half
  // of the points.
  const double kHalf = 0.25 * (152.0 / 104.5 - 1);

  TEST_CASE("grading: the reference solution's gain in the same rounds sets the limit of a step") {
    FakeTimer watch;
    watch.previous = 155e-6;
    const report::CheckResult test = step(watch);
    CHECK(test.status == Status::passed);
    CHECK(test.score == 2);
    CHECK(test.measured == "1.55 times, 100 µs");
    CHECK(test.expected == "1.23 times slowly");
    CHECK(test.figures.at("ratio_expected") == doctest::Approx(1 + 0.5 * (152.0 / 104.5 - 1)));
    CHECK(test.figures.at("reference_gain") == doctest::Approx(152.0 / 104.5));
    CHECK(test.figures.at("against_reference") == doctest::Approx(1.045));
    says(test, "slowly_twice 155 µs, twice 100 µs; 1.550 times as fast");
    says(test, "This step makes the reference solution 1.455 times as fast");
    const device::TimingPlan& asked = watch.asked.back();
    REQUIRE(asked.candidates.size() == 4);
    CHECK(asked.candidates[1].submitted);
    CHECK_FALSE(asked.candidates[2].submitted);
    REQUIRE(asked.speed_ratios.size() == 2);
    CHECK(asked.speed_ratios[0].against == 1);
    CHECK(asked.speed_ratios[1].candidate == 2);
    CHECK(asked.speed_ratios[1].against == 3);
  }

  TEST_CASE("grading: a card on which the step gains less asks for less") {
    FakeTimer watch;
    watch.previous = 108e-6;            // 1.08 times
    watch.reference_previous = 115e-6;  // 1.10 times
    const report::CheckResult test = step(watch);
    CHECK(test.status == Status::passed);
    CHECK(test.expected == "1.05 times slowly");
  }

  TEST_CASE("grading: a smaller gain gives fewer points, and no gain gives none") {
    FakeTimer watch;
    watch.previous = watch.reference_previous;
    watch.submission = watch.previous / 1.2;
    const report::CheckResult half = step(watch);
    CHECK(half.status == Status::failed);
    CHECK(half.score == doctest::Approx(2 * (0.2 - kHalf) / kHalf).epsilon(0.02));
    watch.submission = watch.previous / (1 + kHalf);
    CHECK(step(watch).score == doctest::Approx(0).epsilon(0.02));
  }

  TEST_CASE(
      "grading: a slowed previous version gains nothing, and an early optimisation loses nothing") {
    FakeTimer watch;
    watch.submission = 152e-6;
    watch.previous = 380e-6;
    const report::CheckResult slow = step(watch);
    CHECK(slow.status == Status::failed);
    CHECK(slow.score == doctest::Approx(0).epsilon(0.02));
    says(slow,
         "The reference solution's slowly_twice takes 152 µs, so the check compares "
         "with 169 µs.");
    watch.submission = watch.previous = 100e-6;
    const report::CheckResult fast = step(watch);
    CHECK(fast.status == Status::passed);
    says(fast, "so the check compares with 152 µs.");
  }

  TEST_CASE("grading: a step that does not make the reference solution faster is not run") {
    FakeTimer watch;
    watch.reference_previous = 107.6e-6;
    const report::CheckResult test = step(watch);
    CHECK(test.status == Status::not_run);
    CHECK(test.measured == "1.03 by reference");
    REQUIRE(test.not_run);
    CHECK(test.not_run->kind == report::NotRunReason::Kind::no_such_step);
    CHECK(test.not_run->gain == doctest::Approx(107.6 / 104.5));
    says(
        test,
        "This step is not timed on NVIDIA Fake 1: it makes the reference solution, timed just now, "
        "only 1.03 times as fast, and the check needs 1.05.");
  }

  TEST_CASE(
      "grading: a submission with a wrong version loses a step only if the card asks for it") {
    FakeTimer watch;
    const report::CheckResult lost = step(watch, 8);
    CHECK(lost.status == Status::failed);
    CHECK(lost.measured == "not counted");
    watch.reference_previous = 107.6e-6;
    CHECK(step(watch, 8).status == Status::not_run);
    for (const device::TimingPlan& plan : watch.asked) {
      REQUIRE(plan.candidates.size() == 2);
      CHECK_FALSE(plan.candidates[0].submitted);
    }
  }

  TEST_CASE("grading: without a reference solution steps are not run") {
    FakeTimer watch;
    const report::CheckResult test = step(watch, 7, false);
    CHECK(test.status == Status::not_run);
    CHECK(test.not_run->kind == report::NotRunReason::Kind::no_reference);
    says(test, "the reference solution is missing, or needs a newer GPU");
    for (const device::TimingPlan& plan : watch.asked) CHECK(plan.candidates.size() == 1);
  }

  TEST_CASE("grading: a wrong previous version loses the step") {
    FakeTimer watch;
    watch.previous_answer = 3;
    const report::CheckResult test = step(watch);
    CHECK(test.status == Status::failed);
    CHECK(test.measured == "wrong when timed");
    says(test, "A timed launch of slowly_twice gave a wrong result");
  }

  TEST_CASE("grading: without a card a step shows the modelled ratio") {
    FakeDevice device;
    const report::CheckResult test = graded(nullptr, &device, Model::known, 7, kStep);
    CHECK(test.status == Status::not_run);
    CHECK(test.measured == "2.00 times modelled");
    CHECK(test.expected == "ahead of slowly");
    says(test, "For n = 8 the model predicts 24.6 µs for slowly_twice and 12.3 µs for your twice.");
    CHECK(device.live() == 0);
  }
}

}  // namespace lab32::grading
