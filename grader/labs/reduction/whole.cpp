// The reduction lab, part C: v7 and v8 reduce to one number, in a shape that the submission
// chooses. Contract: labs/reduction/reduction.cu.

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>

#include "grading/engine/suite.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "labs/reduction/counts.h"
#include "labs/reduction/sums.h"

namespace lab32::checks::reduction {
namespace {

struct WholeSumVersion {
  const char* kernel;
  bool templated;    // a template over the block size
  bool starts_at_0;  // out[0] is 0 before the launch, instead of poisoned
  // The rubric's keys for the sizes at which ints and floats are counted.
  const char *elements, *floats;
};

const WholeSumVersion kV7{"reduce_v7", true, true, "elements", "floats"},
    kV8{"reduce_v8", false, false, "elements_v8", "floats"};

int line_of_version(Check& check, const WholeSumVersion& version) {
  return check.session.source.line_of_name(version.kernel);
}

// The submission's LAB32_LAUNCH record. For v7, the check is lost if the record has a block size
// for which the file does not instantiate the kernel.
LaunchShapeRule launch_record_of(Check& check, const WholeSumVersion& version) {
  const LaunchShapeRule record = launch_config(check, version.kernel);
  if (!version.templated) return record;
  const std::vector<double> blocks = check.row.required_numbers("blocks");
  if (std::find(blocks.begin(), blocks.end(), record.block) == blocks.end())
    check.fail_and_throw(
        {CheckFailureReason::Kind::invalid, "", fmt::format("LAB32_LAUNCH({})", version.kernel)},
        line_of_version(check, version),
        fmt::format("LAB32_LAUNCH: .block = {} of {}; the kernel is instantiated for 64, 128, "
                    "256, 512 and 1024 threads.",
                    record.block, version.kernel));
  return record;
}

struct WholeSumLaunch {
  std::shared_ptr<const device::LaunchResult> run;
  device::LaunchShape shape;
  uint64_t elements;
};

template <class T>
struct SumElementTraits;

template <>
struct SumElementTraits<int> {
  static constexpr const char* type = "int";
  static std::vector<int> random_values(Random& random, size_t n) {
    return ints_without_sum_overflow(random, n);
  }
  static std::string mismatch_text(int got, const std::vector<int>& in,
                                   const device::LaunchShape& shape) {
    const int64_t want = std::accumulate(in.begin(), in.end(), int64_t{0});
    if (got == want) return "";
    if (is_poison(got) && want != got) return "out[0] was not written.";
    const uint64_t threads = shape.block.count();
    return fmt::format("out[0] is {} where {} was expected.", got, want) +
           partial_sum_note(in, got, threads, threads * shape.grid.count());
  }
};

template <>
struct SumElementTraits<float> {
  static constexpr const char* type = "float";
  static std::vector<float> random_values(Random& random, size_t n) {
    return floats_defeating_serial_sum(random, n);
  }
  static std::string mismatch_text(float got, const std::vector<float>& in,
                                   const device::LaunchShape& shape) {
    // All elements have one sign, so the sum of their absolute values is that of their sum. A
    // double adds them with an error that is far below the bound.
    const double want = std::accumulate(in.begin(), in.end(), 0.0);
    const double off = std::abs(double{got} - want);
    const double bound =
        relative_sum_error_bound(in.size(), shape.grid.count() * shape.block.count()) *
        std::abs(want);
    if (is_poison(got)) return "out[0] was not written.";
    if (off <= bound) return "";
    std::string text = fmt::format(
        "out[0] is {} where {:.9g} was expected: off by {:.3g}. Rounding explains at "
        "most {:.3g} when many threads share the work.",
        show(got), want, off, bound);
    if (off < 0.8 * std::abs(want) && in.size() > 1u << 16)
      text +=
          " Does the kernel add the elements one after the other to one float? The larger that "
          "sum becomes, the more bits of each element are rounded off.";
    return text;
  }
};

template <class T>
std::string instantiated_kernel_name(const WholeSumVersion& version,
                                     const LaunchShapeRule& record) {
  return version.templated
             ? fmt::format("{}<{}, {}>", version.kernel, SumElementTraits<T>::type, record.block)
             : fmt::format("{}<{}>", version.kernel, SumElementTraits<T>::type);
}

template <class T>
device::LaunchResult launch_and_check_sum(Check& check, const WholeSumVersion& version,
                                          const LaunchShapeRule& record, std::vector<T> values,
                                          const std::string& what = "") {
  const uint32_t n = static_cast<uint32_t>(values.size());
  const device::LaunchShape shape = record.shape(n, check.device().multiprocessors());
  const std::string name = instantiated_kernel_name<T>(version, record);
  const std::string setting =
      fmt::format("{}, n = {}, {} block{} of {}{}", SumElementTraits<T>::type, n,
                  shape.grid.count(), shape.grid.count() == 1 ? "" : "s", record.block, what);
  Input<T> in(check, "in", std::move(values));
  Output<T> out(check, "out", std::vector<T>(1, T{0}));
  if (!version.starts_at_0) out.poison();
  const Launch launch{name, shape, {in, out, static_cast<int>(n)}, setting};
  device::LaunchResult launched = run(check, launch);
  std::string wrong = SumElementTraits<T>::mismatch_text(out.read()[0], in.values(), shape);
  if (!wrong.empty()) {
    Output<T> again(check, "out", std::vector<T>(1, T{0}));
    if (!version.starts_at_0) again.poison();
    if (is_faultless_in_fresh_module(check,
                                     {name, shape, {in, again, static_cast<int>(n)}, setting}) &&
        SumElementTraits<T>::mismatch_text(again.read()[0], in.values(), shape).empty())
      wrong +=
          " The first launch is right: a `__device__` variable keeps its value from "
          "one launch to the next. Which of your variables does not begin with the "
          "value that the kernel expects?";
  }
  lose_if_wrong_sum_text_given(check, fmt::format("n = {}", n), setting,
                               line_of_version(check, version), wrong);
  end_if_repetition_done(check);
  return launched;
}

// A launch whose sum may be wrong: it may end by a fault.
template <class T>
device::LaunchResult launch_with_unchecked_sum(Check& check, const WholeSumVersion& version,
                                               const LaunchShapeRule& record,
                                               std::vector<T> values) {
  const int n = static_cast<int>(values.size());
  Input<T> in(check, "in", std::move(values));
  Output<T> out(check, "out", std::vector<T>(1, T{0}));
  if (!version.starts_at_0) out.poison();
  device::Kernel* const kernel =
      check.session.module.find(instantiated_kernel_name<T>(version, record));
  if (!kernel) return {};
  device::LaunchResult launched = launch_without_verdict(
      check, *kernel, record.shape(in.values().size(), check.device().multiprocessors()),
      {in, out, n});
  check.session.module.reset_module_variables();
  return launched;
}

// The launch whose counters are checked: ints at the published size, floats at a size that depends
// on the seed and is too large for a float that counts in steps of one.
template <class T>
WholeSumLaunch counted_launch(Check& check, const WholeSumVersion& version,
                              bool may_be_wrong = false) {
  const std::string key = fmt::format("{} of {}s", version.kernel, SumElementTraits<T>::type);
  Random random(seed_of_stream(check.session.setup.seed, key));
  const uint64_t elements = std::is_same_v<T, int>
                                ? static_cast<uint64_t>(check.row.required_number(version.elements))
                                : static_cast<uint64_t>(check.row.required_number(version.floats)) +
                                      1 + random.below(check.row.required_count("floats_more"));
  const LaunchShapeRule record = launch_record_of(check, version);
  const auto make = [&] {
    std::vector<T> values = SumElementTraits<T>::random_values(random, elements);
    return may_be_wrong ? launch_with_unchecked_sum<T>(check, version, record, std::move(values))
                        : launch_and_check_sum<T>(check, version, record, std::move(values));
  };
  return {reused_launch(check, may_be_wrong ? key + ", whatever the sum" : key,
                        instantiated_kernel_name<T>(version, record), make),
          record.shape(elements, check.device().multiprocessors()), elements};
}

template <class T>
void check_sums_of_several_sizes(Check& check, const WholeSumVersion& version) {
  Random random = check.random();
  LaunchShapeRule record = launch_record_of(check, version);
  for (uint32_t n : sizes_to_check(check))
    launch_and_check_sum<T>(check, version, record, SumElementTraits<T>::random_values(random, n));
  counted_launch<T>(check, version);
  const size_t other = check.row.required_count("n");
  if constexpr (std::is_same_v<T, int>) {
    launch_and_check_sum<T>(
        check, version, record,
        SumElementTraits<T>::random_values(random, random_from_range(check, "drawn", random)));
    launch_and_check_sum<T>(check, version, record, ints_with_largest_sum(random, other),
                            ", a sum of 2147483647");
    launch_and_check_sum<T>(check, version, record, zeros_with_one_int_min(random, other),
                            ", a sum of -2147483648");
  }
  if (version.templated) {
    for (double block : check.row.required_numbers("blocks")) {
      record.block = static_cast<uint32_t>(block);
      launch_and_check_sum<T>(check, version, record,
                              SumElementTraits<T>::random_values(random, other));
    }
  }
  report_right_result(check);
}

// Checks the counts of a launch with floats. The kernel is counted with floats whether or not their
// sum is right: a kernel that is less exact must not gain by it. The rubric's limits are for a
// number of ints: `scale` is the ratio of the two numbers.
using FloatLimit = std::function<void(const WholeSumLaunch& floats, double scale)>;

void limit_counters_of_float_run(Check& check, const WholeSumVersion& version,
                                 const FloatLimit& limit_of) {
  const std::string result = fmt::format("{} float: result", version.kernel + sizeof("reduce"));
  const WholeSumLaunch floats = counted_launch<float>(check, version, !check.has_passed(result));
  if (floats.run->fault || !floats.run->counters || has_hazard_finding(*floats.run)) return;
  limit_of(floats,
           static_cast<double>(floats.elements) / check.row.required_number(version.elements));
}

void limit_credit_on_float_input(Check& check, const char* what, double limit, uint64_t got,
                                 const WholeSumLaunch& floats) {
  limit_credit_at_secret_size(check, fmt::format("For {} floats", grouped_digits(floats.elements)),
                              what, limit, got, line_of_most_excess_sectors(check, *floats.run));
}

// Gives points for the instructions of the counted launches.
void credit_instructions(Check& check, const WholeSumVersion& version, const std::string& idea) {
  const double limit = check.row.required_number("instructions");
  const WholeSumLaunch ints = counted_launch<int>(check, version);
  LaunchCounterVerdict verdict(check, *ints.run, launch_record_of(check, version).block,
                               ints.shape.grid.count(), ints.elements);
  verdict.record_figures();
  verdict.credit_counter_against_limit(Counter::instructions, limit, idea);
  limit_counters_of_float_run(check, version, [&](const WholeSumLaunch& floats, double) {
    LaunchCounterVerdict(check, *floats.run, launch_record_of(check, version).block,
                         floats.shape.grid.count(), floats.elements)
        .limit_credit_to_other_launch(Counter::instructions,
                                      check.row.required_number("floats_instructions"), "for ints",
                                      "for floats");
  });
}

// Gives points for a grid large enough to keep the memory busy: the rubric's `threads` per
// multiprocessor.
void credit_grid_threads_per_sm(Check& check, const WholeSumLaunch& launched, int line) {
  const device::LaunchShape& shape = launched.shape;
  const double each = static_cast<double>(shape.grid.count() * shape.block.count()) /
                      check.device().multiprocessors();
  const double least = check.row.required_number("threads");
  CheckFailureReason few{CheckFailureReason::Kind::wasteful};
  few.measured = each;
  few.expected = least;
  check.credit_share(each / least, few);
  if (each >= least) return;
  check.measured(fmt::format("{:.0f} threads per SM", each));
  check.expected(fmt::format("{:.0f} per SM", least));
  check.explain(
      line,
      fmt::format("{} block{} of {} threads on {} multiprocessors: too few loads are in flight "
                  "to keep the memory busy.",
                  shape.grid.count(), shape.grid.count() == 1 ? "" : "s", shape.block.count(),
                  check.device().multiprocessors()));
}

}  // namespace

namespace {

const RubricKey kElements = whole("elements", 1, 1 << 26),
                kElementsV8 = whole("elements_v8", 1, 1 << 26),
                kFloats = whole("floats", 1, 1 << 26),
                kFloatsMore = whole("floats_more", 1, 1 << 20),
                kInstructions = number("instructions", 0.1, 1e6),
                kFloatsInstructions = number("floats_instructions", 0.1, 1e6),
                kThreads = number("threads", 1, 2048);

}  // namespace

TEST_SUITE("lab:reduction") {
  LAB_CHECK("v7 int: result" * takes_rubric_keys("n", "sizes", powers_of_two("blocks", 64, 1024),
                                                 kElements, "drawn")) {
    check_sums_of_several_sizes<int>(check, kV7);
  }

  LAB_CHECK("v7 float: result" * takes_rubric_keys("n", "sizes", powers_of_two("blocks", 64, 1024),
                                                   kFloats, kFloatsMore)) {
    check_sums_of_several_sizes<float>(check, kV7);
  }

  LAB_CHECK("v7: sectors" * takes_rubric_keys("ideal", kElements, kFloats, kFloatsMore,
                                              powers_of_two("blocks", 64, 1024))) {
    const double ideal = check.row.required_number("ideal");
    credit_sectors(check, *counted_launch<int>(check, kV7).run, ideal,
                   "A thread that takes a contiguous piece reads neighbouring elements one "
                   "after the other, but the 32 lanes of a warp read at the same time. How far "
                   "apart should the elements of one thread be?");
    limit_counters_of_float_run(check, kV7, [&](const WholeSumLaunch& floats, double scale) {
      limit_credit_on_float_input(check, "sectors", scale * ideal,
                                  counters_of(check, *floats.run, Counted::global).global_sectors(),
                                  floats);
    });
  }

  LAB_CHECK("v7: instructions" *
            takes_rubric_keys("min_working_share", kInstructions, kFloatsInstructions, kThreads,
                              kElements, kFloats, kFloatsMore, powers_of_two("blocks", 64, 1024))) {
    credit_instructions(
        check, kV7,
        "Each block pays for one tree, whatever its number of elements: how many "
        "blocks does the GPU need to be busy? v6's tree is also cheaper than v1's.");
    credit_grid_threads_per_sm(check, counted_launch<int>(check, kV7), line_of_version(check, kV7));
  }

  LAB_CHECK("v8 int: result" * takes_rubric_keys("n", "sizes", kElementsV8, "drawn")) {
    check_sums_of_several_sizes<int>(check, kV8);
  }

  LAB_CHECK("v8 float: result" * takes_rubric_keys("n", "sizes", kFloats, kFloatsMore)) {
    check_sums_of_several_sizes<float>(check, kV8);
  }

  LAB_CHECK("v8: requests" * takes_rubric_keys("min_working_share", "ideal", "ideal_requests",
                                               kElementsV8, kFloats, kFloatsMore)) {
    const double sectors = check.row.required_number("ideal"),
                 requests = check.row.required_number("ideal_requests");
    credit_requests(check, *counted_launch<int>(check, kV8).run, sectors, requests,
                    line_of_version(check, kV8));
    limit_counters_of_float_run(check, kV8, [&](const WholeSumLaunch& floats, double scale) {
      reduce_points_for_idle_threads(check, *floats.run);
      const counters::Counters& c = counters_of(check, *floats.run, Counted::global);
      limit_credit_on_float_input(check, "sectors", scale * sectors, c.global_sectors(), floats);
      limit_credit_on_float_input(check, "requests", scale * requests, c.global_requests(), floats);
    });
  }

  LAB_CHECK("v8: threads" * takes_rubric_keys("min_working_share", kThreads, kElementsV8)) {
    const WholeSumLaunch launched = counted_launch<int>(check, kV8);
    reduce_points_for_idle_threads(check, *launched.run);
    const double each =
        static_cast<double>(launched.shape.grid.count() * launched.shape.block.count()) /
        check.device().multiprocessors();
    check.measured(fmt::format("{:.0f} threads per SM", each));
    check.expected(fmt::format("{:.0f} per SM", check.row.required_number("threads")));
    check.figure("threads", each);
    check.figure("ideal_threads", check.row.required_number("threads"));
    credit_grid_threads_per_sm(check, launched, line_of_version(check, kV8));
  }

  LAB_CHECK("v8: instructions" * takes_rubric_keys("min_working_share", kInstructions,
                                                   kFloatsInstructions, kElementsV8, kFloats,
                                                   kFloatsMore)) {
    credit_instructions(check, kV8,
                        "Loading four elements at once needs a quarter of the loads, addresses and "
                        "comparisons. Unrolling the loop saves comparisons, too.");
  }
}

}  // namespace lab32::checks::reduction
