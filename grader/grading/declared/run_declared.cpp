// Runs declared checks (declaration.h): the bodies that a LAB_CHECK would have.

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "base/work.h"
#include "grading/declared/declared_launch.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/launch/counting.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "grading/timing/timing_checks.h"
#include "grading/words/describe.h"
#include "simulator/observers/counters.h"

namespace lab32::grading {

namespace {

// ---- timing checks: the declared launch, timed as timing/timing_checks.h says ----

using Sets = std::vector<std::shared_ptr<const DeclaredArrays>>;

// The arrays of the timer: inputs, with the values of each set, then outputs.
std::vector<device::TimedArray> timed_arrays(const DeclaredLaunch& launch, const Sets& sets) {
  std::vector<device::TimedArray> arrays;
  for (size_t i = 0; i < launch.inputs.size(); ++i) {
    device::TimedArray array{launch.inputs[i].name, sets[0]->inputs[i].bytes.size(), {}};
    for (const auto& set : sets)
      array.sets.emplace_back(
          std::shared_ptr<const std::vector<std::byte>>(set, &set->inputs[i].bytes));
    arrays.push_back(std::move(array));
  }
  for (size_t i = 0; i < launch.outputs.size(); ++i) {
    const Elements& output = sets[0]->outputs[i];
    arrays.push_back({launch.outputs[i].name, output.count * output.type->bytes, {}});
  }
  return arrays;
}

std::vector<device::TimedStep> declared_steps(Check& check, const DeclaredLaunch& launch,
                                              const std::vector<double>& numbers,
                                              device::LoadedModule& module) {
  std::vector<device::TimedStep> steps;
  const size_t first_output = launch.inputs.size();
  for (size_t i = 0; i < launch.outputs.size(); ++i)
    if (!launch.outputs[i].contents.empty())
      steps.emplace_back(device::Fill{device::ArrayIndex{first_output + i}, 0});
  device::TimedLaunch timed{
      given_kernel(launch.kernel, module), shape_of(check, launch, numbers, module), {}};
  for (const DeclaredArgument& argument : launch.arguments) {
    if (argument.kind == DeclaredArgument::Kind::input)
      timed.args.emplace_back(device::ArrayIndex{argument.index});
    else if (argument.kind == DeclaredArgument::Kind::output)
      timed.args.emplace_back(device::ArrayIndex{first_output + argument.index});
    else
      timed.args.emplace_back(number_argument(launch, argument, numbers));
  }
  steps.emplace_back(std::move(timed));
  return steps;
}

TimedWork declared_work(Check& check, const Declaration& declaration, uint32_t n, size_t count) {
  const DeclaredLaunch& launch = declaration.launches.front();
  Random random = check.random();
  const std::vector<double> numbers = random_numbers(launch, n, random);
  Sets sets(count);
  std::vector<Background> made;
  for (auto& set : sets)
    made.emplace_back([&set, &launch, &numbers, own = Random(random.bits())]() mutable {
      set = std::make_shared<const DeclaredArrays>(random_arrays(launch, numbers, 0, own));
    });
  for (Background& set : made) set.get();
  TimedWork work;
  work.arrays = timed_arrays(launch, sets);
  ExpressionValues values{numbers, {}, nullptr};
  const device::Shape shape = shape_of(check, launch, numbers, check.session.module);
  values.numbers.push_back(double{1} * shape.grid.x * shape.grid.y * shape.grid.z);
  values.numbers.push_back(double{1} * shape.block.x * shape.block.y * shape.block.z);
  work.bytes = declaration.bytes.count(values, 1, uint64_t{1} << 40);
  work.steps = [&check, &launch, numbers](device::LoadedModule& module, uint32_t) {
    return declared_steps(check, launch, numbers, module);
  };
  const double tolerance = check.row.has("relative_tolerance") ? relative_tolerance(check) : 0;
  work.mismatch = [&launch, numbers, sets, tolerance](size_t set, const Outputs& outputs) {
    const std::vector<Elements> expected = expected_elements(launch, numbers, *sets[set]);
    for (size_t i = 0; i < launch.outputs.size(); ++i) {
      const std::vector<std::byte> got = values_of<std::byte>(outputs[i]);
      const std::string wrong =
          elements_mismatch(launch.outputs[i].name, got, expected[i], tolerance);
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  };
  return work;
}

void run_declared_time(Check& check, const Declaration& declaration) {
  credit_speed(check, {declaration.launches.front().function,
                       [&declaration](Check& own, uint32_t n, size_t sets) {
                         return declared_work(own, declaration, n, sets);
                       }});
}

// ---- counts ----

constexpr uint32_t kLanes = 32;

void check_shared_bytes(Check& check, const DeclaredLaunch& launch) {
  if (check.row.has("shared_bytes"))
    limit_shared_memory(check, launch.kernel, check.row.number("shared_bytes"));
}

void check_declared_result(Check& check, const std::vector<DeclaredLaunch>& variants) {
  for (const DeclaredLaunch& launch : variants) {
    check_shared_bytes(check, launch);
    for (const uint32_t n : sizes_to_check(check))
      for (size_t turn = 0; turn < launch.content_count(); ++turn)
        run_declared_launch(check, launch, n, turn);
  }
  report_right_result(check);
}

// What the limits of a check say about the counters of a launch.
class CountsOfLaunch {
 public:
  CountsOfLaunch(Check& check, const device::Run& run, ExpressionValues for_ideal)
      : check_(check), run_(run), for_ideal_(std::move(for_ideal)) {}

  double counted_value(const DeclaredLimit& limit) const {
    const std::vector<std::string> names = limit.counter.used_numbers();
    const auto shared = std::count_if(names.begin(), names.end(), counters::is_shared_counter);
    const Counted counted = shared == 0                                      ? Counted::global
                            : shared == static_cast<ptrdiff_t>(names.size()) ? Counted::shared
                                                                             : Counted::everything;
    ExpressionValues values;
    values.numbers = counters::counter_values(counters_of(check_, run_, counted));
    return limit.counter.value(values);
  }
  double ideal(const DeclaredLimit& limit) const { return ideal(limit.ideal); }
  double ideal(const Expression& limit) const { return limit.value(for_ideal_); }
  // The worst access, if accesses are counted.
  WorstLine worst_line(const DeclaredLimit& limit) const {
    const std::vector<std::string> names = limit.counter.used_numbers();
    if (std::all_of(names.begin(), names.end(), counters::is_shared_counter))
      return worst_shared_line(check_, run_);
    if (std::all_of(names.begin(), names.end(), counters::is_global_counter))
      return worst_global_line(check_, run_);
    return {};
  }

 private:
  Check& check_;
  const device::Run& run_;
  ExpressionValues for_ideal_;
};

std::string count_text(double number, const std::string& noun) {
  return fmt::format("{} {}", grouped(static_cast<uint64_t>(number)), noun);
}

void credit_further_counters(Check& check, const Declaration& declaration,
                             const CountsOfLaunch& count, int line) {
  for (const DeclaredLimit& limit : declaration.also) {
    const double got = count.counted_value(limit), ideal = count.ideal(limit);
    check.credit(ideal, got);
    if (got <= ideal) continue;
    const bool may_show = check.withheld.empty();
    if (!may_show) check.withhold_count(check.withheld);
    const WorstLine waste = count.worst_line(limit);
    check.explain(
        waste.line > 0 ? waste.line : line,
        (may_show
             ? fmt::format("The kernel also takes {}, where {} are enough.",
                           count_text(got, limit.counted), grouped(static_cast<uint64_t>(ideal)))
             : fmt::format("The kernel also takes more {} than it needs.", limit.counted)) +
            (waste.message.empty() ? "" : " " + waste.message));
    check.explain(0, limit.idea);
  }
}

// A count for which standard_checks.h has no check of its own.
void credit_other_count(Check& check, const Declaration& declaration, const CountsOfLaunch& count) {
  const double got = count.counted_value(declaration.limit), ideal = count.ideal(declaration.limit);
  const std::string& noun = declaration.limit.counted;
  const bool may_show = check.withheld.empty() || got <= ideal;
  if (may_show) {
    check.measured(count_text(got, noun));
    check.figure(noun, got);
  } else {
    check.withhold_count(check.withheld);
  }
  check.expected(count_text(ideal, noun));
  check.figure("ideal_" + noun, ideal);
  const int line = check.line_of(declaration.launches.front().function);
  check.credit(ideal, got);
  if (got > ideal) {
    const WorstLine waste = count.worst_line(declaration.limit);
    check.explain(waste.line > 0 ? waste.line : line,
                  may_show
                      ? fmt::format("The kernel takes {}, where {} are enough.{}",
                                    count_text(got, noun), grouped(static_cast<uint64_t>(ideal)),
                                    waste.message.empty() ? "" : " " + waste.message)
                      : fmt::format("The kernel takes more {} than it needs.", noun));
    if (check.row.has("idea")) check.explain(0, check.row.text("idea"));
  }
  credit_further_counters(check, declaration, count, line);
}

void credit_counter(Check& check, const Declaration& declaration, const device::Run& run,
                    const CountsOfLaunch& count) {
  const std::string& counter = declaration.limit.counter.text();
  const double ideal = count.ideal(declaration.limit);
  const int line = check.line_of(declaration.launches.front().function);
  if (counter == "requests" && declaration.also.size() == 1 &&
      declaration.also[0].counter.text() == "sectors")
    return credit_requests(check, run, count.ideal(declaration.also[0]), ideal, line);
  const std::string idea = check.row.has("idea") ? check.row.text("idea") : "";
  if (counter == "wavefronts") {
    credit_wavefronts(check, run, ideal, idea);
  } else {
    credit_working_share(check, run);
    if (counter != "sectors") return credit_other_count(check, declaration, count);
    credit_sectors(check, run, ideal, idea);
  }
  credit_further_counters(check, declaration, count, line);
}

void withhold_details_if_declared(Check& check) {
  if (!check.row.has("withheld_until")) return;
  const std::string table = check.row.text("withheld_until");
  for (const RubricRow& row : check.session.rubric.rows())
    if (row.table == table) withhold_until_passed(check, row.check);
}

// The blocks' worth of elements with which a kernel is launched without needless work.
constexpr uint32_t kUnitsOfTrial = 2;

// The part of the kernel's count that is left without the accesses to shared memory that change
// nothing.
double needed_part(Check& check, const Declaration& declaration) {
  const DeclaredLaunch& launch = declaration.launches.front();
  const uint32_t n = kUnitsOfTrial * (check.row.has("unit") ? check.row.count("unit") : kLanes);
  std::optional<double> all, needed;
  const auto attempt = [&](device::Kernel& kernel) -> std::optional<device::Run> {
    const std::optional<DeclaredRun> tried = try_declared_launch(check, kernel, launch, n);
    if (!tried) return std::nullopt;
    needed = CountsOfLaunch(check, tried->run, tried->values).counted_value(declaration.limit);
    return tried->run;
  };
  if (device::Kernel* kernel = check.session.module.find(given_kernel(check, launch.kernel)))
    if (attempt(*kernel)) all = needed;
  if (!all || *all <= 0) return 1;
  find_needless_work(check, given_kernel(check, launch.kernel), Work::shared_accesses, attempt);
  return *needed / *all;
}

// Loses the check if the kernel is a later version already.
void reject_later_version(Check& check, const Declaration& declaration,
                          const CountsOfLaunch& count) {
  if (!declaration.least) return;
  const double least = count.ideal(*declaration.least);
  double got = count.counted_value(declaration.limit);
  std::string counted = "it takes";
  if (got >= least) {
    got *= needed_part(check, declaration);
    counted = "without those of its accesses that change nothing it takes";
  }
  if (got >= least) return;
  check.measured("another version");
  check.expected("this one");
  Failure failure{Failure::Kind::other_version};
  failure.measured = got;
  failure.expected = least;
  check.lose(failure, check.line_of(declaration.launches.front().function),
             fmt::format("The result is right, but this is another version: {} {}, and this "
                         "one takes at least {}. {}",
                         counted, count_text(got, declaration.limit.counted),
                         grouped(static_cast<uint64_t>(least)), declaration.later));
}

void apply_lanes_only(Check& check, const device::Run& run) {
  if (check.row.has("lanes_only") && check.row.flag("lanes_only"))
    require_only_lane_accesses(check, run);
}

// Counts a launch of a size that the seed draws.
void recount_declared(Check& check, const Declaration& declaration, const DeclaredLaunch& launch) {
  const uint32_t unit = check.row.has("unit") ? check.row.count("unit") : kLanes;
  const uint32_t secret = secret_size(check, unit, 0).n;
  DeclaredRun again{};
  const device::Run run = launch_keeping_table(check, [&] {
    again = run_declared_launch(check, launch, secret, 0);
    return again.run;
  });
  apply_lanes_only(check, run);
  const CountsOfLaunch count(check, run, again.values);
  const std::string where = fmt::format("{}:", setting_of(launch, secret, 0));
  const auto recount_limit = [&](const DeclaredLimit& limit) {
    recount_at_secret_size(check, where, limit.counted.c_str(), count.ideal(limit),
                           static_cast<uint64_t>(count.counted_value(limit)),
                           count.worst_line(limit));
  };
  recount_limit(declaration.limit);
  for (const DeclaredLimit& also : declaration.also) recount_limit(also);
  if (declaration.most_sectors)
    recount_sectors(check, where, count.ideal(*declaration.most_sectors), run);
}

void check_declared_counter(Check& check, const Declaration& declaration) {
  const DeclaredLaunch& launch = declaration.launches.front();
  const uint32_t n = check.row.count("n");
  withhold_details_if_declared(check);
  check_shared_bytes(check, launch);
  const auto run =
      shared_launch(check,
                    fmt::format("{}, {}{}", launch.check, setting_of(launch, n, 0),
                                declaration.changes_launch ? ", as " + check.row.check : ""),
                    given_kernel(check, launch.kernel),
                    [&] { return run_declared_launch(check, launch, n, 0).run; });
  apply_lanes_only(check, *run);
  const CountsOfLaunch published(check, *run, values_for_ideal(check, launch, n));
  reject_later_version(check, declaration, published);
  credit_counter(check, declaration, *run, published);
  if (declaration.most_sectors)
    limit_sectors(check, *run, published.ideal(*declaration.most_sectors));
  for (const DeclaredLaunch& variant : declaration.launches)
    recount_declared(check, declaration, variant);
}

}  // namespace

void run_declared(Check& check) {
  const Declaration& declaration = *check.row.declaration;
  switch (declaration.kind) {
    case Declaration::Kind::result:
      return check_declared_result(check, declaration.launches);
    case Declaration::Kind::counter:
      return check_declared_counter(check, declaration);
    case Declaration::Kind::time:
      return run_declared_time(check, declaration);
    case Declaration::Kind::question:
      ask_questions(check);
  }
}

}  // namespace lab32::grading
