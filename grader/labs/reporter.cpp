#include "labs/reporter.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "labs/points.h"
#include "labs/verdict.h"

namespace lab32::labs {
namespace {

constexpr const char* kReporter = "lab32";

// doctest makes its reporters itself and hands them nothing of ours.
report::Lab* current_lab = nullptr;

// Down to hundredths, so that full points mean full marks.
double share_of(double points, double credit) {
  return credit >= 1 ? points : std::floor(points * std::max(0.0, credit) * 100 + 1e-9) / 100;
}

report::Test judge(const std::string& name, double max_score, const Verdict& v,
                   const std::string& file) {
  report::Test test;
  test.name = name;
  test.max_score = max_score;
  test.measured = v.measured;
  test.wanted = v.wanted;
  test.message = v.message;
  test.file = file;
  test.line = v.line;
  test.figures = v.figures;
  if (!v.error.empty()) {
    test.status = report::Status::error;
    test.message += (test.message.empty() ? "" : "\n") + v.error;
  } else if (v.not_run) {
    test.status = report::Status::not_run;
  } else if (v.lost || !v.failed_check.empty()) {
    test.status = report::Status::failed;
    if (test.message.empty()) test.message = "The check failed: " + v.failed_check;
  } else {
    test.status = v.credit < 1 ? report::Status::failed : report::Status::passed;
    test.score = share_of(max_score, v.credit);
  }
  return test;
}

class Reporter : public doctest::IReporter {
 public:
  explicit Reporter(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData& test) override {
    test_ = &test;
    verdict() = Verdict{};
    session().test = test.m_name;
    session().points = points_of(test);
  }

  void test_case_exception(const doctest::TestCaseException& exception) override {
    // TestOver has said what it had to say.
    if (!verdict().lost && !verdict().not_run) verdict().error = exception.error_string.c_str();
  }

  void log_assert(const doctest::AssertData& assertion) override {
    if (!assertion.m_failed || !verdict().failed_check.empty()) return;
    verdict().failed_check =
        assertion.m_threw ? assertion.m_exception.c_str() : assertion.m_decomp.c_str();
  }

  void test_case_end(const doctest::CurrentTestCaseStats&) override {
    const report::Test test =
        judge(test_->m_name, session().points, verdict(), session().source.display());
    session().passed[test.name] = test.status == report::Status::passed;
    current_lab->tests.push_back(test);
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  static double points_of(const doctest::TestCaseData& test) {
    for (const Rubric& rubric : rubrics(test.m_test_suite))
      if (rubric.line == test.m_line && rubric.file == test.m_file.c_str()) return rubric.points;
    throw std::logic_error(fmt::format("{} has no points(...)", test.m_name));
  }

  const doctest::TestCaseData* test_ = nullptr;
};

REGISTER_REPORTER(kReporter, 1, Reporter);

}  // namespace

void run_suite(Session& session, report::Lab& lab) {
  const CurrentSession current(session);
  current_lab = &lab;
  // The grader's own tests grade, too: this context then runs inside one of theirs, and doctest
  // restores all of the outer context's state but this flag.
  const bool nested = doctest::is_running_in_test;
  doctest::Context context;
  context.setOption("reporters", kReporter);
  context.setOption("test-suite", suite_of(lab.name).c_str());
  context.setOption("no-breaks", true);
  context.run();
  doctest::is_running_in_test = nested;
  current_lab = nullptr;
  for (const report::Test& test : lab.tests) {
    if (test.status == report::Status::not_run) continue;
    lab.score += test.score;
    lab.max_score += test.max_score;
  }
  if (lab.score < lab.max_score) lab.status = report::Status::failed;
}

}  // namespace lab32::labs
