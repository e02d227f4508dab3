#include "grading/engine/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/environment.h"
#include "base/error.h"

namespace lab32::grading {
namespace {

struct Found {
  std::string suite;
  RegisteredCheck check;
};

// A function-local static, because static initialisers of other files add to it before main().
std::vector<Found>& found_checks() {
  static std::vector<Found> checks;
  return checks;
}

// The keys that the check at that file and line takes. doctest calls a decorator before
// registered().
std::vector<std::string>& taken_at(const doctest::detail::TestCase& test) {
  static std::map<std::pair<std::string, unsigned>, std::vector<std::string>> keys;
  return keys[{test.m_file.c_str(), test.m_line}];
}

}  // namespace

void takes::fill(doctest::detail::TestCase& test) const {
  std::vector<std::string>& all = taken_at(test);
  all.insert(all.end(), keys.begin(), keys.end());
}

void registered::fill(doctest::detail::TestCase& test) const {
  found_checks().push_back(
      {test.m_test_suite, {test.m_name, test.m_file.c_str(), test.m_line, taken_at(test)}});
}

std::vector<RegisteredCheck> registered_checks(const std::string& lab) {
  std::vector<RegisteredCheck> checks;
  for (const Found& found : found_checks())
    if (found.suite == suite_of(lab)) checks.push_back(found.check);
  std::sort(checks.begin(), checks.end(), [](const RegisteredCheck& a, const RegisteredCheck& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
  return checks;
}

std::vector<std::string> known_labs() {
  const std::string prefix = suite_of("");
  std::set<std::string> labs;
  for (const Found& found : found_checks()) {
    if (found.suite.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string lab = found.suite.substr(prefix.size());
    if (lab.compare(0, 1, ".") != 0) labs.insert(lab);
  }
  return {labs.begin(), labs.end()};
}

bool all_suites_linked() {
  const std::vector<std::string> known = known_labs();
  std::error_code none;
  const std::filesystem::directory_iterator rubrics(root() / "data/limits", none);
  return std::all_of(begin(rubrics), end(rubrics), [&](const auto& entry) {
    return entry.path().extension() != ".toml" ||
           std::binary_search(known.begin(), known.end(), entry.path().stem().string());
  });
}

std::vector<std::string> labs_or_all(const std::vector<std::string>& named) {
  const std::vector<std::string> known = known_labs();
  const std::string names = fmt::format("{}", fmt::join(known, ", "));
  if (named.empty() && !all_suites_linked())
    throw Error(
        fmt::format("name a lab: `make grade` has built this lab32 for {} only; `make build` "
                    "adds the others",
                    names));
  for (const std::string& lab : named) {
    if (std::find(known.begin(), known.end(), lab) != known.end()) continue;
    if (all_suites_linked())
      throw Error(fmt::format("there is no lab `{}`; the labs are: {}", lab, names));
    throw Error(
        fmt::format("there is no lab `{}` here: `make grade` has built this lab32 for {} "
                    "only; `make build` adds the others",
                    lab, names));
  }
  return named.empty() ? known : named;
}

}  // namespace lab32::grading
