// The questions that are drawn for submissions of each lab, as golden tables, whose answers
// tests/python/asking/test_question_tables.py finds by a model of its own; and the answers of a
// student.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <set>

#include "asking/launch_record.h"
#include "asking/question.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"
#include "tests/fixtures/splice.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;
using asking::AskOptions;
using asking::DrawnQuestions;
using asking::Question;

AskOptions options_for(const std::string& lab, const fs::path& file, const std::string& id) {
  AskOptions options;
  options.grade.labs = {lab};
  options.grade.files = {{lab, file}};
  options.id = id;
  return options;
}

fs::path solution(const std::string& lab) { return fs::path("solutions") / lab / (lab + ".cu"); }

// The difference between the last indices of two elements of one row; nullopt: they are not.
std::optional<int64_t> distance_between(const std::string& from, const std::string& to) {
  asking::ElementName a = asking::parse_element_name(from), b = asking::parse_element_name(to);
  if (a.array.empty() || a.array != b.array || a.index.size() != b.index.size())
    return std::nullopt;
  const int64_t distance = b.index.back() - a.index.back();
  a.index.back() = b.index.back();
  return a.index == b.index ? std::optional(distance) : std::nullopt;
}

// The lanes with equally spaced addresses in one line: "lanes 4-7: 128 + 16 k, tile[1][0]". With
// names, the indices of the elements are equally spaced, too: "tile[1][0] by 4".
std::string lanes_of(const pictures::PicturedRequest& request, bool with_names) {
  std::string out;
  for (uint32_t lane = 0; lane < kWarpSize;) {
    if (!(request.mask >> lane & 1)) {
      ++lane;
      continue;
    }
    const uint32_t first = lane++;
    const uint64_t begin = request.address[first];
    const uint64_t stride = lane < kWarpSize ? request.address[lane] - begin : 0;
    const std::optional<int64_t> step =
        with_names && lane < kWarpSize ? distance_between(request.name[first], request.name[lane])
                                       : std::nullopt;
    const auto is_next = [&] {
      return lane < kWarpSize && request.mask >> lane & 1 &&
             request.address[lane] == begin + stride * (lane - first) &&
             (!with_names || (step && distance_between(request.name[first], request.name[lane]) ==
                                          *step * (lane - first)));
    };
    while (is_next()) ++lane;
    const bool several = lane > first + 1;
    out += fmt::format("    lanes {}-{}: {} + {} k, {}{}\n", first, lane - 1, begin,
                       several ? static_cast<int64_t>(stride) : 0, request.name[first],
                       several && step ? fmt::format(" by {}", *step) : "");
  }
  return out;
}

// The question, its answers, and the addresses or lanes from which a model can find the answer.
std::string table_of(const Question& question) {
  static const std::set<std::string> subjects_with_names = {"pitch", "element", "storing thread"};
  std::string out = fmt::format("[{}] {}{}; {}\n{}Answer: {}\n", asking::to_string(question.kind),
                                question.subject,
                                question.spaced.empty() ? "" : ", an idea of " + question.spaced,
                                question.check, text_of(question), question.answer);
  for (const asking::MisconceptionAnswer& wrong : question.wrong)
    out += fmt::format("  {}: {}\n", wrong.answer, wrong.misconception);
  out += "Reason: " + question.reason + "\n";
  for (const pictures::PicturedLineRequests& access : question.picture.accesses)
    for (const pictures::PicturedRequest& request : access.requests)
      out += fmt::format("  line {}, block {}, warp {}: {} of {} bytes\n", access.line,
                         access.block, request.warp, request.kind, request.bytes) +
             lanes_of(request, subjects_with_names.count(question.subject) > 0);
  if (question.picture.shuffles)
    out += fmt::format("  from lanes {}\n",
                       fmt::join(question.picture.shuffles->shuffles.at(0).from, " "));
  return out + "\n";
}

// A compiler's message without the folder of the file, whose name differs from run to run.
std::string without_folder(std::string text, const fs::path& folder) {
  const std::string name = folder.string() + "/";
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
    text.erase(at, name.size());
  return text;
}

std::string tables_of(const std::string& lab, const fs::path& file, const std::string& name) {
  std::string out;
  for (const char* id : {"anna", "bo", "chen"}) {
    out += fmt::format("=== {}, {}\n", name, id);
    const DrawnQuestions drawn = draw_questions(options_for(lab, file, id));
    CHECK(drawn.questions.empty() != drawn.why_none.empty());
    if (drawn.questions.empty())
      out += "No questions: " + without_folder(drawn.why_none, file.parent_path()) + ".\n";
    for (const Question& question : drawn.questions) {
      CHECK(!question.wrong.empty());
      CHECK(!question.reason.empty());
      out += table_of(question);
    }
  }
  return out;
}

// The submissions of a folder, "correct" or "wrong", at the given parts of the way through it.
std::vector<fs::path> some_of(const std::string& lab, const std::string& kind,
                              const std::vector<double>& parts) {
  std::set<fs::path> files;
  const fs::path folder = folder_of(lab) / "submissions" / kind;
  if (fs::exists(folder))
    for (const auto& entry : fs::directory_iterator(folder)) files.insert(entry.path());
  std::vector<fs::path> some;
  for (const double part : parts)
    if (!files.empty())
      some.push_back(*std::next(
          files.begin(), static_cast<ptrdiff_t>(part * static_cast<double>(files.size() - 1))));
  return some;
}

void check_golden_questions(const std::string& lab) {
  const InRoot in_root;
  const ScratchDirectory scratch;
  std::string out = tables_of(lab, solution(lab), "solution");
  out += tables_of(lab, fs::path("labs") / lab / (lab + ".cu"), "skeleton");
  const std::string base = *read_file(solution(lab));
  for (const auto& [kind, parts] :
       {std::pair<std::string, std::vector<double>>{"correct", {0, 0.5, 1}}, {"wrong", {0.3, 0.7}}})
    for (const fs::path& submission : some_of(lab, kind, parts))
      out += tables_of(lab, scratch.write(lab + ".cu", splice(base, *read_file(submission))),
                       kind + "/" + submission.stem().string());
  check_golden_file(folder_of(lab) / "golden/questions.txt", out);
}

TEST_EACH_LAB("asking: golden tables of questions", check_golden_questions, 0);

std::set<std::string> keys_of(const DrawnQuestions& drawn) {
  std::set<std::string> keys;
  for (const Question& question : drawn.questions) keys.insert(asking::key_of(question));
  return keys;
}

TEST_CASE("asking: the file and the id decide the questions, and the sheet keeps first answers" *
          kSlow) {
  const ScratchDirectory scratch;
  const std::string text = *read_file(lab32_root() / solution("transpose"));
  const fs::path file = scratch.write("transpose.cu", text);
  AskOptions options = options_for("transpose", file, "anna");
  options.check = "B2 padded: result";
  const DrawnQuestions drawn = draw_questions(options);
  REQUIRE(drawn.questions.size() == 3);
  CHECK(keys_of(draw_questions(options)) == keys_of(drawn));
  for (const Question& question : drawn.questions) {
    CHECK(question.check == "B2 padded: result");
    CHECK(feedback(question, question.answer) == "Right.");
    for (const asking::MisconceptionAnswer& wrong : question.wrong) {
      CHECK(wrong.answer != question.answer);
      CHECK(feedback(question, wrong.answer).find(wrong.misconception) != std::string::npos);
    }
  }
  AskOptions bo = options;
  bo.id = "bo";
  CHECK(keys_of(draw_questions(bo)) != keys_of(drawn));

  asking::GivenAnswers sheet = matching_or_new_given_answers(options, drawn);
  const Question &first = drawn.questions[0], &second = drawn.questions[1];
  CHECK(record_answer_if_first(sheet, first, first.answer));
  CHECK_FALSE(record_answer_if_first(sheet, first, first.answer + 1));
  CHECK(record_answer_if_first(sheet, second, second.answer + 1));
  asking::write_given_answers(file, sheet);
  const std::string written = *read_file(scratch.path / "answers.toml");
  CHECK(written.find(fmt::format("\"{}\"", first.answer)) == std::string::npos);
  const asking::GivenAnswers again = matching_or_new_given_answers(options, drawn);
  CHECK(is_answered_right(again, first));
  CHECK_FALSE(is_answered_right(again, second));
  CHECK_FALSE(is_answered_right(again, drawn.questions[2]));
  CHECK(matching_or_new_given_answers(bo, drawn).answers.empty());

  const grading::Rubric rubric(grading::rubric_folder(), "transpose");
  const auto judged = asking::grade_answers(rubric, file);
  REQUIRE(judged);
  CHECK(judged->measured == "1 of 3 right, id anna");
  CHECK(judged->max_score == 0);
  CHECK(judged->status == report::Status::passed);
  CHECK(judged->figures.at("right") == 1);
  CHECK(asking::grade_answers(rubric, file, "bo")->measured == "other student");
  scratch.write("transpose.cu", text + "\n");
  CHECK(asking::grade_answers(rubric, file)->measured == "other version");
  scratch.write("answers.toml", "answers = 3 [");
  CHECK(asking::grade_answers(rubric, file)->measured == "other version");
  fs::remove(scratch.path / "answers.toml");
  CHECK_FALSE(asking::grade_answers(rubric, file));
}

TEST_CASE("asking: questions of the lab come first, and errors say why there are none") {
  const DrawnQuestions none =
      draw_questions(options_for("shuffle", lab32_root() / "labs/shuffle/shuffle.cu", "anna"));
  CHECK(none.questions.empty());
  CHECK(none.why_none.find("answer that check first") != std::string::npos);
}

}  // namespace
}  // namespace lab32::tests
