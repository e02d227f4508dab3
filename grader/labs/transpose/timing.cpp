// The transpose lab, part C: the best version against a copy, and each version against an earlier
// one.

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "labs/transpose/tile.h"

namespace lab32::checks::transpose {
namespace {

constexpr uint32_t kTimedTile = 32;

// One version on n x n floats. `out`: the index of the array that it writes; array 0 is the input.
TimedVersion timed_version(Check& check, const std::string& version, uint32_t n, size_t out,
                           const InputSets<float>& inputs) {
  TimedVersion made;
  made.steps = [=, &check](device::LoadedModule& module, uint32_t) {
    const device::Shape shape =
        version == "best" ? declared_tile(check, module).shape(n, n)
                          : device::Shape{{blocks_for(n, kTimedTile), blocks_for(n, kTimedTile)},
                                          {kTimedTile, kTimedTile}};
    return std::vector<device::TimedStep>{
        device::TimedLaunch{"transpose_" + version + "<float>",
                            shape,
                            {device::ArrayIndex{0}, device::ArrayIndex{out},
                             device::Arg(static_cast<int>(n)), device::Arg(static_cast<int>(n))}}};
  };
  made.mismatch = [=](size_t set, const Outputs& outputs) {
    const std::vector<float> got = values_of<float>(outputs[out - 1]);
    const std::vector<float>& in = *inputs[set];
    // Compares square by square, so that both matrices' elements stay in the host's caches.
    for (size_t y0 = 0; y0 < n; y0 += kTimedTile)
      for (size_t x0 = 0; x0 < n; x0 += kTimedTile)
        for (size_t y = y0; y < y0 + kTimedTile && y < n; ++y)
          for (size_t x = x0; x < x0 + kTimedTile && x < n; ++x)
            if (!matches(got[x * n + y], in[y * n + x], 0))
              return fmt::format("out[{}][{}] is not in[{}][{}].", x, y, y, x);
    return std::string();
  };
  return made;
}

// The timed work of a version, next to the earlier version `before` unless that is empty.
TimedWork version_work(Check& check, const std::string& version, const std::string& before,
                       uint32_t n, size_t sets) {
  const size_t count = size_t{n} * n;
  const InputSets<float> inputs = random_inputs(check, sets, count);
  TimedWork work = work_with_in_and_out(inputs);
  static_cast<TimedVersion&>(work) = timed_version(check, version, n, 1, inputs);
  if (!before.empty()) {
    work.before = timed_version(check, before, n, 2, inputs);
    work.arrays.push_back(output_array<float>("out of the version before", count));
  }
  return work;
}

void check_step(Check& check, const std::string& before, const std::string& version) {
  StepCheck step;
  step.kernel = "transpose_" + version;
  step.before = "transpose_" + before;
  step.form_before = before;
  step.make = [=](Check& check, uint32_t n, size_t sets) {
    return version_work(check, version, before, n, sets);
  };
  credit_step(check, step);
}

}  // namespace

TEST_SUITE("lab:transpose") {
  LAB_CHECK("C1 best: time" * takes_of_speed()) {
    const MakeWork make = [](Check& check, uint32_t n, size_t sets) {
      return version_work(check, "best", "", n, sets);
    };
    credit_speed(check, {"transpose_best", make});
  }

  LAB_CHECK("C2 naive to tiled: time" * takes_of_step()) { check_step(check, "naive", "tiled"); }

  LAB_CHECK("C3 tiled to padded: time" * takes_of_step()) { check_step(check, "tiled", "padded"); }

  LAB_CHECK("C4 padded to best: time" * takes_of_step()) { check_step(check, "padded", "best"); }
}

}  // namespace lab32::checks::transpose
