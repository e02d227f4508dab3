// The questions of a lab. The submission answers with LAB32_ANSWER(question, value); the rubric
// holds the right answers and the hints.
#pragma once

#include <optional>
#include <string>

namespace lab32::grading {

struct Check;

// The value of LAB32_ANSWER(question, value) in the submission; nullopt: the file has no such
// answer.
std::optional<float> answer_to(Check& check, const std::string& question);

// The answer as the student typed it, if it is a plain number: a float would show 16777217 as
// 16777216. Otherwise `given`, the value of the expression.
std::string text_of_answer(Check& check, const std::string& question, float given);

// Whether all answers of the check `name` are right, or it asks no questions. If so, other checks
// may show details that would answer its questions, even checks that come before it.
bool answers_right(Check& check, const std::string& name);

// Asks all questions of the running check, which passes if every answer is right. A question with
// `options` asks for a ratio, and an answer counts as the nearest option. Returns whether all
// answers were right.
bool ask_questions(Check& check);

}  // namespace lab32::grading
