// Speed against the version before, where the card's own record shows the step.
#include "base/root.h"
#include "grading/reference_timings.h"
#include "tests/fixtures/speed_kit.h"

namespace lab32::grading {

using report::Status;
using tests::FakeDevice;

TEST_SUITE("labs steps") {
  // 1.6 and 1.1 copies: a gain of 45 %, of which half is asked for, and half of that counts
  // nothing.
  const double kHalf = 0.25 * (1.6 / 1.1 - 1);
  const char* const kRecord = "float,twice,64,0.11,0.1\nfloat,\"slowly\",64,0.16,0.1\n";

  TEST_CASE("grading: a step is worth what the card's own record says") {
    const RecordOfCard record(kRecord);
    FakeTimer watch;
    watch.before = 155e-6;
    const report::Test test = graded(&watch, nullptr, Model::none, 7, kStep);
    CHECK(test.status == Status::passed);
    CHECK(test.score == 2);
    CHECK(test.measured == "1.55 times, 100 us");
    CHECK(test.expected == "1.23 times slowly");
    CHECK(test.figures.at("ratio_expected") == doctest::Approx(1 + 0.5 * (1.6 / 1.1 - 1)));
    says(test, "slowly_twice 155 us, twice 100 us; 1.550 times as fast");
    says(test, "where the card's reference timings have 1.455.");
    const device::TimingPlan& asked = watch.asked.back();
    CHECK(asked.against == 1);
    CHECK(asked.candidates.at(1).submitted);
  }

  TEST_CASE("grading: below that, less; with half of what is asked for, nothing") {
    const RecordOfCard record(kRecord);
    FakeTimer watch;
    watch.before = 152e-6;  // 1.6 copies
    watch.own = watch.before / 1.2;
    const report::Test half = graded(&watch, nullptr, Model::none, 7, kStep);
    CHECK(half.status == Status::failed);
    CHECK(half.score == doctest::Approx(2 * (0.2 - kHalf) / kHalf).epsilon(0.02));
    watch.own = watch.before / (1 + kHalf);
    CHECK(graded(&watch, nullptr, Model::none, 7, kStep).score == doctest::Approx(0).epsilon(0.02));
  }

  TEST_CASE(
      "grading: a brake on the version before gains nothing, and being ahead of it loses nothing") {
    const RecordOfCard record(kRecord);
    FakeTimer watch;
    watch.own = watch.reference = 152e-6;
    watch.before = 380e-6;
    const report::Test recorded = graded(&watch, nullptr, Model::none, 7, kStep);
    CHECK(recorded.score == doctest::Approx(0).epsilon(0.02));
    says(recorded,
         "The reference solution's slowly_twice would take, by the record, 152 us: the step is "
         "counted from 169 us.");
    const report::Test slow = graded(&watch, nullptr, Model::none, 7, kStep, true);
    CHECK(slow.status == Status::failed);
    CHECK(slow.score == doctest::Approx(0).epsilon(0.02));
    says(slow,
         "The reference solution's slowly_twice takes 152 us: the step is counted from 169 us.");
    watch.own = watch.before = 100e-6;
    const report::Test fast = graded(&watch, nullptr, Model::none, 7, kStep, true);
    CHECK(fast.status == Status::passed);
    says(fast, "the step is counted from 152 us.");
    CHECK_FALSE(watch.asked.back().candidates.at(2).submitted);
  }

  TEST_CASE("grading: a step that the record does not show is not asked for") {
    FakeTimer watch;
    {
      const RecordOfCard record("float,twice,64,0.156,0.1\nfloat,slowly,64,0.16,0.1\n");
      const report::Test test = graded(&watch, nullptr, Model::none, 7, kStep);
      CHECK(test.status == Status::not_run);
      REQUIRE(test.not_run);
      CHECK(test.not_run->kind == report::NotRun::Kind::no_such_step);
      CHECK(test.not_run->gain == doctest::Approx(1.6 / 1.56));
      says(test,
           "On NVIDIA Fake 1 this step is none: 1.03 times as fast in its reference timings "
           "(data/measured/fake-1-speed.csv), and less than 1.05 is not asked for.");
    }
    const RecordOfCard other_size("float,twice,65,0.11,0.1\nfloat,slowly,64,0.16,0.1\n");
    const report::Test test = graded(&watch, nullptr, Model::none, 7, kStep);
    CHECK(test.status == Status::not_run);
    says(test, "data/measured/fake-1-speed.csv is not there, or has not both versions.");
    for (const device::TimingPlan& plan : watch.asked) CHECK(plan.candidates.size() == 1);
  }

  TEST_CASE("grading: a version before that is wrong makes no step") {
    const RecordOfCard record(kRecord);
    FakeTimer watch;
    watch.answer_of_before = 3;
    const report::Test test = graded(&watch, nullptr, Model::none, 7, kStep);
    CHECK(test.status == Status::failed);
    CHECK(test.measured == "wrong when timed");
    says(test, "A timed launch of slowly_twice gave a wrong result");
  }

  TEST_CASE("grading: a step without a card: the modelled ratio") {
    FakeDevice device;
    const report::Test test = graded(nullptr, &device, Model::known, 7, kStep);
    CHECK(test.status == Status::not_run);
    CHECK(test.measured == "2.00 times modelled");
    CHECK(test.expected == "ahead of slowly");
    says(test, "For n = 8, 24.6 us and 12.3 us (modelled).");
    CHECK(device.live() == 0);
  }

  TEST_CASE("grading: the card's record of the reduction lab, by name") {
    CHECK(record_file("NVIDIA H200", "reduction") == "data/measured/h200-reduction.csv");
    CHECK(record_file("Tesla T4", "reduction") == "data/measured/tesla-t4-reduction.csv");
    const ReferenceTimings record(root().string() + "/data/measured/h200-reduction.csv");
    CHECK(record.copies("int", "v1", "33554432").value() == doctest::Approx(8.59).epsilon(0.01));
    CHECK(record.copies("int", "v4, 256 threads", "33554432"));
    CHECK_FALSE(record.copies("int", "v9", "33554432"));
    CHECK(ReferenceTimings("/no/such/file").empty());
  }
}

}  // namespace lab32::grading
