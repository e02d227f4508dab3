// Checks of speed with a stopwatch whose times the test makes up: every verdict, without a card.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "fake_device.h"
#include "labs/speed.h"
#include "report/result.h"
#include "scratch.h"

namespace lab32::labs {

constexpr uint64_t kBytes = 800'000'000;  // what the timed work says it must move

// Each round, the submission takes `own` and the copy `copy` seconds, and the version before takes
// `before`; the submission times 1 + noise * (-1 ... 1).
struct FakeStopwatch : device::Stopwatch {
  double own = 100e-6, copy = 95e-6, before = 150e-6, noise = 0.001;
  double reference = 150e-6;               // of its version before, in a step
  double later_own = 0;                    // if not 0, from the second timing on
  float answer = 2, answer_of_before = 2;  // what they multiply by
  std::optional<device::Fault> fault;
  std::optional<device::Clocks> clocks_before, clocks_after;
  std::vector<device::TimingPlan> asked;

  std::string name() const override { return "NVIDIA Fake 1"; }
  std::string arch() const override { return "sm_90"; }
  std::string describe() const override { return "made-up times"; }
  uint32_t multiprocessors() const override { return 10; }

  device::Timed time(const device::TimingPlan& plan) override {
    asked.push_back(plan);
    if (fault) return {std::nullopt, fault};
    if (later_own != 0 && asked.size() > 1) own = later_own;
    device::Timing t;
    for (const device::Contender& c : plan.contenders) t.contenders.push_back({c.name, {}, {}});
    t.copy.name = "copy";
    for (int i = 0; i < 31; ++i) {
      const double wobble = 1 + noise * ((i * 7 % 31) - 15) / 15.0;
      for (size_t c = 0; c < plan.contenders.size(); ++c) {
        t.contenders[c].cold.push_back(c == 0 ? own * wobble : c == 1 ? before : reference);
        t.contenders[c].warm.push_back(0.9 * t.contenders[c].cold.back());
      }
      t.copy.cold.push_back(copy);
      t.copy.warm.push_back(copy);
    }
    for (size_t c = 0; c < plan.contenders.size() && plan.contenders[c].submitted; ++c)
      for (size_t s = 0; s < plan.arrays[0].sets.size(); ++s) {
        std::vector<float> out = values_of<float>(plan.arrays[0].sets[s]);
        for (float& v : out) v *= c == 0 ? answer : answer_of_before;
        t.outputs.push_back({c, s, 10, Outputs(2, bytes_of(out))});
      }
    t.before = clocks_before;
    t.after = clocks_after;
    t.l2_bytes = 50'000'000;
    t.peak_bandwidth = 10e12;  // 750 MB need 75 us
    return {t, std::nullopt};
  }
};

// While it lives, the root of the checkout is a folder with this record of the fake card.
class RecordOfCard {
 public:
  explicit RecordOfCard(const std::string& rows) {
    scratch_.write("data/measured/fake-1-speed.csv",
                   "# device: NVIDIA Fake 1\ntask,form,n,median_ms,copy_ms\n" + rows);
    setenv("LAB32_ROOT", scratch_.path.c_str(), 1);
  }
  RecordOfCard(const RecordOfCard&) = delete;
  RecordOfCard& operator=(const RecordOfCard&) = delete;
  ~RecordOfCard() { unsetenv("LAB32_ROOT"); }

 private:
  tests::Scratch scratch_;
};

// The lines of the hidden suite .speed that are timed: a kernel that doubles 64 floats, against a
// copy and as a step from `slowly_twice`.
enum Line { kTime = 1, kStep = 2 };

// Grades them and gives one. The suite's own result is right with a seed of 7 alone.
report::Test graded(device::Stopwatch* stopwatch, tests::FakeDevice* device = nullptr,
                    bool with_model = false, uint64_t seed = 7, Line line = kTime,
                    bool with_reference = false);

// Is that in the test's message?
bool says(const report::Test& test, const std::string& words);

}  // namespace lab32::labs
