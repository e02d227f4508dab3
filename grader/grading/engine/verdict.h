// What the check that is running says about itself; the reporter makes a report::Test of it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "report/result.h"

namespace lab32::grading {

using report::Failure;
using report::NotRun;

// The score report's two columns: short.
void measured(std::string text);
void expected(std::string text);

// A number for those who read results by machine.
void figure(const std::string& name, double value);

// What is wrong and which idea fixes it, with the line of the student's file (0: none in
// particular). The source line is quoted. Later words are added to earlier ones.
void explain(int line, const std::string& message);

// What was measured is worth ideal / reached of the points, at most all. Several in one check
// multiply.
void credit(double ideal, double reached);
// The same, but the worst of several decides.
void credit_at_most(double ideal, double reached);
// Worth `share` of the points, at most all; below 1 for the reason `failure`.
void credit_share(double share, const Failure& failure);

// The count is more than is needed, and `question` asks what it is made of: until that has been
// passed it is not told. Its points would tell it, so they come in whole quarters.
void withhold_count(const std::string& question);

// Thrown to end a check whose verdict is complete. Carries nothing: the verdict does.
struct TestOver {};

// The check is lost here and now: nothing after this could be judged. Without a message: words.h
// has one for such a failure.
[[noreturn]] void lose(const Failure& failure, int line, const std::string& message);
[[noreturn]] void lose(const Failure& failure, int line = 0);

// The check is lost, and goes on: there is more to say.
void fail(const Failure& failure);

// Lost for a wrong result.
[[noreturn]] void lose(int line, const std::string& message);

// What this check needs cannot be had here. It counts neither for nor against.
[[noreturn]] void not_run(const NotRun& reason);

// Behind the functions above; made and read by the reporter.
struct Verdict {
  std::string measured, expected, message;
  int line = 0;
  std::map<std::string, double> figures;
  double credit = 1;
  bool has_share = false;     // one of credit...() was called
  double worst_share = 1;     // whose failure is kept
  std::string withheld = {};  // the question that a count's number waits for
  bool lost = false;
  std::optional<Failure> failure;
  std::optional<NotRun> not_run;
  std::string failed_check;  // the first CHECK that failed, in doctest's words
  std::string error;         // the message of an Error, or of any other exception
};

Verdict& verdict();

}  // namespace lab32::grading
