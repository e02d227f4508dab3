// The shuffle lab, parts A and B: shuffles, and sums. Contract: labs/shuffle/shuffle.cu.

#include <functional>
#include <optional>
#include <utility>

#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "labs/shuffle/values.h"

namespace lab32::checks::shuffle {
namespace {

constexpr uint32_t kBlock = 256;

// Launches one pass of a kernel that leaves a sum for each 2 * block elements, and checks the
// result.
device::Run sum_once(Check& check, const std::string& kernel, uint32_t block, uint32_t n) {
  Random random = check.random();
  const std::string setting = fmt::format("n = {}, blocks of {}", n, block);
  Input<float> in(check, "in", whole_floats(random, n));
  Output<float> out(check, "out", blocks_for(n, 2 * block));
  device::Run launched = run(check, {kernel,
                                     {{static_cast<uint32_t>(out.count())}, {block}},
                                     {in, out, static_cast<int>(n)},
                                     setting});
  std::vector<float> want(out.count());
  for (uint32_t i = 0; i < n; ++i) want[i / (2 * block)] += in.values()[i];
  check_result(check, setting, check.line_of(kernel), mismatch("out", out.read(), want));
  return launched;
}

template <class T>
device::Run sum_warps(Check& check, const std::string& type, uint32_t n) {
  Random random = check.random();
  const std::string setting = fmt::format("n = {}, {}s", n, type);
  const std::vector<float> values = whole_floats(random, n);
  Input<T> in(check, "in", std::vector<T>(values.begin(), values.end()));
  Output<T> out(check, "out", ceil_div(n, kWarpSize));
  device::Run launched = run(check, {given_kernel(check, fmt::format("warp_sums<{}>", type)),
                                     {{blocks_for(n, kBlock)}, {kBlock}},
                                     {in, out, static_cast<int>(n)},
                                     setting});
  std::vector<T> want(out.count());
  for (uint32_t i = 0; i < n; ++i) want[i / kWarpSize] += in.values()[i];
  check_result(check, setting, check.line_of("warp_reduce_sum"), mismatch("out", out.read(), want));
  return launched;
}

// The loads and stores must be coalesced, too. Otherwise a single thread that adds everything would
// win, since it needs no shared memory.
void require_sectors(Check& check, const device::Run& launched) {
  const counters::Counters& c = counters_of(check, launched, Counted::global);
  const double sectors = static_cast<double>(c.global_sectors());
  check.credit(check.row.number("ideal_sectors"), sectors);
  if (sectors <= check.row.number("ideal_sectors")) return;
  const WorstLine waste = worst_global(check, launched);
  check.explain(
      waste.line,
      fmt::format("The kernel moves {} sectors, where {} are enough, and the check gives that "
                  "share of the points: let all threads read, and neighbouring lanes read "
                  "neighbouring elements.{}",
                  grouped(static_cast<uint64_t>(sectors)),
                  grouped(check.row.count("ideal_sectors")),
                  waste.message.empty() ? "" : " " + waste.message));
}

// B1 is the baseline of B3, so its sums must meet in shared memory instead of registers.
void require_tree(Check& check, const device::Run& launched) {
  const double least = check.row.number("least_wavefronts");
  const uint64_t wavefronts = counters_of(check, launched, Counted::shared).shared_wavefronts();
  if (static_cast<double>(wavefronts) >= least) return;
  check.measured("another version");
  check.expected("this one");
  Failure failure{Failure::Kind::other_version};
  failure.measured = static_cast<double>(wavefronts);
  failure.expected = least;
  check.lose(failure, check.line_of("reduce_shared"),
             fmt::format("The sum is right, but this is not a tree in shared memory: it has {} "
                         "wavefronts, and such a tree has at least {}. Reducing within each warp "
                         "first is B3's idea, and the grader compares B3 with this version.",
                         grouped(wavefronts), grouped(static_cast<uint64_t>(least))));
}

// A second launch, for an n that depends on the seed.
struct SecretLaunch {
  device::Run run;
  SecretSize size;
  uint32_t blocks;
  std::string where;
};

// Makes that launch, and checks that it moves only the sectors of its input.
SecretLaunch sum_at_secret_size(Check& check, const std::string& kernel, uint32_t block) {
  const SecretSize size = secret_size(check, 2 * block, 2 * block);
  SecretLaunch other{
      launch_keeping_table(check, [&] { return sum_once(check, kernel, block, size.n); }), size,
      blocks_for(size.n, 2 * block), fmt::format("n = {}, blocks of {}:", size.n, block)};
  recount_sectors(check, other.where, size.share * check.row.number("ideal_sectors"), other.run);
  return other;
}

// The block sizes at which B3 is counted again: that of the table, and the largest.
constexpr uint32_t kRecountedBlocks[] = {kBlock, 1024};

void credit_barriers(Check& check, const device::Run& launched, double ideal, int line) {
  const counters::Counters& c = counters_of(check, launched, Counted::global);
  check.measured(grouped(c.block_barriers) + " barriers");
  check.expected(grouped(static_cast<uint64_t>(ideal)) + " barriers");
  check.figure("barriers", static_cast<double>(c.block_barriers));
  check.figure("ideal_barriers", ideal);
  credit_work(check, launched);
  check.credit(ideal, static_cast<double>(c.block_barriers));
  if (static_cast<double>(c.block_barriers) > ideal)
    check.explain(
        line,
        fmt::format("The kernel executes {:.3g} times as many barriers as it needs. For which "
                    "results must all warps wait, and how often?",
                    static_cast<double>(c.block_barriers) / ideal));
}

// The counters of a sum of ones in blocks of 256, with passes until one number is left.
struct PassCounts {
  float result = 0;
  uint32_t passes = 0;
  double sectors = 0, adds = 0, wavefronts = 0, barriers = 0;
  double modelled = 0;  // seconds; 0: not requested; negative: a pass has no prediction

  // `scale`: how many such launches the pass stands for.
  void add(const counters::Counters& c, double scale = 1) {
    ++passes;
    sectors += scale * static_cast<double>(c.load.sectors + c.store.sectors);
    adds += scale * static_cast<double>(c.red.sectors);
    wavefronts += scale * static_cast<double>(c.shared_wavefronts());
    barriers += scale * static_cast<double>(c.block_barriers);
  }
  void add_pass(Check& check, std::optional<double> seconds) {
    if (!check.session.setup.modelled_times) return;
    modelled = seconds && modelled >= 0 ? modelled + *seconds : -1;
  }
};

// Modelling caches and time costs as much as the rest of a launch, so it is done only if requested.
device::LaunchOptions::Model if_asked(Check& check, device::LaunchOptions::Model model) {
  return check.session.setup.modelled_times ? model : device::LaunchOptions::Model::none;
}

std::optional<double> seconds_of(const device::Run& launched) {
  if (!launched.predicted) return std::nullopt;
  return launched.predicted->seconds;
}

using CountPass = std::function<device::Run(uint32_t n)>;

// The modelled time of the first pass, over n elements from a cold L2, as the handout has measured
// it. It grows linearly at this size, so it is extrapolated from two smaller launches, which cost
// less to model.
std::optional<double> first_pass(Check& check, const CountPass& count, uint32_t n) {
  if (!check.session.setup.modelled_times) return std::nullopt;
  const std::optional<double> shorter = seconds_of(count(n / 16)),
                              longer = seconds_of(count(n / 8));
  if (!shorter || !longer) return std::nullopt;
  return *shorter + (*longer - *shorter) * (16 - 1);
}

std::vector<float> ones(uint32_t n) { return std::vector<float>(n, 1.0f); }

PassCounts sum_all(Check& check, const std::string& kernel, const Input<float>& ones_of_all) {
  const auto pass = [&](const DeviceArray& in, const DeviceArray& out, const std::string& setting,
                        device::LaunchOptions::Model model) {
    Launch made{kernel,
                {{static_cast<uint32_t>(out.count())}, {kBlock}},
                {in, out, static_cast<int>(in.count())},
                setting,
                model};
    // B1 and B3 have tried other orders, and show pictures.
    made.try_other_order = made.in_pictures = false;
    return made;
  };
  using Model = device::LaunchOptions::Model;
  PassCounts total;
  total.add_pass(check, first_pass(
                            check,
                            [&](uint32_t n) {
                              const Input<float> in(check, "in", ones(n));
                              const Output<float> out(check, "out", blocks_for(n, 2 * kBlock));
                              return run_to_count(check, pass(in, out, "", Model::cold));
                            },
                            static_cast<uint32_t>(ones_of_all.count())));
  std::vector<float> left;
  const auto go_on = [&](const Input<float>& in) {
    const bool first = total.passes == 0;
    const Output<float> out(check, "out", blocks_for(in.count(), 2 * kBlock));
    const device::Run launched =
        run(check, pass(in, out, fmt::format("pass {}, n = {}", total.passes + 1, in.count()),
                        first ? Model::none : if_asked(check, Model::warm)));
    total.add(counters_of(check, launched));
    if (!first) total.add_pass(check, seconds_of(launched));
    left = out.read();
  };
  go_on(ones_of_all);
  while (left.size() > 1) {
    const Input<float> in(check, "in", std::exchange(left, {}));
    go_on(in);
  }
  total.result = left[0];
  return total;
}

// The given kernel. All its warps do the same, so only some of them are simulated.
PassCounts sum_by_atomics(Check& check, uint32_t n) {
  constexpr uint32_t kPart = 16;
  PassCounts total;
  const auto count = [&](uint32_t part) {
    const Input<float> in(check, "in", ones(part));
    const Output<float> sum(check, "total", std::vector<float>(1, 0));
    return run_to_count(check, {given_kernel(check, "reduce_atomic<float>"),
                                {{blocks_for(part, kBlock)}, {kBlock}},
                                {in, sum, static_cast<int>(part)},
                                "",
                                if_asked(check, device::LaunchOptions::Model::cold)});
  };
  total.add(counters_of(check, count(n / kPart)), kPart);
  total.add_pass(check, first_pass(check, count, n));
  return total;
}

std::string row_of(Check& check, const char* name, const PassCounts& p) {
  // How many adds a number of elements takes would answer A2.
  const bool may_show = p.adds == 0 || check.has_passed("A2 who adds");
  if (may_show) check.figure(fmt::format("{} adds", name), p.adds);
  check.figure(fmt::format("{} wavefronts", name), p.wavefronts);
  check.figure(fmt::format("{} barriers", name), p.barriers);
  check.figure(fmt::format("{} sectors", name), p.sectors);
  if (p.modelled > 0) check.figure(fmt::format("{} modelled_ms", name), 1e3 * p.modelled);
  const auto whole = [](double value) { return grouped(static_cast<uint64_t>(value)); };
  return fmt::format("\n    {:<16}{:>7}{:>13}{:>13}{:>12}{:>11}", name, p.passes, whole(p.sectors),
                     may_show ? whole(p.adds) : "see A2", whole(p.wavefronts), whole(p.barriers));
}

}  // namespace

TEST_SUITE("lab:shuffle") {
  LAB_CHECK("A1 what a lane gets" * takes("questions")) {
    std::vector<int> lanes(kWarpSize);
    for (uint32_t l = 0; l < kWarpSize; ++l) lanes[l] = static_cast<int>(l);
    Input<int> in(check, "in", lanes);
    Output<int> first(check, "first", kWarpSize), down(check, "down", kWarpSize),
        butterfly(check, "butterfly", kWarpSize);
    run(check,
        {given_kernel(check, "five_steps"), {{1}, {kWarpSize}}, {in, first, down, butterfly}, ""});
    if (!ask_questions(check)) return;
    std::string table =
        "What the given warp had, lane by lane, after the first step (without "
        "adding), after five steps down, and after the butterfly:";
    for (uint32_t l : {0u, 5u, 15u, 16u, 20u, 31u})
      table += fmt::format("\n    lane {:>2}{:>8}{:>8}{:>8}", l, first.read()[l], down.read()[l],
                           butterfly.read()[l]);
    check.explain(0, table);
  }

  LAB_CHECK("A2 who adds" * takes("n", "questions")) {
    const uint32_t n = check.row.count("n"), warps = n / kWarpSize;
    Random random = check.random();
    const std::vector<float> values = whole_floats(random, n);
    Input<float> floats(check, "in", values);
    Input<int> ints(check, "in", std::vector<int>(values.begin(), values.end()));
    Output<float> float_total(check, "total", std::vector<float>(1, 0));
    Output<int> int_total(check, "total", std::vector<int>(1, 0));
    const device::Shape shape{{blocks_for(n, kBlock)}, {kBlock}};
    const auto adds = [&](const std::string& kernel, const DeviceArray& in,
                          const DeviceArray& total) {
      const device::Run launched = run(
          check, {given_kernel(check, kernel), shape, {in, total, static_cast<int>(n)}, kernel});
      const uint64_t found = counters_of(check, launched).red.sectors;
      check.figure(kernel + " adds per warp", static_cast<double>(found) / warps);
      return found;
    };
    const uint64_t by_floats = adds("reduce_atomic<float>", floats, float_total);
    const uint64_t by_ints = adds("reduce_atomic<int>", ints, int_total);
    if (!ask_questions(check)) return;
    check.explain(
        0, fmt::format("The profiler's table of the given kernel, {} warps:\n    {:<24}{:>14}"
                       "\n    {:<24}{:>14}\n    {:<24}{:>14}",
                       warps, "", "adds at L2", "reduce_atomic<float>", grouped(by_floats),
                       "reduce_atomic<int>", grouped(by_ints)));
  }

  LAB_CHECK("A3 where 1.0f stops" * takes("from", "n", "questions")) {
    const float from = static_cast<float>(check.row.number("from"));
    Output<float> out(check, "out", 1);
    run(check, {given_kernel(check, "add_ones"),
                {{1}, {1}},
                {from, out, static_cast<int>(check.row.count("n"))},
                ""});
    if (ask_questions(check))
      check.explain(0, fmt::format("{} and {} times 1.0f, one after the other: {}.",
                                   grouped(static_cast<uint64_t>(from)), check.row.count("n"),
                                   grouped(static_cast<uint64_t>(out.read()[0]))));
  }

  LAB_CHECK("B1 reduce_shared: result" * takes("sizes")) {
    for (uint32_t n : sizes(check)) sum_once(check, "reduce_shared", kBlock, n);
    right_result(check);
  }

  LAB_CHECK("B1 reduce_shared: wavefronts" * takes("min_working_share", "n", "ideal",
                                                   "ideal_sectors", "least_wavefronts", "drawn")) {
    const device::Run launched = sum_once(check, "reduce_shared", kBlock, check.row.count("n"));
    require_tree(check, launched);
    require_sectors(check, launched);
    credit_wavefronts(check, launched, check.row.number("ideal"),
                      "Let the active threads be neighbours, and let their words be neighbours, "
                      "too.");
    const SecretLaunch other = sum_at_secret_size(check, "reduce_shared", kBlock);
    recount_wavefronts(check, other.where, other.size.share * check.row.number("ideal"), other.run);
  }

  LAB_CHECK("B2 warp_reduce_sum: result" * takes("sizes")) {
    for (uint32_t n : sizes(check)) {
      sum_warps<int>(check, "int", n);
      sum_warps<float>(check, "float", n);
    }
    right_result(check);
  }

  LAB_CHECK("B2 warp_reduce_sum: shared" * takes("n", "ideal_sectors")) {
    const device::Run launched = sum_warps<float>(check, "float", check.row.count("n"));
    none_shared(check, launched, check.line_of("warp_reduce_sum"));
    require_sectors(check, launched);
  }

  LAB_CHECK("B3 reduce_shuffle: result" * takes("blocks", "sizes")) {
    for (double block : check.row.numbers("blocks"))
      for (uint32_t n : sizes(check))
        sum_once(check, "reduce_shuffle", static_cast<uint32_t>(block), n);
    right_result(check);
  }

  LAB_CHECK("B3 reduce_shuffle: wavefronts" *
            takes("min_working_share", "n", "ideal", "ideal_sectors", "drawn")) {
    const device::Run launched = sum_once(check, "reduce_shuffle", kBlock, check.row.count("n"));
    require_sectors(check, launched);
    credit_wavefronts(check, launched, check.row.number("ideal"),
                      "Inside a warp nothing needs shared memory. How many numbers must one warp "
                      "pass to another?");
    // Each warp stores one word, and one wavefront loads them all.
    for (uint32_t block : kRecountedBlocks) {
      const SecretLaunch other = sum_at_secret_size(check, "reduce_shuffle", block);
      recount_wavefronts(check, other.where,
                         static_cast<double>(other.blocks) * (block / kWarpSize + 1), other.run);
    }
  }

  LAB_CHECK("B3 reduce_shuffle: barriers" *
            takes("min_working_share", "n", "ideal", "ideal_sectors", "drawn")) {
    const device::Run launched = sum_once(check, "reduce_shuffle", kBlock, check.row.count("n"));
    require_sectors(check, launched);
    credit_barriers(check, launched, check.row.number("ideal"), check.line_of("reduce_shuffle"));
    for (uint32_t block : kRecountedBlocks) {
      const SecretLaunch other = sum_at_secret_size(check, "reduce_shuffle", block);
      recount_at_secret_size(check, other.where, "barriers", other.blocks,
                             counters_of(check, other.run).block_barriers, {});
    }
  }

  LAB_CHECK("B4 a sum of 2^24 ones" * takes("n")) {
    const uint32_t n = check.row.count("n");
    const PassCounts atomic = sum_by_atomics(check, n);
    const Input<float> in(check, "in", ones(n));
    const PassCounts shared = sum_all(check, "reduce_shared", in),
                     shuffle = sum_all(check, "reduce_shuffle", in);
    const std::string table = row_of(check, "reduce_atomic", atomic) +
                              row_of(check, "reduce_shared", shared) +
                              row_of(check, "reduce_shuffle", shuffle);
    const float want = static_cast<float>(n);
    check.measured(fmt::format("{:.9g}, {:.9g}", shared.result, shuffle.result));
    check.expected(fmt::format("{:.9g}, twice", want));
    if (shared.result != want)
      check.lose(check.line_of("reduce_shared"),
                 "The last pass leaves one number, and it is not n.");
    if (shuffle.result != want)
      check.lose(check.line_of("reduce_shuffle"),
                 "The last pass leaves one number, and it is not n.");
    check.explain(
        0, fmt::format("The profiler's table of {} ones, blocks of {}:\n    {:<16}{:>7}{:>13}"
                       "{:>13}{:>12}{:>11}{}",
                       grouped(n), kBlock, "", "passes", "sectors", "adds at L2", "wavefronts",
                       "barriers", table));
  }
}

}  // namespace lab32::checks::shuffle
