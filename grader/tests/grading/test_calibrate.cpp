// The table of `lab32 calibrate`.
#include "grading/timing/calibrate.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/speed_kit.h"

namespace lab32::grading {

namespace {

// A card on which the submission is the reference solution.
FakeTimer card(double noise) {
  FakeTimer timer;
  timer.submission = timer.reference = 100e-6;
  timer.previous = timer.reference_previous = 150e-6;
  timer.noise = noise;
  return timer;
}

}  // namespace

TEST_SUITE("labs calibrate") {
  TEST_CASE("grading: golden: a calibration") {
    FakeTimer quiet = card(0.002), noisy = card(0.2), flat = card(0.002);
    flat.previous = flat.reference_previous = 102e-6;
    DecidableTimingChecks calibration{
        "NVIDIA Fake 1", "NVIDIA Fake 1, sm_90, 10 SMs, 8 GiB", 21, {}};
    for (auto& [name, timer] : {std::pair<const char*, FakeTimer*>{"quiet", &quiet},
                                {"noisy", &noisy},
                                {"flat", &flat}}) {
      calibration.labs.push_back(calibrated(*timer));
      calibration.labs.back().name = name;
    }
    report::LabResult none;
    none.name = "newer";
    none.status = report::Status::not_graded;
    none.message = "there is no reference solution for this card";
    calibration.labs.push_back(none);
    tests::check_golden("calibration.txt", text_of(calibration));
  }

  TEST_CASE(
      "grading: a calibration runs timing checks only, with the reference solution twice in the "
      "same rounds") {
    FakeTimer timer = card(0.002);
    const report::LabResult lab = calibrated(timer);
    REQUIRE(lab.tests.size() == 2);
    CHECK(lab.tests[0].name == "twice: time");
    CHECK(lab.tests[1].name == "slowly to twice: time");
    CHECK(timer.asked.at(0).candidates.size() == 2);
    CHECK(timer.asked.at(1).candidates.size() == 4);
  }
}

}  // namespace lab32::grading
