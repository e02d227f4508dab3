// The swizzle lab, part C: a tile for ldmatrix. Contract: labs/swizzle/swizzle.cu.

#include "labs/questions.h"
#include "labs/rule.h"
#include "labs/shared_memory.h"
#include "labs/suite.h"
#include "labs/swizzle_weighed.h"

namespace lab32::labs {
namespace {

device::Run weigh(const char* kernel, bool transpose, uint32_t tiles) {
  Random random = session().random();
  Input<uint16_t> in("in", tile_elements(random, tiles));
  Input<uint32_t> weight("weight", strip_weights(random));
  Output<uint16_t> out("out", size_t{tiles} * kWeighedTile);
  const std::string setting =
      fmt::format("{} tile{}{}", tiles, tiles == 1 ? "" : "s", transpose ? ", .trans" : "");
  device::Run launched = run({fmt::format("{}<{}>", kernel, transpose),
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
  check_result(setting, session().source.find(kernel), wrong);
  return launched;
}

void check_results(const std::string& table, const char* kernel) {
  const Rule rule(table);
  for (double tiles : rule.numbers("tiles"))
    for (bool transpose : {false, true}) weigh(kernel, transpose, static_cast<uint32_t>(tiles));
  right_result();
}

// A line inside the given load_matrices is nobody's mistake: the address comes from the kernel.
void blame_caller(const char* kernel) {
  const Source& source = session().source;
  Verdict& v = verdict();
  if (v.line <= source.find("load_matrices") || v.line >= source.find("add_weighted")) return;
  const std::string quoted = source.quote(v.line);
  v.line = source.find(kernel);
  v.message.replace(v.message.find(quoted), quoted.size(), source.quote(v.line));
}

// Both kernels are launched; the one that takes more wavefronts is judged.
void check_wavefronts(const std::string& table, const std::string& result, const char* kernel,
                      const std::string& idea) {
  const Rule rule(table);
  rule.after(result);
  for (const char* transpose : {"false", "true"})
    limit_shared(fmt::format("{}<{}>", kernel, transpose), rule.number("shared_bytes"));
  const device::Run straight = weigh(kernel, false, rule.count("tiles"));
  const device::Run turned = weigh(kernel, true, rule.count("tiles"));
  const bool second =
      counters_of(turned).shared_wavefronts() > counters_of(straight).shared_wavefronts();
  credit_wavefronts(second ? turned : straight, rule.number("ideal"), idea);
  blame_caller(kernel);
}

}  // namespace

TEST_SUITE("lab:swizzle") {
  TEST_CASE("C1 plain: wavefronts" * points(4)) {
    const observe::Counters c = counters_of(weigh("weigh_plain", false, 1));
    const auto each = [](const observe::SharedTraffic& t) {
      return static_cast<double>(t.wavefronts) / static_cast<double>(t.requests);
    };
    const double store = each(c.shared_store), load = each(c.shared_load);
    figure("wavefronts", static_cast<double>(c.shared_wavefronts()));
    figure("ideal_wavefronts", static_cast<double>(c.shared_ideal()));
    if (ask_questions("plain"))
      explain(0, fmt::format("The profiler's table of weigh_plain, wavefronts a request:\n"
                             "    the vector store {:>6g}\n    ldmatrix.x4      {:>6g}",
                             store, load));
  }

  TEST_CASE("C2 padded: result" * points(3)) { check_results("padded", "weigh_padded"); }

  TEST_CASE("C2 padded: wavefronts" * points(11)) {
    check_wavefronts("padded_wavefronts", "C2 padded: result", "weigh_padded",
                     "The 8 rows of a matrix begin a row's pitch apart. Which pitch, a multiple of "
                     "16 bytes as ldmatrix demands, sends them to 8 different groups of banks?");
  }

  TEST_CASE("C3 swizzled: result" * points(3)) { check_results("swizzled", "weigh_swizzled"); }

  TEST_CASE("C3 swizzled: wavefronts" * points(13)) {
    check_wavefronts("swizzled_wavefronts", "C3 swizzled: result", "weigh_swizzled",
                     "Store and load may agree on another column for a chunk, row by row. In part "
                     "A no two of 8 rows kept a column in the same place.");
  }
}

}  // namespace lab32::labs
