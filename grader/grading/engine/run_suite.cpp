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
#include "grading/engine/quiet_reporter.h"
#include "grading/engine/registry.h"
#include "grading/engine/session.h"
#include "grading/engine/verdict.h"
#include "grading/launch/launch_pictures.h"

namespace lab32::grading {
namespace {

constexpr const char* kReporter = "lab32";

// doctest makes its reporters itself and hands them nothing of ours.
report::Lab* current_lab = nullptr;

// What went wrong with the machine in a check: doctest would go on with the next.
std::string machine_fault;

REGISTER_EXCEPTION_TRANSLATOR(const MachineError& error) {
  machine_fault = error.what();
  return error.what();
}
REGISTER_EXCEPTION_TRANSLATOR(const std::bad_alloc&) {
  machine_fault = "there is not enough memory on this machine";
  return machine_fault.c_str();
}

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

void end_check(report::Lab& lab) {
  Session& s = session();
  if (verdict().lost && s.trial.judging() && !is_out_of_time(verdict()))
    explain(0, ScheduleTrial::explanation());
  if (verdict().lost && s.row->credit == Credit::all && !is_out_of_time(verdict())) {
    // A warning is of the whole file, so it is told once.
    const std::string odd = s.undefined_amount.empty()
                                ? std::exchange(s.shift_warning, std::string())
                                : s.undefined_amount;
    if (!odd.empty()) explain(0, odd);
  }
  if (verdict().lost && !s.printed.empty()) explain(0, s.printed);
  if (!verdict().withheld.empty() && !verdict().lost)
    explain(0, "Until `" + verdict().withheld +
                   "` is answered, the points for this count come in whole quarters: finer ones "
                   "would tell the count.");
  report::Test test = result_of(*s.row, verdict(), s.source.display());
  add_pictures(test);
  lab.tests.push_back(test);
  if (test.score > 0 && open_prerequisite())
    throw std::logic_error(test.name + " has points before what it comes after");
  if (is_reached(*s.row, test)) s.passed.insert(s.row);
}

class Reporter : public QuietReporter {
 public:
  explicit Reporter(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData&) override { verdict() = Verdict{}; }

  void test_case_exception(const doctest::TestCaseException& exception) override {
    // TestOver has said what it had to say, or had nothing to say (end_if_judged).
    if (verdict().lost || verdict().not_run || session().trial.judged()) return;
    verdict().error = exception.error_string.c_str();
    if (verdict().error == "unknown exception")  // doctest's words
      verdict().error = "The grader has failed here with an error that it does not know.";
  }

  void log_assert(const doctest::AssertData& assertion) override {
    if (!assertion.m_failed || !verdict().failed_check.empty()) return;
    verdict().failed_check =
        assertion.m_threw ? assertion.m_exception.c_str() : assertion.m_decomp.c_str();
  }

  void test_case_end(const doctest::CurrentTestCaseStats&) override { end_check(*current_lab); }
};

REGISTER_REPORTER(kReporter, 1, Reporter);

}  // namespace

namespace {

// A context of its own for each check: they run in the order of the rubric, not of files.
void run_check(const std::string& lab, size_t place) {
  // The grader's own tests grade, too: this context then runs inside one of theirs, and doctest
  // restores all of the outer context's state but this flag.
  const bool nested = doctest::is_running_in_test;
  const size_t before = current_lab->tests.size();
  const auto start = std::chrono::steady_clock::now();
  doctest::Context context;
  context.setOption("reporters", kReporter);
  context.setOption("test-suite", suite_of(lab).c_str());
  context.setOption("first", static_cast<int>(place));
  context.setOption("last", static_cast<int>(place));
  context.setOption("no-breaks", true);
  context.run();
  doctest::is_running_in_test = nested;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (current_lab->tests.size() > before)
    current_lab->tests.back().seconds = std::round(taken.count() * 1e3) / 1e3;
}

// A bonus that cannot be had here counts for nothing, whatever the time.
void require_time() {
  const Session& s = session();
  if (!s.time_limit.used_up()) return;
  if (s.row->bonus && !s.time.timer) not_run({NotRun::Kind::no_gpu, s.device.name()});
  measured("not run");
  lose(s.time_limit.failure());
}

// Whether the running check may begin; if not, it has ended.
bool may_begin(report::Lab& lab) {
  verdict() = Verdict{};
  try {
    if (!session().row->bonus) require_prerequisites();
    require_time();
    return true;
  } catch (const TestOver&) {
    end_check(lab);
    return false;
  }
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

void run_suite(Session& session, report::Lab& lab) {
  const CurrentSession current(session);
  current_lab = &lab;
  machine_fault.clear();
  const std::set<const RubricRow*> rows = needed(session.rubric.rows(), session.checks);
  for (const RubricRow& row : session.rubric.rows()) {
    if (rows.count(&row) == 0) continue;
    session.row = &row;
    session.printed.clear();
    session.undefined_amount.clear();
    session.withheld.clear();
    session.trial = {};
    session.pictures = session.last_pictures = nullptr;
    session.sharing_launch = false;
    session.mappings.clear();
    if (session.counts_as_passed && session.counts_as_passed(row)) {
      session.passed.insert(&row);
      continue;
    }
    if (!may_begin(lab)) continue;
    session.trial = ScheduleTrial(stream_of(session.seed, row.check + ", other order"));
    const WorkTimer watch;
    run_check(lab.name, row.place);
    if (row.bonus && session.time.timer) session.time_limit.leave_out(watch.seconds());
    if (!machine_fault.empty()) throw MachineError(machine_fault);
    if (session.trial.differs() && lab.tests.back().status == report::Status::passed) {
      const report::Test in_order = lab.tests.back();
      lab.tests.pop_back();
      session.passed.erase(&row);
      session.trial.judge();
      run_check(lab.name, row.place);
      const double seconds = in_order.seconds + lab.tests.back().seconds;
      if (lab.tests.back().status == report::Status::passed) lab.tests.back() = in_order;
      lab.tests.back().seconds = seconds;
    }
  }
  session.row = nullptr;
  current_lab = nullptr;
  for (const report::Test& test : lab.tests) {
    if (test.status == report::Status::not_run) continue;
    lab.score = report::add_points(lab.score, test.score);
    lab.max_score = report::add_points(lab.max_score, test.max_score);
  }
  if (lab.score < lab.max_score) lab.status = report::Status::failed;
  lab.message = session.time_limit.what_took_it(lab.tests);
}

}  // namespace lab32::grading
