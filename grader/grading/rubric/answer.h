// The right answer to a question: a number, or a salted hash of it in what students get. A hash
// keeps the number out of sight, not from who tries numbers: `lab32 grade` judges any of them.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lab32::grading {

// Of a few ratios the nearest as ratios go, by their logarithms. Greater than 0, all of them.
double nearest_option(double value, const std::vector<double>& options);

class Answer {
 public:
  explicit Answer(double number) : held_(number) {}
  // Of what sealed() made; nullopt: of another text.
  static std::optional<Answer> of_sealed(const std::string& text);

  bool is(double value) const;
  std::optional<double> number() const;  // nullopt: it is sealed
  // yescrypt of the C library's crypt(), with a new salt each time; what is sealed already stays.
  // Throws MachineError where there is no randomness to be had.
  std::string sealed() const;

 private:
  explicit Answer(std::string hash) : held_(std::move(hash)) {}

  std::variant<double, std::string> held_;
};

}  // namespace lab32::grading
