// The swizzle lab, part C: a tile for ldmatrix. Contract: labs/swizzle/swizzle.cu.

#include "grading/engine/questions.h"
#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "labs/swizzle/weighed.h"

namespace lab32::checks::swizzle {
namespace {

device::Run weigh(const char* kernel, bool transpose, uint32_t tiles) {
  Random random = session().random();
  Input<uint16_t> in("in", tile_elements(random, tiles));
  Input<uint32_t> weight("weight", strip_weights(random));
  Output<uint16_t> out("out", size_t{tiles} * kWeighedTile);
  const std::string setting =
      fmt::format("{} tile{}{}", tiles, tiles == 1 ? "" : "s", transpose ? ", .trans" : "");
  device::Run launched = run({given(fmt::format("{}<{}>", kernel, transpose)),
                              {{tiles}, {kWeighingThreads}},
                              {in, weight, out},
                              setting});
  const std::vector<uint16_t> got = out.read(),
                              want = weighed(in.values(), weight.values(), transpose);
  std::string wrong = mismatch("out", got, want);
  if (!wrong.empty()) {
    uint32_t i = 0;
    while (got[i] == want[i]) ++i;
    const Weighed r(i % kWeighedTile);
    wrong += fmt::format(
        " In elements of 2 bytes, that is warp {}, k = {}, lane {}, matrix {}: row {} of each "
        "strip, column {}. Do the store and the load agree about where its chunk lies?",
        r.warp, r.step, r.lane, r.matrix, r.row(transpose), r.column(transpose));
  }
  check_result(setting, line_of(kernel), wrong);
  return launched;
}

void check_results(const char* kernel) {
  for (double tiles : rubric().numbers("tiles"))
    for (bool transpose : {false, true}) weigh(kernel, transpose, static_cast<uint32_t>(tiles));
  right_result();
}

// A line inside the given load_matrices is nobody's mistake: the address comes from where the
// kernel calls it.
int blamed_line(const char* kernel, int line) {
  const SourceFile& source = session().source;
  const bool given = line > source.find("load_matrices") && line < source.find("add_weighted");
  if (!given) return line;
  const int begin = source.find(kernel), call = source.find_use("load_matrices", begin);
  return call > 0 ? call : begin;
}

// Both kernels are launched; the one that takes more wavefronts is judged.
void check_wavefronts(const char* kernel, const std::string& idea) {
  withhold_until_passed(
      "C1 plain: wavefronts");  // the skeleton's accesses are those of weigh_plain
  for (const char* transpose : {"false", "true"})
    limit_shared(fmt::format("{}<{}>", kernel, transpose), rubric().number("shared_bytes"));
  const device::Run straight = weigh(kernel, false, rubric().count("tiles"));
  const device::Run turned = weigh(kernel, true, rubric().count("tiles"));
  const bool second =
      counters_of(turned).shared_wavefronts() > counters_of(straight).shared_wavefronts();
  const device::Run& judged = second ? turned : straight;
  credit_wavefronts(judged, rubric().number("ideal"), idea,
                    [&](int line) { return blamed_line(kernel, line); });
  credit_most_sectors(judged, rubric().number("most_sectors"));
  // Few accesses with conflicts may take no more than many without; the task is to have none.
  const counters::Counters& c = counters_of(judged, Counted::shared);
  credit_at_most(static_cast<double>(c.shared_ideal()), static_cast<double>(c.shared_wavefronts()));
  if (static_cast<double>(c.shared_wavefronts()) <= rubric().number("ideal") &&
      c.shared_ideal() < c.shared_wavefronts()) {
    const Waste waste = worst_shared(judged);
    explain(blamed_line(kernel, waste.line), waste.message);
  }
  const DrawnSize size = drawn_size(1, 0, "tiles");
  for (bool transpose : {false, true}) {
    if (verdict().credit < 1) return;
    const device::Run other = launch_beside([&] { return weigh(kernel, transpose, size.n); });
    const std::string where = fmt::format("{} tiles{}:", size.n, transpose ? ", .trans" : "");
    hold_wavefronts(where, size.share * rubric().number("ideal"), other);
    hold_sectors(where, size.share * rubric().number("most_sectors"), other);
  }
}

}  // namespace

TEST_SUITE("lab:swizzle") {
  TEST_CASE("C1 plain: wavefronts" * takes("questions")) {
    const counters::Counters c = counters_of(weigh("weigh_plain", false, 1));
    const auto each = [](const counters::SharedTraffic& t) {
      return static_cast<double>(t.wavefronts) / static_cast<double>(t.requests);
    };
    const double store = each(c.shared_store), load = each(c.shared_load);
    figure("wavefronts", static_cast<double>(c.shared_wavefronts()));
    figure("ideal_wavefronts", static_cast<double>(c.shared_ideal()));
    if (ask_questions())
      explain(0, fmt::format("The profiler's table of weigh_plain, wavefronts per request:\n"
                             "    the vector store {:>6g}\n    ldmatrix.x4      {:>6g}",
                             store, load));
  }

  TEST_CASE("C2 padded: result" * takes("tiles")) { check_results("weigh_padded"); }

  TEST_CASE("C2 padded: wavefronts" *
            takes("threads_at_work", "tiles", "ideal", "shared_bytes", "most_sectors", "drawn")) {
    check_wavefronts("weigh_padded",
                     "The 8 rows of a matrix begin a row's pitch apart. Which pitch, a multiple of "
                     "16 bytes as ldmatrix demands, sends them to 8 different groups of banks?");
  }

  TEST_CASE("C3 swizzled: result" * takes("tiles")) { check_results("weigh_swizzled"); }

  TEST_CASE("C3 swizzled: wavefronts" *
            takes("threads_at_work", "tiles", "ideal", "shared_bytes", "most_sectors", "drawn")) {
    check_wavefronts("weigh_swizzled",
                     "Store and load may agree on another column for a chunk, row by row. In part "
                     "A no two of 8 rows kept a column in the same place.");
  }
}

}  // namespace lab32::checks::swizzle
