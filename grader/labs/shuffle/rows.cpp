// The shuffle lab, parts D and E: statistics of rows, and their times relative to a copy of the
// rows. A kernel needs to read a row once and to write it once, whatever it computes. Contract:
// labs/shuffle/shuffle.cu.
//
// A launch has one row of each kind, so that the message for a kernel that fails on some kinds
// names the first of these. The expected values and their tolerances are those of references.h.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "labs/shuffle/references.h"

namespace lab32::checks::shuffle {
namespace {

constexpr uint32_t kRowBlock = 256;  // for softmax and layer_norm
// Threads and rows of a block, for the kernels with a warp per row.
constexpr uint32_t kWarpsBlock = 128, kRowsBlock = 4;

using RowValuePatterns = std::vector<RowValuePattern>;

// The kinds of rows that a task allows: finite values, for sums; rows with at least one finite
// value, for softmax; and any values, for the smallest and the largest.
const RowValuePatterns kFinite = {RowValuePattern::noise,    RowValuePattern::equal,
                                  RowValuePattern::offset,   RowValuePattern::alternating,
                                  RowValuePattern::denormal, RowValuePattern::outlier,
                                  RowValuePattern::steep};
const RowValuePatterns kPadded = {
    RowValuePattern::noise,       RowValuePattern::equal,    RowValuePattern::offset,
    RowValuePattern::alternating, RowValuePattern::denormal, RowValuePattern::outlier,
    RowValuePattern::steep,       RowValuePattern::padded,   RowValuePattern::largest};
const RowValuePatterns kAny = {
    RowValuePattern::noise,       RowValuePattern::equal,    RowValuePattern::offset,
    RowValuePattern::alternating, RowValuePattern::denormal, RowValuePattern::outlier,
    RowValuePattern::steep,       RowValuePattern::padded,   RowValuePattern::largest,
    RowValuePattern::lowest,      RowValuePattern::nothing};

struct PatternedInputMatrix {
  RowValuePatterns kinds;  // one row of each
  uint32_t columns = 0;
  std::vector<std::vector<float>> rows;

  uint32_t count() const { return static_cast<uint32_t>(rows.size()); }
  std::vector<float> all_values() const {
    std::vector<float> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
  }
};

PatternedInputMatrix make_table(Random& random, const RowValuePatterns& kinds, uint32_t columns) {
  PatternedInputMatrix table{kinds, columns, {}};
  for (RowValuePattern kind : kinds) table.rows.push_back(make_row(kind, random, columns));
  return table;
}

std::string setting_of(const PatternedInputMatrix& table) {
  return fmt::format("{} x {}", table.count(), table.columns);
}

std::string row_message_prefix(const PatternedInputMatrix& table, size_t row) {
  return fmt::format("In row {} ({}): ", row, row_value_pattern_text(table.kinds[row]));
}

// Checks the result of a kernel that writes one number per row.
void compare_output_number_per_row(Check& check, const std::string& kernel,
                                   const PatternedInputMatrix& table, const Output<float>& out,
                                   const std::vector<ExpectedValue>& want) {
  const std::vector<float> got = out.read();
  const std::string wrong = value_mismatch(out.name(), got, want);
  if (wrong.empty()) return;
  size_t row = 0;
  while (value_mismatch(out.name(), {got[row]}, {want[row]}).empty()) ++row;
  check_result(check, setting_of(table), check.line_of(kernel),
               row_message_prefix(table, row) + wrong);
}

// Checks the result of a kernel that writes one output row for each input row.
void check_output_rows(Check& check, const std::string& kernel, const PatternedInputMatrix& table,
                       const Output<float>& out,
                       const std::vector<std::vector<ExpectedValue>>& want) {
  const std::vector<float> got = out.read();
  for (size_t row = 0; row < want.size(); ++row) {
    const auto begin = got.begin() + static_cast<ptrdiff_t>(row * table.columns);
    const std::string wrong =
        value_mismatch(fmt::format("out[{}]", row), {begin, begin + table.columns}, want[row]);
    if (!wrong.empty())
      check_result(check, setting_of(table), check.line_of(kernel),
                   row_message_prefix(table, row) + wrong);
  }
}

// Launches row_range or row_moments, which have a warp per row and write two numbers.
device::LaunchResult run_warp_per_row(Check& check, const std::string& kernel,
                                      const PatternedInputMatrix& table, Output<float>& first,
                                      Output<float>& second) {
  Input<float> in(check, "in", table.all_values());
  return run(check,
             {kernel,
              {{blocks_for(table.count(), kRowsBlock)}, {kWarpsBlock}},
              {in, first, second, static_cast<int>(table.count()), static_cast<int>(table.columns)},
              setting_of(table)});
}

device::LaunchResult run_and_check_row_min_max(Check& check, const RowValuePatterns& kinds,
                                               uint32_t columns) {
  Random random = check.random();
  const PatternedInputMatrix table = make_table(random, kinds, columns);
  Output<float> low(check, "low", table.count()), high(check, "high", table.count());
  device::LaunchResult launched = run_warp_per_row(check, "row_range", table, low, high);
  std::vector<ExpectedValue> lowest, highest;
  for (const auto& row : table.rows) {
    lowest.push_back({*std::min_element(row.begin(), row.end()), 0});
    highest.push_back({*std::max_element(row.begin(), row.end()), 0});
  }
  compare_output_number_per_row(check, "row_range", table, low, lowest);
  compare_output_number_per_row(check, "row_range", table, high, highest);
  return launched;
}

device::LaunchResult run_and_check_row_moments(Check& check, const RowValuePatterns& kinds,
                                               uint32_t columns) {
  Random random = check.random();
  const PatternedInputMatrix table = make_table(random, kinds, columns);
  Output<float> mean(check, "mean", table.count()), variance(check, "variance", table.count());
  device::LaunchResult launched = run_warp_per_row(check, "row_moments", table, mean, variance);
  std::vector<ExpectedValue> means, variances;
  for (const auto& row : table.rows) {
    means.push_back(mean_of(row));
    variances.push_back(variance_of(row));
  }
  compare_output_number_per_row(check, "row_moments", table, mean, means);
  compare_output_number_per_row(check, "row_moments", table, variance, variances);
  return launched;
}

device::LaunchResult run_and_check_softmax(Check& check, const RowValuePatterns& kinds,
                                           uint32_t columns) {
  Random random = check.random();
  const PatternedInputMatrix table = make_table(random, kinds, columns);
  Input<float> in(check, "in", table.all_values());
  Output<float> out(check, "out", in.count());
  device::LaunchResult launched = run(check, {"softmax",
                                              {{table.count()}, {kRowBlock}},
                                              {in, out, static_cast<int>(columns)},
                                              setting_of(table)});
  std::vector<std::vector<ExpectedValue>> want;
  for (const auto& row : table.rows) want.push_back(softmax_of(row));
  check_output_rows(check, "softmax", table, out, want);
  return launched;
}

// Between 2^-20 and 2^-7: programs use 1e-3, 1e-5 or 1e-6.
float random_epsilon(Random& random) {
  return std::ldexp(1.5f + 0.5f * random.unit(), -8 - static_cast<int>(random.below(13)));
}

device::LaunchResult run_and_check_layer_norm(Check& check, const RowValuePatterns& kinds,
                                              uint32_t columns) {
  Random random = check.random();
  const PatternedInputMatrix table = make_table(random, kinds, columns);
  const float epsilon = random_epsilon(random);
  Input<float> in(check, "in", table.all_values());
  Input<float> weight(check, "weight", random.floats(columns)),
      bias(check, "bias", random.floats(columns));
  Output<float> out(check, "out", in.count());
  device::LaunchResult launched =
      run(check, {"layer_norm",
                  {{table.count()}, {kRowBlock}},
                  {in, weight, bias, out, static_cast<int>(columns), epsilon},
                  setting_of(table)});
  std::vector<std::vector<ExpectedValue>> want;
  for (const auto& row : table.rows)
    want.push_back(layer_norm_of(row, weight.values(), bias.values(), epsilon));
  check_output_rows(check, "layer_norm", table, out, want);
  return launched;
}

// Loses the check if the launch has accessed shared memory or waited at a barrier, because the
// lanes of a warp can exchange values without either.
void require_no_shared_memory_or_barrier(Check& check, const device::LaunchResult& launched,
                                         int line) {
  const counters::Counters& c = counters_of(check, launched);
  check.expected("none");
  check.measured("none");
  check.figure("wavefronts", static_cast<double>(c.shared_wavefronts()));
  check.figure("barriers", static_cast<double>(c.block_barriers));
  if (c.shared_wavefronts() == 0 && c.block_barriers == 0) return;
  check.measured(c.shared_wavefronts() > 0 ? grouped_digits(c.shared_wavefronts()) + " wavefronts"
                                           : grouped_digits(c.block_barriers) + " barriers");
  check.fail_and_throw({CheckFailureReason::Kind::wasteful}, line,
                       "The lanes of a warp can exchange registers; this needs neither shared "
                       "memory nor a barrier of the block.");
}

using Task = device::LaunchResult (*)(Check&, const RowValuePatterns&, uint32_t);

// Checks many short rows. Their number depends on the seed and is too large for a byte.
void check_many_rows(Check& check, Task task, const RowValuePatterns& kinds) {
  Random random(seed_of_stream(check.session.setup.seed, check.row.check + " rows"));
  const std::vector<double> range = check.row.required_numbers("drawn_rows");
  const auto least = static_cast<uint32_t>(range.at(0)), most = static_cast<uint32_t>(range.at(1));
  RowValuePatterns many(least + random.below(most - least + 1));
  for (size_t row = 0; row < many.size(); ++row) many[row] = kinds[row % kinds.size()];
  task(check, many, check.row.required_count("drawn_rows_columns"));
}

void check_row_lengths(Check& check, Task task, const RowValuePatterns& kinds) {
  for (double columns : check.row.required_numbers("columns"))
    task(check, kinds, static_cast<uint32_t>(columns));
  check_many_rows(check, task, kinds);
  report_right_result(check);
}

// A launch that is only counted; the values in the table do not matter.
device::LaunchResult run_for_counters(Check& check, Task task, uint32_t columns) {
  return task(check, RowValuePatterns(check.row.required_count("rows"), RowValuePattern::noise),
              columns);
}
device::LaunchResult run_for_counters(Check& check, Task task) {
  return run_for_counters(check, task, check.row.required_count("columns"));
}

// Checks the sectors for rows of a secret length, a multiple of a sector. The limit is scaled with
// the length. Traffic that does not grow with the length, at most two numbers per row, is allowed
// in addition, because a scaled limit for shorter rows has too little of it.
void recount_at_secret_length(Check& check, Task task) {
  constexpr uint32_t kUnit = 32;
  Random random(seed_of_stream(check.session.setup.seed, check.row.check + " length"));
  const std::vector<double> range = check.row.required_numbers("drawn_columns");
  const uint32_t least = static_cast<uint32_t>(range.at(0)) / kUnit,
                 most = static_cast<uint32_t>(range.at(1)) / kUnit,
                 columns = kUnit * (least + random.below(most - least + 1));
  limit_credit_by_sectors(
      check, fmt::format("{} x {}:", check.row.required_count("rows"), columns),
      check.row.required_number("ideal") * columns / check.row.required_number("columns") +
          2 * check.row.required_number("rows"),
      launch_without_changing_report_row(check,
                                         [&] { return run_for_counters(check, task, columns); }));
}

const char kOnce[] =
    "The registers of a block have room for a row of 4096, 16 elements per "
    "thread: the kernel need not load these again.";

constexpr uint32_t kTimedBlock = 256, kColumns = 4096;
constexpr float kEpsilon = 1e-5f;

using Reference = std::function<std::vector<ExpectedValue>(const std::vector<float>& row)>;

// Work over `rows` rows of noise; every row of the result is checked.
WorkloadToTime row_work(Check& check, uint32_t rows, size_t sets, const Reference& reference) {
  const InputSets<float> inputs = random_input_sets(check, sets, size_t{rows} * kColumns);
  WorkloadToTime work = work_with_in_and_out(inputs);
  work.mismatch = [inputs, rows, reference](size_t set, const Outputs& outputs) {
    const std::vector<float> got = values_of<float>(outputs[0]);
    for (ptrdiff_t row = 0; row < rows; ++row) {
      const auto cut = [row](const std::vector<float>& all) {
        return std::vector<float>(all.begin() + row * kColumns, all.begin() + (row + 1) * kColumns);
      };
      std::string wrong =
          value_mismatch(fmt::format("out[{}]", row), cut(got), reference(cut(*inputs[set])));
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  };
  return work;
}

WorkloadToTime softmax_work(Check& check, uint32_t rows, size_t sets) {
  WorkloadToTime work = row_work(check, rows, sets, softmax_of);
  work.steps = [rows](device::LoadedModule&, uint32_t) {
    return std::vector<device::StepToTime>{device::LaunchToTime{
        "softmax",
        {{rows}, {kTimedBlock}},
        {device::KernelArrayArgumentIndex{0}, device::KernelArrayArgumentIndex{1},
         device::KernelArgument(static_cast<int>(kColumns))}}};
  };
  return work;
}

WorkloadToTime layer_norm_work(Check& check, uint32_t rows, size_t sets) {
  Random random = check.random();
  const std::vector<float> weight = random.floats(kColumns), bias = random.floats(kColumns);
  WorkloadToTime work = row_work(check, rows, sets, [weight, bias](const std::vector<float>& row) {
    return layer_norm_of(row, weight, bias, kEpsilon);
  });
  work.arrays.push_back(input_array("weight", weight));
  work.arrays.push_back(input_array("bias", bias));
  work.steps = [rows](device::LoadedModule&, uint32_t) {
    return std::vector<device::StepToTime>{device::LaunchToTime{
        "layer_norm",
        {{rows}, {kTimedBlock}},
        {device::KernelArrayArgumentIndex{0}, device::KernelArrayArgumentIndex{2},
         device::KernelArrayArgumentIndex{3}, device::KernelArrayArgumentIndex{1},
         device::KernelArgument(static_cast<int>(kColumns)), device::KernelArgument(kEpsilon)}}};
  };
  return work;
}

}  // namespace

namespace {

const RubricKey kRows = whole("rows", 1, 65536),
                kDrawnRows = interval_valued_key("drawn_rows", 1, 65536),
                kDrawnRowsColumns = whole("drawn_rows_columns", 1, 4096),
                kDrawnColumns = interval_valued_key("drawn_columns", 32, 4096);

}  // namespace

TEST_SUITE("lab:shuffle") {
  LAB_CHECK("D1 row_range: result" *
            takes_rubric_keys(wholes("columns", 1, 4096), kDrawnRows, kDrawnRowsColumns)) {
    check_row_lengths(check, run_and_check_row_min_max, kAny);
  }

  LAB_CHECK("D1 row_range: shared" *
            takes_rubric_keys(kRows, whole("columns", 1, 4096), "ideal", kDrawnColumns)) {
    const device::LaunchResult launched = run_for_counters(check, run_and_check_row_min_max);
    credit_sectors(check, launched, check.row.required_number("ideal"),
                   "Let neighbouring lanes read neighbouring elements.");
    if (check.verdict.credit == 1)
      require_no_shared_memory_or_barrier(check, launched, check.line_of("row_range"));
    recount_at_secret_length(check, run_and_check_row_min_max);
  }

  LAB_CHECK("D2 row_moments: result" *
            takes_rubric_keys(wholes("columns", 1, 4096), kDrawnRows, kDrawnRowsColumns)) {
    check_row_lengths(check, run_and_check_row_moments, kFinite);
  }

  LAB_CHECK("D2 row_moments: sectors" *
            takes_rubric_keys(kRows, whole("columns", 1, 4096), "ideal", kDrawnColumns)) {
    credit_sectors(check, run_for_counters(check, run_and_check_row_moments),
                   check.row.required_number("ideal"),
                   "One pass is enough: mean and variance can be updated together, value by "
                   "value.");
    recount_at_secret_length(check, run_and_check_row_moments);
  }

  LAB_CHECK("D3 softmax: result" *
            takes_rubric_keys(wholes("columns", 1, 4096), kDrawnRows, kDrawnRowsColumns)) {
    check_row_lengths(check, run_and_check_softmax, kPadded);
  }

  LAB_CHECK("D3 softmax: sectors" *
            takes_rubric_keys(kRows, whole("columns", 1, 4096), "ideal", kDrawnColumns)) {
    credit_sectors(check, run_for_counters(check, run_and_check_softmax),
                   check.row.required_number("ideal"), kOnce);
    recount_at_secret_length(check, run_and_check_softmax);
  }

  LAB_CHECK("D4 layer_norm: result" *
            takes_rubric_keys(wholes("columns", 1, 4096), kDrawnRows, kDrawnRowsColumns)) {
    check_row_lengths(check, run_and_check_layer_norm, kFinite);
  }

  LAB_CHECK("D4 layer_norm: sectors" *
            takes_rubric_keys(kRows, whole("columns", 1, 4096), "ideal", kDrawnColumns)) {
    credit_sectors(check, run_for_counters(check, run_and_check_layer_norm),
                   check.row.required_number("ideal"), kOnce);
    recount_at_secret_length(check, run_and_check_layer_norm);
  }

  LAB_CHECK("E1 softmax: time" * keys_of_speed_check()) {
    credit_bandwidth_vs_copy(check, {"softmax", softmax_work});
  }

  LAB_CHECK("E2 layer_norm: time" * keys_of_speed_check()) {
    credit_bandwidth_vs_copy(check, {"layer_norm", layer_norm_work});
  }
}

}  // namespace lab32::checks::shuffle
