// The shuffle lab, B4: sums of ones. The rubric declares the other tasks of parts A, B
// and C. Contract: labs/shuffle/shuffle.cu.

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"

namespace lab32::checks::shuffle {
namespace {

constexpr uint32_t kBlock = 256;

// The counters of a sum of ones in blocks of 256 threads, added over the passes that leave one
// number.
struct CountersAddedOverPasses {
  float result = 0;
  uint32_t passes = 0;
  double sectors = 0, adds = 0, wavefronts = 0, barriers = 0;
  double modelled = 0;  // seconds; 0: not requested; negative: a pass has no prediction

  // `scale`: how many such launches the pass stands for.
  void add_launch(const counters::Counters& c, double scale = 1) {
    ++passes;
    sectors += scale * static_cast<double>(c.load.sectors + c.store.sectors);
    adds += scale * static_cast<double>(c.red.sectors);
    wavefronts += scale * static_cast<double>(c.shared_wavefronts());
    barriers += scale * static_cast<double>(c.block_barriers);
  }
  void add_modelled_pass_seconds(Check& check, std::optional<double> seconds) {
    if (!check.session.setup.modelled_times) return;
    modelled = seconds && modelled >= 0 ? modelled + *seconds : -1;
  }
};

// Models caches and time only if requested, because modelling them costs as much as the rest of a
// launch.
device::LaunchOptions::Model model_unless_times_disabled(Check& check,
                                                         device::LaunchOptions::Model model) {
  return check.session.setup.modelled_times ? model : device::LaunchOptions::Model::none;
}

std::optional<double> predicted_seconds(const device::LaunchResult& launched) {
  if (!launched.predicted) return std::nullopt;
  return launched.predicted->seconds;
}

using CountPass = std::function<device::LaunchResult(uint32_t n)>;

// The modelled time of the first pass over n elements from a cold L2, which is what the handout has
// measured. At this size the time grows linearly, so it is extrapolated from two smaller launches,
// which are cheaper to model.
std::optional<double> modelled_cold_l2_seconds(Check& check, const CountPass& count, uint32_t n) {
  if (!check.session.setup.modelled_times) return std::nullopt;
  const std::optional<double> shorter = predicted_seconds(count(n / 16)),
                              longer = predicted_seconds(count(n / 8));
  if (!shorter || !longer) return std::nullopt;
  return *shorter + (*longer - *shorter) * (16 - 1);
}

std::vector<float> ones(uint32_t n) { return std::vector<float>(n, 1.0f); }

CountersAddedOverPasses sum_ones_in_passes(Check& check, const std::string& kernel,
                                           const Input<float>& ones_of_all) {
  const auto pass = [&](const DeviceArray& in, const DeviceArray& out, const std::string& setting,
                        device::LaunchOptions::Model model) {
    Launch made{kernel,
                {{static_cast<uint32_t>(out.count())}, {kBlock}},
                {in, out, static_cast<int>(in.count())},
                setting,
                model};
    // The checks of B1 and B3 have launched these kernels in other orders of threads and have drawn
    // their pictures.
    made.try_other_order = made.in_pictures = false;
    return made;
  };
  using Model = device::LaunchOptions::Model;
  CountersAddedOverPasses total;
  total.add_modelled_pass_seconds(
      check, modelled_cold_l2_seconds(
                 check,
                 [&](uint32_t n) {
                   const Input<float> in(check, "in", ones(n));
                   const Output<float> out(check, "out", blocks_for(n, 2 * kBlock));
                   return run_to_count(check, pass(in, out, "", Model::cold));
                 },
                 static_cast<uint32_t>(ones_of_all.count())));
  std::vector<float> left;
  const auto go_on = [&](const Input<float>& in) {
    const bool first = total.passes == 0;
    const Output<float> out(check, "out", blocks_for(in.count(), 2 * kBlock));
    const device::LaunchResult launched =
        run(check, pass(in, out, fmt::format("pass {}, n = {}", total.passes + 1, in.count()),
                        first ? Model::none : model_unless_times_disabled(check, Model::warm)));
    total.add_launch(counters_of(check, launched));
    if (!first) total.add_modelled_pass_seconds(check, predicted_seconds(launched));
    left = out.read();
  };
  go_on(ones_of_all);
  while (left.size() > 1) {
    const Input<float> in(check, "in", std::exchange(left, {}));
    go_on(in);
  }
  total.result = left[0];
  return total;
}

// Counts the given kernel. All its warps do the same, so only some of them are simulated.
CountersAddedOverPasses given_atomic_sum_counters(Check& check, uint32_t n) {
  constexpr uint32_t kPart = 16;
  CountersAddedOverPasses total;
  const auto count = [&](uint32_t part) {
    const Input<float> in(check, "in", ones(part));
    const Output<float> sum(check, "total", std::vector<float>(1, 0));
    return run_to_count(check,
                        {kernel_name_with_namespace(check, "reduce_atomic<float>"),
                         {{blocks_for(part, kBlock)}, {kBlock}},
                         {in, sum, static_cast<int>(part)},
                         "",
                         model_unless_times_disabled(check, device::LaunchOptions::Model::cold)});
  };
  total.add_launch(counters_of(check, count(n / kPart)), kPart);
  total.add_modelled_pass_seconds(check, modelled_cold_l2_seconds(check, count, n));
  return total;
}

std::string multi_pass_sum_row(Check& check, const char* name, const CountersAddedOverPasses& p) {
  // A2 asks how many adds a sum takes, so the number is shown only after A2 has passed.
  const bool may_show = p.adds == 0 || check.has_passed("A2 who adds");
  if (may_show) check.figure(fmt::format("{} adds", name), p.adds);
  check.figure(fmt::format("{} wavefronts", name), p.wavefronts);
  check.figure(fmt::format("{} barriers", name), p.barriers);
  check.figure(fmt::format("{} sectors", name), p.sectors);
  if (p.modelled > 0) check.figure(fmt::format("{} modelled_ms", name), 1e3 * p.modelled);
  const auto whole = [](double value) { return grouped_digits(static_cast<uint64_t>(value)); };
  return fmt::format("\n    {:<16}{:>7}{:>13}{:>13}{:>12}{:>11}", name, p.passes, whole(p.sectors),
                     may_show ? whole(p.adds) : "see A2", whole(p.wavefronts), whole(p.barriers));
}

}  // namespace

TEST_SUITE("lab:shuffle") {
  LAB_CHECK("B4 a sum of 2^24 ones" * takes_rubric_keys("n")) {
    const uint32_t n = check.row.required_count("n");
    const CountersAddedOverPasses atomic = given_atomic_sum_counters(check, n);
    const Input<float> in(check, "in", ones(n));
    const CountersAddedOverPasses shared = sum_ones_in_passes(check, "reduce_shared", in),
                                  shuffle = sum_ones_in_passes(check, "reduce_shuffle", in);
    const std::string table = multi_pass_sum_row(check, "reduce_atomic", atomic) +
                              multi_pass_sum_row(check, "reduce_shared", shared) +
                              multi_pass_sum_row(check, "reduce_shuffle", shuffle);
    const float want = static_cast<float>(n);
    check.measured(fmt::format("{:.9g}, {:.9g}", shared.result, shuffle.result));
    check.expected(fmt::format("{:.9g}, twice", want));
    if (shared.result != want)
      check.fail_and_throw(check.line_of("reduce_shared"),
                           "The last pass leaves one number, and it is not n.");
    if (shuffle.result != want)
      check.fail_and_throw(check.line_of("reduce_shuffle"),
                           "The last pass leaves one number, and it is not n.");
    check.explain(
        0, fmt::format("The profiler's table of {} ones, blocks of {}:\n    {:<16}{:>7}{:>13}"
                       "{:>13}{:>12}{:>11}{}",
                       grouped_digits(n), kBlock, "", "passes", "sectors", "adds at L2",
                       "wavefronts", "barriers", table));
  }
}

}  // namespace lab32::checks::shuffle
