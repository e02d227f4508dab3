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
#include "base/work_time.h"
#include "grading/engine/check.h"
#include "grading/engine/registry.h"
#include "grading/launch/launch_pictures.h"

namespace lab32::grading {
namespace {

constexpr const char* kReporter = "lab32";

// doctest makes its reporters itself and hands them nothing of ours, and its test cases take no
// arguments: both find the check that runs here, and nothing outside this file does.
struct Running {
  Check& check;
  // What went wrong with the machine: doctest would go on with the next check.
  std::string machine_fault = {};
};
Running* running = nullptr;

// Down to hundredths, so that full points mean full marks.
double part_of(double points, double credit) {
  return credit >= 1 ? points : std::floor(points * std::max(0.0, credit) * 100 + 1e-9) / 100;
}

// The rubric decides how much of a share counts.
double score_of(const RubricRow& row, const Verdict& v) {
  if (row.credit == Credit::share)
    return part_of(row.points, v.withheld.empty() ? v.credit : std::floor(4 * v.credit) / 4);
  return v.credit >= 1 ? row.points : 0;
}

// A share cannot be given of what a check does not measure as one.
std::string misfit(const RubricRow& row, const Verdict& v) {
  if (row.credit == Credit::all || v.has_share) return "";
  return fmt::format("its rubric has credit = \"share\", and this check passes or fails: \"all\"");
}

report::Test result_of(const RubricRow& row, const Verdict& v, const std::string& file) {
  report::Test test;
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
  const std::string error = v.error.empty() && !ended ? misfit(row, v) : v.error;
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
    if (!passed) test.failure = v.failure.value_or(Failure{});
    if (!passed && !v.withheld.empty()) test.failure->measured.reset();
    if (ended && test.message.empty()) test.message = "The check failed: " + v.failed_check;
  }
  return test;
}

// What comes after a check may count once so much of it is reached: a warp's worth of waste here
// is no reason to lose all of that.
constexpr double kReached = 0.98;

bool is_reached(const RubricRow& row, const report::Test& test) {
  return test.status == report::Status::passed ||
         (row.credit == Credit::share && test.status == report::Status::failed &&
          test.max_score > 0 && test.score >= kReached * test.max_score);
}

bool is_out_of_time(const Verdict& v) {
  return v.failure && v.failure->kind == Failure::Kind::time_limit;
}

void end_check(Check& check, report::Lab& lab) {
  Session& s = check.session;
  const Verdict& verdict = check.verdict;
  if (verdict.lost && check.trial.judging() && !is_out_of_time(verdict))
    check.explain(0, ScheduleTrial::explanation());
  if (verdict.lost && check.row.credit == Credit::all && !is_out_of_time(verdict)) {
    // A warning is of the whole file, so it is told once.
    const std::string why = check.undefined_amount.empty()
                                ? std::exchange(s.shift_warning, std::string())
                                : check.undefined_amount;
    if (!why.empty()) check.explain(0, why);
  }
  if (verdict.lost && !check.printed.empty()) check.explain(0, check.printed);
  if (!verdict.withheld.empty() && !verdict.lost)
    check.explain(0, "Until `" + verdict.withheld +
                         "` is answered, the points for this count are rounded to quarters, so "
                         "that they do not reveal the count.");
  report::Test test = result_of(check.row, verdict, s.source.display());
  add_pictures(check, test);
  lab.tests.push_back(test);
  if (test.score > 0 && check.open_prerequisite())
    throw std::logic_error(test.name + " has points before what it comes after");
  if (is_reached(check.row, test)) s.passed.insert(&check.row);
}

// Says nothing, and remembers the first CHECK that failed.
class Reporter : public doctest::IReporter {
 public:
  explicit Reporter(const doctest::ContextOptions&) {}

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
  void log_assert(const doctest::AssertData& assertion) override {
    std::string& failed = running->check.verdict.failed_check;
    if (!assertion.m_failed || !failed.empty()) return;
    failed = assertion.m_threw ? assertion.m_exception.c_str() : assertion.m_decomp.c_str();
  }
};

REGISTER_REPORTER(kReporter, 1, Reporter);

// The check's own error, unless the check has ended before it.
void note_error(Check& check, const std::string& error) {
  if (check.verdict.lost || check.verdict.not_run || check.trial.judged()) return;
  check.verdict.error = error;
}

// A context of its own for each check: they run in the order of the rubric, not of files.
void run_in_context(Check& check) {
  // The grader's own tests grade, too: this context then runs inside one of theirs. doctest
  // restores all of the outer context's state but this flag, without which the outer test's next
  // CHECK would end the process.
  const bool nested = doctest::is_running_in_test;
  Running now{check};
  Running* const before = std::exchange(running, &now);
  const int place = static_cast<int>(check.row.place);
  doctest::Context context;
  context.setOption("reporters", kReporter);
  context.setOption("test-suite", suite_of(check.session.rubric.lab()).c_str());
  context.setOption("first", place);
  context.setOption("last", place);
  context.setOption("no-breaks", true);
  context.run();
  doctest::is_running_in_test = nested;
  running = before;
  if (!now.machine_fault.empty()) throw MachineError(now.machine_fault);
}

void run_check(Check& check, report::Lab& lab) {
  const auto start = std::chrono::steady_clock::now();
  check.verdict = Verdict{};
  run_in_context(check);
  end_check(check, lab);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  lab.tests.back().seconds = std::round(taken.count() * 1e3) / 1e3;
}

// A bonus that cannot be had here counts for nothing, whatever the time.
void require_time(Check& check) {
  const Session& s = check.session;
  if (!s.time_limit.used_up()) return;
  if (check.row.bonus && !s.time.timer)
    check.not_run({NotRun::Kind::no_gpu, check.device().name()});
  check.measured("not run");
  check.lose(s.time_limit.failure());
}

// Whether the check may begin; if not, it has ended.
bool may_begin(Check& check, report::Lab& lab) {
  try {
    if (!check.row.bonus) check.require_prerequisites();
    require_time(check);
    return true;
  } catch (const TestOver&) {
    end_check(check, lab);
    return false;
  }
}

// Runs the check, and once more where one of its launches gave something else in another order.
void run_row(Session& session, const RubricRow& row, report::Lab& lab) {
  Check check(session, row);
  if (!may_begin(check, lab)) return;
  const WorkTimer watch;
  run_check(check, lab);
  if (row.bonus && session.time.timer) session.time_limit.leave_out(watch.seconds());
  if (!check.trial.differs() || lab.tests.back().status != report::Status::passed) return;
  const report::Test in_order = lab.tests.back();
  lab.tests.pop_back();
  session.passed.erase(&row);
  check.trial.judge();
  run_check(check, lab);
  const double seconds = in_order.seconds + lab.tests.back().seconds;
  if (lab.tests.back().status == report::Status::passed) lab.tests.back() = in_order;
  lab.tests.back().seconds = seconds;
}

// The rows of `checks`, those that must have passed before them, and all questions: what one asks,
// a check must not show. All rows where no check is named.
std::set<const RubricRow*> needed(const std::vector<RubricRow>& rows,
                                  const std::vector<std::string>& checks) {
  std::set<const RubricRow*> found;
  // A row comes behind those that it needs.
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const bool named = std::find(checks.begin(), checks.end(), row->check) != checks.end();
    if (checks.empty() || named || row->asks()) found.insert(&*row);
    if (found.count(&*row) == 0) continue;
    for (const size_t i : row->after) found.insert(&rows[i]);
  }
  return found;
}

}  // namespace

void run_in_suite(void (*body)(Check&)) {
  if (!running) throw std::logic_error("a lab suite runs inside `lab32 grade` only");
  Check& check = running->check;
  try {
    body(check);
  } catch (const TestOver&) {  // the verdict says why
  } catch (const MachineError& error) {
    running->machine_fault = error.what();
  } catch (const std::bad_alloc&) {
    running->machine_fault = "this machine has not enough memory";
  } catch (const doctest::detail::TestFailureException&) {
    throw;  // a REQUIRE, which log_assert() has seen
  } catch (const std::exception& error) {
    note_error(check, error.what());
  } catch (...) {
    note_error(check, "The grader has failed here with an unknown error.");
  }
}

void run_suite(Session& session, report::Lab& lab) {
  const auto& as_passed = session.setup.counts_as_passed;
  const std::set<const RubricRow*> rows = needed(session.rubric.rows(), session.setup.checks);
  for (const RubricRow& row : session.rubric.rows()) {
    if (rows.count(&row) == 0) continue;
    if (as_passed && as_passed(row))
      session.passed.insert(&row);
    else
      run_row(session, row, lab);
  }
  for (const report::Test& test : lab.tests) {
    if (test.status == report::Status::not_run) continue;
    lab.score = report::add_points(lab.score, test.score);
    lab.max_score = report::add_points(lab.max_score, test.max_score);
  }
  if (lab.score < lab.max_score) lab.status = report::Status::failed;
  lab.message = session.time_limit.what_took_it(lab.tests);
}

}  // namespace lab32::grading
