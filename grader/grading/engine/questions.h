// A lab's questions: the submission answers by LAB32_ANSWER, the rubric has the answers and hints.
#pragma once

#include <optional>
#include <string>

namespace lab32::grading {

struct Check;

// LAB32_ANSWER(question, value) of the submission; nullopt: the file has none.
std::optional<float> answer_to(Check& check, const std::string& question);

// The answer as the submission's line has it, where it is a number there: "16777217", which a float
// rounds to 16777216. Otherwise `given`, the value of the expression.
std::string text_of_answer(Check& check, const std::string& question, float given);

// Whether its answers to all questions of that check are right, or it asks none. What they ask may
// be shown then, also by a check that comes before.
bool answers_right(Check& check, const std::string& name);

// All questions of the running check: it passes when each is right. A question with `options` asks
// for a ratio, to the nearest of these. Returns whether all were.
bool ask_questions(Check& check);

}  // namespace lab32::grading
