#include "report/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/render.h"

namespace lab32::report {
namespace {

const Test* same(const Lab& lab, const Test& test) {
  const auto at = std::find_if(lab.tests.begin(), lab.tests.end(),
                               [&](const Test& other) { return other.name == test.name; });
  return at == lab.tests.end() ? nullptr : &*at;
}

std::string words(const Test& test) {
  return test.measured.empty() ? to_string(test.status) : visible(test.measured);
}

std::string gain(double before, double after) {
  if (after == before) return "";
  return fmt::format(" ({}{})", after > before ? "+" : "-", points(std::abs(after - before)));
}

}  // namespace

std::string changes(const Result& before, const Result& after) {
  std::string text;
  for (const Lab& lab : after.labs) {
    const auto old = std::find_if(before.labs.begin(), before.labs.end(),
                                  [&](const Lab& other) { return other.name == lab.name; });
    if (old == before.labs.end()) continue;
    std::string lines;
    for (const Test& test : lab.tests) {
      const Test* was = same(*old, test);
      if (!was || (was->measured == test.measured && was->score == test.score &&
                   was->status == test.status))
        continue;
      lines += fmt::format("  {}: {} -> {}{}\n", test.name, words(*was), words(test),
                           gain(was->score, test.score));
    }
    if (!lines.empty())
      text += fmt::format("{}: {} -> {} of {} points\n", lab.name, points(old->score),
                          points(lab.score), points(lab.max_score)) +
              lines;
  }
  return text;
}

}  // namespace lab32::report
