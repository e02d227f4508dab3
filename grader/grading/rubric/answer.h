// The right answer to a question: a number, or a salted hash of it in the files that students get.
// The hash hides the number from readers, but not from a student who tries numbers, since `lab32
// grade` checks any number.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lab32::grading {

// The option whose ratio to `value` is nearest to 1. All numbers must be greater than 0.
double nearest_option(double value, const std::vector<double>& options);

class Answer {
 public:
  explicit Answer(double number) : held_(number) {}
  // From the text that sealed() returns; nullopt if the text is something else.
  static std::optional<Answer> from_sealed(const std::string& text);

  bool is(double value) const;
  std::optional<double> number() const;  // nullopt: only its hash is known
  // The answer as a hash, by yescrypt of the C library's crypt() with a new salt; an answer that is
  // already a hash stays as it is. Throws MachineError if the system has no random bytes.
  std::string sealed() const;

 private:
  explicit Answer(std::string hash) : held_(std::move(hash)) {}

  std::variant<double, std::string> held_;
};

}  // namespace lab32::grading
