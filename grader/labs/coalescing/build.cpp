// The coalescing lab, part A: build the coalescer. Contract: labs/coalescing/coalescing.cu.

#include <map>
#include <memory>

#include "grading/engine/suite.h"
#include "grading/launch/patterns.h"
#include "grading/launch/standard_checks.h"
#include "labs/coalescing/patterns.h"

namespace lab32::checks::coalescing {
namespace {

// Runs the student's requests() and sectors() on each pattern.
StudentReturnValues student_return_values_for_patterns(
    Check& check, const std::vector<GlobalAccessPattern>& patterns) {
  return run_student_functions<uint64_t>(check, "coalescer", patterns, "out_requests",
                                         "out_sectors");
}

// A given kernel with its arrays, and the element that each thread accesses in each access of the
// kernel.
struct GivenKernelLaunch {
  std::string name;  // its name in the table
  std::string kernel;
  uint64_t stride = 0;                  // the kernel's last argument; 0: it has none
  std::vector<std::string> arrays;      // one per access, in the order of the parameters
  std::vector<uint64_t> elements = {};  // elements of each array, as a function of the thread
  uint64_t (*element)(uint64_t thread, size_t access, uint64_t stride) = nullptr;
};

// The accesses of a launch's sampled warps, about which the submission is asked, and the counters
// of the whole launch.
struct CountedLaunch {
  std::vector<GlobalAccessPattern> patterns;
  counters::Counters counters;
};

constexpr uint32_t kSampledWarps = 4;  // enough, because all warps access alike at other addresses

// Launches the given kernel and counts it. What the arrays contain does not matter, since the
// counts depend on addresses only.
CountedLaunch count_given_launch(Check& check, const GivenKernelLaunch& launch, uint32_t threads,
                                 uint32_t block) {
  std::vector<std::unique_ptr<Output<float>>> arrays;
  std::vector<device::KernelArgument> args;
  for (size_t i = 0; i < launch.arrays.size(); ++i) {
    arrays.push_back(
        std::make_unique<Output<float>>(check, launch.arrays[i], threads * launch.elements[i]));
    args.push_back(*arrays.back());
  }
  if (launch.stride > 0) args.push_back(static_cast<int>(launch.stride));
  CountedLaunch counted;
  for (uint64_t warp = 0; warp < kSampledWarps; ++warp)
    for (size_t access = 0; access < arrays.size(); ++access) {
      GlobalAccessPattern p;
      for (uint64_t lane = 0; lane < 32; ++lane)
        p.address[lane] = arrays[access]->buffer().address +
                          4 * launch.element(warp * 32 + lane, access, launch.stride);
      counted.patterns.push_back(p);
    }
  counted.counters =
      counters_of(check, run_to_count(check, {kernel_name_with_namespace(check, launch.kernel),
                                              {{threads / block}, {block}},
                                              args,
                                              launch.name}));
  return counted;
}

std::string requests_and_sectors_row(const std::string& name, const counters::Counters& c) {
  const auto per = [](const counters::GlobalTraffic& t) {
    return t.requests ? static_cast<double>(t.sectors) / static_cast<double>(t.requests) : 0.0;
  };
  return fmt::format("\n    {:<17}{:>9}{:>11}{:>6.1f} {:>9}{:>11}{:>6.1f}", name,
                     grouped_digits(c.load.requests), grouped_digits(c.load.sectors), per(c.load),
                     grouped_digits(c.store.requests), grouped_digits(c.store.sectors),
                     per(c.store));
}

// Compares the student's answers about the sampled warps of a kernel with the counters of its
// launch.
void check_answers_against_counters(Check& check, const GivenKernelLaunch& launch,
                                    const std::vector<GlobalAccessPattern>& patterns,
                                    const int* requests, const int* sectors,
                                    const counters::Counters& c, uint64_t warps) {
  uint64_t sum_requests = 0, sum_sectors = 0;
  for (size_t i = 0; i < patterns.size(); ++i) {
    sum_requests += static_cast<uint64_t>(static_cast<int64_t>(requests[i]));
    sum_sectors += static_cast<uint64_t>(static_cast<int64_t>(sectors[i]));
  }
  const uint64_t scale = warps / kSampledWarps;
  const bool requests_right = sum_requests * scale == c.load.requests + c.store.requests;
  const bool sectors_right = sum_sectors * scale == c.load.sectors + c.store.sectors;
  if (requests_right && sectors_right) return;
  // Shows the first access for which the counter of requests and sectors in patterns.h disagrees
  // with the student.
  size_t i = 0;
  while (i + 1 < patterns.size() && requests[i] == static_cast<int>(patterns[i].requests()) &&
         sectors[i] == static_cast<int>(patterns[i].sectors()))
    ++i;
  check.measured("wrong, " + launch.name);
  check.fail_and_throw(
      check.line_of(requests_right ? "sectors" : "requests"),
      fmt::format("{}: your functions do not return the {} that the launch has counted. For "
                  "the access of warp {} to {} they return {} and {}:\n"
                  "{}",
                  launch.name, requests_right ? "sectors" : "requests", i / launch.arrays.size(),
                  launch.arrays[i % launch.arrays.size()], quantity(requests[i], "request"),
                  quantity(sectors[i], "sector"), patterns[i].show()));
}

// Asks the student's functions about variants of the sampled warps' accesses: the same addresses
// with the lanes in another order, or with some lanes inactive.
void check_answers_for_lane_variants(Check& check, const std::vector<GivenKernelLaunch>& kernels,
                                     const std::vector<CountedLaunch>& counted) {
  std::vector<GlobalAccessPattern> tried;
  std::vector<std::string> names;
  for (size_t k = 0; k < kernels.size(); ++k)
    for (const GlobalAccessPattern& p :
         lane_variants_of_global_pattern(counted[k].patterns.front())) {
      tried.push_back(p);
      names.push_back(kernels[k].name);
    }
  const StudentReturnValues answers = student_return_values_for_patterns(check, tried);
  for (size_t i = 0; i < tried.size(); ++i) {
    const bool requests = answers.first[i] == static_cast<int>(tried[i].requests());
    if (requests && answers.second[i] == static_cast<int>(tried[i].sectors())) continue;
    check.measured("wrong, " + names[i]);
    check.fail_and_throw(
        check.line_of(requests ? "sectors" : "requests"),
        fmt::format("{} is right, but with the lanes in another order, or with some of them "
                    "inactive, your functions return {} and {}, which is wrong:\n"
                    "{}",
                    names[i], quantity(answers.first[i], "request"),
                    quantity(answers.second[i], "sector"), tried[i].show()));
  }
}

}  // namespace

TEST_SUITE("lab:coalescing") {
  LAB_CHECK("A1 requests" * takes_rubric_keys("random_patterns")) {
    Random random = check.random();
    const std::vector<GlobalAccessPattern> tried = random_and_edge_patterns(
        random, static_cast<int>(check.row.required_count("random_patterns")));
    check_answers(check, "requests", tried, student_return_values_for_patterns(check, tried).first,
                  &GlobalAccessPattern::requests, "");
  }

  LAB_CHECK("A2 sectors" * takes_rubric_keys("random_patterns")) {
    Random random = check.random();
    const std::vector<GlobalAccessPattern> tried = random_and_edge_patterns(
        random, static_cast<int>(check.row.required_count("random_patterns")));
    const std::vector<int> sectors = student_return_values_for_patterns(check, tried).second;
    check_answers(check, "sectors", tried, sectors, &GlobalAccessPattern::sectors,
                  misconception_hint(tried, sectors));
  }

  LAB_CHECK("A3 applied to add1 ... add5" * takes_rubric_keys(whole("threads", 1024, 1 << 22, 1024),
                                                              power_of_two("block", 32, 1024),
                                                              wholes("strides", 1, 256))) {
    check.expected("as counted");
    const uint32_t threads = check.row.required_count("threads"),
                   block = check.row.required_count("block");
    const std::vector<double> strides = check.row.required_numbers("strides");
    using Element = uint64_t (*)(uint64_t, size_t, uint64_t);
    const auto add = [&](const char* name, Element element) {
      return GivenKernelLaunch{name, name, 0, {"x", "y", "z"}, {4, 4, 4}, element};
    };
    std::vector<GivenKernelLaunch> kernels = {
        add("add1", [](uint64_t t, size_t, uint64_t) { return t; }),
        add("add2", [](uint64_t t, size_t, uint64_t) { return t + 1; }),
        add("add3", [](uint64_t t, size_t, uint64_t) { return t ^ 1; }),
        add("add4", [](uint64_t t, size_t, uint64_t) { return t / 32; }),
        add("add5", [](uint64_t t, size_t, uint64_t) { return t * 4; }),
    };
    for (double stride : strides)
      kernels.push_back(
          {fmt::format("copy_strided({})", stride),
           "copy_strided",
           static_cast<uint64_t>(stride),
           {"in", "out"},
           {static_cast<uint64_t>(stride), 1},
           [](uint64_t t, size_t access, uint64_t s) { return access == 0 ? t * s : t; }});

    std::string table = "The profiler's table of the given kernels:\n" +
                        fmt::format("    {:<17}{:>26} {:>26}", "", "loads", "stores") +
                        fmt::format("\n    {:<17}{:>9}{:>11}{:>6} {:>9}{:>11}{:>6}", "kernel",
                                    "requests", "sectors", "each", "requests", "sectors", "each");
    // All kernels are launched before any answer is checked, so that the result of a failed check
    // has the figures of all kernels.
    std::vector<CountedLaunch> counted;
    std::vector<GlobalAccessPattern> all;
    // The table withholds counts that later questions ask for: those of add2, and those of
    // copy_strided(3), whose loads cost as much as those of length_aos. {kernel: question}
    std::map<std::string, std::string> asked;
    if (!are_answers_of_check_right(check, "C1 one element off the line")) asked["add2"] = "C1";
    if (!are_answers_of_check_right(check, "C2 three floats a point"))
      asked["copy_strided(3)"] = "C2";
    for (const GivenKernelLaunch& launch : kernels) {
      counted.push_back(count_given_launch(check, launch, threads, block));
      const counters::Counters& c = counted.back().counters;
      const auto question = asked.find(launch.name);
      table += question == asked.end() ? requests_and_sectors_row(launch.name, c)
                                       : fmt::format("\n    {:<17}  how many sectors, {} asks",
                                                     launch.name, question->second);
      check.figure(launch.name + " load requests", static_cast<double>(c.load.requests));
      check.figure(launch.name + " load sectors", static_cast<double>(c.load.sectors));
      check.figure(launch.name + " store requests", static_cast<double>(c.store.requests));
      check.figure(launch.name + " store sectors", static_cast<double>(c.store.sectors));
      all.insert(all.end(), counted.back().patterns.begin(), counted.back().patterns.end());
    }
    const StudentReturnValues answers = student_return_values_for_patterns(check, all);
    size_t at = 0;
    for (size_t k = 0; k < kernels.size(); ++k) {
      check_answers_against_counters(check, kernels[k], counted[k].patterns, &answers.first[at],
                                     &answers.second[at], counted[k].counters, threads / 32);
      at += counted[k].patterns.size();
    }
    check_answers_for_lane_variants(check, kernels, counted);
    check.measured(fmt::format("{} kernels right", kernels.size()));
    check.explain(0, table);
  }
}

}  // namespace lab32::checks::coalescing
