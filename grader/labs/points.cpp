#include "labs/points.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace lab32::labs {
namespace {

// Filled before main() by other files' static initialisers: made when first asked for.
std::vector<Rubric>& all() {
  static std::vector<Rubric> rubrics;
  return rubrics;
}

}  // namespace

void points::fill(doctest::detail::TestCase& test) const {
  all().push_back({test.m_test_suite, test.m_name, test.m_file.c_str(), test.m_line, value, false});
}

void timed::fill(doctest::detail::TestCase& test) const {
  all().push_back({test.m_test_suite, test.m_name, test.m_file.c_str(), test.m_line, value, true});
}

std::vector<Rubric> rubrics(const std::string& suite) {
  std::vector<Rubric> found;
  for (const Rubric& r : all())
    if (r.suite == suite) found.push_back(r);
  std::sort(found.begin(), found.end(), [](const Rubric& a, const Rubric& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
  return found;
}

std::vector<std::string> known_labs() {
  const std::string prefix = suite_of("");
  std::set<std::string> labs;
  for (const Rubric& r : all()) {
    if (r.suite.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string lab = r.suite.substr(prefix.size());
    if (lab.compare(0, 1, ".") != 0) labs.insert(lab);
  }
  return {labs.begin(), labs.end()};
}

}  // namespace lab32::labs
