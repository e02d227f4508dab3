#include "grading/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/suggestions.h"
#include "pictures/make.h"

namespace lab32::grading {
namespace {

bool begins(const std::string& name, const std::string& with) {
  return name.size() >= with.size() &&
         std::equal(with.begin(), with.end(), name.begin(), [](unsigned char a, unsigned char b) {
           return std::tolower(a) == std::tolower(b);
         });
}

std::vector<const report::Test*> named(const report::Lab& lab, const std::string& check) {
  std::vector<const report::Test*> found;
  std::vector<std::string> names;
  for (const report::Test& test : lab.tests) {
    names.push_back(test.name);
    if (test.name == check) return {&test};
    if (begins(test.name, check)) found.push_back(&test);
  }
  if (found.empty()) {
    const auto alike = suggestions(check, names, 1);
    throw Error(fmt::format("{} has no check `{}`; {}", lab.name, check,
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
  if (lost(a) != lost(b)) return lost(a) > lost(b);
  return a.pictures && pictures::waste(*a.pictures) > pictures::waste(*b.pictures);
}

std::string why_not(const report::Test& test) {
  if (!test.withheld_until.empty())
    return fmt::format("it shows what `{}` asks; answer that first", test.withheld_until);
  if (!test.message.empty()) return test.message.substr(0, test.message.find('\n'));
  return "it launches no kernel of yours that touches memory";
}

}  // namespace

pictures::Shown explain(GradeOptions options, const std::string& check) {
  if (!options.close_up) options.close_up.emplace();
  // Caches and time are modelled for each launch, too.
  options.time_limit *= 4;
  const report::Result result = grade(options);
  const report::Lab& lab = result.labs.at(0);
  if (lab.status == report::Status::error || lab.status == report::Status::not_graded)
    throw Error(lab.message);
  const auto tests = named(lab, check);
  const report::Test& test = **std::min_element(
      tests.begin(), tests.end(),
      [](const report::Test* a, const report::Test* b) { return rather(*a, *b); });
  const bool empty = !test.pictures || (test.pictures->accesses.empty() && options.close_up->line);
  if (empty && test.pictures && !test.pictures->fault && !test.pictures->race)
    throw Error(
        fmt::format("{}, {}: line {} touches no memory there, in the block and warp that "
                    "you ask for",
                    lab.name, test.name, *options.close_up->line));
  if (!test.pictures)
    throw Error(fmt::format("no picture of {}, {}: {}", lab.name, test.name, why_not(test)));
  return {lab.name, test.name, test.file, test.message, *test.pictures};
}

}  // namespace lab32::grading
