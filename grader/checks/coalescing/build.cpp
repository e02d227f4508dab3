// The coalescing lab, part A: build the coalescer. Contract: labs/coalescing/coalescing.cu.

#include <algorithm>

#include "checks/coalescing/patterns.h"
#include "grading/patterns.h"
#include "grading/standard_checks.h"
#include "grading/suite.h"

namespace lab32::checks {
namespace {

// The student's requests() and sectors() on each pattern.
Answers ask_coalescer(const std::vector<Pattern>& patterns) {
  return ask<uint64_t>("coalescer", patterns, "out_requests", "out_sectors");
}

// A given kernel and which element each thread touches in each access.
struct GivenLaunch {
  std::string name;  // as the table shows it
  std::string kernel;
  std::vector<device::Arg> args;
  std::vector<const DeviceArray*> arrays;  // in the order of the accesses
  uint64_t (*element)(uint64_t thread, size_t access, uint64_t stride);
  uint64_t stride = 0;
};

constexpr uint32_t kSampledWarps = 4;  // every warp does the same, but for where it lies

std::vector<Pattern> warps_of(const GivenLaunch& launch) {
  std::vector<Pattern> found;
  for (uint64_t warp = 0; warp < kSampledWarps; ++warp)
    for (size_t access = 0; access < launch.arrays.size(); ++access) {
      Pattern p;
      for (uint64_t lane = 0; lane < 32; ++lane)
        p.address[lane] = launch.arrays[access]->buffer().address +
                          4 * launch.element(warp * 32 + lane, access, launch.stride);
      found.push_back(p);
    }
  return found;
}

std::string table_row(const std::string& name, const counters::Counters& c) {
  const auto per = [](const counters::GlobalTraffic& t) {
    return t.requests ? static_cast<double>(t.sectors) / static_cast<double>(t.requests) : 0.0;
  };
  return fmt::format("\n    {:<17}{:>9}{:>11}{:>6.1f} {:>9}{:>11}{:>6.1f}", name,
                     grouped(c.load.requests), grouped(c.load.sectors), per(c.load),
                     grouped(c.store.requests), grouped(c.store.sectors), per(c.store));
}

// The student's answers for the sampled warps of a kernel, against what the kernel's launch
// counted.
void check_given(const GivenLaunch& launch, const std::vector<Pattern>& patterns,
                 const int* requests, const int* sectors, const counters::Counters& c,
                 uint64_t warps) {
  uint64_t sum_requests = 0, sum_sectors = 0;
  for (size_t i = 0; i < patterns.size(); ++i) {
    sum_requests += static_cast<uint64_t>(static_cast<int64_t>(requests[i]));
    sum_sectors += static_cast<uint64_t>(static_cast<int64_t>(sectors[i]));
  }
  const uint64_t scale = warps / kSampledWarps;
  const bool requests_right = sum_requests * scale == c.load.requests + c.store.requests;
  const bool sectors_right = sum_sectors * scale == c.load.sectors + c.store.sectors;
  if (requests_right && sectors_right) return;
  // Which of its accesses: the first that the pattern's own counter finds wrong.
  size_t i = 0;
  while (i + 1 < patterns.size() && requests[i] == static_cast<int>(patterns[i].requests()) &&
         sectors[i] == static_cast<int>(patterns[i].sectors()))
    ++i;
  measured("wrong, " + launch.name);
  lose(line_of(requests_right ? "sectors" : "requests"),
       fmt::format("{}: by your functions it does not make the {} that the launch has counted. "
                   "For the access of warp {} to {} they say {} requests and {} sectors:\n{}",
                   launch.name, requests_right ? "sectors" : "requests", i / launch.arrays.size(),
                   launch.arrays[i % launch.arrays.size()]->name(), requests[i], sectors[i],
                   patterns[i].show()));
}

}  // namespace

TEST_SUITE("lab:coalescing") {
  TEST_CASE("A1 requests" * takes("random_patterns")) {
    Random random = session().random();
    const std::vector<Pattern> tried =
        patterns(random, static_cast<int>(rubric().count("random_patterns")));
    check_answers("requests", tried, ask_coalescer(tried).first, &Pattern::requests, "");
  }

  TEST_CASE("A2 sectors" * takes("random_patterns")) {
    Random random = session().random();
    const std::vector<Pattern> tried =
        patterns(random, static_cast<int>(rubric().count("random_patterns")));
    const std::vector<int> sectors = ask_coalescer(tried).second;
    check_answers("sectors", tried, sectors, &Pattern::sectors, misconception(tried, sectors));
  }

  TEST_CASE("A3 applied to add1 ... add5" * takes("threads", "block", "strides")) {
    expected("as counted");
    const uint32_t threads = rubric().count("threads"), block = rubric().count("block");
    const std::vector<double> strides = rubric().numbers("strides");
    const uint32_t longest =
        static_cast<uint32_t>(*std::max_element(strides.begin(), strides.end()));
    Input<float> x("x", std::vector<float>(threads * 4, 1.0f));
    Input<float> y("y", std::vector<float>(threads * 4, 2.0f));
    Output<float> z("z", threads * 4);
    Input<float> in("in", std::vector<float>(size_t{threads} * longest, 1.0f));
    Output<float> out("out", threads);

    using Element = uint64_t (*)(uint64_t, size_t, uint64_t);
    const auto add = [&](const char* name, Element element) {
      return GivenLaunch{name, name, {x, y, z}, {&x, &y, &z}, element};
    };
    std::vector<GivenLaunch> kernels = {
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
           {in, out, static_cast<int>(stride)},
           {&in, &out},
           [](uint64_t t, size_t access, uint64_t s) { return access == 0 ? t * s : t; },
           static_cast<uint64_t>(stride)});

    std::vector<Pattern> all;
    for (const GivenLaunch& launch : kernels)
      for (const Pattern& p : warps_of(launch)) all.push_back(p);
    const Answers answers = ask_coalescer(all);

    std::string table = "The profiler's table of the given kernels:\n" +
                        fmt::format("    {:<17}{:>26} {:>26}", "", "loads", "stores") +
                        fmt::format("\n    {:<17}{:>9}{:>11}{:>6} {:>9}{:>11}{:>6}", "kernel",
                                    "requests", "sectors", "each", "requests", "sectors", "each");
    // All are launched before any answer is judged: the figures are there to be looked at.
    std::vector<counters::Counters> counted;
    for (const GivenLaunch& launch : kernels) {
      const counters::Counters c = counters_of(
          run({given(launch.kernel), {{threads / block}, {block}}, launch.args, launch.name}));
      table += table_row(launch.name, c);
      figure(launch.name + " load requests", static_cast<double>(c.load.requests));
      figure(launch.name + " load sectors", static_cast<double>(c.load.sectors));
      figure(launch.name + " store requests", static_cast<double>(c.store.requests));
      figure(launch.name + " store sectors", static_cast<double>(c.store.sectors));
      counted.push_back(c);
    }
    size_t at = 0;
    for (size_t k = 0; k < kernels.size(); ++k) {
      const std::vector<Pattern> own = warps_of(kernels[k]);
      check_given(kernels[k], own, &answers.first[at], &answers.second[at], counted[k],
                  threads / 32);
      at += own.size();
    }
    measured(fmt::format("{} kernels right", kernels.size()));
    explain(0, table);
  }
}

}  // namespace lab32::checks
