#include "grading/rubric/value_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace lab32::grading {
namespace {

using Form = RubricValueConstraint::ExpectedType;

// Limits far above everything that a launch of the simulator can take within its own limits, and
// far below every value that overflows.
constexpr double kLargestN = 1 << 26, kLargestTimedN = 1 << 28, kLargestCount = 1e12,
                 kMostCases = 10'000, kMostSharedBytes = 232'448;

const std::vector<RubricKey>& predefined_rubric_keys() {
  static const std::vector<RubricKey> keys = {
      whole("n", 1, kLargestTimedN),
      whole("n_modelled", 1, kLargestN),
      wholes("sizes", 0, kLargestN),
      interval_valued_key("drawn", 1, kLargestN),
      whole("unit", 1, kLargestN),
      number("ideal", 0, kLargestCount),
      number("ideal_sectors", 0, kLargestCount),
      number("ideal_requests", 0, kLargestCount),
      number("ideal_loads", 0, kLargestCount),
      number("most_sectors", 0, kLargestCount),
      number("min_working_share", 0, 1),
      number("min_access_share", 0, 1),
      number("relative_tolerance", 0, 1),
      number("shared_bytes", 0, kMostSharedBytes),
      whole("random_cases", 1, kMostCases),
      whole("random_patterns", 1, kMostCases),
      number("fraction", 0.01, 2),
      number("speed.of_reference", 0.01, 1),
      number("steps.share_of_gain", 0, 1),
      number("steps.least_gain", 0, 10),
      {"questions", Form::elsewhere},
  };
  return keys;
}

bool is_within(const RubricValueConstraint& range, const toml::node& value) {
  const auto number = value.value<double>();
  if (!value.is_number() || !number || !(*number >= range.least && *number <= range.most))
    return false;
  const Form form = range.form;
  if (form == Form::number || form == Form::numbers) return true;
  if (std::fmod(*number, range.unit) != 0) return false;
  return !range.power_of_two || std::exp2(std::round(std::log2(*number))) == *number;
}

bool is_valid_list(const RubricValueConstraint& range, const toml::node& value) {
  const toml::array* list = value.as_array();
  if (!list || list->empty() || list->size() > RubricValueConstraint::kMostEntries ||
      (range.entries > 0 && list->size() != range.entries))
    return false;
  return std::all_of(list->begin(), list->end(),
                     [&](const toml::node& each) { return is_within(range, each); });
}

double entry(const toml::node& list, size_t i) { return list.as_array()->get(i)->value_or(0.0); }

// A block has threads, and a thread has items; 0 blocks per multiprocessor means no limit.
bool are_launch_shapes(const RubricValueConstraint& range, const toml::node& value) {
  if (!is_valid_list(range, value) || value.as_array()->size() % 3 != 0) return false;
  for (size_t i = 0; i < value.as_array()->size(); i += 3)
    if (entry(value, i) < 1 || entry(value, i + 1) < 1) return false;
  return true;
}

bool is_valid_text(const RubricValueConstraint& range, const toml::node& value) {
  const auto text = value.value<std::string>();
  if (!text || text->empty()) return false;
  return range.choices.empty() ||
         std::find(range.choices.begin(), range.choices.end(), *text) != range.choices.end();
}

bool accepts(const RubricValueConstraint& range, const toml::node& value) {
  switch (range.form) {
    case Form::whole:
    case Form::number:
      return is_within(range, value);
    case Form::wholes:
    case Form::numbers:
      return is_valid_list(range, value);
    case Form::interval:
      return is_valid_list(range, value) && entry(value, 0) <= entry(value, 1);
    case Form::shapes:
      return are_launch_shapes(range, value);
    case Form::text:
      return is_valid_text(range, value);
    case Form::flag:
      return value.is_boolean();
    case Form::elsewhere:
      break;
  }
  return true;
}

}  // namespace

RubricKey::RubricKey(const char* common) : name(common) {
  const std::vector<RubricKey>& all = predefined_rubric_keys();
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const RubricKey& key) { return key.name == name; });
  if (known == all.end())
    throw std::logic_error(name +
                           " is no common key of rubrics: takes_rubric_keys() needs its range");
  range = known->range;
}

RubricKey whole(const char* name, double least, double most, double unit) {
  RubricKey key(name, Form::whole, least, most);
  key.range.unit = unit;
  return key;
}

RubricKey number(const char* name, double least, double most) {
  return {name, Form::number, least, most};
}

RubricKey wholes(const char* name, double least, double most, size_t entries, double unit) {
  RubricKey key(name, Form::wholes, least, most);
  key.range.entries = entries;
  key.range.unit = unit;
  return key;
}

RubricKey numbers(const char* name, double least, double most) {
  return {name, Form::numbers, least, most};
}

RubricKey power_of_two(const char* name, double least, double most) {
  RubricKey key(name, Form::whole, least, most);
  key.range.power_of_two = true;
  return key;
}

RubricKey powers_of_two(const char* name, double least, double most) {
  RubricKey key(name, Form::wholes, least, most);
  key.range.power_of_two = true;
  return key;
}

RubricKey interval_valued_key(const char* name, double least, double most) {
  RubricKey key(name, Form::interval, least, most);
  key.range.entries = 2;
  return key;
}

RubricKey shapes(const char* name) { return {name, Form::shapes, 0, 1024}; }

RubricKey choice(const char* name, std::vector<std::string> choices) {
  RubricKey key(name, Form::text);
  key.range.choices = std::move(choices);
  return key;
}

RubricKey with_length_of(const char* other, RubricKey list) {
  list.range.with_length_of = other;
  return list;
}

std::vector<RubricKey> all_predefined_keys() { return predefined_rubric_keys(); }

std::string RubricValueConstraint::describe() const {
  std::string limits = fmt::format("from {:.15g} to {:.15g}", least, most);
  if (unit != 1)
    limits = fmt::format("{} ({} {:g})", limits,
                         form == ExpectedType::whole ? "a multiple of" : "multiples of", unit);
  switch (form) {
    case ExpectedType::whole:
      return (power_of_two ? "a power of two " : "a whole number ") + limits;
    case ExpectedType::number:
      return "a number " + limits;
    case ExpectedType::wholes:
      return (entries > 0 ? fmt::format("a list of {} ", entries) : "a list of ") +
             (power_of_two ? "powers of two " : "whole numbers ") + limits;
    case ExpectedType::numbers:
      return "a list of numbers " + limits;
    case ExpectedType::interval:
      return fmt::format("two whole numbers {}, the smaller first", limits);
    case ExpectedType::shapes:
      return "a list of shapes: block, items per thread, blocks per multiprocessor";
    case ExpectedType::text:
      return choices.empty() ? "a text"
                             : fmt::format("one of \"{}\"", fmt::join(choices, "\", \""));
    case ExpectedType::flag:
      return "true or false";
    case ExpectedType::elsewhere:
      break;
  }
  return "";
}

std::string RubricValueConstraint::refusal(const toml::node& value) const {
  return accepts(*this, value) ? "" : describe();
}

}  // namespace lab32::grading
