// Questions about a submission's own code, `lab32 ask`. draw() grades the checks of a lab, records
// what their launches did, and draws a few questions whose exact answers follow from the records.
// The hash of the file and the student's id choose the questions and the inputs of the launches, so
// the same file and id always give the same questions.
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
// a barrier is for, and which line wastes. what_if: a change, whose effect was run or computed.
enum class Kind : uint8_t { trace, who, why, what_if };
const char* to_string(Kind kind);

// An answer that follows from a wrong model of the hardware.
struct WrongModel {
  int64_t answer = 0;
  std::string misconception;
};

struct Question {
  Kind kind = Kind::trace;
  std::string subject;  // "sectors", "bank", "writer", ...: a draw has each at most once
  std::string idea;     // the rubric's `ideas` of the lab that teaches it
  std::string spaced;   // the earlier lab whose idea it repeats; empty: a question of this lab
  std::string check;    // whose launch it is about
  int line = 0;
  std::string launch;  // the kernel, its arguments and its shape
  std::string source;  // the text of the line
  std::string text;
  std::vector<std::string> options;  // if not empty, the answer is the number of one, from 1
  int64_t answer = 0;
  std::vector<WrongModel> wrong;
  std::string reason;  // how to find the answer
  unsigned weight = 1;
  pictures::Launch picture;  // of the access, the shuffles or the race; may have none of them

  // The most that an answer may be; 0: any number.
  int64_t most() const { return static_cast<int64_t>(options.size()); }
};

// The whole question as text, with its options.
std::string text_of(const Question& question);
// What a student reads after an answer: whether it is right, and otherwise the misconception behind
// it and how to find the right one.
std::string feedback(const Question& question, int64_t given);

struct AskOptions {
  grading::GradeOptions grade;  // of one lab
  std::string check;            // a check, or how its name begins; empty: any
  std::string id;               // the student's
  size_t count = 3;
};

struct Drawn {
  std::string lab;
  std::string file;
  std::vector<Question> questions;
  std::string why_none;  // if there are fewer questions than asked for: the reason
};

// Throws Error if the lab cannot be graded.
Drawn draw(const AskOptions& options);
// Schema lab32-questions/1, for the notebook and the report page. Answers and the misconceptions
// behind wrong ones are stored under hash_of(KEY:ANSWER) in hexadecimal digits.
std::string json(const Drawn& drawn);

// ---- answers.toml, beside the file

struct AnswerSheet {
  std::string file_hash, id, check;            // of the draw
  std::map<std::string, std::string> answers;  // key_of() -> the first answer, as a salted hash
};

// Identifies a question.
std::string key_of(const Question& question);
// nullopt: there is no answers.toml.
std::optional<AnswerSheet> read_answers(const std::filesystem::path& file);
// The answers that were given to this draw so far.
AnswerSheet sheet_for(const AskOptions& options, const Drawn& drawn);
void write_answers(const std::filesystem::path& file, const AnswerSheet& sheet);
// Adds an answer. Returns false if an earlier one stays: the first answer counts.
bool record_answer(AnswerSheet& sheet, const Question& question, int64_t given);
bool is_right(const AnswerSheet& sheet, const Question& question);

// Judges the answers beside the file: the result of the rubric's check with credit = "questions",
// or of a check without points if it has none. nullopt: there are neither points nor answers. `id`:
// the student's; empty: not known, so that the sheet's own is believed.
std::optional<report::Test> judge(const grading::Rubric& rubric, const std::filesystem::path& file,
                                  const std::string& id = "");

}  // namespace lab32::asking
