// A lab's rubric, data/limits/<lab>.toml: what each check is worth, which checks must pass before
// it, how its credit is given, and the values that it measures with. These stand nowhere else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "grading/engine/registry.h"
#include "grading/rubric/answer.h"

namespace lab32::grading {

// all: full marks or none. share: the part of the points that the check has measured.
enum class Credit : uint8_t { all, share };

struct Question {
  std::string name;
  Answer answer;  // one of the options, where there are any
  std::string hint;
  std::vector<double> options;  // not empty: a ratio, to the nearest of these
};

// A table of the rubric that has a `check`: a row of the score report.
class RubricRow {
 public:
  std::string table, check;
  double points = 0;
  bool bonus = false;  // a timing check: it counts only where there is a GPU
  Credit credit = Credit::all;
  std::vector<size_t> after;  // the rows that must have passed, all of them above this one
  std::string hides;          // while it is open, pictures below: "all", "shuffles", "atomics"
  unsigned line = 0;
  size_t place = 0;  // of its TEST_CASE among those of the lab, from 1

  // The value of a key that the check takes: the table's own or, where it has none, the lab's.
  // Throws Error, with file and line, when it is of another kind.
  double number(const std::string& key) const;
  uint32_t count(const std::string& key) const { return static_cast<uint32_t>(number(key)); }
  std::vector<double> numbers(const std::string& key) const;
  std::string text(const std::string& key) const;
  bool asks() const;                        // it has questions
  std::vector<Question> questions() const;  // sorted by name

 private:
  friend class RubricReader;
  std::shared_ptr<const struct RubricText> file_;
  std::vector<std::string> takes_;
};

class Rubric {
 public:
  // FOLDER/LAB.toml, which must fit the checks that are registered for the lab: every check has one
  // row, every key is one that is read, prerequisites come first, points add up to `max_score`.
  // Throws Error "FILE:LINE: ..." when it does not.
  Rubric(const std::filesystem::path& folder, const std::string& lab);
  // The same with the checks given, for tests.
  Rubric(const std::filesystem::path& folder, const std::string& lab,
         const std::vector<RegisteredCheck>& checks);

  const std::string& lab() const { return lab_; }
  const std::vector<RubricRow>& rows() const { return rows_; }  // in the order of the file

 private:
  std::string lab_;
  std::vector<RubricRow> rows_;
};

// Where the project keeps its own.
std::filesystem::path rubric_folder();

// A line "TABLE QUESTION HASH" for each question of the lab.
std::string sealed_answers(const Rubric& rubric);

}  // namespace lab32::grading
