#include "grading/engine/session.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

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

CurrentSession::CurrentSession(Session& s) : before_(std::exchange(current, &s)) {}
CurrentSession::~CurrentSession() { current = before_; }

}  // namespace lab32::grading
