#include "grading/engine/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "pictures/make.h"

namespace lab32::grading {
namespace {

bool begins(const std::string& name, const std::string& with) {
  return name.size() >= with.size() &&
         std::equal(with.begin(), with.end(), name.begin(), [](unsigned char a, unsigned char b) {
           return std::tolower(a) == std::tolower(b);
         });
}

// The checks of that name, or whose names begin so: all, where `check` is empty.
std::vector<std::string> named(const Rubric& rubric, const std::string& check) {
  std::vector<std::string> found, names;
  for (const RubricRow& row : rubric.rows()) {
    names.push_back(row.check);
    if (row.check == check) return {check};
    if (begins(row.check, check)) found.push_back(row.check);
  }
  if (found.empty()) {
    const auto alike = suggestions(check, names, 1);
    throw Error(fmt::format("{} has no check `{}`; {}", rubric.lab(), check,
                            alike.empty()
                                ? "its checks are: " + fmt::format("{}", fmt::join(names, ", "))
                                : "did you mean `" + alike[0] + "`?"));
  }
  return found;
}

double lost(const report::Test& test) { return test.max_score - test.score; }

// Worth more to be looked at: what has gone wrong, then what has lost more points, wasted more.
bool rather(const report::Test& a, const report::Test& b) {
  if (a.pictures.has_value() != b.pictures.has_value()) return a.pictures.has_value();
  // Of those without, who waits for an answer can say how to come by one.
  if (a.withheld_until.empty() != b.withheld_until.empty()) return b.withheld_until.empty();
  if (lost(a) != lost(b)) return lost(a) > lost(b);
  return a.pictures && pictures::waste(*a.pictures) > pictures::waste(*b.pictures);
}

// "in block 3, warp 9"; empty where the worst access was asked for.
std::string place_of(const counters::CloseUpChoice& choice) {
  std::vector<std::string> words;
  if (choice.line) words.push_back(fmt::format("line {}", *choice.line));
  if (choice.block) words.push_back(fmt::format("block {}", *choice.block));
  if (choice.warp) words.push_back(fmt::format("warp {}", *choice.warp));
  if (choice.request) words.push_back(fmt::format("request {}", *choice.request));
  return fmt::format("{}", fmt::join(words, ", "));
}

// One line: a message begins with a place and the source there, which say nothing by themselves.
std::string why_not(const report::Lab& lab, const report::Test& test,
                    const counters::CloseUpChoice& choice) {
  if (!test.withheld_until.empty())
    return fmt::format("it shows what `{}` asks; answer that first", test.withheld_until);
  if (const std::string place = place_of(choice); !place.empty())
    return fmt::format("no access of yours at {}; without that the worst one is drawn", place);
  if (test.message.empty() || test.status == report::Status::passed)
    return "it launches no kernel of yours that touches memory";
  if (test.line == 0) {
    const std::string line = test.message.substr(0, test.message.find('\n'));
    return line.substr(0, line.find(". "));
  }
  return fmt::format("it has no access of yours to draw ({}); `lab32 grade {}` says what is wrong",
                     test.measured, lab.name);
}

}  // namespace

pictures::Shown explain(GradeOptions options, const std::string& check) {
  if (!options.close_up) options.close_up.emplace();
  // Caches and time are modelled for each launch, too.
  options.time_limit *= 4;
  options.checks = named(
      Rubric(options.rubric.empty() ? rubric_folder() : options.rubric, options.labs.at(0)), check);
  const report::Result result = grade(options);
  const report::Lab& lab = result.labs.at(0);
  if (lab.status == report::Status::error || lab.status == report::Status::not_graded)
    throw Error(lab.message);
  std::vector<const report::Test*> tests;
  for (const report::Test& test : lab.tests)
    if (std::find(options.checks.begin(), options.checks.end(), test.name) != options.checks.end())
      tests.push_back(&test);
  const report::Test& test = **std::min_element(
      tests.begin(), tests.end(),
      [](const report::Test* a, const report::Test* b) { return rather(*a, *b); });
  const bool found = test.pictures && (!test.pictures->accesses.empty() || test.pictures->fault ||
                                       test.pictures->race || place_of(*options.close_up).empty());
  if (!found)
    throw Error(fmt::format("no picture of {}{}: {}", lab.name,
                            check.empty() ? "" : ", " + test.name,
                            why_not(lab, test, *options.close_up)));
  return {lab.name, test.name, test.file, test.message, *test.pictures};
}

}  // namespace lab32::grading
