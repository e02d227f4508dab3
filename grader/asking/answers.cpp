// The texts of questions; and the answers of a student, in answers.toml beside the file, and their
// judgement. The file has salted hashes of the answers, the hash of the submission, and the
// student's id. A grading draws the same questions again, so answers to another version of the file
// count for nothing.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "asking/question.h"
#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/text.h"
#include "base/toml_file.h"
#include "pictures/picture.h"

namespace lab32::asking {

const char* to_string(QuestionKind kind) {
  switch (kind) {
    case QuestionKind::trace:
      return "trace";
    case QuestionKind::who:
      return "who";
    case QuestionKind::why:
      return "why";
    case QuestionKind::what_if:
      return "what if";
  }
  return "";
}

std::string text_of(const Question& question) {
  std::string out = question.launch + "\n";
  if (question.line > 0) out += fmt::format("Line {}:\n    {}\n", question.line, question.source);
  out += question.text + "\n";
  for (size_t i = 0; i < question.options.size(); ++i)
    out += fmt::format("    {}  {}\n", i + 1, question.options[i]);
  return out;
}

std::string feedback(const Question& question, int64_t given) {
  if (given == question.answer) return "Right.";
  std::string text = question.options.empty() ? fmt::format("It is not {}.", given)
                                              : fmt::format("It is not option {}.", given);
  for (const MisconceptionAnswer& wrong : question.wrong)
    if (wrong.answer == given) text += " " + wrong.misconception;
  return text + " " + question.reason;
}

namespace {

namespace fs = std::filesystem;
using grading::AnswerOrHash;
using report::Status;

constexpr size_t kMostBytes = 1 << 16;  // limit of answers.toml, which a student hands in

std::string hex(uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string hash_of_file(const fs::path& file) {
  return hex(hash_of(read_file(file).value_or("")));
}

fs::path sheet_beside(const fs::path& file) { return file.parent_path() / "answers.toml"; }

std::string string_value_or_empty(const toml::table& table, const char* key) {
  return table[key].value_or(std::string());
}

}  // namespace

std::string key_of(const Question& question) { return hex(hash_of(text_of(question))); }

std::optional<GivenAnswers> read_given_answers(const fs::path& file) {
  const fs::path path = sheet_beside(file);
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  GivenAnswers sheet;
  if (fs::file_size(path, error) > kMostBytes || error) return sheet;
  toml::table table;
  try {
    table = read_toml(path);
  } catch (const MachineError&) {
    throw;
  } catch (const Error&) {  // the file has no answer that can be read
    return sheet;
  }
  sheet.file_hash = string_value_or_empty(table, "file");
  sheet.id = string_value_or_empty(table, "id");
  sheet.check = string_value_or_empty(table, "check");
  if (const toml::array* labs = table["labs"].as_array())
    for (const toml::node& lab : *labs) sheet.labs.push_back(lab.value_or(std::string()));
  if (const toml::table* answers = table["answers"].as_table())
    for (auto&& [key, node] : *answers)
      sheet.answers[std::string(key.str())] = node.value_or(std::string());
  return sheet;
}

GivenAnswers matching_or_new_given_answers(const AskOptions& options, const DrawnQuestions& drawn) {
  GivenAnswers fresh{hash_of_file(drawn.file), options.id, options.check, {}, drawn.labs};
  const auto known = read_given_answers(drawn.file);
  const bool same = known && known->file_hash == fresh.file_hash && known->id == fresh.id &&
                    known->check == fresh.check;
  return same ? *known : fresh;
}

void write_given_answers(const fs::path& file, const GivenAnswers& sheet) {
  toml::table answers;
  for (const auto& [key, answer] : sheet.answers) answers.insert_or_assign(key, answer);
  toml::array labs;
  for (const std::string& lab : sheet.labs) labs.push_back(lab);
  const toml::table table{{"file", sheet.file_hash},
                          {"labs", std::move(labs)},
                          {"id", sheet.id},
                          {"check", sheet.check},
                          {"answers", std::move(answers)}};
  std::ostringstream text;
  text << "# The answers of `lab32 ask`, hashed, for this version of the file. Hand it in with the "
          "file.\n"
       << table << "\n";
  write_file(sheet_beside(file).string(), text.str(), "lab32 ask");
}

bool record_answer_if_first(GivenAnswers& sheet, const Question& question, int64_t given) {
  return sheet.answers
      .try_emplace(key_of(question), AnswerOrHash(static_cast<double>(given)).answer_hash())
      .second;
}

bool is_answered_right(const GivenAnswers& sheet, const Question& question) {
  const auto found = sheet.answers.find(key_of(question));
  if (found == sheet.answers.end()) return false;
  const auto sealed = AnswerOrHash::from_answer_hash(found->second);
  return sealed && sealed->equals_number(static_cast<double>(question.answer));
}

namespace {

// Writes into the test how many questions of each kind were asked and answered rightly, and the
// points: their share that is right.
void score_answers(const DrawnQuestions& drawn, const GivenAnswers& sheet,
                   report::CheckResult& test) {
  size_t right = 0;
  std::vector<std::string> wrong;
  for (const Question& question : drawn.questions) {
    const bool ok = is_answered_right(sheet, question);
    right += ok;
    test.figures[fmt::format("{} asked", to_string(question.kind))] += 1;
    test.figures[fmt::format("{} right", to_string(question.kind))] += ok;
    test.figures["asked"] += 1;
    test.figures["right"] += ok;
    if (!ok) wrong.push_back(fmt::format("{} (line {})", question.subject, question.line));
  }
  test.measured = fmt::format("{} of {} right", right, drawn.questions.size());
  if (!sheet.id.empty()) test.measured += ", id " + visible_name(sheet.id);
  test.score =
      test.max_score * static_cast<double>(right) / static_cast<double>(drawn.questions.size());
  test.score = static_cast<double>(static_cast<int64_t>(test.score * 100)) / 100;
  if (wrong.empty()) {
    test.status = Status::passed;
    return;
  }
  test.message = fmt::format("Not answered, or not right at first: {}.", fmt::join(wrong, ", "));
}

// Draws the questions of the sheet. The student has drawn them by the rubric of the course, which
// may leave checks out, or by that of lab32.
DrawnQuestions redraw_questions_of_sheet(const grading::Rubric& rubric, const fs::path& file,
                                         const GivenAnswers& sheet) {
  AskOptions options;
  options.grade.labs = {rubric.lab()};
  options.grade.files = {{rubric.lab(), file}};
  options.grade.rubric = fs::path(rubric.folder());
  options.id = sheet.id;
  options.check = sheet.check;
  options.labs = sheet.labs;
  DrawnQuestions drawn = draw_questions(options);
  const bool is_answered =
      std::any_of(drawn.questions.begin(), drawn.questions.end(),
                  [&](const Question& q) { return sheet.answers.count(key_of(q)) > 0; });
  if (is_answered || options.grade.rubric == grading::rubric_folder(rubric.lab())) return drawn;
  options.grade.rubric = grading::rubric_folder(rubric.lab());
  return draw_questions(options);
}

}  // namespace

std::optional<report::CheckResult> grade_answers(const grading::Rubric& rubric,
                                                 const fs::path& file, const std::string& id) {
  const auto row = std::find_if(
      rubric.rows().begin(), rubric.rows().end(),
      [](const grading::RubricCheckEntry& r) { return r.credit == grading::Credit::questions; });
  const bool listed = row != rubric.rows().end(), counts = listed && row->points > 0;
  const auto sheet = read_given_answers(file);
  if (!sheet && !counts) return std::nullopt;
  report::CheckResult test;
  test.name = listed ? row->check : "Q questions about the code";
  // A check without points cannot be failed: its wrong answers are a reason to talk with the
  // student.
  test.status = counts ? Status::failed : Status::passed;
  test.max_score = counts ? row->points : 0;
  if (counts) test.expected = "all right";
  test.file = visible_name(file.string());
  if (counts)
    test.failure = report::CheckFailureReason{report::CheckFailureReason::Kind::wrong_answer};
  test.figures = {{"asked", 0}, {"right", 0}};
  if (!sheet) {
    test.measured = "not answered";
    test.message =
        fmt::format("Run `lab32 ask {}`, and hand in answers.toml with the file.", rubric.lab());
    return test;
  }
  if (sheet->file_hash != hash_of_file(file)) {
    test.measured = "other version";
    test.message =
        "answers.toml has the answers for another version of the file. Each version has "
        "its own questions: run `lab32 ask` again.";
    return test;
  }
  if (!id.empty() && sheet->id != id) {
    test.measured = "other student";
    test.message = fmt::format(
        "answers.toml has the answers of `{}`, not of `{}`: run `lab32 ask {} --id {}`.",
        visible_name(sheet->id), visible_name(id), rubric.lab(), visible_name(id));
    return test;
  }
  const DrawnQuestions drawn = redraw_questions_of_sheet(rubric, file, *sheet);
  if (drawn.questions.empty()) {
    test.status = Status::passed;
    test.score = test.max_score;
    test.measured = "no questions";
    test.message = "There is nothing to ask: " + drawn.why_none + ".";
    test.figures.clear();
  } else {
    score_answers(drawn, *sheet, test);
  }
  if (test.status == Status::passed) test.failure.reset();
  return test;
}

std::string json(const DrawnQuestions& drawn) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Question& question : drawn.questions) {
    const std::string key = key_of(question);
    const auto sealed = [&](int64_t answer) {
      return hex(hash_of(key + ":" + std::to_string(answer)));
    };
    nlohmann::ordered_json texts = nlohmann::ordered_json::object();
    for (const MisconceptionAnswer& wrong : question.wrong)
      texts[sealed(wrong.answer)] = wrong.misconception;
    nlohmann::ordered_json item = {{"key", key},
                                   {"kind", to_string(question.kind)},
                                   {"subject", question.subject},
                                   {"idea", question.idea},
                                   {"spaced", question.spaced},
                                   {"check", question.check},
                                   {"launch", question.launch},
                                   {"line", question.line},
                                   {"source", question.source},
                                   {"text", question.text},
                                   {"options", question.options},
                                   {"answer", sealed(question.answer)},
                                   {"misconceptions", texts},
                                   {"reason", question.reason},
                                   {"picture", pictures::to_json(question.picture)}};
    all.push_back(std::move(item));
  }
  return nlohmann::ordered_json{{"schema", "lab32-questions/1"},
                                {"lab", drawn.lab},
                                {"file", drawn.file},
                                {"questions", all},
                                {"why_none", drawn.why_none}}
             .dump(1) +
         "\n";
}

}  // namespace lab32::asking
