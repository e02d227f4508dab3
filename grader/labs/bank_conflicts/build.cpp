// The bank-conflict lab, part A: build the arbiter. Contract:
// labs/bank_conflicts/bank_conflicts.cu.

#include <algorithm>

#include "grading/engine/questions.h"
#include "grading/engine/suite.h"
#include "grading/launch/patterns.h"
#include "grading/launch/standard_checks.h"
#include "labs/bank_conflicts/patterns.h"

namespace lab32::checks::bank_conflicts {
namespace {

using Want = uint32_t (BankPattern::*)() const;

// The student's wavefronts() and load_wavefronts() on each pattern.
Answers ask_arbiter(const std::vector<BankPattern>& patterns) {
  return ask<uint32_t>("arbiter", patterns, "out_store", "out_load");
}

void check_widths(const char* name, const std::vector<uint32_t>& widths, Want want) {
  Random random = session().random();
  const std::vector<BankPattern> tried =
      bank_patterns(random, widths, static_cast<int>(rubric().number("random_patterns")));
  const Answers answers = ask_arbiter(tried);
  const std::vector<int>& got =
      want == &BankPattern::load_wavefronts ? answers.second : answers.first;
  check_answers(name, tried, got, want, bank_misconception(tried, got));
}

// A launch of the given kernel `touch`, one warp: it stores and loads every stride-th element. Its
// inputs and outputs are bytes to us: only where they lie matters.
counters::Counters touch(const std::string& type, uint32_t bytes, uint32_t stride) {
  Input<uint8_t> in("in", std::vector<uint8_t>(32 * bytes, 1));
  Output<uint8_t> out("out", 32 * bytes);
  return counters_of(run({given(fmt::format("touch<{}>", type)),
                          {{1}, {32}},
                          {in, out, static_cast<int>(stride)},
                          fmt::format("{}, stride {}", type, stride)}));
}

// The accesses of the launches with lanes in another order, or some inactive.
void check_variants(const std::vector<BankPattern>& launched,
                    const std::vector<std::string>& names) {
  std::vector<BankPattern> tried;
  std::vector<size_t> of;
  for (size_t i = 0; i < launched.size(); ++i)
    for (const BankPattern& p : variants(launched[i])) {
      tried.push_back(p);
      of.push_back(i);
    }
  const Answers answers = ask_arbiter(tried);
  for (size_t i = 0; i < tried.size(); ++i) {
    const bool store = answers.first[i] == static_cast<int>(tried[i].store_wavefronts());
    if (store && answers.second[i] == static_cast<int>(tried[i].load_wavefronts())) continue;
    measured("wrong, " + names[of[i]]);
    lose(line_of(store ? "load_wavefronts" : "wavefronts"),
         fmt::format("{}, which you count as the launch does: with its lanes in another order, or "
                     "some of them inactive, your function says {} for a {}, and that is not "
                     "so:\n{}",
                     names[of[i]], store ? answers.second[i] : answers.first[i],
                     store ? "load" : "store", tried[i].show()));
  }
}

}  // namespace

TEST_SUITE("lab:bank_conflicts") {
  TEST_CASE("A1 words of 4 bytes" * takes("random_patterns")) {
    check_widths("wavefronts", {4}, &BankPattern::store_wavefronts);
  }

  TEST_CASE("A2 parts of a word" * takes("random_patterns")) {
    check_widths("wavefronts", {1, 2}, &BankPattern::store_wavefronts);
  }

  TEST_CASE("A3 8 and 16 bytes" * takes("random_patterns")) {
    check_widths("wavefronts", {8, 16}, &BankPattern::store_wavefronts);
  }

  TEST_CASE("A4 loads" * takes("random_patterns")) {
    check_widths("load_wavefronts", {1, 2, 4, 8, 16}, &BankPattern::load_wavefronts);
  }

  TEST_CASE("A5 applied to strides" * takes("strides")) {
    expected("as counted");
    struct Type {
      const char* name;
      uint32_t bytes;
    };
    const Type types[] = {{"char", 1}, {"short", 2}, {"int", 4}, {"double", 8}, {"int4", 16}};
    struct Launch {
      const Type* type;
      uint32_t stride;
      counters::Counters counted;
    };
    // All are launched before any answer is judged: the figures are there to be looked at.
    std::vector<Launch> launches;
    std::vector<BankPattern> patterns;
    std::string table = "The profiler's table of the given kernel, wavefronts of its store:\n    " +
                        fmt::format("{:<8}", "stride");
    for (double stride : rubric().numbers("strides")) table += fmt::format("{:>6}", stride);
    for (const Type& type : types) {
      table += fmt::format("\n    {:<8}", type.name);
      const bool told = type.bytes < 16 || answers_right("C1 staging 128 ints");
      if (!told) table += "  how many wavefronts, C1 asks";
      for (double wide : rubric().numbers("strides")) {
        const uint32_t stride = static_cast<uint32_t>(wide);
        const counters::Counters c = touch(type.name, type.bytes, stride);
        launches.push_back({&type, stride, c});
        patterns.push_back(bank_stride(type.bytes, stride));
        if (told) table += fmt::format("{:>6}", c.shared_store.wavefronts);
        const std::string what = fmt::format("touch<{}>({})", type.name, stride);
        figure(what + " store wavefronts", static_cast<double>(c.shared_store.wavefronts));
        figure(what + " load wavefronts", static_cast<double>(c.shared_load.wavefronts));
      }
    }
    const Answers answers = ask_arbiter(patterns);
    for (size_t i = 0; i < launches.size(); ++i) {
      const counters::Counters& c = launches[i].counted;
      const bool store = answers.first[i] == static_cast<int>(c.shared_store.wavefronts);
      if (store && answers.second[i] == static_cast<int>(c.shared_load.wavefronts)) continue;
      measured(fmt::format("wrong, {} {}", launches[i].type->name, launches[i].stride));
      lose(line_of(store ? "load_wavefronts" : "wavefronts"),
           fmt::format("touch<{}> with stride {}: for its {} your function says {}, and the launch "
                       "has counted something else:\n{}",
                       launches[i].type->name, launches[i].stride, store ? "load" : "store",
                       store ? answers.second[i] : answers.first[i], patterns[i].show()));
    }
    std::vector<std::string> names;
    for (const Launch& launch : launches)
      names.push_back(fmt::format("{} {}", launch.type->name, launch.stride));
    check_variants(patterns, names);
    measured(fmt::format("{} launches right", launches.size()));
    explain(0, table);
  }
}

}  // namespace lab32::checks::bank_conflicts
