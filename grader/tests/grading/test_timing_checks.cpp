// Timing checks against a copy: every verdict. The times are those of speed_kit.h.
#include "grading/engine/progress.h"
#include "grading/engine/runner.h"
#include "grading/timing/speed_verdict.h"
#include "grading/words/words.h"
#include "tests/fixtures/speed_kit.h"

namespace lab32::grading {

using report::Status;
using tests::FakeDevice;

TEST_SUITE("labs speed") {
  TEST_CASE("grading: a fast kernel gets all points, with figures and intervals") {
    FakeTimer watch;
    const report::CheckResult test = graded(&watch);
    CHECK(test.status == Status::passed);
    CHECK(test.score == 4);
    CHECK(test.measured == "0.95, 100 µs");
    CHECK(test.expected == "0.90 of a copy");
    CHECK(test.figures.at("fraction") == doctest::Approx(0.95));
    CHECK(test.figures.at("rounds") == 31);
    says(test, "measured on NVIDIA Fake 1: 100 µs cold");
    says(test, "90.0 µs warm, 8000 GB/s");
    // Each launch gets other inputs, and zeroing is part of the timed work.
    CHECK(watch.asked.at(0).arrays[0].sets.size() == 2);
    CHECK(watch.asked.at(0).arrays[0].sets[0] != watch.asked.at(0).arrays[0].sets[1]);
    CHECK(std::holds_alternative<device::FillToTime>(watch.asked[0].candidates[0].steps[0]));
    CHECK(watch.asked[0].copy_bytes == kBytes);
  }

  TEST_CASE("grading: a slow kernel gets points in proportion, and the message quotes its line") {
    FakeTimer watch;
    watch.submission = 190e-6;
    const report::CheckResult test = graded(&watch);
    CHECK(test.status == Status::failed);
    CHECK(test.score == doctest::Approx(4 * 0.5 / 0.9).epsilon(0.01));
    CHECK(test.line == 2);
    REQUIRE(test.failure);
    CHECK(test.failure->kind == report::CheckFailureReason::Kind::slow);
    CHECK(*test.failure->measured == doctest::Approx(0.5));
    CHECK(*test.failure->expected == 0.9);
  }

  TEST_CASE("grading: a card on which the reference solution is slower asks for less") {
    FakeTimer watch;
    watch.submission = 130e-6;
    watch.reference = 125e-6;  // 0.76 of a copy
    const report::CheckResult test = graded(&watch, nullptr, Model::none, 7, kTime, true);
    CHECK(test.status == Status::passed);
    CHECK(test.expected == "0.72 of a copy");
    CHECK(test.figures.at("fraction_expected") == doctest::Approx(0.95 * 95 / 125));
    says(test, "reference solution: 125 µs (yours takes 1.040 times as long");
    says(test,
         "The reference solution reaches 0.76 of a copy on this card, so the limit is "
         "95 % of that instead of 0.90.");
    watch.reference = 100e-6;  // 0.95: the rubric's 0.90 holds
    CHECK(graded(&watch, nullptr, Model::none, 7, kTime, true).expected == "0.90 of a copy");
  }

  TEST_CASE("grading: a file that was not handed in loses no bonus") {
    FakeTimer watch;
    FakeDevice device;
    ProgressReporter progress(false);
    const report::LabResult lab =
        grade_file(Rubric(rubric_folder(), "reduction"), "/nowhere/reduction.cu",
                   {device, 1, progress, &watch});
    CHECK(lab.status == Status::error);
    CHECK(lab.score == 0);
    CHECK(lab.max_score == 100);
  }

  TEST_CASE("grading: durations have three digits") {
    CHECK(duration(83.44e-6) == "83.4 µs");
    CHECK(duration(966.4e-6) == "966 µs");
    CHECK(duration(1.274e-3) == "1.27 ms");
    CHECK(duration(16.99e-3) == "17.0 ms");
    CHECK(duration(0.1999) == "200 ms");
  }

  TEST_CASE(
      "grading: if the interval holds the limit, a second timing takes longer, and then the "
      "student gets the points") {
    FakeTimer watch;
    watch.submission = 95e-6 / 0.899;
    watch.noise = 0.05;
    const report::CheckResult test = graded(&watch);
    CHECK(test.status == Status::passed);
    CHECK(test.score == 4);
    says(test,
         "The timing is inconclusive, because the limit lies inside the interval: you get the "
         "points");
    says(test, "Timed twice");
    REQUIRE(watch.asked.size() == 2);
    CHECK(watch.asked[0].wanted_interval == 0.02);
    CHECK(watch.asked[1].wanted_interval == kLongInterval);
    CHECK(watch.asked[1].seconds == kLongSeconds);
  }

  TEST_CASE("grading: the second timing decides") {
    for (double fraction : {0.95, 0.45}) {
      FakeTimer watch;
      watch.submission = 95e-6 / 0.899;
      watch.noise = 0.05;
      watch.later_submission = 95e-6 / fraction;
      const report::CheckResult test = graded(&watch);
      CHECK(watch.asked.size() == 2);
      CHECK(test.status == (fraction > 0.9 ? Status::passed : Status::failed));
      CHECK(test.score == doctest::Approx(fraction > 0.9 ? 4 : 2).epsilon(0.02));
      CHECK(test.message.find("inconclusive") == std::string::npos);
      says(test, "Timed twice");
    }
  }

  TEST_CASE("grading: a kernel that is faster than memory allows loses the check") {
    FakeTimer watch;
    watch.submission = 70e-6;
    const report::CheckResult test = graded(&watch);
    CHECK(test.status == Status::failed);
    CHECK(test.score == 0);
    CHECK(test.measured == "impossible");
    CHECK(test.failure->kind == report::CheckFailureReason::Kind::impossible_time);
    CHECK(*test.failure->expected == doctest::Approx(75e-6));
    says(test,
         "Physically impossible: 70.0 µs for 800 MB, which takes 75.0 µs at the peak "
         "bandwidth");
  }

  TEST_CASE("grading: outputs of timed launches are verified") {
    FakeTimer watch;
    watch.answer = 3;
    const report::CheckResult test = graded(&watch);
    CHECK(test.status == Status::failed);
    CHECK(test.score == 0);
    CHECK(test.measured == "wrong when timed");
    says(test, "out[0] is 3 where 2 was expected");
  }

  TEST_CASE("grading: a fault during timing loses this check, and the message names it") {
    FakeTimer watch;
    watch.fault.emplace().kind = sim::TrapKind::misaligned;
    watch.fault->driver = device::DriverError{"twice", "CUDA_ERROR_MISALIGNED_ADDRESS", "bad"};
    const report::CheckResult test = graded(&watch);
    CHECK(test.status == Status::failed);
    CHECK(test.measured == "misaligned");
    says(test, "On the GPU, with n = 64: twice: CUDA_ERROR_MISALIGNED_ADDRESS (bad)");
  }

  TEST_CASE("grading: the message mentions a clock that changes") {
    FakeTimer watch;
    watch.clocks_before = device::GpuClocks{1980, 3201, 0};
    watch.clocks_after = device::GpuClocks{1500, 3201, 0};
    says(graded(&watch), "The card's clock changed from 1980 to 1500 MHz");
    watch.clocks_after = device::GpuClocks{1980, 3201, 0x20};
    says(graded(&watch), "The card was throttled");
    watch.clocks_after = device::GpuClocks{1975, 3201, 0};
    CHECK(graded(&watch).message.find("clock") == std::string::npos);
  }

  TEST_CASE("grading: without a card a timing check is not run and shows the modelled time") {
    FakeDevice device;
    const report::CheckResult modelled = graded(nullptr, &device, Model::known);
    CHECK(modelled.status == Status::not_run);
    CHECK(modelled.measured == "12.3 µs modelled");
    REQUIRE(modelled.not_run);
    CHECK(modelled.not_run->kind == report::NotRunReason::Kind::no_gpu);
    CHECK(modelled.not_run->modelled->n == 8);
    CHECK(modelled.not_run->modelled->seconds == doctest::Approx(12.3e-6));
    says(
        modelled,
        "For n = 8 the model predicts 12.3 µs (with a mean error of 15 %) on fake, bound by DRAM.");
    const report::CheckResult without = graded(nullptr, &device, Model::none);
    CHECK(without.status == Status::not_run);
    CHECK(without.measured == "");
    CHECK(device.live() == 0);
  }

  TEST_CASE(
      "grading: without a card no bonus is lost, even if launches are too long to be modelled") {
    const report::CheckResult test = graded(nullptr, nullptr, Model::too_long);
    CHECK(test.status == Status::not_run);
    CHECK(test.measured == "");
    CHECK(test.not_run->kind == report::NotRunReason::Kind::no_gpu);
    CHECK_FALSE(test.failure);
  }

  TEST_CASE("grading: a wrong kernel is not timed") {
    FakeTimer watch;
    const report::CheckResult test =
        graded(&watch, nullptr, Model::none, 8);  // "twice: result" fails
    CHECK(test.status == Status::failed);
    CHECK(test.measured == "not counted");
    CHECK(watch.asked.empty());
    CHECK(graded(nullptr, nullptr, Model::known, 8).status == Status::not_run);
  }

  TEST_CASE("grading: durations") {
    CHECK(duration(8.347e-6) == "8.3 µs");
    CHECK(duration(99.97e-6) == "100.0 µs");
    CHECK(duration(234.5e-6) == "234 µs");
    CHECK(duration(1.2345e-3) == "1.23 ms");
    CHECK(duration(0.25) == "250 ms");
  }
}

}  // namespace lab32::grading
