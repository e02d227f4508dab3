#include "grading/declared/run_declared.h"

#include <fmt/core.h>

#include <algorithm>

#include "grading/declared/counter_names.h"
#include "grading/declared/declared_launch.h"
#include "grading/declared/declared_time.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/engine/questions.h"
#include "grading/launch/counting.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "grading/words/describe.h"

namespace lab32::grading {
namespace {

constexpr uint32_t kLanes = 32;

void check_shared_bytes(Check& check, const DeclaredLaunch& launch) {
  if (check.row.has("shared_bytes"))
    limit_shared(check, launch.kernel, check.row.number("shared_bytes"));
}

void run_result(Check& check, const DeclaredLaunch& launch) {
  check_shared_bytes(check, launch);
  for (const uint32_t n : sizes(check))
    for (size_t turn = 0; turn < launch.contents(); ++turn)
      run_declared_launch(check, launch, n, turn);
  right_result(check);
}

// The counters of a launch, and what the limits of a check say about them.
class CheckedCount {
 public:
  CheckedCount(Check& check, const Declaration& declaration, const device::Run& run,
               ExpressionValues for_ideal)
      : run_(run), for_ideal_(std::move(for_ideal)) {
    std::vector<std::string> names = declaration.limit.counter.used_numbers();
    for (const DeclaredLimit& also : declaration.also)
      for (const std::string& name : also.counter.used_numbers()) names.push_back(name);
    const auto shared = std::count_if(names.begin(), names.end(), is_shared_counter);
    const bool all_shared = shared == static_cast<ptrdiff_t>(names.size());
    shared_ = all_shared && shared > 0;
    counters_.numbers = counter_values(counters_of(check, run,
                                                   shared == 0 ? Counted::global
                                                   : shared_   ? Counted::shared
                                                               : Counted::everything));
  }

  double got(const DeclaredLimit& limit) const { return limit.counter.value(counters_); }
  double ideal(const DeclaredLimit& limit) const { return ideal(limit.ideal); }
  double ideal(const Expression& limit) const { return limit.value(for_ideal_); }
  WorstLine waste(Check& check) const {
    return shared_ ? worst_shared(check, run_) : worst_global(check, run_);
  }

 private:
  const device::Run& run_;
  ExpressionValues counters_, for_ideal_;
  bool shared_ = false;
};

std::string counted(double number, const std::string& noun) {
  return fmt::format("{} {}", grouped(static_cast<uint64_t>(number)), noun);
}

void credit_further(Check& check, const Declaration& declaration, const CheckedCount& count,
                    int line) {
  for (const DeclaredLimit& limit : declaration.also) {
    const double got = count.got(limit), ideal = count.ideal(limit);
    check.credit(ideal, got);
    if (got <= ideal) continue;
    const bool may_show = check.withheld.empty();
    if (!may_show) check.withhold_count(check.withheld);
    check.explain(
        line, may_show
                  ? fmt::format("The kernel also takes {}, where {} are enough.",
                                counted(got, limit.counted), grouped(static_cast<uint64_t>(ideal)))
                  : fmt::format("The kernel also takes more {} than it needs.", limit.counted));
  }
}

// A count for which standard_checks.h has no check of its own.
void credit_count(Check& check, const Declaration& declaration, const CheckedCount& count) {
  const double got = count.got(declaration.limit), ideal = count.ideal(declaration.limit);
  const std::string& noun = declaration.limit.counted;
  const bool may_show = check.withheld.empty() || got <= ideal;
  if (may_show) {
    check.measured(counted(got, noun));
    check.figure(noun, got);
  } else {
    check.withhold_count(check.withheld);
  }
  check.expected(counted(ideal, noun));
  check.figure("ideal_" + noun, ideal);
  const int line = check.line_of(base_name(declaration.launch.kernel));
  check.credit(ideal, got);
  if (got > ideal) {
    const WorstLine waste = count.waste(check);
    check.explain(waste.line > 0 ? waste.line : line,
                  may_show ? fmt::format("The kernel takes {}, where {} are enough.{}",
                                         counted(got, noun), grouped(static_cast<uint64_t>(ideal)),
                                         waste.message.empty() ? "" : " " + waste.message)
                           : fmt::format("The kernel takes more {} than it needs.", noun));
    if (check.row.has("idea")) check.explain(0, check.row.text("idea"));
  }
  credit_further(check, declaration, count, line);
}

void credit_counter(Check& check, const Declaration& declaration, const device::Run& run,
                    const CheckedCount& count) {
  const std::string& counter = declaration.limit.counter.text();
  const double ideal = count.ideal(declaration.limit);
  const int line = check.line_of(base_name(declaration.launch.kernel));
  if (counter == "requests" && declaration.also.size() == 1 &&
      declaration.also[0].counter.text() == "sectors")
    return credit_requests(check, run, count.ideal(declaration.also[0]), ideal, line);
  const std::string idea = check.row.has("idea") ? check.row.text("idea") : "";
  if (counter == "wavefronts") {
    credit_wavefronts(check, run, ideal, idea);
  } else {
    credit_work(check, run);
    if (counter != "sectors") return credit_count(check, declaration, count);
    credit_sectors(check, run, ideal, idea);
  }
  credit_further(check, declaration, count, line);
}

void withhold(Check& check) {
  if (!check.row.has("withheld_until")) return;
  const std::string table = check.row.text("withheld_until");
  for (const RubricRow& row : check.session.rubric.rows())
    if (row.table == table) withhold_until_passed(check, row.check);
}

void run_counter(Check& check, const Declaration& declaration) {
  const DeclaredLaunch& launch = declaration.launch;
  const uint32_t n = check.row.count("n");
  withhold(check);
  check_shared_bytes(check, launch);
  const auto of_lanes_only = [&](const device::Run& run) {
    if (check.row.has("lanes_only") && check.row.flag("lanes_only"))
      require_lane_accesses(check, run);
  };
  const auto run =
      shared_launch(check,
                    fmt::format("{}, n = {}{}", launch.check, n,
                                declaration.changes_launch ? ", as " + check.row.check : ""),
                    given_kernel(check, launch.kernel),
                    [&] { return run_declared_launch(check, launch, n, 0).run; });
  of_lanes_only(*run);
  const CheckedCount published(check, declaration, *run, values_for_ideal(check, launch, n));
  credit_counter(check, declaration, *run, published);
  if (declaration.most_sectors)
    credit_most_sectors(check, *run, published.ideal(*declaration.most_sectors));
  const uint32_t unit = check.row.has("unit") ? check.row.count("unit") : kLanes;
  const uint32_t secret = secret_size(check, unit, 0).n;
  DeclaredRun again{};
  const device::Run recounted = launch_keeping_table(check, [&] {
    again = run_declared_launch(check, launch, secret, 0);
    return again.run;
  });
  of_lanes_only(recounted);
  const CheckedCount count(check, declaration, recounted, again.values);
  const std::string where = fmt::format("n = {}:", secret);
  const auto recount = [&](const DeclaredLimit& limit) {
    recount_at_secret_size(check, where, limit.counted.c_str(), count.ideal(limit),
                           static_cast<uint64_t>(count.got(limit)), count.waste(check));
  };
  recount(declaration.limit);
  for (const DeclaredLimit& also : declaration.also) recount(also);
  if (declaration.most_sectors)
    recount_sectors(check, where, count.ideal(*declaration.most_sectors), recounted);
}

}  // namespace

void run_declared(Check& check) {
  const Declaration& declaration = *check.row.declaration;
  switch (declaration.kind) {
    case Declaration::Kind::result:
      return run_result(check, declaration.launch);
    case Declaration::Kind::counter:
      return run_counter(check, declaration);
    case Declaration::Kind::time:
      return run_declared_time(check, declaration);
    case Declaration::Kind::question:
      ask_questions(check);
  }
}

}  // namespace lab32::grading
