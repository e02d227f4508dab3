// `lab32 run_ask`: asks a student questions about the student's own code, on a terminal or in a
// pipe.

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

#include "app/command.h"
#include "asking/question.h"
#include "base/text.h"
#include "grading/words/words.h"
#include "pictures/text.h"
#include "report/render.h"

namespace lab32::commands {
namespace {

using asking::Question;

struct AskCommandOptions {
  asking::AskOptions options;
  std::vector<std::string> given;  // --answer
  std::string lab, dir, rubric, format = "text";
};

// The answer that the student has typed: a whole number or, if the question has options, the number
// of one; nullopt if it is neither.
std::optional<int64_t> parse_answer(const Question& question, const std::string& words) {
  int64_t value = 0;
  const size_t first = words.find_first_not_of(" \t"), last = words.find_last_not_of(" \t\r");
  if (first == std::string::npos) return std::nullopt;
  const char* const end = words.data() + last + 1;
  const auto read = std::from_chars(words.data() + first, end, value);
  if (read.ec != std::errc() || read.ptr != end || value < 0) return std::nullopt;
  if (question.most() > 0 && (value < 1 || value > question.most())) return std::nullopt;
  return value;
}

std::string answer_format_text(const Question& question) {
  return question.options.empty() ? "a whole number"
                                  : fmt::format("a number from 1 to {}", question.most());
}

// The next line of standard input; nullopt at its end.
std::optional<std::string> read_line() {
  std::string line;
  for (int c = std::getchar(); c != '\n'; c = std::getchar()) {
    if (c == EOF) return line.empty() ? std::nullopt : std::optional(line);
    line += static_cast<char>(c);
  }
  return line;
}

// Switches the terminal so that each key can be read at once, and back when the object is
// destroyed.
class SingleKeyTerminal {
 public:
  SingleKeyTerminal() {
    tcgetattr(STDIN_FILENO, &before_);
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  ~SingleKeyTerminal() { tcsetattr(STDIN_FILENO, TCSANOW, &before_); }
  SingleKeyTerminal(const SingleKeyTerminal&) = delete;
  SingleKeyTerminal& operator=(const SingleKeyTerminal&) = delete;

 private:
  termios before_{};
};

// Lets the student choose an option by its number, or by the arrow keys and Enter.
std::optional<int64_t> ask_for_option(const Question& question) {
  const SingleKeyTerminal keys;
  int64_t at = 1;
  for (;;) {
    print(fmt::format("\r> {} ", at));
    char key = 0;
    if (read(STDIN_FILENO, &key, 1) != 1 || key == 4) return std::nullopt;  // 4: Ctrl-D
    if (key >= '1' && key < '1' + question.most()) {
      print(fmt::format("\r> {} \n", key));
      return key - '0';
    }
    if (key == '\n') {
      print("\n");
      return at;
    }
    char rest[2] = {};
    if (key != '\x1b' || read(STDIN_FILENO, rest, 2) != 2) continue;
    if (rest[1] == 'A' && at > 1) --at;
    if (rest[1] == 'B' && at < question.most()) ++at;
  }
}

std::optional<int64_t> read_student_answer(const Question& question) {
  const bool terminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  if (terminal && !question.options.empty()) return ask_for_option(question);
  for (;;) {
    print("> ");
    const auto line = read_line();
    if (!line) return std::nullopt;
    if (!terminal) print(*line + "\n");
    if (const auto value = parse_answer(question, *line)) return value;
    print(fmt::format("The answer is {}.\n", answer_format_text(question)));
  }
}

std::string wrapped_at_80_columns(const std::string& text) {
  std::string out;
  for (const std::string& line : wrap(visible(text), 80)) out += line + "\n";
  return out;
}

std::string question_with_heading(const asking::DrawnQuestions& drawn, size_t i) {
  const Question& question = drawn.questions[i];
  const std::string spaced =
      question.spaced.empty() ? "" : fmt::format(" (an idea of the lab {})", question.spaced);
  return fmt::format("\nQuestion {} of {}: {}, {}{}\n", i + 1, drawn.questions.size(), drawn.lab,
                     question.check, spaced) +
         wrapped_at_80_columns(text_of(question));
}

std::string picture_of(const Question& question) {
  const std::string drawn = pictures::text(question.picture, report::wants_colour(STDOUT_FILENO));
  return drawn.empty() ? "" : drawn + "\n";
}

int run_ask(AskCommandOptions& command) {
  grading::GradeOptions& grade = command.options.grade;
  grade.dir = command.dir.empty() ? nearest_labs_folder() : command.dir;
  grade.rubric = command.rubric;
  grade.progress = true;
  grade.labs = {command.lab};
  resolve_file_arguments(grade);
  const asking::DrawnQuestions drawn = draw_questions(command.options);
  if (command.format == "json") {
    print(json(drawn));
    return kFullMarks;
  }
  if (drawn.questions.empty()) throw Error("no questions: " + drawn.why_none);
  asking::GivenAnswers sheet = matching_or_new_given_answers(command.options, drawn);
  size_t right = 0;
  bool ended = false;
  for (size_t i = 0; i < drawn.questions.size(); ++i) {
    const Question& question = drawn.questions[i];
    print(question_with_heading(drawn, i));
    std::optional<int64_t> given;
    if (!command.given.empty()) {
      if (i < command.given.size()) given = parse_answer(question, command.given[i]);
      if (i < command.given.size() && !given)
        throw Error(fmt::format("--answer {}: answer {} is {}", command.given[i], i + 1,
                                answer_format_text(question)));
    } else if (!ended) {
      given = read_student_answer(question);
      ended = !given;
      if (ended) print("\n");
    }
    if (given) {
      const bool first = record_answer_if_first(sheet, question, *given);
      write_given_answers(drawn.file, sheet);
      print(wrapped_at_80_columns(feedback(question, *given)) + picture_of(question));
      if (!first) print("Your first answer to this question stays in answers.toml.\n");
    }
    right += is_answered_right(sheet, question);
  }
  print(fmt::format("\n{} of {} right.\n", right, drawn.questions.size()));
  return right == drawn.questions.size() ? kFullMarks : kPointsLost;
}

}  // namespace

Subcommand ask_command(CLI::App& lab32) {
  const auto given = std::make_shared<AskCommandOptions>();
  CLI::App* app =
      lab32.add_subcommand("ask", "ask you about your own code, as the simulator ran it");
  app->add_option("LAB", given->lab, "the lab, or its file")->required();
  app->add_option("CHECK", given->options.check,
                  "a check of the lab, or how its name begins (any that has passed)");
  app->add_option("--id", given->options.id, "your id: other students get other questions");
  app->add_option("--count", given->options.count, "the number of questions (3)")
      ->check(CLI::Range(1, 9));
  app->add_option("--answer", given->given,
                  "answers the next question; without it, answers are read from standard input");
  app->add_option("--format", given->format, "text or json (text)")
      ->check(CLI::IsMember({"text", "json"}));
  app->add_option("--dir", given->dir, "the folder of LAB/LAB.cu (labs, here or above)");
  app->add_option("--rubric", given->rubric, "the folder of LAB.toml (that of this lab32)");
  Subcommand command;
  command.app = app;
  command.run = [given] { return run_ask(*given); };
  command.clean_end = CleanSignalExit::Interrupt::not_watched;
  return command;
}

}  // namespace lab32::commands
