#include "grading/engine/prerequisites.h"

#include "grading/engine/session.h"
#include "grading/engine/verdict.h"

namespace lab32::grading {

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

}  // namespace lab32::grading
