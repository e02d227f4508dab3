// Checks of speed with a stopwatch whose times the test makes up: every verdict, without a card.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fake_device.h"
#include "labs/progress.h"
#include "labs/race.h"
#include "labs/reporter.h"
#include "labs/speed.h"
#include "labs/suite.h"

namespace lab32::labs {
namespace {

using report::Status;
using tests::FakeDevice;
using tests::FakeModule;

constexpr uint64_t kBytes = 800'000'000;

// Doubles its input. 100 MB in and out would be slow here; only the copy's bytes are that many.
TimedWork double_work(uint32_t n, size_t sets) {
  std::vector<std::vector<float>> inputs;
  for (size_t s = 0; s < sets; ++s)
    inputs.push_back(std::vector<float>(n, 1.0f + static_cast<float>(s)));
  TimedWork work = from_in_to_out(inputs);
  work.bytes = kBytes;
  work.steps = [n](device::Module&, uint32_t) {
    return std::vector<device::TimedStep>{
        device::Fill{{1}, 0}, device::TimedLaunch{"twice",
                                                  {{1}, {32}},
                                                  {device::ArrayIndex{0}, device::ArrayIndex{1},
                                                   device::Arg(static_cast<int>(n))}}};
  };
  work.mismatch = [inputs](size_t set, const std::vector<std::vector<std::byte>>& outputs) {
    std::vector<float> want = inputs[set];
    for (float& v : want) v *= 2;
    return mismatch("out", values_of<float>(outputs[0]), want);
  };
  return work;
}

}  // namespace

TEST_SUITE("lab:.speed") {
  TEST_CASE("twice: result" * points(1)) { CHECK(session().seed == 7); }
  TEST_CASE("twice: time" * timed(4)) {
    credit_speed(Rule("twice"), {"twice", "twice: result", double_work});
  }
}

namespace {

// Each round, the submission takes `own` and the copy `copy` seconds, times 1 + noise * (-1 ... 1).
struct FakeStopwatch : device::Stopwatch {
  double own = 100e-6, copy = 95e-6, noise = 0.001;
  float answer = 2;  // what it multiplies by
  std::optional<device::Fault> fault;
  std::optional<device::Clocks> before, after;
  device::TimingPlan asked;

  std::string name() const override { return "FAKE 1"; }
  std::string arch() const override { return "sm_90"; }
  std::string describe() const override { return "made-up times"; }
  uint32_t multiprocessors() const override { return 10; }

  device::Timed time(const device::TimingPlan& plan) override {
    asked = plan;
    if (fault) return {std::nullopt, fault};
    device::Timing t;
    t.contenders.push_back({plan.contenders[0].name, {}, {}});
    t.copy.name = "copy";
    for (int i = 0; i < 31; ++i) {
      const double wobble = 1 + noise * ((i * 7 % 31) - 15) / 15.0;
      t.contenders[0].cold.push_back(own * wobble);
      t.contenders[0].warm.push_back(0.9 * own * wobble);
      t.copy.cold.push_back(copy);
      t.copy.warm.push_back(copy);
    }
    for (size_t s = 0; s < plan.arrays[0].sets.size(); ++s) {
      std::vector<float> out = values_of<float>(plan.arrays[0].sets[s]);
      for (float& v : out) v *= answer;
      t.outputs.push_back({s, 10, {bytes_of(out)}});
    }
    t.before = before;
    t.after = after;
    t.l2_bytes = 50'000'000;
    t.peak_bandwidth = 10e12;  // 750 MB need 75 us
    return {t, std::nullopt};
  }
};

report::Test graded(device::Stopwatch* stopwatch, FakeDevice* device = nullptr,
                    bool with_model = false, uint64_t seed = 7) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("lab32-speed-" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << "[twice]\npoints = 4\nn = 64\nn_modelled = 8\nfraction = 0.9\n";
  const Limits limits(path);
  std::filesystem::remove(path);
  FakeDevice own;
  if (!device) device = &own;
  FakeModule module;
  module.add("twice",
             [&](FakeDevice& d, const device::Shape&, const std::vector<device::Arg>& args) {
               const int n = FakeDevice::value<int>(args[2]);
               for (int i = 0; i < n; ++i)
                 d.array<float>(args[1])[i] = 2 * d.array<float>(args[0])[i];
               device::Run run;
               if (with_model) {
                 run.predicted.emplace();
                 run.predicted->seconds = 12.3e-6;
                 run.predicted->error = 0.15;
                 run.predicted->bottleneck = "bound by DRAM";
               }
               return run;
             });
  const Source source = Source::of_text("first line\n__global__ void twice()\n", "lab.cu");
  Progress progress(false);
  Session session{*device, module, source, limits, seed, progress, {}, {}, 0, {}, {}};
  compile::Artifact artifact;
  session.time = {stopwatch, &artifact, nullptr};
  report::Lab lab;
  lab.name = ".speed";
  run_suite(session, lab);
  return lab.tests.at(1);
}

bool says(const report::Test& test, const std::string& words) {
  CAPTURE(test.message);
  const bool found = test.message.find(words) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_SUITE("labs speed") {
  TEST_CASE("fast enough: all points, with the figures and their intervals") {
    FakeStopwatch watch;
    const report::Test test = graded(&watch);
    CHECK(test.status == Status::passed);
    CHECK(test.score == 4);
    CHECK(test.measured == "0.95, 100 us");
    CHECK(test.wanted == "0.90 of a copy");
    CHECK(test.figures.at("fraction") == doctest::Approx(0.95));
    CHECK(test.figures.at("rounds") == 31);
    says(test, "measured on FAKE 1: 100 us cold");
    says(test, "90.0 us warm, 8000 GB/s");
    // Fresh inputs each, and zeroing is part of what is timed.
    CHECK(watch.asked.arrays[0].sets.size() == 3);
    CHECK(watch.asked.arrays[0].sets[0] != watch.asked.arrays[0].sets[1]);
    CHECK(std::holds_alternative<device::Fill>(watch.asked.contenders[0].steps[0]));
    CHECK(watch.asked.copy_bytes == kBytes);
  }

  TEST_CASE("too slow: points in proportion, and the kernel's line") {
    FakeStopwatch watch;
    watch.own = 190e-6;
    const report::Test test = graded(&watch);
    CHECK(test.status == Status::failed);
    CHECK(test.score == doctest::Approx(4 * 0.5 / 0.9).epsilon(0.01));
    CHECK(test.line == 2);
  }

  TEST_CASE("an interval that holds the limit is inconclusive and counts for the student") {
    FakeStopwatch watch;
    watch.own = 95e-6 / 0.899;
    watch.noise = 0.05;
    const report::Test test = graded(&watch);
    CHECK(test.status == Status::passed);
    CHECK(test.score == 4);
    says(test, "Inconclusive, which counts for you");
  }

  TEST_CASE("faster than memory is no achievement") {
    FakeStopwatch watch;
    watch.own = 70e-6;
    const report::Test test = graded(&watch);
    CHECK(test.status == Status::failed);
    CHECK(test.score == 0);
    CHECK(test.measured == "impossible");
    says(test,
         "Physically impossible: 70.0 us for 800 MB that memory needs 75.0 us for at its peak");
  }

  TEST_CASE("outputs of timed launches are verified") {
    FakeStopwatch watch;
    watch.answer = 3;
    const report::Test test = graded(&watch);
    CHECK(test.status == Status::failed);
    CHECK(test.score == 0);
    CHECK(test.measured == "wrong when timed");
    says(test, "out[0] is 3 where 2 was expected");
  }

  TEST_CASE("a fault costs this check, by name") {
    FakeStopwatch watch;
    watch.fault = device::Fault{"misaligned", "", 0, "twice: CUDA_ERROR_MISALIGNED_ADDRESS"};
    const report::Test test = graded(&watch);
    CHECK(test.status == Status::failed);
    CHECK(test.measured == "misaligned");
    says(test, "On the GPU: twice: CUDA_ERROR_MISALIGNED_ADDRESS");
  }

  TEST_CASE("clocks that move are told") {
    FakeStopwatch watch;
    watch.before = device::Clocks{1980, 3201, 0};
    watch.after = device::Clocks{1500, 3201, 0};
    says(graded(&watch), "The card's clock moved from 1980 to 1500 MHz");
    watch.after = device::Clocks{1980, 3201, 0x20};
    says(graded(&watch), "The card was throttled");
    watch.after = device::Clocks{1975, 3201, 0};
    CHECK(graded(&watch).message.find("clock") == std::string::npos);
  }

  TEST_CASE("without a card it is not run, and the modelled time is shown") {
    FakeDevice device;
    const report::Test modelled = graded(nullptr, &device, true);
    CHECK(modelled.status == Status::not_run);
    CHECK(modelled.measured == "12.3 us modelled");
    says(modelled, "For n = 8, 12.3 us (modelled, give or take 15 %) on fake, bound by DRAM.");
    const report::Test without = graded(nullptr, &device, false);
    CHECK(without.status == Status::not_run);
    CHECK(without.measured == "");
    CHECK(device.live() == 0);
  }

  TEST_CASE("what is wrong is not timed") {
    FakeStopwatch watch;
    const report::Test test = graded(&watch, nullptr, false, 8);  // "twice: result" fails
    CHECK(test.status == Status::failed);
    CHECK(test.measured == "not counted");
    CHECK(watch.asked.contenders.empty());
    CHECK(graded(nullptr, nullptr, true, 8).status == Status::not_run);
  }

  TEST_CASE("durations") {
    CHECK(duration(8.347e-6) == "8.3 us");
    CHECK(duration(99.97e-6) == "100.0 us");
    CHECK(duration(234.5e-6) == "234 us");
    CHECK(duration(1.2345e-3) == "1.23 ms");
    CHECK(duration(0.25) == "250 ms");
  }
}

}  // namespace lab32::labs
