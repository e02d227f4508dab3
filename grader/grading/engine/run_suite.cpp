#include "grading/engine/run_suite.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/work.h"
#include "grading/declared/declared_launch.h"
#include "grading/engine/check.h"
#include "grading/engine/registry.h"
#include "grading/launch/launch_pictures.h"
#include "grading/words/words.h"

namespace lab32::grading {
namespace {

// The state that a LAB_CHECK and keep_first_failed_assert() share. doctest passes no arguments to
// test cases, so this state is global to the file.
struct RunningCheck;
RunningCheck* running = nullptr;

struct RunningCheck {
  Check& check;
  // An error of the machine. It ends the grading, while another error ends only the check.
  std::string machine_fault = {};
  RunningCheck* const outer = std::exchange(running, this);

  explicit RunningCheck(Check& started) : check(started) {}
  ~RunningCheck() { running = outer; }
};

// The points for a credit. They are rounded down to hundredths, so that only full credit gives full
// points.
double points_rounded_down(double points, double credit) {
  return credit >= 1 ? points : std::floor(points * std::max(0.0, credit) * 100 + 1e-9) / 100;
}

// The points of a check: its rubric row says whether a share of them counts.
double score_of(const RubricCheckEntry& row, const CheckVerdict& v) {
  if (row.credit == Credit::share)
    return points_rounded_down(row.points,
                               v.withheld.empty() ? v.credit : std::floor(4 * v.credit) / 4);
  return v.credit >= 1 ? row.points : 0;
}

// The error of a rubric row that gives credit by share, if its check only passes or fails; empty:
// the verdict fits the row.
std::string unsupported_share_credit_error(const RubricCheckEntry& row, const CheckVerdict& v) {
  if (row.credit == Credit::all || v.has_share) return "";
  return fmt::format("its rubric has credit = \"share\", and this check passes or fails: \"all\"");
}

report::CheckResult result_of(const RubricCheckEntry& row, const CheckVerdict& v,
                              const std::string& file) {
  report::CheckResult test;
  test.name = row.check;
  test.bonus = row.bonus;
  test.max_score = row.points;
  test.measured = v.measured;
  test.expected = v.expected;
  test.message = v.message;
  test.file = file;
  test.line = v.line;
  test.figures = v.figures;
  const bool ended = v.not_run || v.lost || !v.failed_check.empty();
  const std::string error =
      v.error.empty() && !ended ? unsupported_share_credit_error(row, v) : v.error;
  if (!error.empty()) {
    test.status = report::Status::error;
    test.message += (test.message.empty() ? "" : "\n") + error;
  } else if (v.not_run) {
    test.status = report::Status::not_run;
    test.not_run = v.not_run;
  } else {
    test.score = ended ? 0 : score_of(row, v);
    const bool passed = !ended && v.credit >= 1;
    test.status = passed ? report::Status::passed : report::Status::failed;
    if (!passed) test.failure = v.failure.value_or(CheckFailureReason{});
    if (!passed && !v.withheld.empty()) test.failure->measured.reset();
    if (ended && test.message.empty()) test.message = "The check failed: " + v.failed_check;
  }
  return test;
}

// A check with at least this share of its points counts as passed for its successors. A little
// waste must not cost a student all of the next check.
constexpr double kReached = 0.98;

bool has_nearly_all_points(const RubricCheckEntry& row, const report::CheckResult& test) {
  return test.status == report::Status::passed ||
         (row.credit == Credit::share && test.status == report::Status::failed &&
          test.max_score > 0 && test.score >= kReached * test.max_score);
}

bool is_out_of_time(const CheckVerdict& v) {
  return v.failure && v.failure->kind == CheckFailureReason::Kind::time_limit;
}

void finish_check(Check& check, report::LabResult& lab) {
  GradingSession& s = check.session;
  const CheckVerdict& verdict = check.verdict;
  if (verdict.lost && check.trial.repeating() && !is_out_of_time(verdict))
    check.explain(0, check.trial.explanation());
  if (verdict.lost && check.row.credit == Credit::all && !is_out_of_time(verdict)) {
    // The compiler's warning belongs to the whole file, so only one check reports it.
    const std::string why = check.undefined_amount.empty()
                                ? std::exchange(s.shift_warning, std::string())
                                : check.undefined_amount;
    if (!why.empty()) check.explain(0, why);
  }
  if (!check.uncertain_count.empty() && check.withheld.empty() && verdict.credit < 1)
    check.explain(0, check.uncertain_count);
  if (!check.printed.empty()) check.explain(0, check.printed);
  if (!verdict.withheld.empty() && !verdict.lost)
    check.explain(0, "Until `" + verdict.withheld +
                         "` is answered, the points for this count are rounded to quarters, so "
                         "that they do not reveal the count.");
  report::CheckResult test = result_of(check.row, verdict, s.source.display());
  test.has_output = !check.printed.empty();
  add_pictures(check, test);
  lab.tests.push_back(test);
  if (test.score > 0 && check.first_unpassed_prerequisite())
    throw std::logic_error(test.name + " has points before what it comes after");
  if (has_nearly_all_points(check.row, test)) s.passed.insert(&check.row);
}

// Remembers the first CHECK or REQUIRE that failed.
void keep_first_failed_assert(const doctest::AssertData& assertion) {
  std::string& failed = running->check.verdict.failed_check;
  if (!assertion.m_failed || !failed.empty()) return;
  failed = assertion.m_threw ? assertion.m_exception.c_str() : assertion.m_decomp.c_str();
}

// Records an error of the check, unless the check has already ended.
void record_check_error(Check& check, const std::string& error) {
  if (check.verdict.lost || check.verdict.not_run || check.trial.repeated_launch_done()) return;
  check.verdict.error = error;
}

// Runs the function of the check's TEST_CASE without doctest's loop over cases. doctest hands a
// CHECK outside such a loop to the context's handler; in a test of the grader, which is itself such
// a loop, the CHECK counts as one of that test.
void run_doctest_case(Check& check) {
  doctest::Context context;
  context.setAssertHandler(keep_first_failed_assert);
  if (!doctest::is_running_in_test) context.setAsDefaultForAssertsOutOfTestCases();
  RunningCheck now(check);
  try {
    if (check.row.declaration)
      run_check_body(&run_declared_check);
    else
      doctest_function_of_check(check.session.rubric.lab(), check.row.check)();
  } catch (const doctest::detail::TestFailureException&) {
    // A REQUIRE has failed; keep_first_failed_assert() has recorded its words.
    if (doctest::is_running_in_test) throw;
  }
  if (!now.machine_fault.empty()) throw MachineError(now.machine_fault);
}

void run_check(Check& check, report::LabResult& lab) {
  const auto start = std::chrono::steady_clock::now();
  check.verdict = CheckVerdict{};
  check.draws = 0;
  run_doctest_case(check);
  finish_check(check, lab);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  lab.tests.back().seconds = std::round(taken.count() * 1e3) / 1e3;
}

// Loses the check if the lab's time is used up. A bonus that this machine cannot check is exempt.
void require_time_left(Check& check) {
  const GradingSession& s = check.session;
  if (!s.time_limit.used_up()) return;
  if (check.row.bonus && !s.time.timer)
    check.not_run({NotRunReason::Kind::no_gpu, check.device().name()});
  check.measured("not run");
  check.fail_and_throw(s.time_limit.failure());
}

// Whether the check may begin. If not, its verdict is complete.
bool may_check_begin(Check& check, report::LabResult& lab) {
  try {
    if (!check.row.bonus) check.require_prerequisites();
    require_time_left(check);
    return true;
  } catch (const TestOver&) {
    finish_check(check, lab);
    return false;
  }
}

// Runs the check. If one of its launches gave another result in another order, runs it once more.
void run_check_and_trial(GradingSession& session, const RubricCheckEntry& row,
                         report::LabResult& lab) {
  Check check(session, row);
  if (!may_check_begin(check, lab)) return;
  const WorkTimer watch;
  run_check(check, lab);
  if (row.bonus && session.time.timer)
    session.time_limit.leave_out(watch.min_of_wall_and_cpu_seconds());
  if (!check.trial.differs() || lab.tests.back().status != report::Status::passed) return;
  const report::CheckResult in_order = lab.tests.back();
  lab.tests.pop_back();
  session.passed.erase(&row);
  check.trial.repeat();
  run_check(check, lab);
  const double seconds = in_order.seconds + lab.tests.back().seconds;
  if (lab.tests.back().status == report::Status::passed) lab.tests.back() = in_order;
  lab.tests.back().seconds = seconds;
}

report::CheckResult not_run_result_of_hidden_check(const RubricCheckEntry& row,
                                                   const GradingSession& session) {
  CheckVerdict verdict;
  verdict.not_run = NotRunReason{NotRunReason::Kind::hidden, session.setup.device.name()};
  verdict.message = words(*verdict.not_run);
  return result_of(row, verdict, session.source.display());
}

// The rows of `checks`, their prerequisites, and all checks with questions, since open questions
// decide what a check may show. All rows if `checks` is empty.
std::set<const RubricCheckEntry*> rows_to_run(const std::vector<RubricCheckEntry>& rows,
                                              const std::vector<std::string>& checks) {
  std::set<const RubricCheckEntry*> found;
  // Rows come after their prerequisites, so one pass backwards is enough.
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const bool named = std::find(checks.begin(), checks.end(), row->check) != checks.end();
    if (checks.empty() || named || row->asks()) found.insert(&*row);
    if (found.count(&*row) == 0) continue;
    for (const size_t i : row->after) found.insert(&rows[i]);
  }
  return found;
}

}  // namespace

void run_check_body(void (*body)(Check&)) {
  if (!running) throw std::logic_error("a lab suite runs inside `lab32 grade` only");
  Check& check = running->check;
  try {
    body(check);
  } catch (const TestOver&) {  // the verdict has the reason
  } catch (const MachineError& error) {
    running->machine_fault = error.what();
  } catch (const std::bad_alloc&) {
    running->machine_fault = "this machine has not enough memory";
  } catch (const doctest::detail::TestFailureException&) {
    throw;
  } catch (const std::exception& error) {
    record_check_error(check, error.what());
  } catch (...) {
    record_check_error(check, "The grader has failed here with an unknown error.");
  }
}

void run_suite(GradingSession& session, report::LabResult& lab) {
  const auto& as_passed = session.setup.counts_as_passed;
  const std::set<const RubricCheckEntry*> rows =
      rows_to_run(session.rubric.rows(), session.setup.checks);
  for (const RubricCheckEntry& row : session.rubric.rows()) {
    if (rows.count(&row) == 0 || row.credit == Credit::questions) continue;
    const bool hidden = row.hidden() && !session.setup.runs_hidden;
    if (row.dropped() || hidden || (as_passed && as_passed(row))) {
      session.passed.insert(&row);
      if (hidden && !row.dropped())
        lab.tests.push_back(not_run_result_of_hidden_check(row, session));
      continue;
    }
    run_check_and_trial(session, row, lab);
    lab.tests.back().after_due = row.hidden();
  }
  for (const report::CheckResult& test : lab.tests) {
    if (test.status == report::Status::not_run) continue;
    lab.score = report::add_points(lab.score, test.score);
    lab.max_score = report::add_points(lab.max_score, test.max_score);
  }
  if (lab.score < lab.max_score) lab.status = report::Status::failed;
  lab.message = session.time_limit.slowest_check_text(lab.tests);
}

}  // namespace lab32::grading
