// What the TEST_CASE that is running says about itself; the reporter makes a report::Test of it.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace lab32::labs {

// The score board's two columns: short.
void measured(std::string text);
void wanted(std::string text);

// A number for those who read results by machine.
void figure(const std::string& name, double value);

// What is wrong and which idea mends it, with the line of the student's file (0: none in
// particular). The source line is quoted. Later words are added to earlier ones.
void explain(int line, const std::string& message);

// Proportional points: ideal / reached, at most 1. Several in one test multiply.
void credit(double ideal, double reached);

// Thrown to end a test whose verdict is complete. Carries nothing: the verdict does.
struct TestOver {};

// The test is lost here and now: nothing after this could be judged.
[[noreturn]] void lose(int line, const std::string& message);

// What this test needs cannot be had here. It counts neither for nor against.
[[noreturn]] void not_run(const std::string& reason);

// Behind the functions above; made and read by the reporter.
struct Verdict {
  std::string measured, wanted, message;
  int line = 0;
  std::map<std::string, double> figures;
  double credit = 1;
  bool lost = false;
  bool not_run = false;
  std::string failed_check;  // the first CHECK that failed, in doctest's words
  std::string error;         // the message of an Error, or of any other exception
};

Verdict& verdict();

}  // namespace lab32::labs
