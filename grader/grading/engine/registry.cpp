#include "grading/engine/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "grading/engine/quiet_reporter.h"

namespace lab32::grading {
namespace {

constexpr const char* kLister = "lab32-list";

using Place = std::pair<std::string, unsigned>;  // of a TEST_CASE: file and line

// Filled before main() by other files' static initialisers: made when first asked for.
std::map<Place, std::vector<std::string>>& taken() {
  static std::map<Place, std::vector<std::string>> keys;
  return keys;
}

struct Found {
  std::string suite;
  RegisteredCheck check;
};

// doctest makes its reporters itself and hands them nothing of ours.
std::vector<Found>* list = nullptr;

class Lister : public QuietReporter {
 public:
  explicit Lister(const doctest::ContextOptions&) {}

  void report_query(const doctest::QueryData& query) override {
    for (unsigned i = 0; i < query.num_data; ++i) {
      const doctest::TestCaseData& test = *query.data[i];
      const Place place{test.m_file.c_str(), test.m_line};
      const auto keys = taken().find(place);
      list->push_back({test.m_test_suite,
                       {test.m_name, place.first, place.second,
                        keys == taken().end() ? std::vector<std::string>() : keys->second}});
    }
  }
};

REGISTER_REPORTER(kLister, 1, Lister);

std::vector<Found> query(const std::string& suites) {
  std::vector<Found> found;
  list = &found;
  const bool nested = doctest::is_running_in_test;                 // as in reporter.cpp
  const char* const arguments[] = {"lab32", "--list-test-cases"};  // which is no setOption()
  doctest::Context context(2, arguments);
  context.setOption("reporters", kLister);
  context.setOption("test-suite", suites.c_str());
  context.run();
  doctest::is_running_in_test = nested;
  list = nullptr;
  return found;
}

}  // namespace

void takes::fill(doctest::detail::TestCase& test) const {
  std::vector<std::string>& all = taken()[{test.m_file.c_str(), test.m_line}];
  all.insert(all.end(), keys.begin(), keys.end());
}

std::vector<RegisteredCheck> registered_checks(const std::string& lab) {
  std::vector<RegisteredCheck> checks;
  for (Found& found : query(suite_of(lab))) checks.push_back(std::move(found.check));
  return checks;
}

std::vector<std::string> known_labs() {
  const size_t prefix = suite_of("").size();
  std::set<std::string> labs;
  for (const Found& found : query(suite_of("*"))) {
    const std::string lab = found.suite.substr(prefix);
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
    throw Error(fmt::format(
        "name a lab: `make grade` has built this lab32 for {} alone; `make build` adds the others",
        names));
  for (const std::string& lab : named) {
    if (std::find(known.begin(), known.end(), lab) != known.end()) continue;
    if (all_suites_linked())
      throw Error(fmt::format("there is no lab `{}`; the labs are: {}", lab, names));
    throw Error(fmt::format(
        "there is no lab `{}` here: `make grade` has built this lab32 for {} alone; `make build` "
        "adds the others",
        lab, names));
  }
  return named.empty() ? known : named;
}

}  // namespace lab32::grading
