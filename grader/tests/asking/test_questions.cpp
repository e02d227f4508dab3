// The questions that are drawn for solutions and skeletons, and the answers of a student.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "asking/question.h"
#include "base/environment.h"
#include "base/files.h"
#include "tests/fixtures/scratch.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;
using asking::AskOptions;
using asking::Drawn;
using asking::Question;

AskOptions options_for(const std::string& lab, const fs::path& file, const std::string& id) {
  AskOptions options;
  options.grade.labs = {lab};
  options.grade.files = {{lab, file}};
  options.id = id;
  return options;
}

fs::path solution(const std::string& lab) { return fs::path("solutions") / lab / (lab + ".cu"); }

std::set<std::string> keys_of(const Drawn& drawn) {
  std::set<std::string> keys;
  for (const Question& question : drawn.questions) keys.insert(asking::key_of(question));
  return keys;
}

TEST_CASE("asking: the file and the id decide the questions, and the sheet keeps first answers") {
  const Scratch scratch;
  const std::string text = *read_file(root() / solution("transpose"));
  const fs::path file = scratch.write("transpose.cu", text);
  AskOptions options = options_for("transpose", file, "anna");
  options.check = "B2 padded: result";
  const Drawn drawn = draw(options);
  REQUIRE(drawn.questions.size() == 3);
  CHECK(keys_of(draw(options)) == keys_of(drawn));
  for (const Question& question : drawn.questions) {
    CHECK(question.check == "B2 padded: result");
    CHECK(feedback(question, question.answer) == "Right.");
    for (const asking::WrongModel& wrong : question.wrong) {
      CHECK(wrong.answer != question.answer);
      CHECK(feedback(question, wrong.answer).find(wrong.misconception) != std::string::npos);
    }
  }
  AskOptions bo = options;
  bo.id = "bo";
  CHECK(keys_of(draw(bo)) != keys_of(drawn));

  asking::AnswerSheet sheet = sheet_for(options, drawn);
  const Question &first = drawn.questions[0], &second = drawn.questions[1];
  CHECK(record_answer(sheet, first, first.answer));
  CHECK_FALSE(record_answer(sheet, first, first.answer + 1));
  CHECK(record_answer(sheet, second, second.answer + 1));
  asking::write_answers(file, sheet);
  const std::string written = *read_file(scratch.path / "answers.toml");
  CHECK(written.find(fmt::format("\"{}\"", first.answer)) == std::string::npos);
  const asking::AnswerSheet again = sheet_for(options, drawn);
  CHECK(is_right(again, first));
  CHECK_FALSE(is_right(again, second));
  CHECK_FALSE(is_right(again, drawn.questions[2]));
  CHECK(sheet_for(bo, drawn).answers.empty());

  const grading::Rubric rubric(grading::rubric_folder(), "transpose");
  const auto judged = asking::judge(rubric, file);
  REQUIRE(judged);
  CHECK(judged->measured == "1 of 3 right");
  CHECK(judged->max_score == 0);
  CHECK(judged->status == report::Status::failed);
  scratch.write("transpose.cu", text + "\n");
  CHECK(asking::judge(rubric, file)->measured == "other version");
  scratch.write("answers.toml", "answers = 3 [");
  CHECK(asking::judge(rubric, file)->measured == "other version");
  fs::remove(scratch.path / "answers.toml");
  CHECK_FALSE(asking::judge(rubric, file));
}

TEST_CASE("asking: questions of the lab come first, and errors say why there are none") {
  const Drawn none = draw(options_for("shuffle", root() / "labs/shuffle/shuffle.cu", "anna"));
  CHECK(none.questions.empty());
  CHECK(none.why_none.find("answer these first") != std::string::npos);
}

}  // namespace
}  // namespace lab32::tests
