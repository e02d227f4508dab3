// The reduction lab, part C: v7 and v8 leave one number, in the shape that the submission states.
// Contract: labs/reduction/reduction.cu.

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

struct Whole {
  const char* kernel;
  bool templated;    // on the size of the block
  bool starts_at_0;  // out[0] does; else it is poisoned
  // Where counters are taken, of ints and of floats: the keys of the rubric.
  const char *elements, *floats;
};

const Whole kV7{"reduce_v7", true, true, "elements", "floats"},
    kV8{"reduce_v8", false, false, "elements_v8", "floats"};

int line_of_whole(const Whole& version) { return session().source.find(version.kernel); }

// The record; v7 must name a block that the file instantiates.
LaunchConfig record_of(const Whole& version) {
  const LaunchConfig record = launch_config(version.kernel);
  if (!version.templated) return record;
  const std::vector<double> blocks = rubric().numbers("blocks");
  if (std::find(blocks.begin(), blocks.end(), record.block) == blocks.end())
    lose({Failure::Kind::invalid, "", fmt::format("LAB32_LAUNCH({})", version.kernel)},
         line_of_whole(version),
         fmt::format("LAB32_LAUNCH: .block = {} of {}; its instantiations are for "
                     "64, 128, 256, 512 and 1024 threads.",
                     record.block, version.kernel));
  return record;
}

struct Launched {
  std::shared_ptr<const device::Run> run;
  device::Shape shape;
  uint64_t elements;
};

template <class T>
struct Sum;

template <>
struct Sum<int> {
  static constexpr const char* type = "int";
  static std::vector<int> values(Random& random, size_t n) { return small_ints(random, n); }
  static std::string wrong(int got, const std::vector<int>& in, const device::Shape& shape) {
    const int64_t want = std::accumulate(in.begin(), in.end(), int64_t{0});
    if (got == want) return "";
    if (is_poison(got) && want != got) return "out[0] was not written.";
    const uint64_t threads = shape.block.count();
    return fmt::format("out[0] is {} where {} was expected.", got, want) +
           which_part(in, got, threads, threads * shape.grid.count());
  }
};

template <>
struct Sum<float> {
  static constexpr const char* type = "float";
  static std::vector<float> values(Random& random, size_t n) { return small_floats(random, n); }
  static std::string wrong(float got, const std::vector<float>& in, const device::Shape&) {
    // All are positive: the sum of their sizes is their sum. 2^24 floats of 24 bits add up exactly
    // in a double.
    const double want = std::accumulate(in.begin(), in.end(), 0.0);
    const double bound = bound_of(in.size()) * want;
    if (is_poison(got)) return "out[0] was not written.";
    if (std::abs(double{got} - want) <= bound) return "";
    std::string text = fmt::format(
        "out[0] is {} where {:.9g} was expected: off by {:.3g}, and rounding explains {:.3g} at "
        "most, where many threads share the work.",
        show(got), want, std::abs(double{got} - want), bound);
    if (std::abs(double{got} - want) < 0.5 * want && in.size() > 1u << 20)
      text +=
          " Are the elements added one after the other to one float? From a sum of 2^20 on, its "
          "last bit is worth 1/8, more than any of them.";
    return text;
  }
};

template <class T>
std::string name_of(const Whole& version, const LaunchConfig& record) {
  return version.templated ? fmt::format("{}<{}, {}>", version.kernel, Sum<T>::type, record.block)
                           : fmt::format("{}<{}>", version.kernel, Sum<T>::type);
}

template <class T>
device::Run launch_once(const Whole& version, const LaunchConfig& record, std::vector<T> values,
                        const std::string& what = "") {
  const uint32_t n = static_cast<uint32_t>(values.size());
  const device::Shape shape = record.shape(n);
  const std::string name = name_of<T>(version, record);
  const std::string setting =
      fmt::format("{}, n = {}, {} block{} of {}{}", Sum<T>::type, n, shape.grid.count(),
                  shape.grid.count() == 1 ? "" : "s", record.block, what);
  Input<T> in("in", std::move(values));
  Output<T> out("out", std::vector<T>(1, T{0}));
  if (!version.starts_at_0) out.poison();
  const Launch launch{name, shape, {in, out, static_cast<int>(n)}, setting};
  device::Run launched = run(launch);
  std::string wrong = Sum<T>::wrong(out.read()[0], in.values(), shape);
  if (!wrong.empty()) {
    Output<T> again("out", std::vector<T>(1, T{0}));
    if (!version.starts_at_0) again.poison();
    if (run_afresh({name, shape, {in, again, static_cast<int>(n)}, setting}) &&
        Sum<T>::wrong(again.read()[0], in.values(), shape).empty())
      wrong +=
          " As the first launch of all it is right: a `__device__` variable keeps its value from "
          "one launch to the next. Which of yours does not begin as you expect it?";
  }
  check_sum(fmt::format("n = {}", n), setting, line_of_whole(version), wrong);
  end_if_judged();
  return launched;
}

// The launch whose counters are judged: of ints at the published size, of floats at one that the
// seed draws, beyond which a float that counts ones stands still.
template <class T>
Launched counted(const Whole& version) {
  const std::string key = fmt::format("{} of {}s", version.kernel, Sum<T>::type);
  Random random(stream_of(session().seed, key));
  const uint64_t elements = std::is_same_v<T, int>
                                ? static_cast<uint64_t>(rubric().number(version.elements))
                                : static_cast<uint64_t>(rubric().number(version.floats)) + 1 +
                                      random.below(rubric().count("floats_more"));
  const LaunchConfig record = record_of(version);
  return {shared_launch(
              key, name_of<T>(version, record),
              [&] { return launch_once<T>(version, record, Sum<T>::values(random, elements)); }),
          record.shape(elements), elements};
}

template <class T>
void check_sizes(const Whole& version) {
  Random random = session().random();
  LaunchConfig record = record_of(version);
  for (uint32_t n : sizes()) launch_once<T>(version, record, Sum<T>::values(random, n));
  counted<T>(version);
  const size_t other = rubric().count("n");
  if constexpr (std::is_same_v<T, int>)
    launch_once<T>(version, record, ints_to_the_limit(random, other), ", a sum of 2147483647");
  if (version.templated) {
    for (double block : rubric().numbers("blocks")) {
      record.block = static_cast<uint32_t>(block);
      launch_once<T>(version, record, Sum<T>::values(random, other));
    }
  }
  right_result();
}

// Who has all points for ints has to have them for floats, too, where these are right: the function
// says what of a launch may be how much for the elements that the rubric's limits are for.
using FloatLimit = std::function<void(const Launched& floats, double scale)>;

void judge_floats(const Whole& version, const FloatLimit& judge) {
  const std::string result = fmt::format("{} float: result", version.kernel + sizeof("reduce"));
  if (verdict().credit < 1 || !has_passed(result)) return;
  const Launched floats = counted<float>(version);
  judge(floats, static_cast<double>(floats.elements) / rubric().number(version.elements));
}

void hold_for_floats(const char* what, double limit, uint64_t got, const Launched& floats) {
  hold_elsewhere(fmt::format("For {} floats", grouped(floats.elements)), what, limit, got,
                 worst_global(*floats.run));
}

// Credit for the instructions of the counted launches.
void credit_instructions(const Whole& version, const std::string& idea) {
  const double limit = rubric().number("instructions");
  const Launched ints = counted<int>(version);
  StepVerdict verdict(*ints.run, record_of(version).block, ints.shape.grid.count(), ints.elements);
  verdict.figures();
  verdict.moves(Counter::instructions, limit, idea);
  judge_floats(version, [&](const Launched& floats, double) {
    StepVerdict(*floats.run, record_of(version).block, floats.shape.grid.count(), floats.elements)
        .holds(Counter::instructions, rubric().number("floats_instructions"),
               "For ints all is well. For floats");
  });
}

// Credit for a grid that keeps the GPU's memory busy: the rubric's `threads` a multiprocessor.
void credit_threads(const Launched& launched, int line) {
  const device::Shape& shape = launched.shape;
  const double each = static_cast<double>(shape.grid.count() * shape.block.count()) /
                      session().device.multiprocessors();
  const double least = rubric().number("threads");
  Failure few{Failure::Kind::wasteful};
  few.measured = each;
  few.expected = least;
  credit_share(each / least, few);
  if (each >= least) return;
  measured(fmt::format("{:.0f} threads per SM", each));
  expected(fmt::format("{:.0f} per SM", least));
  explain(line, fmt::format("{} block{} of {} threads on {} multiprocessors: too few loads are "
                            "under way at a time to keep the memory busy.",
                            shape.grid.count(), shape.grid.count() == 1 ? "" : "s",
                            shape.block.count(), session().device.multiprocessors()));
}

}  // namespace

TEST_SUITE("lab:reduction") {
  TEST_CASE("v7 int: result" * takes("n", "sizes", "blocks", "elements")) { check_sizes<int>(kV7); }

  TEST_CASE("v7 float: result" * takes("n", "sizes", "blocks", "floats", "floats_more")) {
    check_sizes<float>(kV7);
  }

  TEST_CASE("v7: sectors" * takes("ideal", "elements", "floats", "floats_more", "blocks")) {
    const double ideal = rubric().number("ideal");
    credit_sectors(
        *counted<int>(kV7).run, ideal,
        "A thread that takes one piece reads neighbours one after the other; what counts "
        "is what the 32 lanes of a warp read at once. How far from each other should a "
        "thread's elements be for that?");
    judge_floats(kV7, [&](const Launched& floats, double scale) {
      hold_for_floats("sectors", scale * ideal,
                      counters_of(*floats.run, Counted::global).global_sectors(), floats);
    });
  }

  TEST_CASE("v7: instructions" * takes("threads_at_work", "instructions", "floats_instructions",
                                       "threads", "elements", "floats", "floats_more", "blocks")) {
    credit_instructions(
        kV7,
        "The tree is paid once per block, whatever the number of elements: how many "
        "blocks does the GPU need to be busy? And v6's tree is cheaper than v1's.");
    credit_threads(counted<int>(kV7), line_of_whole(kV7));
  }

  TEST_CASE("v8 int: result" * takes("n", "sizes", "elements_v8")) { check_sizes<int>(kV8); }

  TEST_CASE("v8 float: result" * takes("n", "sizes", "floats", "floats_more")) {
    check_sizes<float>(kV8);
  }

  TEST_CASE("v8: requests" * takes("threads_at_work", "ideal", "ideal_requests", "elements_v8",
                                   "floats", "floats_more")) {
    const double sectors = rubric().number("ideal"), requests = rubric().number("ideal_requests");
    credit_requests(*counted<int>(kV8).run, sectors, requests, line_of_whole(kV8));
    judge_floats(kV8, [&](const Launched& floats, double scale) {
      credit_work(*floats.run);
      const counters::Counters& c = counters_of(*floats.run, Counted::global);
      hold_for_floats("sectors", scale * sectors, c.global_sectors(), floats);
      hold_for_floats("requests", scale * requests, c.global_requests(), floats);
    });
  }

  TEST_CASE("v8: threads" * takes("threads_at_work", "threads", "elements_v8")) {
    const Launched launched = counted<int>(kV8);
    credit_work(*launched.run);
    const double each =
        static_cast<double>(launched.shape.grid.count() * launched.shape.block.count()) /
        session().device.multiprocessors();
    measured(fmt::format("{:.0f} threads per SM", each));
    expected(fmt::format("{:.0f} per SM", rubric().number("threads")));
    figure("threads", each);
    figure("ideal_threads", rubric().number("threads"));
    credit_threads(launched, line_of_whole(kV8));
  }

  TEST_CASE("v8: instructions" * takes("threads_at_work", "instructions", "floats_instructions",
                                       "elements_v8", "floats", "floats_more")) {
    credit_instructions(kV8,
                        "Four elements a load need a quarter of the loads, addresses and "
                        "comparisons; so does a loop that is unrolled.");
  }
}

}  // namespace lab32::checks::reduction
