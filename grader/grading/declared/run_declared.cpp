// Runs declared checks (declaration.h): the bodies that a LAB_CHECK would have.

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "grading/declared/declared_launch.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/launch/counting.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "grading/words/describe.h"
#include "simulator/observers/counters.h"

namespace lab32::grading {

namespace {

// ---- questions ----

void judge_declared_answers(Check& check, const CheckDeclaration& declaration) {
  ExpressionValues values;
  std::vector<std::vector<TypedHostArray>> outputs;
  for (const GivenKernelLaunch& given : declaration.given) {
    auto [run, written] = run_given_launch(check, given);
    const std::vector<double> counted = counters::counter_values(counters_of(check, run));
    values.numbers.insert(values.numbers.end(), counted.begin(), counted.end());
    outputs.push_back(std::move(written));
  }
  for (const std::vector<TypedHostArray>& written : outputs)
    for (const TypedHostArray& array : written)
      values.arrays.push_back({array.count, [&array](size_t i) { return array.at(i); }});
  for (const auto& [name, figure] : declaration.figures) check.figure(name, figure.value(values));
  if (judge_answers(check) && declaration.shown)
    check.explain(0, declaration.shown->filled(values));
}

// ---- counts ----

constexpr uint32_t kLanes = 32;

void require_static_shared_within_limit(Check& check, const DeclaredLaunch& launch) {
  if (check.row.has("shared_bytes"))
    require_static_shared_at_most(check, launch.kernel, check.row.required_number("shared_bytes"));
}

// The sizes at which results are checked. Shapes of matrices are those of the rubric, one whose
// sides are multiples of a vector but not of a tile, and one with any sides.
std::vector<LaunchSize> result_check_sizes(Check& check, const DeclaredLaunch& launch) {
  std::vector<LaunchSize> all;
  if (launch.extents.size() == 1) {
    for (const uint32_t n : sizes_to_check(check)) all.push_back({n});
    return all;
  }
  for (const std::string& extent : launch.extents) {
    const std::vector<double> values = check.row.required_numbers(extent);
    all.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) all[i].push_back(static_cast<uint32_t>(values[i]));
  }
  Random random(seed_of_stream(check.session.setup.seed, check.row.check + " shapes"));
  LaunchSize of_vectors, any;
  for (size_t i = 0; i < launch.extents.size(); ++i) {
    of_vectors.push_back(4 * (1 + random.below(50)));
    any.push_back(1 + random.below(200));
  }
  all.push_back(of_vectors);
  all.push_back(any);
  return all;
}

void check_declared_result(Check& check, const CheckDeclaration& declaration) {
  for (const DeclaredLaunch& launch : declaration.launches)
    require_static_shared_within_limit(check, launch);
  const DeclaredLaunch& first = declaration.launches.front();
  if (first.extents.size() == 1) {
    for (const DeclaredLaunch& launch : declaration.launches)
      for (const LaunchSize& size : result_check_sizes(check, launch))
        for (size_t turn = 0; turn < launch.content_variant_count(); ++turn)
          run_declared_launch(check, launch, size, turn);
  } else {
    for (const LaunchSize& size : result_check_sizes(check, first))
      for (const DeclaredLaunch& launch : declaration.launches)
        for (size_t turn = 0; turn < launch.content_variant_count(); ++turn)
          run_declared_launch(check, launch, size, turn);
  }
  if (!declaration.largest.empty())
    run_declared_launch(check, declaration.launches.back(), declaration.largest, 0);
  report_right_result(check);
}

// What the limits of a check say about the counters of a launch.
class DeclaredLimitEvaluator {
 public:
  DeclaredLimitEvaluator(Check& check, const device::LaunchResult& run, ExpressionValues for_ideal)
      : check_(check), run_(run), for_ideal_(std::move(for_ideal)) {}

  double counted_value(const DeclaredLimit& limit) const {
    const std::vector<std::string> names = limit.counter.used_number_names();
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
  ExplainedLine line_of_most_excess(const DeclaredLimit& limit) const {
    const std::vector<std::string> names = limit.counter.used_number_names();
    if (std::all_of(names.begin(), names.end(), counters::is_shared_counter))
      return line_of_most_excess_wavefronts(check_, run_);
    if (std::all_of(names.begin(), names.end(), counters::is_global_counter))
      return line_of_most_excess_sectors(check_, run_);
    return {};
  }

 private:
  Check& check_;
  const device::LaunchResult& run_;
  ExpressionValues for_ideal_;
};

std::string grouped_count_with_unit(double number, const std::string& noun) {
  return fmt::format("{} {}", grouped_digits(static_cast<uint64_t>(number)), noun);
}

void credit_further_counters(Check& check, const CheckDeclaration& declaration,
                             const DeclaredLimitEvaluator& count, int line) {
  for (const DeclaredLimit& limit : declaration.also) {
    const double got = count.counted_value(limit), ideal = count.ideal(limit);
    check.credit(ideal, got);
    if (got <= ideal) continue;
    const bool may_show = check.withheld.empty();
    if (!may_show) check.withhold_count(check.withheld);
    const ExplainedLine waste = count.line_of_most_excess(limit);
    check.explain(
        waste.line > 0 ? waste.line : line,
        (may_show ? fmt::format("The kernel also takes {}, where {} are enough.",
                                grouped_count_with_unit(got, limit.counted),
                                grouped_digits(static_cast<uint64_t>(ideal)))
                  : fmt::format("The kernel also takes more {} than it needs.", limit.counted)) +
            (waste.message.empty() ? "" : " " + waste.message));
    check.explain(0, limit.idea);
  }
}

// A count for which standard_checks.h has no check of its own.
void credit_generic_counter(Check& check, const CheckDeclaration& declaration,
                            const DeclaredLimitEvaluator& count) {
  const double got = count.counted_value(declaration.limit), ideal = count.ideal(declaration.limit);
  const std::string& noun = declaration.limit.counted;
  const bool may_show = check.withheld.empty() || got <= ideal;
  if (may_show) {
    check.measured(grouped_count_with_unit(got, noun));
    check.figure(noun, got);
  } else {
    check.withhold_count(check.withheld);
  }
  check.expected(grouped_count_with_unit(ideal, noun));
  check.figure("ideal_" + noun, ideal);
  const int line = check.line_of(declaration.launches.front().function);
  check.credit(ideal, got);
  if (got > ideal) {
    const ExplainedLine waste = count.line_of_most_excess(declaration.limit);
    check.explain(waste.line > 0 ? waste.line : line,
                  may_show ? fmt::format("The kernel takes {}, where {} are enough.{}",
                                         grouped_count_with_unit(got, noun),
                                         grouped_digits(static_cast<uint64_t>(ideal)),
                                         waste.message.empty() ? "" : " " + waste.message)
                           : fmt::format("The kernel takes more {} than it needs.", noun));
    if (check.row.has("idea")) check.explain(0, check.row.required_text("idea"));
  }
  credit_further_counters(check, declaration, count, line);
}

// The line whose lanes access more bytes than the matrix has, if there is one. Where the rows of a
// matrix do not begin at a sector, every kernel has accesses with a sector too many, so the worst
// access does not explain why this kernel has more.
ExplainedLine line_with_repeated_accesses(Check& check, const CheckDeclaration& declaration,
                                          const DeclaredLimitEvaluator& count,
                                          const device::LaunchResult& run) {
  if (!declaration.repeated) return {};
  const double all = count.ideal(declaration.repeated->bytes);
  for (const counters::LineCounters& line : run.lines) {
    const uint64_t bytes = line.counters.global_bytes;
    if (line.file != check.session.source.display() || static_cast<double>(bytes) <= all) continue;
    return {line.line,
            fmt::format("The lanes access {} bytes here, but the matrix has only {}: lanes beyond "
                        "its edge access elements that other lanes access, too.",
                        grouped_digits(bytes), grouped_digits(static_cast<uint64_t>(all)))};
  }
  return {};
}

void credit_counter(Check& check, const CheckDeclaration& declaration,
                    const device::LaunchResult& run, const DeclaredLimitEvaluator& count) {
  const std::string& counter = declaration.limit.counter.text();
  const double ideal = count.ideal(declaration.limit);
  const int line = check.line_of(declaration.launches.front().function);
  if (counter == "requests" && declaration.also.size() == 1 &&
      declaration.also[0].counter.text() == "sectors")
    return credit_requests(check, run, count.ideal(declaration.also[0]), ideal, line);
  const std::string idea = check.row.has("idea") ? check.row.required_text("idea") : "";
  if (counter == "wavefronts") {
    credit_wavefronts(check, run, ideal, idea);
  } else {
    reduce_points_for_idle_threads(check, run);
    if (counter != "sectors") return credit_generic_counter(check, declaration, count);
    const ExplainedLine repeated = line_with_repeated_accesses(check, declaration, count, run);
    credit_sectors(check, run, ideal, repeated.line > 0 ? declaration.repeated->idea : idea,
                   repeated);
  }
  credit_further_counters(check, declaration, count, line);
}

// The check of a table; empty: there is no such table.
std::string check_name_of_table(Check& check, const std::string& table) {
  for (const RubricCheckEntry& row : check.session.rubric.rows())
    if (row.table == table) return row.check;
  return "";
}

void withhold_details_if_declared(Check& check) {
  if (check.row.has("withheld_until"))
    withhold_details_until_passed(
        check, check_name_of_table(check, check.row.required_text("withheld_until")));
}

// Shows conflicts that cost no points here, since a later check is about them.
void show_unscored_bank_conflicts(Check& check, const CheckDeclaration& declaration,
                                  const device::LaunchResult& run) {
  if (!declaration.conflicts) return;
  const std::string questions = check_name_of_table(check, declaration.conflicts->questions);
  const counters::Counters& c = counters_of(check, run);
  withhold_details_until_passed(check, questions);
  if (check.has_passed(questions))
    check.figure("wavefronts", static_cast<double>(c.shared_wavefronts()));
  check.figure("ideal_wavefronts", static_cast<double>(c.ideal_shared_wavefronts()));
  const ExplainedLine waste = line_of_most_excess_wavefronts(check, run);
  if (check.verdict.credit == 1 && waste.line > 0)
    check.explain(waste.line, declaration.conflicts->note + " " + waste.message);
  withhold_details_if_declared(check);  // the pictures are about this check's counter
}

// The blocks' worth of elements with which a kernel is launched without needless work.
constexpr uint32_t kUnitsOfTrial = 2;

// The part of the kernel's count that is left without the accesses to shared memory that change
// nothing.
double share_left_without_needless_work(Check& check, const CheckDeclaration& declaration) {
  const DeclaredLaunch& launch = declaration.launches.front();
  const uint32_t unit = check.row.has("unit") ? check.row.required_count("unit") : kLanes;
  const LaunchSize size(launch.extents.size(), kUnitsOfTrial * unit);
  std::optional<double> all, needed;
  const auto attempt = [&](device::Kernel& kernel) -> std::optional<device::LaunchResult> {
    std::optional<device::LaunchResult> tried =
        launch_result_if_correct(check, kernel, launch, size);
    if (!tried) return std::nullopt;
    needed = DeclaredLimitEvaluator(check, *tried, values_for_ideal(check, launch, size))
                 .counted_value(declaration.limit);
    return tried;
  };
  if (device::Kernel* kernel =
          check.session.module.find(kernel_name_with_namespace(check, launch.kernel)))
    if (attempt(*kernel)) all = needed;
  if (!all || *all <= 0) return 1;
  find_removable_instructions(check, kernel_name_with_namespace(check, launch.kernel),
                              RemovableInstructions::shared_accesses, attempt);
  return *needed / *all;
}

// Loses the check if the kernel is a later version already.
void reject_already_optimised_kernel(Check& check, const CheckDeclaration& declaration,
                                     const DeclaredLimitEvaluator& count) {
  if (!declaration.least) return;
  const double least = count.ideal(*declaration.least);
  double got = count.counted_value(declaration.limit);
  std::string counted = "it takes";
  if (got >= least) {
    got *= share_left_without_needless_work(check, declaration);
    counted = "without those of its accesses that change nothing it takes";
  }
  if (got >= least) return;
  check.measured("another version");
  check.expected("this one");
  CheckFailureReason failure{CheckFailureReason::Kind::other_version};
  failure.measured = got;
  failure.expected = least;
  check.fail_and_throw(
      failure, check.line_of(declaration.launches.front().function),
      fmt::format("The result is right, but this is another version: {} {}, and this "
                  "one takes at least {}. {}",
                  counted, grouped_count_with_unit(got, declaration.limit.counted),
                  grouped_digits(static_cast<uint64_t>(least)), declaration.later));
}

void require_only_lane_accesses_if_set(Check& check, const device::LaunchResult& run) {
  if (check.row.has("lanes_only") && check.row.required_flag("lanes_only"))
    require_only_lane_accesses(check, run);
}

LaunchSize random_launch_size(Check& check, const DeclaredLaunch& launch) {
  const uint32_t unit = check.row.has("unit") ? check.row.required_count("unit") : kLanes;
  if (launch.extents.size() == 1) return {secret_size(check, unit, 0).n};
  Random random(
      seed_of_stream(check.session.setup.seed, launch.check + ", " + launch.variant + " size"));
  const std::vector<double> range = check.row.required_numbers("drawn");
  const uint32_t least = static_cast<uint32_t>(range.at(0)) / unit,
                 most = static_cast<uint32_t>(range.at(1)) / unit;
  LaunchSize size;
  for (size_t i = 0; i < launch.extents.size(); ++i)
    size.push_back(unit * (least + random.below(most - least + 1)));
  return size;
}

std::shared_ptr<const device::LaunchResult> counted_launch(Check& check,
                                                           const CheckDeclaration& declaration,
                                                           const DeclaredLaunch& launch,
                                                           const LaunchSize& size) {
  return reused_launch(check,
                       fmt::format("{}, {}{}", launch.check, setting_of(launch, size, 0),
                                   declaration.changes_launch ? ", as " + check.row.check : ""),
                       kernel_name_with_namespace(check, launch.kernel),
                       [&] { return run_declared_launch(check, launch, size, 0); });
}

// Counts a launch of a size that the seed draws.
void recount_declared_at_random_size(Check& check, const CheckDeclaration& declaration,
                                     const DeclaredLaunch& launch) {
  const double least =
      check.row.has("least_recounted") ? check.row.required_number("least_recounted") : 0;
  const double published = check.verdict.credit;
  if (published <= least) return;
  const LaunchSize size = random_launch_size(check, launch);
  std::shared_ptr<const device::LaunchResult> run;
  launch_without_changing_report_row(check, [&] {
    run = counted_launch(check, declaration, launch, size);
    return device::LaunchResult();
  });
  require_only_lane_accesses_if_set(check, *run);
  const DeclaredLimitEvaluator count(check, *run, values_for_ideal(check, launch, size));
  const std::string where = fmt::format("{}:", setting_of(launch, size, 0));
  const auto recount_limit = [&](const DeclaredLimit& limit) {
    limit_credit_at_secret_size(check, where, limit.counted.c_str(), count.ideal(limit),
                                static_cast<uint64_t>(count.counted_value(limit)),
                                count.line_of_most_excess(limit));
  };
  recount_limit(declaration.limit);
  for (const DeclaredLimit& also : declaration.also) recount_limit(also);
  if (declaration.most_sectors)
    limit_credit_by_sectors(check, where, count.ideal(*declaration.most_sectors), *run);
  check.verdict.credit = std::max(check.verdict.credit, std::min(published, least));
}

void check_declared_counter(Check& check, const CheckDeclaration& declaration) {
  const DeclaredLaunch& launch = declaration.launches.front();
  LaunchSize size;
  for (const std::string& extent : launch.extents) size.push_back(check.row.required_count(extent));
  withhold_details_if_declared(check);
  // The figures are those of the first.
  for (size_t i = declaration.launches.size(); i-- > 0;)
    require_static_shared_within_limit(check, declaration.launches[i]);
  const auto run = counted_launch(check, declaration, launch, size);
  require_only_lane_accesses_if_set(check, *run);
  const DeclaredLimitEvaluator published(check, *run, values_for_ideal(check, launch, size));
  reject_already_optimised_kernel(check, declaration, published);
  credit_counter(check, declaration, *run, published);
  if (declaration.most_sectors)
    reduce_credit_above_sector_limit(check, *run, published.ideal(*declaration.most_sectors));
  for (const DeclaredLaunch& variant : declaration.launches)
    recount_declared_at_random_size(check, declaration, variant);
  show_unscored_bank_conflicts(check, declaration, *run);
}

}  // namespace

void run_declared_check(Check& check) {
  const CheckDeclaration& declaration = *check.row.declaration;
  switch (declaration.kind) {
    case CheckDeclaration::Kind::result:
      return check_declared_result(check, declaration);
    case CheckDeclaration::Kind::counter:
      return check_declared_counter(check, declaration);
    case CheckDeclaration::Kind::time:
      return run_declared_timing_check(check, declaration);
    case CheckDeclaration::Kind::question:
      judge_declared_answers(check, declaration);
  }
}

}  // namespace lab32::grading
