// The occupancy lab, part A: build the calculator. Contract: labs/occupancy/occupancy.cu.

#include <cmath>

#include "grading/engine/suite.h"
#include "labs/occupancy/cases.h"

namespace lab32::checks::occupancy {
namespace {

struct StudentFunctionOutputs {
  std::vector<int> blocks, limits, waves;
  std::vector<float> last;
};

// Runs the student's functions on each case with the given kernel. The cases of the shorter list
// are repeated.
StudentFunctionOutputs student_function_outputs(Check& check,
                                                const std::vector<OccupancyCase>& cases,
                                                const std::vector<WaveCase>& wave_cases) {
  const size_t count = std::max(cases.size(), wave_cases.size());
  std::vector<MultiprocessorLimits> sm;
  std::vector<BlockUsage> usage;
  std::vector<int> grid, resident;
  for (size_t i = 0; i < count; ++i) {
    const OccupancyCase& c = cases[i % cases.size()];
    const WaveCase& w = wave_cases[i % wave_cases.size()];
    sm.push_back(c.limits_of_gpu());
    usage.push_back(c.usage);
    grid.push_back(w.grid);
    resident.push_back(w.resident);
  }
  Input<MultiprocessorLimits> in_sm(check, "sm", sm);
  Input<BlockUsage> in_usage(check, "usage", usage);
  Input<int> in_grid(check, "grid", grid), in_resident(check, "resident", resident);
  Output<int> blocks(check, "out_blocks", count), limits(check, "out_limits", count),
      waves(check, "out_waves", count);
  Output<float> last_wave_share(check, "out_last", count);
  Launch launch{kernel_name_with_namespace(check, "calculator"),
                {{blocks_for(count, 128)}, {128}},
                {in_sm, in_usage, in_grid, in_resident, blocks, limits, waves, last_wave_share,
                 static_cast<int>(count)},
                ""};
  launch.in_pictures = false;
  run(check, launch);
  return {blocks.read(), limits.read(), waves.read(), last_wave_share.read()};
}

std::vector<OccupancyCase> random_occupancy_cases(Check& check) {
  Random random = check.random();
  return occupancy_cases(random, check.row.required_count("random_cases"));
}

std::string returned_value_text(bool written, const std::string& answer) {
  return written ? "your function returns " + answer : "nothing was written";
}

// Loses the check if answers are wrong, and shows the case that is easiest to check by hand.
void report_wrong_cases(Check& check, const char* function, const std::vector<OccupancyCase>& cases,
                        const std::vector<size_t>& wrong, bool all_zero,
                        const std::function<std::string(size_t)>& answer, const std::string& hint) {
  check.figure("cases", static_cast<double>(cases.size()));
  check.figure("wrong", static_cast<double>(wrong.size()));
  check.expected("all right");
  if (wrong.empty()) {
    check.measured(fmt::format("{} cases", cases.size()));
    record_block_usage(check, kExample);
    return;
  }
  check.measured(fmt::format("{} of {} wrong", wrong.size(), cases.size()));
  size_t shown = wrong.front();
  for (size_t i : wrong)
    if (cases[i].hand_check_effort() < cases[shown].hand_check_effort()) shown = i;
  std::string message = fmt::format(
      "For this block {}, which is wrong:\n"
      "{}",
      answer(shown), cases[shown].show());
  if (all_zero)
    message += "\nYour function returns 0 for every input: it is not written yet.";
  else if (!hint.empty())
    message += "\n" + hint;
  check.fail_and_throw(check.line_of(function), message);
}

bool are_all_zero(const std::vector<int>& values) {
  return std::all_of(values.begin(), values.end(), [](int v) { return v == 0; });
}

}  // namespace

TEST_SUITE("lab:occupancy") {
  LAB_CHECK("A1 blocks that reside" * takes_rubric_keys("random_cases")) {
    const std::vector<OccupancyCase> cases = random_occupancy_cases(check);
    const std::vector<int> got = student_function_outputs(check, cases, {WaveCase{}}).blocks;
    std::vector<size_t> wrong;
    for (size_t i = 0; i < cases.size(); ++i)
      if (got[i] != cases[i].blocks) wrong.push_back(i);
    report_wrong_cases(
        check, "resident_blocks", cases, wrong, are_all_zero(got),
        [&](size_t i) {
          return returned_value_text(!is_poison(got[i]), quantity(got[i], "block"));
        },
        misconception_hint(cases, got));
  }

  LAB_CHECK("A2 what limits them" * takes_rubric_keys("random_cases")) {
    const std::vector<OccupancyCase> cases = random_occupancy_cases(check);
    const std::vector<int> got = student_function_outputs(check, cases, {WaveCase{}}).limits;
    std::vector<size_t> wrong;
    bool part = true;  // every wrong answer names some of the limits, and no other resource
    for (size_t i = 0; i < cases.size(); ++i) {
      if (got[i] == cases[i].limits) continue;
      wrong.push_back(i);
      part = part && (got[i] & cases[i].limits) == got[i] && got[i] != 0;
    }
    report_wrong_cases(
        check, "limits", cases, wrong, are_all_zero(got),
        [&](size_t i) { return returned_value_text(!is_poison(got[i]), limit_names(got[i])); },
        part ? "The resource that your function names is a limit, but which other one "
               "allows no more blocks either?"
             : "");
  }

  LAB_CHECK("A3 waves and the last one" * takes_rubric_keys("random_cases")) {
    Random random = check.random();
    const std::vector<WaveCase> cases =
        wave_cases(random, check.row.required_count("random_cases"));
    const StudentFunctionOutputs got =
        student_function_outputs(check, {occupancy_cases(random, 0).front()}, cases);
    check.expected("all right");
    size_t wrong = 0, shown = 0;
    const auto wrong_waves = [&](size_t i) { return got.waves[i] != cases[i].waves(); };
    const auto wrong_last = [&](size_t i) {
      return !matches(got.last[i], cases[i].last_wave_share(), 1e-5);
    };
    for (size_t i = 0; i < cases.size(); ++i)
      if ((wrong_waves(i) || wrong_last(i)) && wrong++ == 0) shown = i;
    check.figure("cases", static_cast<double>(cases.size()));
    check.figure("wrong", static_cast<double>(wrong));
    if (wrong == 0) {
      check.measured(fmt::format("{} cases", cases.size()));
      check.figure("fit", record_block_usage(check, kExample));
      check.figure("grid", kExampleGrid);
      return;
    }
    check.measured(fmt::format("{} of {} wrong", wrong, cases.size()));
    const WaveCase& c = cases[shown];
    const std::string blocks =
        fmt::format("{} block{} where {} reside{} at a time", c.grid, c.grid == 1 ? "" : "s",
                    c.resident, c.resident == 1 ? "s" : "");
    if (wrong_waves(shown))
      check.fail_and_throw(
          check.line_of("waves"),
          fmt::format(
              "{}: {}, which is wrong. Full waves leave some number of blocks over: how many "
              "blocks are left, and how many waves do these need?",
              blocks,
              returned_value_text(!is_poison(got.waves[shown]),
                                  quantity(got.waves[shown], "wave"))));
    check.fail_and_throw(
        check.line_of("last_wave"),
        fmt::format("{}: {}, which is wrong. How many blocks are left for the last wave, and how "
                    "many fit into it? If all waves are full, so is the last one.",
                    blocks,
                    returned_value_text(!is_poison(got.last[shown]),
                                        fmt::format("{:.4g}", got.last[shown]))));
  }
}

}  // namespace lab32::checks::occupancy
