// What a check accepts as the value of a rubric key: its type and its range. A check names the
// ranges of the keys that it reads (takes_rubric_keys() in engine/registry.h), and the reader of
// rubrics refuses everything else, before a launch depends on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/toml_file.h"

namespace lab32::grading {

struct RubricValueConstraint {
  enum class ExpectedType : uint8_t {
    whole,      // a whole number
    number,     // a number
    wholes,     // a list of whole numbers
    numbers,    // a list of numbers
    interval,   // two whole numbers, the smaller first
    shapes,     // a list of block, items per thread and blocks per multiprocessor
    text,       // a text that is not empty, or one of `choices`
    flag,       // true or false
    elsewhere,  // not checked here: questions and parts of a declaration have readers of their own
  };
  static constexpr size_t kMostEntries = 64;

  ExpectedType form = ExpectedType::elsewhere;
  double least = 0, most = 0;  // of each number
  double unit = 1;             // each whole number is a multiple of it
  bool power_of_two = false;
  size_t entries = 0;               // entries of a list; 0: from 1 to kMostEntries
  std::string with_length_of = {};  // another key, whose list has as many entries
  std::vector<std::string> choices = {};

  // The type and range that the value ought to have, such as "a whole number from 1 to 64"; empty
  // if the value has them.
  std::string refusal(const toml::node& value) const;
  std::string describe() const;
};

struct RubricKey {
  std::string name;
  RubricValueConstraint range = {};

  RubricKey(std::string key, RubricValueConstraint of)
      : name(std::move(key)), range(std::move(of)) {}
  RubricKey(const char* key, RubricValueConstraint::ExpectedType form, double least = 0,
            double most = 0)
      : name(key) {
    range.form = form;
    range.least = least;
    range.most = most;
  }
  // A key that means the same in all labs, with its range: `n`, `ideal`, `drawn`. Throws
  // std::logic_error for another name.
  RubricKey(const char* common);
};

RubricKey whole(const char* name, double least, double most, double unit = 1);
RubricKey number(const char* name, double least, double most);
RubricKey wholes(const char* name, double least, double most, size_t entries = 0, double unit = 1);
RubricKey numbers(const char* name, double least, double most);
RubricKey power_of_two(const char* name, double least, double most);
RubricKey powers_of_two(const char* name, double least, double most);
RubricKey interval_valued_key(const char* name, double least, double most);
RubricKey shapes(const char* name);
RubricKey choice(const char* name, std::vector<std::string> choices);
// The key `list`, with the condition that its list has as many entries as that of the key `other`.
RubricKey with_length_of(const char* other, RubricKey list);

// All keys that mean the same in all labs.
std::vector<RubricKey> all_predefined_keys();

}  // namespace lab32::grading
