// The reduction lab, part A: count first. Contract: labs/reduction/reduction.cu.

#include <numeric>

#include "device/run_text.h"
#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "labs/reduction/counts.h"
#include "labs/reduction/sums.h"
#include "simulator/observers/races/finding.h"

namespace lab32::checks::reduction {
namespace {

// A table of the given reduce_v1: for each line, how often its warps access shared memory, and with
// how many lanes.
std::string reduce_v1_line_counter_table(Check& check) {
  const uint32_t block = check.row.required_count("block"),
                 blocks = check.row.required_count("blocks");
  Random random = check.random();
  Input<int> in(check, "in", ints_without_sum_overflow(random, size_t{block} * blocks));
  Output<int> out(check, "out", blocks);
  const device::LaunchResult launched =
      run_to_count(check, {kernel_name_with_namespace(check, "reduce_v1"),
                           {{blocks}, {block}},
                           {in, out},
                           "reduce_v1"});
  // Recorded so that the notebook can plot them next to those of v2 to v6.
  LaunchCounterVerdict(check, launched, block, blocks, in.count()).record_figures();
  std::string table = fmt::format(
      "The profiler's table of the given reduce_v1, shared memory, for each block of {}:\n"
      "    {:<6}{:>10}{:>14}{:>12}",
      block, "line", "accesses", "lanes of each", "wavefronts");
  for (const counters::LineCounters& line : launched.lines) {
    const counters::SharedTraffic &l = line.counters.shared_load, &s = line.counters.shared_store;
    const uint64_t requests = l.requests + s.requests;
    if (requests == 0) continue;
    table += fmt::format("\n    {:<6}{:>10}{:>14.1f}{:>12}", line.line, requests / blocks,
                         static_cast<double>(l.lanes + s.lanes) / static_cast<double>(requests),
                         (l.wavefronts + s.wavefronts) / blocks);
  }
  return table;
}

// Shows what the grader's checks report about a kernel with a deliberate fault. Nothing here
// affects the points.
void show_reports_of_faulty_kernel(Check& check, const std::string& name, uint32_t block,
                                   uint32_t n) {
  device::Kernel* kernel = check.session.module.find(kernel_name_with_namespace(check, name));
  if (!kernel) return;
  Random random = check.random();
  Input<int> in(check, "in", ints_without_sum_overflow(random, n));
  Output<int> out(check, "out", std::vector<int>{0});
  const device::LaunchResult launched = check.device().launch(
      *kernel, {{blocks_for(n, block)}, {block}}, {in, out, static_cast<int>(n)});
  std::string found;
  if (launched.fault)
    found = fmt::format("{}: {}", words(launched.fault->kind), describe(*launched.fault));
  if (launched.hazards)
    for (const counters::Finding& finding : *launched.hazards)
      if (found.empty() && !finding.note) found = describe(finding);
  const int64_t sum = std::accumulate(in.values().begin(), in.values().end(), int64_t{0});
  if (!launched.fault)
    found += out.read()[0] == sum ? "; its sum is right nevertheless" : "; its sum is wrong";
  check.explain(0, fmt::format("{}, n = {}: {}.", name, n, found));
}

}  // namespace

TEST_SUITE("lab:reduction") {
  LAB_CHECK("A1 lanes, warps, banks" * takes_rubric_keys(power_of_two("block", 32, 1024),
                                                         whole("blocks", 1, 4096), "questions")) {
    const std::string table = reduce_v1_line_counter_table(check);
    if (judge_answers(check)) check.explain(0, table);
  }

  LAB_CHECK("A2 faults of three kernels" * takes_rubric_keys("questions")) {
    if (!judge_answers(check)) return;
    check.explain(0, "The grader's checks of the three kernels:");
    show_reports_of_faulty_kernel(check, "faulty_tail<128>", 128, 1000);
    show_reports_of_faulty_kernel(check, "faulty_half<128>", 128, 384);
    show_reports_of_faulty_kernel(check, "faulty_overlap<8>", 8, 64);
  }
}

}  // namespace lab32::checks::reduction
