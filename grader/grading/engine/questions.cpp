#include "grading/engine/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/pattern.h"
#include "grading/engine/suite.h"

namespace lab32::grading {

std::optional<float> answer_to(Check& check, const std::string& question) {
  const auto bytes = check.session.module.initial_constant("lab32_answer_" + question);
  if (!bytes || bytes->size() != sizeof(float)) return std::nullopt;
  float value;
  std::memcpy(&value, bytes->data(), sizeof(value));
  return value;
}

std::string text_of_answer(Check& check, const std::string& question, float given) {
  const Pattern answer("LAB32_ANSWER\\( *" + question + " *, *(.*[^ ]) *\\) *;");
  const auto found = answer.search(check.session.source.text_of(check.line_of(question)));
  return found ? found->at(1) : show(given);
}

namespace {

bool is_right_answer(const Question& question, double given) {
  if (question.options.empty()) return question.answer.is(given);
  const auto [least, most] = std::minmax_element(question.options.begin(), question.options.end());
  return given >= *least / 2 && given <= *most * 2 &&
         question.answer.is(nearest_option(given, question.options));
}

const std::string& hint_for(const Question& question, float given) {
  for (const auto& [answer, hint] : question.hints)
    if (static_cast<float>(answer) == given) return hint;
  return question.hint;
}

}  // namespace

bool answers_right(Check& check, const std::string& name) {
  for (const RubricRow& row : check.session.rubric.rows()) {
    if (row.check != name || !row.asks()) continue;
    for (const Question& asked : row.questions()) {
      const std::optional<float> given = answer_to(check, asked.name);
      if (!given || !is_right_answer(asked, *given)) return false;
    }
  }
  return true;
}

bool ask_questions(Check& check) {
  size_t correct = 0, asked = 0;
  std::vector<std::string> open;
  for (const Question& question : check.row.questions()) {
    ++asked;
    const int line = check.line_of(question.name);
    const std::optional<float> given = answer_to(check, question.name);
    if (!given)
      check.explain(0, fmt::format("{0}: the file has no LAB32_ANSWER({0}, ...).", question.name));
    else if (std::isnan(*given) || *given < 0)
      open.push_back(fmt::format("{} (line {})", question.name, line));
    else if (!is_right_answer(question, *given))
      check.explain(line,
                    fmt::format("It is not {}. {}", text_of_answer(check, question.name, *given),
                                hint_for(question, *given)));
    else
      ++correct;
  }
  if (!open.empty()) check.explain(0, fmt::format("Not answered yet: {}.", fmt::join(open, ", ")));
  check.measured(fmt::format("{} of {} right", correct, asked));
  check.expected("all right");
  check.figure("questions", static_cast<double>(asked));
  check.figure("right", static_cast<double>(correct));
  if (correct == asked) return true;
  Failure failure{Failure::Kind::wrong_answer};
  failure.measured = static_cast<double>(correct);
  failure.expected = static_cast<double>(asked);
  check.fail(failure);
  return false;
}

}  // namespace lab32::grading
