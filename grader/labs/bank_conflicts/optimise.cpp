// The bank-conflict lab, parts B to D: fix the pattern, a question, and the times of the two walks
// along rows, where conflicts cost most, on a real card. Contract:
// labs/bank_conflicts/bank_conflicts.cu.
//
// Everything is integers, so results are compared exactly and in any order of summation.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/random.h"
#include "grading/engine/suite.h"
#include "grading/launch/arrays.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "grading/words/words.h"

namespace lab32::checks::bank_conflicts {
namespace {

constexpr uint32_t kRowLength = 32;  // elements of a row of B1's matrix and of B4's image

std::vector<int> random_integers(Random& random, size_t count, uint32_t bound) {
  std::vector<int> values(count);
  for (int& v : values) v = static_cast<int>(random.below(bound));
  return values;
}

// Makes some values negative, and one of a large array the least of all: the sums of its row with
// values of few digits stay in the range of an int, in any order.
void alternate_signs(Random& random, std::vector<int>& values) {
  for (int& v : values)
    if (random.below(2)) v = -v;
  if (values.size() < kRowLength) return;
  const size_t rows = values.size() / kRowLength, row = random.below(static_cast<uint32_t>(rows));
  for (size_t i = row / 8 * 8 * kRowLength;
       i < std::min(values.size(), (row / 8 + 1) * 8 * kRowLength); ++i)
    values[i] = std::abs(values[i]) % 1024;
  values[row * kRowLength] = std::numeric_limits<int>::min();
}

std::vector<uint8_t> random_pixels(Random& random, size_t count) {
  std::vector<uint8_t> values(count);
  for (uint8_t& v : values) v = static_cast<uint8_t>(random.below(256));
  return values;
}

// The expected values: in B1 running sums along each row, in B4 the sum of (column + 1) * pixel of
// each row.
std::vector<int> row_scan_of(std::vector<int> in) {
  for (size_t i = 0; i < in.size(); ++i)
    if (i % kRowLength != 0) in[i] += in[i - 1];
  return in;
}

std::vector<int> row_moments_of(const std::vector<uint8_t>& in) {
  std::vector<int> sums(in.size() / kRowLength);
  for (size_t i = 0; i < in.size(); ++i)
    sums[i / kRowLength] += static_cast<int>(i % kRowLength + 1) * in[i];
  return sums;
}

constexpr uint32_t kBlock = 256;
constexpr uint32_t kColumns =
    kRowLength;                  // the row length of B1's matrix, B2's table and B4's image
constexpr uint32_t kRows = 256;  // rows of B2's table
constexpr uint32_t kShare = 64 * kBlock;  // elements per block in B2 and B5
constexpr uint32_t kChannels = 64;

// Launches a kernel over n elements in blocks of 256 threads.
device::Run launch(Check& check, const char* kernel, uint32_t n, uint32_t share,
                   std::vector<device::Arg> args) {
  args.push_back(static_cast<int>(n));
  return run(
      check,
      {kernel, {{blocks_for(n, share)}, {kBlock}}, std::move(args), fmt::format("n = {}", n)});
}

template <class T>
void compare_exactly(Check& check, const char* kernel, uint32_t n, const Output<T>& out,
                     const std::vector<T>& want) {
  check_result(check, fmt::format("n = {}", n), check.line_of(kernel),
               mismatch(out.name(), out.read(), want));
}

// Each function launches the kernel of one task, checks its result and returns the run.

device::Run run_row_scan(Check& check, uint32_t n) {
  Random random = check.random();
  std::vector<int> values = random_integers(random, size_t{n} * kColumns, 1 << 25);
  alternate_signs(random, values);
  Input<int> in(check, "in", std::move(values));
  Output<int> out(check, "out", size_t{n} * kColumns);
  device::Run launched = launch(check, "row_scan", n, kBlock, {in, out});
  compare_exactly(check, "row_scan", n, out, row_scan_of(in.values()));
  return launched;
}

// Rows that follow one another within a warp, upwards or downwards from any row. Sizes of the
// result check also shuffle some, since the contract only promises that rows are `mostly` ramps.
std::vector<uint8_t> row_ramps(Random& random, uint32_t n, bool pure) {
  std::vector<uint8_t> rows(n);
  uint32_t at = 0, step = 1;
  for (uint32_t i = 0; i < n; ++i) {
    if (i % kBlock == 0) {
      at = random.below(kRows);
      step = random.below(2) ? 1 : kRows - 1;
    }
    rows[i] = static_cast<uint8_t>(at);
    at = (pure || random.below(8) ? at + step : random.below(kRows)) % kRows;
  }
  return rows;
}

device::Run run_look_up(Check& check, uint32_t n, bool pure) {
  Random random = check.random();
  std::vector<int> entries = random_integers(random, kRows * kColumns, 1u << 30);
  scatter(random, entries,
          {std::numeric_limits<int>::min(), std::numeric_limits<int>::max(), 0, -2});
  Input<int> table(check, "table", std::move(entries));
  Input<uint8_t> row(check, "row", row_ramps(random, n, pure));
  Input<int> column(check, "column", random_integers(random, ceil_div(n, 32), kColumns));
  Output<int> out(check, "out", n);
  device::Run launched = launch(check, "look_up", n, kShare, {table, row, column, out});
  std::vector<int> want(n);
  for (uint32_t i = 0; i < n; ++i)
    want[i] =
        table.values()[row.values()[i] * kColumns + static_cast<uint32_t>(column.values()[i / 32])];
  compare_exactly(check, "look_up", n, out, want);
  return launched;
}

device::Run run_block_sums(Check& check, uint32_t n) {
  Random random = check.random();
  std::vector<int> values = random_integers(random, n, 1u << 20);
  alternate_signs(random, values);
  Input<int> in(check, "in", std::move(values));
  Output<int> out(check, "out", blocks_for(n, kBlock));
  device::Run launched = launch(check, "block_sums", n, kBlock, {in, out});
  std::vector<int> want(out.count());
  for (uint32_t i = 0; i < n; ++i) want[i / kBlock] += in.values()[i];
  compare_exactly(check, "block_sums", n, out, want);
  return launched;
}

device::Run run_spectrum(Check& check, uint32_t n) {
  Random random = check.random();
  const uint32_t hot = random.below(kChannels);
  std::vector<uint32_t> events(n), want(kChannels);
  for (uint32_t& e : events) {
    const uint32_t channel = random.below(8) ? hot : random.below(kChannels);
    e = (1 + random.below(1000)) * kChannels + channel;
  }
  // No energy, and the largest: totals may wrap around, as unsigned sums do.
  scatter(random, events, {hot, UINT32_MAX - kChannels + 1 + hot});
  for (uint32_t e : events) want[e % kChannels] += e / kChannels;
  Input<uint32_t> in(check, "events", events);
  Output<uint32_t> total(check, "total", std::vector<uint32_t>(kChannels, 0));
  device::Run launched = launch(check, "spectrum", n, kShare, {in, total});
  compare_exactly(check, "spectrum", n, total, want);
  return launched;
}

void check_sizes(Check& check, device::Run (*task)(Check& check, uint32_t n)) {
  for (uint32_t n : sizes(check)) task(check, n);
  right_result(check);
}

// The second check of each task: its wavefronts and its shared memory. `share`: elements per block.
void check_wavefronts(Check& check, const char* kernel,
                      device::Run (*task)(Check& check, uint32_t n), uint32_t share,
                      const std::string& idea) {
  limit_shared(check, kernel, check.row.number("shared_bytes"));
  const device::Run launched = task(check, check.row.count("n"));
  credit_wavefronts(check, launched, check.row.number("ideal"), idea);
  credit_most_sectors(check, launched, check.row.number("most_sectors"));
  const SecretSize size = secret_size(check, share, 0);
  const device::Run other = launch_keeping_table(check, [&] { return task(check, size.n); });
  const std::string where = fmt::format("n = {}:", size.n);
  recount_wavefronts(check, where, size.share * check.row.number("ideal"), other);
  recount_sectors(check, where, size.share * check.row.number("most_sectors"), other);
}

constexpr uint32_t kTimedBlock = 256;

// Work in which each thread reads one of `n` rows and writes one of `results` values. `want`
// computes the expected results.
template <class T, class Want>
TimedWork row_work(const char* kernel, uint32_t n, size_t results, const InputSets<T>& inputs,
                   Want want) {
  TimedWork work;
  work.arrays = {read_array("in", inputs), written_array<int>("out", results)};
  work.bytes = work.arrays[0].bytes + work.arrays[1].bytes;
  work.steps = [=](device::LoadedModule&, uint32_t) {
    return std::vector<device::TimedStep>{device::TimedLaunch{
        kernel,
        {{blocks_for(n, kTimedBlock)}, {kTimedBlock}},
        {device::ArrayIndex{0}, device::ArrayIndex{1}, device::Arg(static_cast<int>(n))}}};
  };
  work.mismatch = [=](size_t set, const Outputs& outputs) {
    return mismatch("out", values_of<int>(outputs[0]), want(*inputs[set]));
  };
  return work;
}

TimedWork row_scan_work(Check& check, uint32_t n, size_t sets) {
  const size_t count = size_t{n} * kRowLength;
  const auto inputs = input_sets<int>(
      check, sets, [count](Random& random) { return random_integers(random, count, 1000); });
  return row_work("row_scan", n, count, inputs, row_scan_of);
}

TimedWork row_moments_work(Check& check, uint32_t n, size_t sets) {
  const auto inputs = input_sets<uint8_t>(
      check, sets, [n](Random& random) { return random_pixels(random, size_t{n} * kRowLength); });
  return row_work("row_moments", n, n, inputs, row_moments_of);
}

}  // namespace

TEST_SUITE("lab:bank_conflicts") {
  LAB_CHECK("B1 row_scan: result" * takes("sizes")) { check_sizes(check, run_row_scan); }

  LAB_CHECK("B1 row_scan: wavefronts" *
            takes("min_working_share", "n", "ideal", "shared_bytes", "most_sectors", "drawn")) {
    check_wavefronts(check, "row_scan", run_row_scan, kBlock,
                     "In each iteration the addresses of neighbouring lanes are one row of the "
                     "tile apart. How many words should a row take, so that the 32 lanes use all "
                     "banks?");
  }

  LAB_CHECK("B2 look_up: result" * takes("sizes")) {
    check_sizes(check, [](Check& check, uint32_t n) { return run_look_up(check, n, false); });
  }

  LAB_CHECK("B2 look_up: wavefronts" *
            takes("min_working_share", "n", "ideal", "shared_bytes", "most_sectors", "drawn")) {
    check_wavefronts(
        check, "look_up", [](Check& check, uint32_t n) { return run_look_up(check, n, true); },
        kShare,
        "There is no room for padding, but each row may keep its entries in an order "
        "of its own. Loading the table must stay free of conflicts, too.");
  }

  LAB_CHECK("B3 block_sums: result" * takes("sizes")) { check_sizes(check, run_block_sums); }

  LAB_CHECK("B3 block_sums: wavefronts" *
            takes("min_working_share", "n", "ideal", "shared_bytes", "most_sectors", "drawn")) {
    check_wavefronts(check, "block_sums", run_block_sums, kBlock,
                     "The sum does not depend on which two elements a step adds. Let the active "
                     "threads be neighbours, and let them add neighbouring elements.");
  }

  LAB_CHECK("B5 spectrum: result" * takes("sizes")) { check_sizes(check, run_spectrum); }

  LAB_CHECK("B5 spectrum: wavefronts" *
            takes("min_working_share", "n", "ideal", "shared_bytes", "most_sectors", "drawn")) {
    check_wavefronts(check, "spectrum", run_spectrum, kShare,
                     "Atomics of several lanes on one word, or on one bank, are served one after "
                     "the other. The task has room for 32 words per channel: which lanes could "
                     "use which word?");
  }

  LAB_CHECK("D1 row_scan: time" * takes_of_speed()) {
    credit_speed(check, {"row_scan", row_scan_work});
  }

  LAB_CHECK("D2 row_moments: time" * takes_of_speed()) {
    credit_speed(check, {"row_moments", row_moments_work});
  }
}

}  // namespace lab32::checks::bank_conflicts
