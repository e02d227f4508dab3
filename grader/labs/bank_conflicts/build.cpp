// The bank-conflict lab, part A: build the arbiter. Contract:
// labs/bank_conflicts/bank_conflicts.cu.

#include <algorithm>

#include "grading/engine/suite.h"
#include "grading/launch/patterns.h"
#include "grading/launch/standard_checks.h"
#include "labs/bank_conflicts/patterns.h"

namespace lab32::checks::bank_conflicts {
namespace {

using Want = uint32_t (SharedAccessPattern::*)() const;

// Runs the student's wavefronts() and load_wavefronts() on each pattern.
StudentReturnValues student_return_values_for_patterns(
    Check& check, const std::vector<SharedAccessPattern>& patterns) {
  return run_student_functions<uint32_t>(check, "arbiter", patterns, "out_store", "out_load");
}

void check_answers_for_access_sizes(Check& check, const char* name,
                                    const std::vector<uint32_t>& widths, Want want) {
  Random random = check.random();
  const std::vector<SharedAccessPattern> tried = named_and_random_access_patterns(
      random, widths, static_cast<int>(check.row.required_number("random_patterns")));
  const StudentReturnValues answers = student_return_values_for_patterns(check, tried);
  const std::vector<int>& got =
      want == &SharedAccessPattern::load_wavefronts ? answers.second : answers.first;
  check_answers(check, name, tried, got, want, bank_misconception_hint(tried, got));
}

// Launches the given kernel `touch` with one warp, which stores and loads every stride-th element
// of an array in shared memory. Its global arrays hold bytes of any value, because wavefronts
// depend on addresses only.
counters::Counters count_strided_accesses(Check& check, const std::string& type, uint32_t bytes,
                                          uint32_t stride) {
  Input<uint8_t> in(check, "in", std::vector<uint8_t>(32 * bytes, 1));
  Output<uint8_t> out(check, "out", 32 * bytes);
  return counters_of(check,
                     run(check, {kernel_name_with_namespace(check, fmt::format("touch<{}>", type)),
                                 {{1}, {32}},
                                 {in, out, static_cast<int>(stride)},
                                 fmt::format("{}, stride {}", type, stride)}));
}

// Asks the student's functions about variants of the launches' accesses: the same addresses with
// the lanes in another order, or with some lanes inactive.
void check_answers_for_lane_variants(Check& check, const std::vector<SharedAccessPattern>& launched,
                                     const std::vector<std::string>& names) {
  std::vector<SharedAccessPattern> tried;
  std::vector<size_t> of;
  for (size_t i = 0; i < launched.size(); ++i)
    for (const SharedAccessPattern& p : lane_variants_of_bank_pattern(launched[i])) {
      tried.push_back(p);
      of.push_back(i);
    }
  const StudentReturnValues answers = student_return_values_for_patterns(check, tried);
  for (size_t i = 0; i < tried.size(); ++i) {
    const bool store = answers.first[i] == static_cast<int>(tried[i].store_wavefronts());
    if (store && answers.second[i] == static_cast<int>(tried[i].load_wavefronts())) continue;
    check.measured("wrong, " + names[of[i]]);
    check.fail_and_throw(
        check.line_of(store ? "load_wavefronts" : "wavefronts"),
        fmt::format("{} is right, but with its lanes in another order, or with some of them "
                    "inactive, your function returns {} for a {}, which is wrong:\n"
                    "{}",
                    names[of[i]], store ? answers.second[i] : answers.first[i],
                    store ? "load" : "store", tried[i].show()));
  }
}

}  // namespace

TEST_SUITE("lab:bank_conflicts") {
  LAB_CHECK("A1 words of 4 bytes" * takes_rubric_keys("random_patterns")) {
    check_answers_for_access_sizes(check, "wavefronts", {4},
                                   &SharedAccessPattern::store_wavefronts);
  }

  LAB_CHECK("A2 parts of a word" * takes_rubric_keys("random_patterns")) {
    check_answers_for_access_sizes(check, "wavefronts", {1, 2},
                                   &SharedAccessPattern::store_wavefronts);
  }

  LAB_CHECK("A3 8 and 16 bytes" * takes_rubric_keys("random_patterns")) {
    check_answers_for_access_sizes(check, "wavefronts", {8, 16},
                                   &SharedAccessPattern::store_wavefronts);
  }

  LAB_CHECK("A4 loads" * takes_rubric_keys("random_patterns")) {
    check_answers_for_access_sizes(check, "load_wavefronts", {1, 2, 4, 8, 16},
                                   &SharedAccessPattern::load_wavefronts);
  }

  LAB_CHECK("A5 applied to strides" * takes_rubric_keys(wholes("strides", 1, 33))) {
    check.expected("as counted");
    struct TouchedType {
      const char* name;
      uint32_t bytes;
    };
    const TouchedType types[] = {
        {"char", 1}, {"short", 2}, {"int", 4}, {"double", 8}, {"int4", 16}};
    struct StridedLaunchCounters {
      const TouchedType* type;
      uint32_t stride;
      counters::Counters counted;
    };
    // All kernels are launched before any answer is checked, so that the result of a failed check
    // has the figures of all kernels.
    std::vector<StridedLaunchCounters> launches;
    std::vector<SharedAccessPattern> patterns;
    std::string table = "The profiler's table of the given kernel, wavefronts of its store:\n    " +
                        fmt::format("{:<8}", "stride");
    for (double stride : check.row.required_numbers("strides"))
      table += fmt::format("{:>6}", stride);
    for (const TouchedType& type : types) {
      table += fmt::format("\n    {:<8}", type.name);
      const bool may_show =
          type.bytes < 16 || are_answers_of_check_right(check, "C1 staging 128 ints");
      if (!may_show) table += "  how many wavefronts, C1 asks";
      for (double wide : check.row.required_numbers("strides")) {
        const uint32_t stride = static_cast<uint32_t>(wide);
        const counters::Counters c = count_strided_accesses(check, type.name, type.bytes, stride);
        launches.push_back({&type, stride, c});
        patterns.push_back(strided_shared_access_pattern(type.bytes, stride));
        if (may_show) table += fmt::format("{:>6}", c.shared_store.wavefronts);
        const std::string what = fmt::format("touch<{}>({})", type.name, stride);
        check.figure(what + " store wavefronts", static_cast<double>(c.shared_store.wavefronts));
        check.figure(what + " load wavefronts", static_cast<double>(c.shared_load.wavefronts));
      }
    }
    const StudentReturnValues answers = student_return_values_for_patterns(check, patterns);
    for (size_t i = 0; i < launches.size(); ++i) {
      const counters::Counters& c = launches[i].counted;
      const bool store = answers.first[i] == static_cast<int>(c.shared_store.wavefronts);
      if (store && answers.second[i] == static_cast<int>(c.shared_load.wavefronts)) continue;
      check.measured(fmt::format("wrong, {} {}", launches[i].type->name, launches[i].stride));
      check.fail_and_throw(
          check.line_of(store ? "load_wavefronts" : "wavefronts"),
          fmt::format("touch<{}> with stride {}: for its {} your function returns {}, which is not "
                      "what the launch has counted:\n"
                      "{}",
                      launches[i].type->name, launches[i].stride, store ? "load" : "store",
                      store ? answers.second[i] : answers.first[i], patterns[i].show()));
    }
    std::vector<std::string> names;
    for (const StridedLaunchCounters& launch : launches)
      names.push_back(fmt::format("{} {}", launch.type->name, launch.stride));
    check_answers_for_lane_variants(check, patterns, names);
    check.measured(fmt::format("{} launches right", launches.size()));
    check.explain(0, table);
  }
}

}  // namespace lab32::checks::bank_conflicts
