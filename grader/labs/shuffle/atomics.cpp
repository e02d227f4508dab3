// The shuffle lab, part C: fewer atomics. Contract: labs/shuffle/shuffle.cu.
//
// Atomics are counted where they cost time: L2 serves the lanes of a request one after the other if
// they add to the same word. The `red` counter therefore has 32 sectors for 32 lanes on one
// address.

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "labs/shuffle/values.h"

namespace lab32::checks::shuffle {
namespace {

constexpr uint32_t kAddersBlock = 256;

// Launches sum_by_warps or sum_by_blocks and checks the result.
device::Run total_of(Check& check, const char* kernel, uint32_t n) {
  Random random = check.random();
  Input<float> in(check, "in", whole_floats(random, n));
  Output<float> total(check, "total", std::vector<float>(1, 0));
  const std::string setting = fmt::format("n = {}", n);
  device::Run launched = run(check, {kernel,
                                     {{blocks_for(n, kAddersBlock)}, {kAddersBlock}},
                                     {in, total, static_cast<int>(n)},
                                     setting});
  std::vector<float> want(1);
  for (float v : in.values()) want[0] += v;
  check_result(check, setting, check.line_of(kernel), mismatch("total", total.read(), want));
  return launched;
}

// Keys for the check of results: runs of equal keys in random order, some long, some of one
// element.
std::vector<int> mixed_keys(Random& random, uint32_t n, uint32_t keys) {
  std::vector<int> found(n);
  int key = 0;
  for (int& k : found) {
    if (random.below(4) == 0) key = static_cast<int>(random.below(keys));
    k = key;
  }
  return found;
}

// Keys for the check of counts. Each warp has four keys, distributed over its lanes in any way,
// each in a sector of its own and all in one line, so that four adds are four sectors.
constexpr uint32_t kLines = 64;

std::vector<int> four_keys(Random& random, uint32_t n) {
  std::vector<int> found(n), lanes(kWarpSize);
  for (uint32_t first = 0; first < n; first += kWarpSize) {
    const uint32_t line = random.below(kLines);
    const uint32_t place[4] = {random.below(8), random.below(8), random.below(8), random.below(8)};
    for (uint32_t l = 0; l < kWarpSize; ++l) {
      const uint32_t sector = l < 4 ? l : random.below(4);
      lanes[l] = static_cast<int>(kWarpSize * line + 8 * sector + place[sector]);
    }
    random.shuffle(lanes);
    std::copy(lanes.begin(), lanes.end(), found.begin() + first);
  }
  return found;
}

device::Run totals_of(Check& check, const std::vector<int>& keys, uint32_t count) {
  Random random = check.random();
  const uint32_t n = static_cast<uint32_t>(keys.size());
  const std::string setting = fmt::format("n = {}", n);
  Input<int> key(check, "key", keys);
  Input<float> value(check, "value", whole_floats(random, n));
  Output<float> totals(check, "totals", std::vector<float>(count, 0));
  device::Run launched = run(check, {"sum_by_key",
                                     {{blocks_for(n, kAddersBlock)}, {kAddersBlock}},
                                     {key, value, totals, static_cast<int>(n)},
                                     setting});
  std::vector<float> want(count);
  for (uint32_t i = 0; i < n; ++i) want[static_cast<size_t>(keys[i])] += value.values()[i];
  check_result(check, setting, check.line_of("sum_by_key"),
               mismatch("totals", totals.read(), want));
  return launched;
}

void credit_adds(Check& check, const device::Run& launched, int line, const std::string& idea) {
  const counters::Counters& c = counters_of(check, launched, Counted::global);
  const uint64_t adds = c.red.sectors + c.atom.sectors;
  const double ideal = check.row.number("ideal");
  // How many times too many the adds are would answer A2.
  const bool may_show = check.has_passed("A2 who adds") || static_cast<double>(adds) <= ideal;
  if (may_show)
    check.measured(grouped(adds) + " adds");
  else
    check.withhold_count("A2 who adds");
  check.expected(grouped(static_cast<uint64_t>(ideal)) + " adds");
  if (may_show) check.figure("adds", static_cast<double>(adds));
  check.figure("ideal_adds", ideal);
  if (!c.ptx_level) check.figure("wavefronts", static_cast<double>(c.shared_wavefronts()));
  check.figure("barriers", static_cast<double>(c.block_barriers));
  credit_work(check, launched);
  check.credit(ideal, static_cast<double>(adds));
  check.credit(check.row.number("ideal_loads"), static_cast<double>(c.load.sectors));
  if (static_cast<double>(adds) > ideal)
    check.explain(
        line,
        fmt::format("{} arrive at L2, which executes adds to one word one after the other. {}",
                    may_show ? fmt::format("{:.3g} times as many adds as needed",
                                           static_cast<double>(adds) / ideal)
                             : "More adds than are needed",
                    idea));
  else if (check.verdict.credit < 1)
    check.explain(
        line,
        fmt::format("The kernel loads {} sectors, where {} hold the input: neighbouring lanes "
                    "should read neighbouring elements.",
                    grouped(c.load.sectors), grouped(check.row.count("ideal_loads"))));
}

// Checks the adds of a second launch, at a secret size.
void recount_adds(Check& check, const device::Run& launched, const SecretSize& size) {
  const counters::Counters& c = counters_of(check, launched, Counted::global);
  const std::string where = fmt::format("n = {}:", size.n);
  const WorstLine waste = worst_global(check, launched);
  recount_at_secret_size(check, where, "adds", size.share * check.row.number("ideal"),
                         c.red.sectors + c.atom.sectors, waste);
  recount_at_secret_size(check, where, "sectors loaded",
                         size.share * check.row.number("ideal_loads"), c.load.sectors, waste);
}

void credit_total(Check& check, const char* kernel, const std::string& idea) {
  credit_adds(check, total_of(check, kernel, check.row.count("n")), check.line_of(kernel), idea);
  const SecretSize size = secret_size(check, kAddersBlock, kAddersBlock);
  recount_adds(check, launch_keeping_table(check, [&] { return total_of(check, kernel, size.n); }),
               size);
}

}  // namespace

TEST_SUITE("lab:shuffle") {
  LAB_CHECK("C1 sum_by_warps: result" * takes("sizes")) {
    for (uint32_t n : sizes(check)) total_of(check, "sum_by_warps", n);
    right_result(check);
  }

  LAB_CHECK("C1 sum_by_warps: adds" *
            takes("min_working_share", "n", "ideal", "ideal_loads", "drawn")) {
    credit_total(check, "sum_by_warps",
                 "What can the lanes of a warp compute together before one of them adds?");
  }

  LAB_CHECK("C2 sum_by_blocks: result" * takes("sizes")) {
    for (uint32_t n : sizes(check)) total_of(check, "sum_by_blocks", n);
    right_result(check);
  }

  LAB_CHECK("C2 sum_by_blocks: adds" *
            takes("min_working_share", "n", "ideal", "ideal_loads", "drawn")) {
    credit_total(check, "sum_by_blocks",
                 "Use two levels: the block computes its sum, and one of its threads adds it.");
  }

  LAB_CHECK("C3 sum_by_key: result" * takes("keys", "sizes")) {
    for (uint32_t n : sizes(check)) {
      Random random = check.random();
      totals_of(check, mixed_keys(random, n, check.row.count("keys")), check.row.count("keys"));
    }
    right_result(check);
  }

  LAB_CHECK("C3 sum_by_key: adds" *
            takes("min_working_share", "n", "ideal", "ideal_loads", "drawn")) {
    Random random = check.random();
    credit_adds(check,
                totals_of(check, four_keys(random, check.row.count("n")), kWarpSize * kLines),
                check.line_of("sum_by_key"),
                "__match_any_sync tells each lane which other lanes have its key. One lane "
                "of each such group is enough to add, if it knows the group's sum.");
    const SecretSize size = secret_size(check, kWarpSize, kAddersBlock);
    recount_adds(
        check,
        launch_keeping_table(
            check, [&] { return totals_of(check, four_keys(random, size.n), kWarpSize * kLines); }),
        size);
  }
}

}  // namespace lab32::checks::shuffle
