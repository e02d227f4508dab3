// The occupancy lab, part B: shapes that the submission states for given kernels (B1, B4, B5, B6).
// Contract: labs/occupancy/occupancy.cu.
//
// B1 and B4 are judged by modelled time, which follows the measured sweeps there; B5 and B6 by what
// the shape makes of the multiprocessors, since it does not (data/measured/occupancy/README.md).

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "grading/engine/compiled.h"
#include "grading/engine/session.h"
#include "grading/engine/suite.h"
#include "grading/engine/verdict.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "grading/words/names.h"
#include "labs/occupancy/inputs.h"

namespace lab32::checks::occupancy {
namespace {

// What a shape makes of the multiprocessors.
struct Residency {
  uint32_t fit = 0;     // blocks that a multiprocessor holds
  uint32_t blocks = 0;  // that reside on one at the start: no more than there are
  uint32_t warps = 0;   // of these
  double waves = 0;     // of the whole grid
  uint32_t warps_per_block = 0;

  // "6 blocks of 8 warps reside on a multiprocessor: 48 warps; ..."
  std::string words() const {
    return fmt::format(
        "{} block{} of {} warp{} fit{} a multiprocessor; the grid gives it {} warps at a time, and "
        "takes {:.2f} waves.",
        fit, fit == 1 ? "" : "s", warps_per_block, warps_per_block == 1 ? "" : "s",
        fit == 1 ? "s" : "", warps, waves);
  }
};

// The line of the kernel's LAB32_LAUNCH.
int line_of_shape(const std::string& kernel) {
  return session().source.find_text("LAB32_LAUNCH(" + kernel);
}

// Loses the check, at the kernel's LAB32_LAUNCH, where not one block fits.
Residency residency(const std::string& kernel, const device::Shape& shape) {
  Session& s = session();
  device::Kernel* const given_kernel = s.module.find(given(kernel));
  uint64_t all = 0;
  try {
    all = s.device.resident_blocks(*given_kernel, shape);
  } catch (const Error& none_fits) {
    measured("does not fit");
    lose({Failure::Kind::invalid, "", "LAB32_LAUNCH(" + kernel + ")"}, line_of_shape(kernel),
         fmt::format("This shape cannot be launched: {}.", none_fits.what()));
  }
  Residency r;
  const uint32_t multiprocessors = s.device.multiprocessors();
  r.fit = static_cast<uint32_t>(all / multiprocessors);
  r.blocks = std::min(r.fit, ceil_div(shape.grid.count(), multiprocessors));
  r.warps_per_block = ceil_div(shape.block.count(), kWarpSize);
  r.warps = r.blocks * r.warps_per_block;
  r.waves = static_cast<double>(shape.grid.count()) / static_cast<double>(all);
  return r;
}

// Which share of its time a multiprocessor works, on average, until the busiest one is done: the
// blocks are dealt to them one after the other, each thread strides over n by the threads of the
// grid, and a warp of which one thread works is busy.
double balance(uint64_t n, const device::Shape& shape) {
  const uint64_t block = shape.block.count(), threads = block * shape.grid.count();
  const uint32_t multiprocessors = session().device.multiprocessors();
  // Rounds of warps of a block: those of its first lane, which has the most.
  std::vector<uint64_t> busy(multiprocessors);
  for (uint64_t b = 0; b < shape.grid.count(); ++b)
    for (uint64_t lane = 0; lane < block; lane += kWarpSize) {
      const uint64_t first = b * block + lane;
      if (first < n) busy[b % multiprocessors] += (n - first + threads - 1) / threads;
    }
  const double most = static_cast<double>(*std::max_element(busy.begin(), busy.end()));
  return most > 0 ? static_cast<double>(n) / kWarpSize / multiprocessors / most : 1;
}

// A given kernel in a shape; and what makes that, with arrays on the session's device.
using Launched = std::function<device::Run(const LaunchConfig&)>;
using Work = std::function<Launched()>;

// The kernel alone, as the model has it; checks where the device has no model are not run.
double seconds_of(const device::Run& run) {
  if (!run.predicted) not_run({NotRun::Kind::no_counters, session().device.name()});
  return run.predicted->kernel_seconds;
}

std::string microseconds(double seconds) { return fmt::format("{:.1f} µs", 1e6 * seconds); }

// The least time over the rubric's shapes (block, items per thread, blocks per multiprocessor, one
// after the other). What is swept is given, and its inputs follow from its `sizes`.
double best_of_sweep(const std::string& kernel, const std::string& sizes, const Work& work) {
  const std::vector<double> sweep = rubric().numbers("sweep");
  const auto least = [&] {
    const Launched launch = work();
    double best = 0;
    for (size_t i = 0; i + 2 < sweep.size(); i += 3) {
      const auto number = [&](size_t k) { return static_cast<uint32_t>(sweep[i + k]); };
      const double seconds = seconds_of(launch({number(0), number(1), number(2), 0}));
      best = best > 0 ? std::min(best, seconds) : seconds;
    }
    return best;
  };
  return given_time(kernel, fmt::format("{}; best of {}", sizes, fmt::join(sweep, " ")), least);
}

// Credit for the shape's time against the best of the sweep; nearer than the model can tell is as
// good.
void credit_shape(const std::string& kernel, const LaunchConfig& config, const Residency& resident,
                  const std::string& sizes, const Work& work, const std::string& idea) {
  const device::Run run = work()(config);
  const double mine = seconds_of(run), best = best_of_sweep(kernel, sizes, work);
  measured(microseconds(mine) + " modelled");
  expected(microseconds(best));
  figure("modelled_seconds", mine);
  figure("best_seconds", best);
  figure("warps", resident.warps);
  const double enough = rubric().number("within") * best;
  credit(enough, mine);
  if (mine <= enough) return;
  explain(line_of_shape(kernel),
          fmt::format("{} The time is {}.\n{}", resident.words(), run.predicted->bottleneck, idea));
}

// Credit for the share of their time that the multiprocessors work until the busiest is done.
void credit_balance(double share, const Residency& resident, const std::string& kernel) {
  const double least = rubric().number("balance");
  Failure failure{Failure::Kind::wasteful};
  failure.measured = share;
  failure.expected = least;
  credit_share(share / least, failure);
  if (share >= least) return;
  explain(
      line_of_shape(kernel),
      fmt::format("{} Until the busiest multiprocessor is done, one works {:.3g} % of the time, "
                  "on average.\nHow much has a block to do, and how many does the busiest "
                  "multiprocessor get? Smaller blocks are dealt out more evenly; or as many as "
                  "reside can stride over all of n.",
                  resident.words(), 100 * share));
}

// Below the least number of warps, each that is missing costs its share.
void credit_warps(const Residency& resident, const std::string& kernel) {
  const double least = rubric().number("least_warps");
  if (resident.warps >= least) return;
  Failure failure{Failure::Kind::wasteful};
  failure.measured = resident.warps;
  failure.expected = least;
  credit_share(resident.warps / least, failure);
  explain(
      line_of_shape(kernel),
      fmt::format("{} So few warps leave schedulers without one that is ready.", resident.words()));
}

}  // namespace

TEST_SUITE("lab:occupancy") {
  TEST_CASE("B1 follow: warps that wait" * takes("n", "nodes", "steps", "sweep", "within")) {
    const uint32_t n = rubric().count("n"), nodes = rubric().count("nodes");
    const int steps = static_cast<int>(rubric().count("steps"));
    const LaunchConfig config = launch_config("follow");
    const Residency resident = residency("follow", config.shape(n));
    const Work work = [&]() -> Launched {
      const auto next = std::make_shared<Input<int32_t>>("next", links(nodes));
      return [=](const LaunchConfig& shape) {
        const Output<int32_t> out("out", n);
        return run_to_count({given("follow"),
                             shape.shape(n),
                             {*next, out, static_cast<int>(n), steps},
                             "",
                             device::LaunchOptions::Model::cold});
      };
    };
    credit_shape("follow", config, resident,
                 fmt::format("n {}, nodes {}, steps {}", n, nodes, steps), work,
                 "While a warp waits, the others can start loads of theirs. Are there as many as "
                 "the multiprocessor holds: enough threads in the grid, and in each block?");
  }

  TEST_CASE("B4 smooth: the tile" * takes("n", "sweep", "within")) {
    const uint32_t n = rubric().count("n");
    const LaunchConfig config = launch_config("smooth");
    const auto shape_of = [&](const LaunchConfig& c) {
      constexpr uint32_t kPixel = 16, kBorder = 2 * 64;
      device::Shape shape = c.shape(n);
      const uint64_t width =
          ceil_div(n, static_cast<uint32_t>(shape.grid.count()) * c.block) * uint64_t{c.block};
      shape.dynamic_shared =
          static_cast<uint32_t>(std::min<uint64_t>(kPixel * (width + kBorder), UINT32_MAX / 2));
      return shape;
    };
    const Residency resident = residency("smooth", shape_of(config));
    const Work work = [&]() -> Launched {
      Random random(n);
      const auto in = std::make_shared<Input<float>>("in", random.floats(size_t{4} * n));
      return [=](const LaunchConfig& shape) {
        const Output<float> out("out", size_t{4} * n);
        return run_to_count({given("smooth"),
                             shape_of(shape),
                             {*in, out, static_cast<int>(n)},
                             "",
                             device::LaunchOptions::Model::cold});
      };
    };
    credit_shape("smooth", config, resident, fmt::format("n {}", n), work,
                 "A large tile leaves room for few blocks, and while one loads, nobody computes. A "
                 "small one is mostly its neighbours' pixels.");
  }

  TEST_CASE("B5 orbits: the tail" * takes("n", "balance", "least_warps")) {
    const uint32_t n = rubric().count("n");
    const LaunchConfig config = launch_config("orbits");
    const device::Shape shape = config.shape(n);
    const Residency resident = residency("orbits", shape);
    const double share = balance(n, shape);
    measured(fmt::format("{:.0f} % busy", 100 * share));
    expected(fmt::format("{:.0f} %", 100 * rubric().number("balance")));
    figure("balance", share);
    figure("waves", resident.waves);
    figure("warps", resident.warps);
    credit_balance(share, resident, "orbits");
    credit_warps(resident, "orbits");
  }

  TEST_CASE("B6 match: rows that stay in L1" * takes("n", "row_bytes", "balance", "least_warps")) {
    const uint32_t n = rubric().count("n");
    const LaunchConfig config = launch_config("match");
    const device::Shape shape = config.shape(n);
    const Residency resident = residency("match", shape);
    // One row is enough to learn what such blocks leave for L1.
    const Input<float> row("rows", std::vector<float>(32, 1.0f));
    const Output<float> out("out", 1);
    const device::Run run =
        run_to_count({given("match"), {{1}, shape.block}, {row, row, row, row, out, 1}, "one row"});
    if (!run.occupancy) not_run({NotRun::Kind::no_counters, session().device.name()});
    const double bytes = rubric().number("row_bytes") * kWarpSize * resident.warps;
    measured(fmt::format("{:.0f} KB under way", bytes / 1024));
    expected(fmt::format("{} KB of L1", run.occupancy->l1_bytes / 1024));
    figure("warps", resident.warps);
    figure("bytes", bytes);
    figure("l1_bytes", run.occupancy->l1_bytes);
    credit(run.occupancy->l1_bytes, bytes);
    if (bytes > run.occupancy->l1_bytes)
      explain(line_of_shape("match"),
              fmt::format("{} Their rows are {:.0f} KB, and L1 has {} KB: when the next column is "
                          "read, the sectors that held it are gone. How many warps' rows fit?",
                          resident.words(), bytes / 1024, run.occupancy->l1_bytes / 1024));
    credit_balance(balance(n, shape), resident, "match");
    credit_warps(resident, "match");
  }
}

}  // namespace lab32::checks::occupancy
