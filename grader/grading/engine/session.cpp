#include "grading/engine/session.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "grading/engine/verdict.h"

namespace lab32::grading {
namespace {
Session* current = nullptr;
}

Session& session() {
  if (!current) throw std::logic_error("a lab suite runs inside `lab32 grade` only");
  return *current;
}

int line_of(const std::string& name) { return session().source.find(name); }

bool has_passed(const std::string& check) {
  const auto& passed = session().passed;
  return std::any_of(passed.begin(), passed.end(),
                     [&](const RubricRow* row) { return row->check == check; });
}

const RubricRow& rubric() { return *session().row; }

const RubricRow* open_prerequisite() {
  const Session& s = session();
  for (size_t i : s.row->after)
    if (const RubricRow* row = &s.rubric.rows()[i]; s.passed.count(row) == 0) return row;
  return nullptr;
}

void require_prerequisites() {
  const RubricRow* open = open_prerequisite();
  if (!open) return;
  measured("not counted");
  Failure failure{Failure::Kind::prerequisite};
  failure.subject = open->check;
  // A row with a share of its points lost has a right result.
  failure.detail =
      open->credit == Credit::all ? "the result is right" : "almost nothing is lost there";
  lose(failure);
}

CurrentSession::CurrentSession(Session& s) : before_(std::exchange(current, &s)) {}
CurrentSession::~CurrentSession() { current = before_; }

}  // namespace lab32::grading
