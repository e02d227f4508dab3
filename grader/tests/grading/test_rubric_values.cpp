// What a rubric may say does not crash a check or make it fail with an error: each value of each
// check at the lower end of its range.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "grading/engine/registry.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/graded_lab.h"
#include "tests/fixtures/scratch.h"

namespace lab32::tests {
namespace {

using grading::RubricKey;
using Form = grading::RubricValueConstraint::ExpectedType;

// The least value that the key may have, as TOML; empty: it has no number of its own.
std::string least_value(const RubricKey& key) {
  const std::string least = fmt::format("{}", key.range.least);
  if (key.name.find('.') != std::string::npos || !key.range.with_length_of.empty()) return "";
  switch (key.range.form) {
    case Form::whole:
    case Form::number:
      return least;
    case Form::wholes:
      return key.range.entries > 0 ? "" : "[" + least + "]";
    case Form::interval:
      return "[" + least + ", " + least + "]";
    default:
      return "";
  }
}

// The rubric with another value in a table.
std::string with_value(std::string rubric, const std::string& table, const std::string& key,
                       const std::string& value) {
  const std::string head = "\n[" + table + "]\n";
  const size_t begin = rubric.find(head) + head.size(), end = rubric.find("\n[", begin),
               at = rubric.find("\n" + key + " = ", begin - 1);
  if (at < end) rubric.erase(at + 1, rubric.find('\n', at + 1) - at);
  rubric.insert(begin, key + " = " + value + "\n");
  return rubric;
}

const std::string* table_of(const grading::Rubric& rubric, const std::string& check) {
  for (const grading::RubricCheckEntry& row : rubric.rows())
    if (row.check == check && !row.bonus) return &row.table;
  return nullptr;
}

}  // namespace

void check_least_values(const std::string& lab) {
  const ScratchDirectory folder;
  const auto device = device::open_device("sim");
  GradedLab graded(lab, lab32_root() / "solutions" / lab / (lab + ".cu"), *device);
  const grading::Rubric usual = graded.rubric();
  const std::string rubric = read_file(grading::rubric_folder() / (lab + ".toml")).value();
  for (const grading::RegisteredCheck& check : grading::registered_checks(lab)) {
    const std::string* table = table_of(usual, check.name);
    if (!table) continue;
    for (const RubricKey& key : check.takes) {
      const std::string value = least_value(key);
      if (value.empty()) continue;
      folder.write(lab + ".toml", with_value(rubric, *table, key.name, value));
      INFO(check.name, ": ", key.name);
      try {
        graded.use_rubric(folder.path);
      } catch (const Error& error) {  // the value does not fit another one
        CHECK(std::string(error.what()).find(lab + ".toml:") != std::string::npos);
        continue;
      }
      const report::CheckResult test = graded.grade(1, {check.name}).tests.at(0);
      CHECK_MESSAGE(test.status != report::Status::error, test.message);
    }
  }
}

TEST_EACH_LAB("grading: no value that a rubric may have crashes a check", check_least_values, 0);

}  // namespace lab32::tests
