// The score report for people. It is 80 columns wide, which fits a terminal, a mail and a printed
// page.

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "report/render.h"

namespace lab32::report {
namespace {

// Terminal colours (ECMA-48 SGR). Colour repeats what the words say and is never the only sign.
constexpr const char* kBold = "1";
constexpr const char* kGreen = "32";
constexpr const char* kRed = "31";
constexpr const char* kYellow = "33";
constexpr const char* kDim = "2";

class ScoreReport {
 public:
  explicit ScoreReport(const ReportStyle& style) : style_(style) {}

  std::string text;

  void write_lab(const LabResult& lab) {
    write_title(lab);
    const bool never_ran = lab.status == Status::error || lab.status == Status::not_graded;
    if (never_ran && !lab.message.empty()) {
      // The compiler's lines are not wrapped, since the carets below them point at columns.
      std::istringstream lines(visible(lab.message));
      for (std::string line; std::getline(lines, line);) write_line("  " + line);
      write_line("");
    }
    // A lab that never ran has no measurements, so only its message is printed.
    if (never_ran) return;
    const bool full_marks = lab.score == lab.max_score;
    if (style_.brief && full_marks)
      write_passed_count(lab.tests);
    else
      write_table(lab.tests);
    if (!lab.message.empty()) write_paragraph(visible(lab.message));
    if (style_.brief)
      write_brief_reasons(lab, full_marks);
    else
      for (const CheckResult& test : lab.tests)
        if (has_reason(test)) write_reason(test);
  }

  void write_total(const GradingResult& result) {
    const std::string score = format_points(result.score) + " / " + format_points(result.max_score);
    // The title says whether counts are a simulator's or a card's.
    const bool simulated = result.device.compare(0, 3, "sim") == 0;
    std::string label =
        pad_right("total", kTotal) + result.device + (simulated ? " (simulated counts)" : "");
    std::vector<std::string> more = {fmt::format("seed {}", result.seed)};
    if (!result.timer.empty()) more.insert(more.begin(), result.timer + " (measured times)");
    // Text that does not fit before the score goes to the next line and never touches a number.
    std::string below;
    for (const std::string& part : more) {
      const bool fits = below.empty() && display_columns(label) + 2 + display_columns(part) + kGap +
                                                 display_columns(score) <=
                                             style_.width;
      if (fits)
        label += ", " + part;
      else
        below += (below.empty() ? "" : ", ") + part;
    }
    write_line(paint(kBold, pad_right(label, style_.width - display_columns(score)) + score));
    if (!below.empty()) write_line(paint(kBold, pad_right("", kTotal) + below));
    if (result.all_labs_graded()) return;
    std::string missing;
    for (const LabResult& lab : result.labs)
      if (lab.status == Status::not_graded) missing += (missing.empty() ? "" : ", ") + lab.name;
    for (const std::string& line :
         wrap("without the labs that were not graded: " + missing, style_.width))
      write_line(paint(kBold, line));
  }

 private:
  static constexpr size_t kBriefReasons = 2;

  static bool has_reason(const CheckResult& test) {
    return (test.status != Status::passed || !test.message.empty()) && !ran_out_of_time(test);
  }

  void write_paragraph(const std::string& words) {
    for (const std::string& line : wrap(words, style_.width)) write_line(line);
    write_line("");
  }

  void write_passed_count(const std::vector<CheckResult>& tests) {
    const auto count = std::count_if(tests.begin(), tests.end(), [](const CheckResult& test) {
      return test.status == Status::passed;
    });
    write_paragraph(fmt::format("{} check{} passed.", count, count == 1 ? "" : "s"));
  }

  // The first reasons for lost points in full, and one line each for the other reasons and for all
  // checks that were not run. The message of a passed check is printed until the lab has full
  // marks; the output of a kernel and the message of a check without points are printed always.
  void write_brief_reasons(const LabResult& lab, bool full_marks) {
    size_t printed = 0, also_lost = 0, not_run = 0;
    bool lacks_gpu = true;  // no check was left out for another reason
    for (const CheckResult& test : lab.tests) {
      if (!has_reason(test)) continue;
      if (test.status == Status::passed && full_marks && !test.has_output && test.max_score > 0)
        continue;
      if (test.status == Status::not_run) {
        ++not_run;
        lacks_gpu &= test.not_run && test.not_run->kind == NotRunReason::Kind::no_gpu;
      } else if (test.status == Status::passed || printed++ < kBriefReasons) {
        write_reason(test);
      } else {
        ++also_lost;
      }
    }
    std::string rest;
    if (also_lost > 0)
      rest =
          fmt::format("{} lost points, too: `{} grade {} --all` says why.\n",
                      also_lost == 1 ? "Another check" : fmt::format("{} other checks", also_lost),
                      style_.command, lab.name);
    if (not_run > 0)
      rest += fmt::format("{} not run and cost{} no points{}.\n",
                          not_run == 1 ? "1 check was" : fmt::format("{} checks were", not_run),
                          not_run == 1 ? "s" : "",
                          !lacks_gpu     ? ""
                          : not_run == 1 ? ": it needs a GPU"
                                         : ": they need a GPU");
    if (!rest.empty()) write_paragraph(rest.substr(0, rest.size() - 1));
  }

  // The lab's message has already said that the time was used up, for all these checks at once.
  static bool ran_out_of_time(const CheckResult& test) {
    return test.failure && test.failure->kind == CheckFailureReason::Kind::time_limit;
  }

  // Column widths of the score report. Points come last and are right-aligned.
  static constexpr int kPoints = 9, kMeasured = 19, kExpected = 17, kGap = 2, kTotal = 8;
  int name_width() const { return style_.width - kMeasured - kExpected - kPoints - 3 * kGap; }

  std::string paint(const char* sgr, const std::string& words) const {
    return style_.colour ? fmt::format("\033[{}m{}\033[0m", sgr, words) : words;
  }

  static const char* status_colour(const CheckResult& test) {
    switch (test.status) {
      case Status::passed:
        return kGreen;
      case Status::not_run:
        return kDim;
      default:
        return test.score > 0 ? kYellow : kRed;
    }
  }

  void write_line(const std::string& line) {
    const size_t end = line.find_last_not_of(' ');
    text.append(line, 0, end == std::string::npos ? 0 : end + 1);
    text += '\n';
  }

  void rule(char c) { write_line(paint(kDim, std::string(style_.width, c))); }

  void write_title(const LabResult& lab) {
    const std::string score = lab.status == Status::not_graded
                                  ? to_string(lab.status)
                                  : format_points(lab.score) + " / " + format_points(lab.max_score);
    write_line(paint(kBold, pad_right(lab.name, style_.width - display_columns(score)) + score));
    rule('=');
  }

  void write_row(const std::string& name, const std::string& measured, const std::string& expected,
                 const std::string& score, const char* sgr) {
    const auto a = wrap(name, name_width()), b = wrap(measured, kMeasured),
               c = wrap(expected, kExpected);
    const auto cell = [](const std::vector<std::string>& lines, size_t i) {
      return i < lines.size() ? lines[i] : std::string();
    };
    const std::string gap(kGap, ' ');
    for (size_t i = 0; i < std::max({a.size(), b.size(), c.size()}); ++i) {
      const std::string last = pad_left(i == 0 ? score : "", kPoints);
      // A continuation line of a name is indented, so that rows are distinct without lines between
      // them.
      write_line(pad_right((i > 0 && i < a.size() ? " " : "") + cell(a, i), name_width()) + gap +
                 pad_right(cell(b, i), kMeasured) + gap + pad_right(cell(c, i), kExpected) + gap +
                 (sgr && i == 0 ? paint(sgr, last) : last));
    }
  }

  void write_table(const std::vector<CheckResult>& tests) {
    write_row("check", "measured", "expected", "points", nullptr);
    rule('-');
    for (const CheckResult& test : tests) {
      if (style_.brief && test.status == Status::not_run) continue;
      write_row(test.name, visible(test.measured), visible(test.expected),
                test.status == Status::not_run
                    ? "not run"
                    : format_points(test.score) + " / " + format_points(test.max_score),
                status_colour(test));
    }
    rule('-');
    write_line("");
  }

  // Prints why points were lost, or the message of a test that passed.
  void write_reason(const CheckResult& test) {
    std::string heading = test.name;
    if (test.status == Status::not_run)
      heading += " (not run, does not count)";
    else if (test.status != Status::passed)
      heading += fmt::format(" ({} of {} lost)", format_points(test.max_score - test.score),
                             format_points(test.max_score));
    for (const std::string& line : wrap(heading, style_.width))
      write_line(paint(status_colour(test), line));
    for (const std::string& line : wrap(visible(test.message), style_.width - 2))
      write_line("  " + line);
    write_line("");
  }

  ReportStyle style_;
};

}  // namespace

std::string text(const GradingResult& result, const ReportStyle& style) {
  ScoreReport report(style);
  for (const LabResult& lab : result.labs) report.write_lab(lab);
  report.write_total(result);
  return report.text;
}

}  // namespace lab32::report
