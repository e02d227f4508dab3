#include "labs/questions.h"

#include <fmt/format.h>

#include <cmath>

#include "labs/rule.h"
#include "labs/suite.h"

namespace lab32::labs {

std::optional<float> answer_to(const std::string& question) {
  const auto bytes = session().module.read_symbol("lab32_answer_" + question);
  if (!bytes || bytes->size() != sizeof(float)) return std::nullopt;
  float value;
  std::memcpy(&value, bytes->data(), sizeof(value));
  return value;
}

namespace {

// Times are asked for to the nearest of a few ratios: nearest as ratios go, by their logarithms.
double nearest(double value, const std::vector<double>& options) {
  double best = options.front();
  for (double option : options)
    if (std::abs(std::log(value / option)) < std::abs(std::log(value / best))) best = option;
  return best;
}

bool right(const Rule& rule, const std::string& question, double given, double answer) {
  const std::string suffix = "_time";
  const bool time = question.size() > suffix.size() &&
                    question.compare(question.size() - suffix.size(), suffix.size(), suffix) == 0;
  if (!time) return given == answer;
  const std::vector<double> options = rule.numbers("options");
  return given > 0 && nearest(given, options) == nearest(answer, options);
}

}  // namespace

bool ask_questions(const std::string& table) {
  const Rule rule(table);
  const Limits& limits = session().limits;
  const std::string questions = table + ".questions";
  size_t correct = 0, asked = 0;
  std::vector<std::string> open;
  for (const std::string& question : limits.keys(questions)) {
    ++asked;
    const std::string key = questions + "." + question;
    const int line = session().source.find(question);
    const std::optional<float> given = answer_to(question);
    if (!given)
      explain(0, fmt::format("{}: the file has no LAB32_ANSWER({}, ...).", question, question));
    else if (std::isnan(*given) || *given < 0)
      open.push_back(fmt::format("{} (line {})", question, line));
    else if (!right(rule, question, *given, limits.number(key + ".answer")))
      explain(line, fmt::format("It is not {}. {}", show(*given), limits.text(key + ".hint")));
    else
      ++correct;
  }
  if (!open.empty()) explain(0, fmt::format("Not answered yet: {}.", fmt::join(open, ", ")));
  measured(fmt::format("{} of {} right", correct, asked));
  wanted("all right");
  figure("questions", static_cast<double>(asked));
  figure("right", static_cast<double>(correct));
  CHECK(correct == asked);
  return correct == asked;
}

}  // namespace lab32::labs
