#include "grading/engine/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "base/toml_file.h"
#include "grading/declared/declaration.h"

namespace lab32::grading {
namespace {

struct RegisteredCheckWithSuite {
  std::string suite;
  RegisteredCheck check;
  CaseFunction function = nullptr;
};

// A function-local static, because static initialisers of other files add to it before main().
std::vector<RegisteredCheckWithSuite>& collected_checks() {
  static std::vector<RegisteredCheckWithSuite> checks;
  return checks;
}

// The keys that the check at that file and line takes. doctest runs the decorator
// `takes_rubric_keys` before `check_registering_decorator`, which moves them to the registered
// check.
std::vector<RubricKey>& keys_taken_by(const doctest::detail::TestCase& test) {
  static std::map<std::pair<std::string, unsigned>, std::vector<RubricKey>> keys;
  return keys[{test.m_file.c_str(), test.m_line}];
}

}  // namespace

void takes_rubric_keys::fill(doctest::detail::TestCase& test) const {
  std::vector<RubricKey>& all = keys_taken_by(test);
  all.insert(all.end(), keys.begin(), keys.end());
}

void check_registering_decorator::fill(doctest::detail::TestCase& test) const {
  collected_checks().push_back(
      {test.m_test_suite,
       {test.m_name, test.m_file.c_str(), test.m_line, keys_taken_by(test)},
       test.m_test});
}

std::vector<RegisteredCheck> registered_checks(const std::string& lab) {
  std::vector<RegisteredCheck> checks;
  for (const RegisteredCheckWithSuite& found : collected_checks())
    if (found.suite == suite_of(lab)) checks.push_back(found.check);
  std::sort(checks.begin(), checks.end(), [](const RegisteredCheck& a, const RegisteredCheck& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
  return checks;
}

CaseFunction doctest_function_of_check(const std::string& lab, const std::string& check) {
  for (const RegisteredCheckWithSuite& found : collected_checks())
    if (found.suite == suite_of(lab) && found.check.name == check) return found.function;
  throw std::logic_error("no doctest case is called " + check);
}

namespace {

// Whether a rubric declares all of its checks, other than answers to `lab32 ask`. One that cannot
// be read counts as such: reading it for a grading reports the error.
bool has_only_declarative_checks(const std::filesystem::path& rubric) {
  try {
    const toml::table file = read_toml(rubric);
    return std::all_of(file.begin(), file.end(), [](const auto& entry) {
      const toml::table* table = entry.second.as_table();
      return !table || !table->contains("check") || declared_kind(*table) ||
             (*table)["credit"].value<std::string>() == "questions";
    });
  } catch (const Error&) {
    return true;
  }
}

// The labs with a rubric below `directory`, and whether each rubric declares all of its checks.
std::map<std::string, bool> rubric_completeness_by_lab(const std::filesystem::path& directory) {
  std::map<std::string, bool> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory / "data/limits", none))
    if (entry.path().extension() == ".toml")
      found[entry.path().stem().string()] = has_only_declarative_checks(entry.path());
  return found;
}

bool has_registered_checks(const std::string& lab) {
  return std::any_of(collected_checks().begin(), collected_checks().end(),
                     [suite = suite_of(lab)](const RegisteredCheckWithSuite& found) {
                       return found.suite == suite;
                     });
}

// The labs that LAB32_LABS adds. If a check is not declared in its rubric, reading the rubric
// reports that.
std::vector<std::string> lab_names_from_environment() {
  std::vector<std::string> labs;
  if (const std::string more = environment_value(variables::kLabs); !more.empty())
    for (const auto& [lab, declared] : rubric_completeness_by_lab(more)) labs.push_back(lab);
  return labs;
}

}  // namespace

std::vector<std::string> known_labs() {
  const std::vector<std::string> added = lab_names_from_environment();
  std::set<std::string> labs(added.begin(), added.end());
  for (const auto& [lab, declared] : rubric_completeness_by_lab(lab32_root()))
    if (declared || has_registered_checks(lab)) labs.insert(lab);
  return {labs.begin(), labs.end()};
}

bool all_suites_linked() {
  const std::map<std::string, bool> labs = rubric_completeness_by_lab(lab32_root());
  return std::all_of(labs.begin(), labs.end(), [](const auto& lab) {
    return lab.second || has_registered_checks(lab.first);
  });
}

std::vector<std::string> labs_or_all(const std::vector<std::string>& named) {
  const std::vector<std::string> known = known_labs();
  if (const std::vector<std::string> added = lab_names_from_environment();
      named.empty() && !added.empty())
    return added;
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
