// The occupancy lab, part B: shapes that the submission chooses for given kernels (B1, B4, B5, B6).
// Contract: labs/occupancy/occupancy.cu.
//
// B1 and B4 are judged by modelled time, because the model agrees with the measured times of their
// shapes. It does not for B5 and B6 (data/measured/occupancy/README.md), which are judged by how
// their shapes use the multiprocessors.

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
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/engine/suite.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "grading/words/words.h"
#include "labs/occupancy/cases.h"

namespace lab32::checks::occupancy {
namespace {

// How many blocks and warps of a launch a multiprocessor holds at a time.
struct Residency {
  uint32_t fit = 0;     // blocks that fit on a multiprocessor
  uint32_t blocks = 0;  // resident blocks at the start, limited by the grid
  uint32_t warps = 0;   // warps of the resident blocks
  double waves = 0;     // waves of the whole grid
  uint32_t warps_per_block = 0;

  // A sentence for messages: "6 blocks of 8 warps fit on a multiprocessor; the grid gives it ..."
  std::string residency_text() const {
    return fmt::format(
        "{} block{} of {} warp{} fit{} on a multiprocessor; the grid gives it {} "
        "warps at a time, and takes {:.2f} waves.",
        fit, fit == 1 ? "" : "s", warps_per_block, warps_per_block == 1 ? "" : "s",
        fit == 1 ? "s" : "", warps, waves);
  }
};

LaunchShapeRule launch_config_of_submission(Check& check, const std::string& kernel) {
  return launch_config(check, kernel, launch_fields_left_to_student(kernel));
}

// The line of the kernel's LAB32_LAUNCH record.
int line_of_launch_record(Check& check, const std::string& kernel) {
  return check.session.source.first_line_with_text("LAB32_LAUNCH(" + kernel);
}

// Loses the check if not even one block fits on a multiprocessor; the message is about the line of
// the kernel's LAB32_LAUNCH record.
Residency residency_of_shape(Check& check, const std::string& kernel,
                             const device::LaunchShape& shape) {
  GradingSession& s = check.session;
  device::Kernel* const found = s.module.find(kernel_name_with_namespace(check, kernel));
  uint64_t all = 0;
  try {
    all = check.device().resident_blocks_on_device(*found, shape);
  } catch (const Error& none_fits) {
    check.measured("does not fit");
    check.fail_and_throw({CheckFailureReason::Kind::invalid, "", "LAB32_LAUNCH(" + kernel + ")"},
                         line_of_launch_record(check, kernel),
                         fmt::format("This shape cannot be launched: {}.", none_fits.what()));
  }
  Residency r;
  const uint32_t multiprocessors = check.device().multiprocessors();
  r.fit = static_cast<uint32_t>(all / multiprocessors);
  r.blocks = std::min(r.fit, ceil_div(shape.grid.count(), multiprocessors));
  r.warps_per_block = ceil_div(shape.block.count(), kWarpSize);
  r.warps = r.blocks * r.warps_per_block;
  r.waves = static_cast<double>(shape.grid.count()) / static_cast<double>(all);
  record_block_usage(check, *found, shape);
  check.figure("fit", r.fit);
  check.figure("grid", static_cast<double>(shape.grid.count()));
  check.figure("waves", r.waves);
  check.figure("warps", r.warps);
  return r;
}

// How busy the multiprocessors are on average until the busiest one finishes: 1 if all have equal
// work. Blocks are assigned to the multiprocessors in turn, each thread strides over n elements by
// the number of threads in the grid, and a warp is busy while one of its threads works.
double balance_of_multiprocessors(Check& check, uint64_t n, const device::LaunchShape& shape) {
  const uint64_t block = shape.block.count(), threads = block * shape.grid.count();
  const uint32_t multiprocessors = check.device().multiprocessors();
  // Iterations of the warps of each multiprocessor. A warp's first lane has the most iterations, so
  // it decides for the warp.
  std::vector<uint64_t> busy(multiprocessors);
  for (uint64_t b = 0; b < shape.grid.count(); ++b)
    for (uint64_t lane = 0; lane < block; lane += kWarpSize) {
      const uint64_t first = b * block + lane;
      if (first < n) busy[b % multiprocessors] += (n - first + threads - 1) / threads;
    }
  const double most = static_cast<double>(*std::max_element(busy.begin(), busy.end()));
  return most > 0 ? static_cast<double>(n) / kWarpSize / multiprocessors / most : 1;
}

// Launches a given kernel in a shape. A Work allocates the arrays on the session's device and
// returns such a function.
using Launched = std::function<device::LaunchResult(const LaunchShapeRule&)>;
using Work = std::function<Launched(Check& check)>;

// The modelled time of the kernel alone, without the launch. If the device has no model, the check
// is not run.
double modelled_seconds(Check& check, const device::LaunchResult& run) {
  if (!run.predicted) check.not_run({NotRunReason::Kind::no_counters, check.device().name()});
  return run.predicted->kernel_seconds;
}

std::string microseconds(double seconds) { return fmt::format("{:.1f} µs", 1e6 * seconds); }

// The shortest modelled time of a given kernel over the rubric's shapes, a list of block, items per
// thread and blocks per multiprocessor. The kernel's inputs depend only on `sizes`, so the result
// is stored under that name.
double best_modelled_seconds_of_shapes(Check& check, const std::string& kernel,
                                       const std::string& sizes, const Work& work) {
  const std::vector<double> sweep = check.row.required_numbers("sweep");
  const auto least = [&](Check& own) {
    const Launched launch = work(own);
    double best = 0;
    for (size_t i = 0; i + 2 < sweep.size(); i += 3) {
      const auto number = [&](size_t k) { return static_cast<uint32_t>(sweep[i + k]); };
      const double seconds = modelled_seconds(check, launch({number(0), number(1), number(2), 0}));
      best = best > 0 ? std::min(best, seconds) : seconds;
    }
    return best;
  };
  return cached_time_of_given_kernel(
      check, kernel, fmt::format("{}; best of {}", sizes, fmt::join(sweep, " ")), least);
}

// Gives points for the modelled time of the submission's shape relative to the shortest time of the
// sweep. A time within the model's error of the shortest has all points.
void credit_time_relative_to_best_shape(Check& check, const std::string& kernel,
                                        const LaunchShapeRule& config, const Residency& resident,
                                        const std::string& sizes, const Work& work,
                                        const std::string& idea) {
  const device::LaunchResult run = work(check)(config);
  const auto pictures = check.pictures;
  const double mine = modelled_seconds(check, run),
               best = best_modelled_seconds_of_shapes(check, kernel, sizes, work);
  check.pictures = pictures;  // drops pictures of the sweep's shapes
  check.measured(microseconds(mine) + " modelled");
  check.expected(microseconds(best));
  check.figure("modelled_seconds", mine);
  check.figure("best_seconds", best);
  const double enough = check.row.required_number("within") * best;
  check.credit(enough, mine);
  if (mine <= enough) return;
  check.explain(line_of_launch_record(check, kernel),
                fmt::format("{} The time is {}.\n{}", resident.residency_text(),
                            run.predicted->bottleneck, idea));
}

// Gives points for `share`, how busy the multiprocessors are on average until the busiest one
// finishes.
void credit_load_balance(Check& check, double share, const Residency& resident,
                         const std::string& kernel) {
  const double least = check.row.required_number("balance");
  check.figure("balance", share);
  CheckFailureReason failure{CheckFailureReason::Kind::wasteful};
  failure.measured = share;
  failure.expected = least;
  check.credit_share(share / least, failure);
  if (share >= least) return;
  check.explain(
      line_of_launch_record(check, kernel),
      fmt::format("{} On average a multiprocessor works {:.3g} % of the time until the busiest one "
                  "finishes.\n"
                  "How many blocks does the busiest multiprocessor get? Smaller blocks spread more "
                  "evenly; or launch only as many as are resident, and let them stride over n.",
                  resident.residency_text(), 100 * share));
}

// Takes points in proportion if fewer warps reside on a multiprocessor than the rubric asks for.
void credit_resident_warps(Check& check, const Residency& resident, const std::string& kernel) {
  const double least = check.row.required_number("least_warps");
  if (resident.warps >= least) return;
  CheckFailureReason failure{CheckFailureReason::Kind::wasteful};
  failure.measured = resident.warps;
  failure.expected = least;
  check.credit_share(resident.warps / least, failure);
  check.explain(line_of_launch_record(check, kernel),
                fmt::format("{} With so few warps, schedulers often have none that is ready.",
                            resident.residency_text()));
}

// The sweep is a list of block, items per thread and blocks per multiprocessor for each shape.
const RubricKey kSweep = shapes("sweep"), kWithin = number("within", 1, 100),
                kBalance = number("balance", 0.01, 1), kLeastWarps = whole("least_warps", 1, 64);

}  // namespace

TEST_SUITE("lab:occupancy") {
  LAB_CHECK("B1 follow: warps that wait" * takes_rubric_keys("n", whole("nodes", 8, 1 << 24, 8),
                                                             whole("steps", 1, 4096), kSweep,
                                                             kWithin)) {
    const uint32_t n = check.row.required_count("n"), nodes = check.row.required_count("nodes");
    const int steps = static_cast<int>(check.row.required_count("steps"));
    const LaunchShapeRule config = launch_config_of_submission(check, "follow");
    const Residency resident =
        residency_of_shape(check, "follow", config.shape(n, check.device().multiprocessors()));
    const Work work = [&](Check& own) -> Launched {
      const auto next =
          std::make_shared<Input<int32_t>>(own, "next", random_next_nodes_by_sector(nodes));
      return [=, &own](const LaunchShapeRule& shape) {
        const Output<int32_t> out(own, "out", n);
        Launch launch{kernel_name_with_namespace(own, "follow"),
                      shape.shape(n, own.device().multiprocessors()),
                      {*next, out, static_cast<int>(n), steps},
                      "",
                      device::LaunchOptions::Model::cold};
        launch.pictures_of_given = true;
        return run_to_count(own, launch);
      };
    };
    credit_time_relative_to_best_shape(
        check, "follow", config, resident, fmt::format("n {}, nodes {}, steps {}", n, nodes, steps),
        work,
        "While a warp waits, other warps can start their loads. Does the "
        "multiprocessor hold as many warps as it can: are there enough threads in "
        "the grid, and in each block?");
  }

  LAB_CHECK("B4 smooth: the tile" * takes_rubric_keys("n", kSweep, kWithin)) {
    const uint32_t n = check.row.required_count("n");
    const LaunchShapeRule config = launch_config_of_submission(check, "smooth");
    const auto shape_of = [&](const LaunchShapeRule& c) {
      constexpr uint32_t kPixel = 16, kBorder = 2 * 64;
      device::LaunchShape shape = c.shape(n, check.device().multiprocessors());
      const uint64_t width =
          ceil_div(n, static_cast<uint32_t>(shape.grid.count()) * c.block) * uint64_t{c.block};
      shape.dynamic_shared =
          static_cast<uint32_t>(std::min<uint64_t>(kPixel * (width + kBorder), UINT32_MAX / 2));
      return shape;
    };
    const Residency resident = residency_of_shape(check, "smooth", shape_of(config));
    const Work work = [&](Check& own) -> Launched {
      Random random(n);
      const auto in = std::make_shared<Input<float>>(own, "in", random.floats(size_t{4} * n));
      return [=, &own](const LaunchShapeRule& shape) {
        const Output<float> out(own, "out", size_t{4} * n);
        Launch launch{kernel_name_with_namespace(own, "smooth"),
                      shape_of(shape),
                      {*in, out, static_cast<int>(n)},
                      "",
                      device::LaunchOptions::Model::cold};
        launch.pictures_of_given = true;
        return run_to_count(own, launch);
      };
    };
    credit_time_relative_to_best_shape(
        check, "smooth", config, resident, fmt::format("n {}", n), work,
        "A large tile leaves room for few blocks, so no block computes while another "
        "one loads. A small tile consists mostly of pixels of its neighbours.");
  }

  LAB_CHECK("B5 orbits: the tail" * takes_rubric_keys("n", kBalance, kLeastWarps)) {
    const uint32_t n = check.row.required_count("n");
    const LaunchShapeRule config = launch_config_of_submission(check, "orbits");
    const device::LaunchShape shape = config.shape(n, check.device().multiprocessors());
    const Residency resident = residency_of_shape(check, "orbits", shape);
    const double share = balance_of_multiprocessors(check, n, shape);
    check.measured(fmt::format("{:.0f} % busy", 100 * share));
    check.expected(fmt::format("{:.0f} %", 100 * check.row.required_number("balance")));
    credit_load_balance(check, share, resident, "orbits");
    credit_resident_warps(check, resident, "orbits");
  }

  LAB_CHECK("B6 match: rows that stay in L1" *
            takes_rubric_keys("n", whole("row_bytes", 4, 65536), kBalance, kLeastWarps)) {
    const uint32_t n = check.row.required_count("n");
    const LaunchShapeRule config = launch_config_of_submission(check, "match");
    const device::LaunchShape shape = config.shape(n, check.device().multiprocessors());
    const Residency resident = residency_of_shape(check, "match", shape);
    // One row is enough: the launch only measures how much of L1 the blocks' shared memory leaves
    // free.
    const Input<float> row(check, "rows", std::vector<float>(32, 1.0f));
    const Output<float> out(check, "out", 1);
    const device::LaunchResult run =
        run_to_count(check, {kernel_name_with_namespace(check, "match"),
                             {{1}, shape.block, shape.dynamic_shared},
                             {row, row, row, row, out, 1},
                             "one row"});
    if (!run.occupancy) check.not_run({NotRunReason::Kind::no_counters, check.device().name()});
    const double bytes = check.row.required_number("row_bytes") * kWarpSize * resident.warps;
    check.measured(fmt::format("{:.0f} KB under way", bytes / 1024));
    check.expected(fmt::format("{} KB of L1", run.occupancy->l1_bytes / 1024));
    check.figure("bytes", bytes);
    check.figure("l1_bytes", run.occupancy->l1_bytes);
    check.credit(run.occupancy->l1_bytes, bytes);
    if (bytes > run.occupancy->l1_bytes)
      check.explain(
          line_of_launch_record(check, "match"),
          fmt::format("{} Their rows take {:.0f} KB, but L1 has {} KB: L1 has evicted the sectors "
                      "of a row before the warp reads the next column. How many warps' rows fit?",
                      resident.residency_text(), bytes / 1024, run.occupancy->l1_bytes / 1024));
    credit_load_balance(check, balance_of_multiprocessors(check, n, shape), resident, "match");
    credit_resident_warps(check, resident, "match");
  }
}

}  // namespace lab32::checks::occupancy
