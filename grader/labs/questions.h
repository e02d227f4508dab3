// A lab's questions: the submission answers by LAB32_ANSWER, data/limits/<lab>.toml has the answers
// and hints.
#pragma once

#include <optional>
#include <string>

namespace lab32::labs {

// LAB32_ANSWER(question, value) of the submission; nullopt: the file has none.
std::optional<float> answer_to(const std::string& question);

// All questions under [<table>.questions]: the test passes when each is right. A question whose
// name ends in `_time` asks for a ratio, to the nearest of the table's `options`.
// Returns whether all were.
bool ask_questions(const std::string& table);

}  // namespace lab32::labs
