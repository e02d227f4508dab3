// A check that runs: what it works with, what its launches have left, and what it says about
// itself. The runner makes a report::Test of it (run_suite.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/engine/session.h"
#include "grading/launch/schedule_trial.h"
#include "report/result.h"

namespace lab32::grading {

class DeviceArray;
using report::Failure;
using report::NotRun;

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

// Thrown to end a check whose verdict is complete. Carries nothing: the verdict does.
struct TestOver {};

struct Check {
  Check(Session& of_lab, const RubricRow& of_check);
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  Session& session;
  const RubricRow& row;
  Verdict verdict = {};

  std::vector<DeviceArray*> arrays = {};  // as they were allocated
  std::vector<Region> launched = {};      // the arrays of the last launch
  std::string printed = {};               // what that launch has printed, for a message
  ScheduleTrial trial;                    // of the launches
  bool sharing_launch = false;            // the launch that runs will be a SharedLaunch
  std::string withheld = {};              // the check that asks what this one could tell
  std::string undefined_amount = {};      // the first shift or shuffle by such an amount
  // Where pictures are wanted: those of the last launch, and of the one that wasted most.
  std::shared_ptr<const pictures::Launch> last_pictures = {}, pictures = {};
  std::vector<pictures::Mapping> mappings = {};  // to be drawn, too

  device::Device& device() const { return session.setup.device; }
  // The check's own stream.
  Random random() const { return Random(stream_of(session.setup.seed, row.check)); }
  // Where the submission defines a kernel or a function; 0: it does not.
  int line_of(const std::string& name) const { return session.source.find(name); }
  // Whether the check of that name has been passed, or nearly.
  bool has_passed(const std::string& check) const;
  // A kernel that does nothing is fast: the first prerequisite that has not passed; null: all have.
  const RubricRow* open_prerequisite() const;
  // The check is lost unless all have passed. The runner asks before the check begins; of a bonus,
  // credit_speed and credit_step ask, once they know whether this machine can time it.
  void require_prerequisites();

  // The score report's two columns: short.
  void measured(std::string text) { verdict.measured = std::move(text); }
  void expected(std::string text) { verdict.expected = std::move(text); }

  // A number for those who read results by machine.
  void figure(const std::string& name, double value) { verdict.figures[name] = value; }

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
};

}  // namespace lab32::grading
