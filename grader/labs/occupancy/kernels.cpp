// The occupancy lab, B2 and B3: kernels that the submission changes. Contract:
// labs/occupancy/occupancy.cu.

#include "grading/engine/suite.h"
#include "grading/launch/arrays.h"
#include "grading/launch/standard_checks.h"
#include "labs/occupancy/cases.h"

namespace lab32::checks::occupancy {
namespace {

constexpr uint32_t kCopyBlock = 256, kTraceBlock = 1024;

std::string n_is(uint32_t n) { return fmt::format("n = {}", n); }

// The shape of a launch with `per_multiprocessor` blocks for each multiprocessor.
device::LaunchShape copy_launch_shape(Check& check, uint32_t per_multiprocessor) {
  return {{per_multiprocessor * check.device().multiprocessors()}, {kCopyBlock}};
}

device::LaunchResult run_and_check_copy(Check& check, uint32_t n,
                                        device::LaunchOptions::Model model) {
  Random random = check.random();
  const Input<float> in(check, "in", special_floats_without_nan(random, n));
  const Output<float> out(check, "out", n);
  device::LaunchResult launched = run(
      check, {"copy", copy_launch_shape(check, 1), {in, out, static_cast<int>(n)}, n_is(n), model});
  check_result(check, n_is(n), check.line_of("copy"), mismatch("out", out.read(), in.values()));
  return launched;
}

// The modelled time of the given copy kernel at full occupancy.
double full_occupancy_copy_seconds(Check& check, uint32_t n) {
  return cached_time_of_given_kernel(check, "copy_floats", n_is(n), [n](Check& check) {
    const Input<float> in(check, "in", std::vector<float>(n, 1.0f));
    const Output<float> out(check, "out", n);
    const uint64_t resident = check.device().resident_blocks_on_device(
        *check.session.module.find(kernel_name_with_namespace(check, "copy_floats")),
        copy_launch_shape(check, 1));
    const device::LaunchResult run =
        run_to_count(check, {kernel_name_with_namespace(check, "copy_floats"),
                             {{static_cast<uint32_t>(resident)}, {kCopyBlock}},
                             {in, out, static_cast<int>(n)},
                             "",
                             device::LaunchOptions::Model::cold});
    return run.predicted ? run.predicted->kernel_seconds : 0;
  });
}

device::LaunchResult run_and_check_trace_kernel(Check& check, uint32_t n,
                                                const std::vector<FieldCellStepAndValue>& cells) {
  Random random = check.random();
  const std::vector<double> range = check.row.required_numbers("steps");
  const uint32_t least = static_cast<uint32_t>(range.at(0)),
                 steps = least + random.below(static_cast<uint32_t>(range.at(1)) - least + 1);
  const Input<FieldCellStepAndValue> in(check, "field", cells);
  const Input<float> start(check, "start",
                           clustered_particle_positions(n, random.below(kSide * kSide * kSide)));
  const Output<float> out(check, "out", size_t{kTraced} * n);
  const std::string setting = fmt::format("n = {}, {} steps", n, steps);
  device::LaunchResult launched =
      run(check, {"trace",
                  {{blocks_for(n, kTraceBlock)}, {kTraceBlock}},
                  {in, start, out, static_cast<int>(n), static_cast<int>(steps)},
                  setting});
  check_result(
      check, setting, check.line_of("trace"),
      mismatch("out", out.read(), expected_path_statistics(cells, start.values(), n, steps),
               relative_tolerance(check)));
  return launched;
}

}  // namespace

TEST_SUITE("lab:occupancy") {
  LAB_CHECK("B2 copy: result" * takes_rubric_keys("sizes")) {
    for (uint32_t n : sizes_to_check(check))
      run_and_check_copy(check, n, device::LaunchOptions::Model::none);
    report_right_result(check);
  }

  LAB_CHECK("B2 copy: with 8 warps" * takes_rubric_keys("n")) {
    const uint32_t n = check.row.required_count("n");
    const device::LaunchResult run = launch_without_changing_report_row(
        check, [&] { return run_and_check_copy(check, n, device::LaunchOptions::Model::cold); });
    require_only_lane_accesses(check, run);
    if (!run.predicted) check.not_run({NotRunReason::Kind::no_counters, check.device().name()});
    const double mine = run.predicted->kernel_seconds, full = full_occupancy_copy_seconds(check, n);
    check.measured(fmt::format("{:.1f} µs modelled", 1e6 * mine));
    check.expected(fmt::format("{:.1f} µs", 1e6 * full));
    check.figure("modelled_seconds", mine);
    check.figure("full_seconds", full);
    check.figure("read_bytes", sizeof(float) * static_cast<double>(n));
    check.credit(full, mine);
    if (mine > full)
      check.explain(
          check.line_of("copy"),
          fmt::format("The given kernel takes {:.1f} µs at full occupancy. With 8 warps per "
                      "multiprocessor yours is {}.\n"
                      "How many bytes does a thread request before it waits? Loads that do not "
                      "depend on each other can all be in flight, and one load can be 16 bytes "
                      "wide.",
                      1e6 * full, run.predicted->bottleneck));
  }

  LAB_CHECK("B3 trace: result" * takes_rubric_keys("sizes", interval_valued_key("steps", 1, 4096),
                                                   "relative_tolerance")) {
    const std::vector<FieldCellStepAndValue> cells = random_vector_field(check.random().bits());
    for (uint32_t n : sizes_to_check(check)) run_and_check_trace_kernel(check, n, cells);
    report_right_result(check);
  }

  LAB_CHECK("B3 trace: blocks of 1024" *
            takes_rubric_keys("n", interval_valued_key("steps", 1, 4096), "relative_tolerance")) {
    GradingSession& s = check.session;
    device::Kernel* const kernel = s.module.find("trace");
    if (!kernel) check.fail_and_throw({CheckFailureReason::Kind::missing, "", "trace"});
    const device::LaunchShape shape{{check.device().multiprocessors()}, {kTraceBlock}};
    const auto blocks = [&](device::Kernel& of) {
      return static_cast<double>(check.device().resident_blocks_on_device(of, shape)) /
             check.device().multiprocessors();
    };
    // The most blocks of this size are those of `follow`: it needs few registers and no shared
    // memory, so that only threads limit its blocks.
    const double mine = blocks(*kernel),
                 most = blocks(*s.module.find(kernel_name_with_namespace(check, "follow")));
    const uint32_t registers = kernel->info().registers.value_or(0);
    const device::LaunchResult run = run_and_check_trace_kernel(
        check, check.row.required_count("n"), random_vector_field(check.random().bits()));
    const uint32_t local = run.local_accesses.value_or(0);
    require_static_shared_at_most(check, "trace", 0);
    check.measured(
        fmt::format("{:.0f} block{}, {} registers", mine, mine == 1 ? "" : "s", registers));
    check.expected(fmt::format("{:.0f} block{}", most, most == 1 ? "" : "s"));
    record_block_usage(check, *kernel, shape);
    check.figure("fit", mine);
    check.figure("local_accesses", local);
    CheckFailureReason few{CheckFailureReason::Kind::wasteful};
    few.measured = mine;
    few.expected = most;
    check.credit_share(mine / most, few);
    if (mine < most)
      check.explain(
          check.line_of("trace"),
          fmt::format(
              "At {} registers per thread {:.0f} block of 1024 threads fits on a "
              "multiprocessor. A warp's registers come in units of 256: how many may a "
              "thread have if {:.0f} blocks are to fit, and how does one tell the compiler?",
              registers, mine, most));
    if (local > 0) {
      check.measured(fmt::format("{} local accesses", local));
      check.fail_and_throw(
          {CheckFailureReason::Kind::wasteful}, check.line_of("trace"),
          fmt::format("ptxas keeps values in local memory: the kernel executes {} loads and stores "
                      "of them, and each accesses L1 in every thread. Either the limit is tighter "
                      "than the kernel needs, or an array is indexed at run time.",
                      local));
    }
  }
}

}  // namespace lab32::checks::occupancy
