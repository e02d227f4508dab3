#include "speed_kit.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "labs/progress.h"
#include "labs/reporter.h"
#include "labs/suite.h"

namespace lab32::labs {
namespace {

using tests::FakeDevice;
using tests::FakeModule;

// Doubles its input. 100 MB in and out would be slow here; only kBytes are that many.
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
  work.mismatch = [inputs](size_t set, const Outputs& outputs) {
    std::vector<float> want = inputs[set];
    for (float& v : want) v *= 2;
    return mismatch("out", values_of<float>(outputs[0]), want);
  };
  return work;
}

// The same, with a version before that writes to an array of its own.
TimedWork double_step(uint32_t n, size_t sets) {
  TimedWork work = double_work(n, sets);
  work.arrays.push_back(written_array<float>("out before", n));
  work.before.steps = [n](device::Module&, uint32_t) {
    return std::vector<device::TimedStep>{device::TimedLaunch{
        "slowly_twice",
        {{1}, {32}},
        {device::ArrayIndex{0}, device::ArrayIndex{2}, device::Arg(static_cast<int>(n))}}};
  };
  work.before.mismatch = [now = work.mismatch](size_t set, const Outputs& outputs) {
    return now(set, {outputs[1]});
  };
  return work;
}

}  // namespace

TEST_SUITE("lab:.speed") {
  TEST_CASE("twice: result" * points(1)) { CHECK(session().seed == 7); }
  TEST_CASE("twice: time" * timed(4)) {
    credit_speed(Rule("twice"), {"twice", "twice: result", double_work});
  }
  TEST_CASE("slowly to twice: time" * timed(2)) {
    StepCheck check;
    check.lab = "speed";
    check.task = "float";
    check.n = "64";
    check.form = "twice";
    check.form_before = "slowly";
    check.kernel = "twice";
    check.before = "slowly_twice";
    check.after = "twice: result";
    check.make = double_step;
    credit_step(Rule("twice_step"), check);
  }
}

report::Test graded(device::Stopwatch* stopwatch, FakeDevice* device, bool with_model,
                    uint64_t seed, Line line, bool with_reference) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("lab32-speed-" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << "[twice]\npoints = 4\nn = 64\nn_modelled = 8\nfraction = 0.9\n"
                         "[twice_step]\npoints = 2\nn = 64\nn_modelled = 8\n"
                         "[steps]\nshare_of_gain = 0.5\nleast_gain = 0.05\n";
  const Limits limits(path);
  std::filesystem::remove(path);
  FakeDevice own;
  if (!device) device = &own;
  FakeModule module;
  const auto twice_in = [&](double seconds) {
    return [=](FakeDevice& d, const device::Shape&, const std::vector<device::Arg>& args) {
      const int n = FakeDevice::value<int>(args[2]);
      for (int i = 0; i < n; ++i) d.array<float>(args[1])[i] = 2 * d.array<float>(args[0])[i];
      device::Run run;
      if (with_model) {
        run.predicted.emplace();
        run.predicted->seconds = seconds;
        run.predicted->error = 0.15;
        run.predicted->bottleneck = "bound by DRAM";
      }
      return run;
    };
  };
  module.add("twice", twice_in(12.3e-6));
  module.add("slowly_twice", twice_in(24.6e-6));
  const Source source = Source::of_text("first line\n__global__ void twice()\n", "lab.cu");
  Progress progress(false);
  Session session{*device, module, source, limits, seed, progress, {}, {}, 0, {}, {}};
  compile::Artifact artifact;
  session.time = {stopwatch, &artifact, with_reference ? &artifact : nullptr};
  report::Lab lab;
  lab.name = ".speed";
  run_suite(session, lab);
  return lab.tests.at(line);
}

bool says(const report::Test& test, const std::string& words) {
  CAPTURE(test.message);
  const bool found = test.message.find(words) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace lab32::labs
