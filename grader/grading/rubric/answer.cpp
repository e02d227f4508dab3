#include <crypt.h>
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "grading/rubric/rubric.h"

namespace lab32::grading {
namespace {

constexpr const char* kMethod = "$y$";  // yescrypt
// One hash takes 32 MiB and a twentieth of a second, and a grading computes one per question.
constexpr unsigned long kCost = 6;

// The text of a number that is hashed. -0 becomes 0, and ten digits distinguish all whole numbers
// that a float holds exactly.
std::string phrase(double value) { return fmt::format("{:.10g}", value + 0.0); }

std::string hash_answer(const std::string& setting, double value) {
  const auto room = std::make_unique<crypt_data>();
  const char* hash = crypt_rn(phrase(value).c_str(), setting.c_str(), room.get(), sizeof(*room));
  if (!hash)
    throw MachineError(fmt::format("an answer cannot be hashed: {}", std::strerror(errno)));
  return hash;
}

}  // namespace

double nearest_option_by_ratio(double value, const std::vector<double>& options) {
  double best = options.front();
  for (double option : options)
    if (std::abs(std::log(value / option)) < std::abs(std::log(value / best))) best = option;
  return best;
}

std::optional<AnswerOrHash> AnswerOrHash::from_answer_hash(const std::string& text) {
  // The format is $y$COST$SALT$HASH. A text without a hash must not match any answer.
  const size_t hash = text.rfind('$');
  const bool whole = text.rfind(kMethod, 0) == 0 && text.size() - hash == 1 + 43;
  if (!whole || crypt_checksalt(text.c_str()) != CRYPT_SALT_OK) return std::nullopt;
  return AnswerOrHash(text);
}

bool AnswerOrHash::equals_number(double value) const {
  if (const double* number = std::get_if<double>(&held_)) return value == *number;
  const std::string& sealed = std::get<std::string>(held_);
  return hash_answer(sealed, value) == sealed;
}

std::optional<double> AnswerOrHash::number() const {
  const double* number = std::get_if<double>(&held_);
  return number ? std::optional(*number) : std::nullopt;
}

std::string AnswerOrHash::answer_hash() const {
  if (const std::string* sealed = std::get_if<std::string>(&held_)) return *sealed;
  // With null and 0, the C library makes the salt from random bytes of the system.
  const std::unique_ptr<char, decltype(&std::free)> setting(
      crypt_gensalt_ra(kMethod, kCost, nullptr, 0), &std::free);
  if (!setting)
    throw MachineError(
        fmt::format("there is no random salt for the hash: {}", std::strerror(errno)));
  return hash_answer(setting.get(), std::get<double>(held_));
}

}  // namespace lab32::grading
