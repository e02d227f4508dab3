#include "grading/engine/verdict.h"

#include <algorithm>
#include <utility>

#include "grading/engine/session.h"
#include "grading/words/words.h"

namespace lab32::grading {
namespace {

// The costliest share is the one whose failure is told.
void note_share(double share, const Failure& failure) {
  Verdict& v = verdict();
  v.has_share = true;
  if (share >= v.worst_share) return;
  v.worst_share = share;
  v.failure = failure;
}

// Nothing moved where nothing had to: full credit, not 0 / 0.
double share_of(double ideal, double reached) { return reached > ideal ? ideal / reached : 1; }

Failure waste(double ideal, double reached) {
  Failure failure{Failure::Kind::wasteful};
  failure.measured = reached;
  failure.expected = ideal;
  return failure;
}

}  // namespace

Verdict& verdict() {
  static Verdict current;
  return current;
}

void measured(std::string text) { verdict().measured = std::move(text); }
void expected(std::string text) { verdict().expected = std::move(text); }
void figure(const std::string& name, double value) { verdict().figures[name] = value; }

void explain(int line, const std::string& message) {
  Verdict& v = verdict();
  if (!v.message.empty()) v.message += "\n";
  if (line > 0) {
    if (v.line == 0) v.line = line;
    v.message += session().source.quote(line) + "\n";
  }
  v.message += message;
}

void credit(double ideal, double reached) {
  credit_share(share_of(ideal, reached), waste(ideal, reached));
}

void credit_at_most(double ideal, double reached) {
  const double share = share_of(ideal, reached);
  verdict().credit = std::min(verdict().credit, share);
  note_share(share, waste(ideal, reached));
}

void credit_share(double share, const Failure& failure) {
  verdict().credit *= std::min(share, 1.0);
  note_share(share, failure);
}

void withhold_count(const std::string& question) {
  const std::string name = question.substr(0, question.find(' '));
  measured("too many: see " + name);
  verdict().withheld = question;
  session().counts_withheld = true;
}

void fail(const Failure& failure) {
  verdict().lost = true;
  verdict().failure = failure;
}

void lose(const Failure& failure, int line, const std::string& message) {
  fail(failure);
  explain(line, message);
  throw TestOver{};
}

void lose(const Failure& failure, int line) { lose(failure, line, words(failure)); }

void lose(int line, const std::string& message) { lose(Failure{}, line, message); }

void not_run(const NotRun& reason) {
  verdict().not_run = reason;
  verdict().message = words(reason);
  throw TestOver{};
}

}  // namespace lab32::grading
