// Questions about a submission's own code, `lab32 ask`. draw_questions() grades the checks of a
// lab, records what their launches did, and draws a few questions whose exact answers follow from
// the records. The hash of the file and the student's id choose the questions and the inputs of the
// launches, so the same file and id always give the same questions.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grading/engine/runner.h"
#include "pictures/picture.h"

namespace lab32::asking {

// trace: what one access of the launch did. who: which thread or lane a value comes from. why: what
// a barrier is for, or which line wastes most. what_if: the effect of a change, which was run or
// computed.
enum class QuestionKind : uint8_t { trace, who, why, what_if };
const char* to_string(QuestionKind kind);

// A wrong answer, and the misconception of the hardware from which it follows.
struct MisconceptionAnswer {
  int64_t answer = 0;
  std::string misconception;
};

struct Question {
  QuestionKind kind = QuestionKind::trace;
  std::string subject;  // such as "sectors"; no two drawn questions have the same one
  std::string idea;     // the idea that it is about, as in the rubrics' key `idea`
  std::string spaced;   // the earlier lab that teaches the idea; empty: this lab does
  std::string check;    // whose launch it is about
  int line = 0;
  std::string launch;  // the kernel, its arguments and its shape
  std::string source;  // the text of the line
  std::string text;
  std::vector<std::string> options;  // if there are any, the answer is the number of one, from 1
  int64_t answer = 0;
  std::vector<MisconceptionAnswer> wrong;
  std::string reason;  // how to find the answer
  unsigned weight = 1;
  pictures::PicturedLaunch picture;  // shows the answer, if there is something to draw

  // The largest answer that can be given: the number of options; 0 if any number can.
  int64_t most() const { return static_cast<int64_t>(options.size()); }
};

// The whole question as text, with its options.
std::string text_of(const Question& question);
// What a student reads after an answer: whether it is right, and otherwise the misconception behind
// it and how to find the right one.
std::string feedback(const Question& question, int64_t given);

struct AskOptions {
  grading::GradeOptions grade;  // of one lab
  std::string check;            // name of a check, or its beginning; empty: all checks
  std::string id;               // the student's
  size_t count = 3;
  // Labs whose subject a question on a later lab may repeat; empty: all labs.
  std::vector<std::string> labs = {};
};

struct DrawnQuestions {
  std::string lab;
  std::string file;
  std::vector<Question> questions;
  std::string why_none;           // the reason if there are no questions
  std::vector<std::string> labs;  // labs whose subject a question may repeat
};

// Throws Error if the lab cannot be graded.
DrawnQuestions draw_questions(const AskOptions& options);
// JSON of the schema lab32-questions/1, for the notebook and the report page. Answers and the
// misconceptions behind wrong ones have the keys hash_of(KEY:ANSWER), in hexadecimal digits, so
// that a reader does not see which answer is right.
std::string json(const DrawnQuestions& drawn);

// ---- answers.toml, beside the file

struct GivenAnswers {
  std::string file_hash, id, check;            // of the draw
  std::map<std::string, std::string> answers;  // key_of() -> the first answer, as a salted hash
  std::vector<std::string> labs;               // of the draw: a student may have fewer labs
};

// Identifies a question.
std::string key_of(const Question& question);
// nullopt: there is no answers.toml.
std::optional<GivenAnswers> read_given_answers(const std::filesystem::path& file);
// The answers that the student has given to these questions so far.
GivenAnswers matching_or_new_given_answers(const AskOptions& options, const DrawnQuestions& drawn);
void write_given_answers(const std::filesystem::path& file, const GivenAnswers& sheet);
// Records an answer and returns true, or returns false if the question has one already: the first
// answer counts.
bool record_answer_if_first(GivenAnswers& sheet, const Question& question, int64_t given);
bool is_answered_right(const GivenAnswers& sheet, const Question& question);

// Judges the answers in answers.toml beside the file, as the result of the rubric's check with
// credit = "questions", or of a check without points if the rubric has no such check. nullopt:
// there are neither points nor answers. `id` is the student's; if it is empty, the id in
// answers.toml is believed.
std::optional<report::CheckResult> grade_answers(const grading::Rubric& rubric,
                                                 const std::filesystem::path& file,
                                                 const std::string& id = "");

}  // namespace lab32::asking
