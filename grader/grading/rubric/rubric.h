// The rubric of a lab, data/limits/<lab>.toml. It has a table for each check: its points, its
// prerequisites, how credit is given, and the numbers that it measures with. Only the rubric holds
// these.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "grading/engine/registry.h"

namespace lab32::grading {

// The right answer to a question: a number, or a salted hash of it in the files that students get.
// The hash hides the number from readers, but not from a student who tries numbers, since `lab32
// grade` checks any number.

// The option whose ratio to `value` is nearest to 1. All numbers must be greater than 0.
double nearest_option_by_ratio(double value, const std::vector<double>& options);

class AnswerOrHash {
 public:
  explicit AnswerOrHash(double number) : held_(number) {}
  // From the text that answer_hash() returns; nullopt if the text is something else.
  static std::optional<AnswerOrHash> from_answer_hash(const std::string& text);

  bool equals_number(double value) const;
  std::optional<double> number() const;  // nullopt: only its hash is known
  // The answer as a hash, by yescrypt of the C library's crypt() with a new salt; an answer that is
  // already a hash stays as it is. Throws MachineError if the system has no random bytes.
  std::string answer_hash() const;

 private:
  explicit AnswerOrHash(std::string hash) : held_(std::move(hash)) {}

  std::variant<double, std::string> held_;
};

// all: the check passes or fails. share: it may give a part of its points. questions: the answers
// to `lab32 ask` are judged (asking/); such a check may be worth nothing.
enum class Credit : uint8_t { all, share, questions };

struct CheckDeclaration;

struct RubricAnswerKey {
  std::string name;
  AnswerOrHash answer;  // one of the options, if there are any
  std::string hint;
  std::map<double, std::string> hints;  // what to say instead of `hint` about a wrong answer
  std::vector<double> options;          // not empty: the answer is the nearest of these ratios
};

// The rubric's table of one check, which is one row of the score report.
class RubricCheckEntry {
 public:
  std::string table, check;
  double points = 0;
  bool bonus = false;  // a timing check, which counts only on a machine with a GPU
  Credit credit = Credit::all;
  std::vector<size_t> after;  // indices of its prerequisites, which come earlier
  std::string
      hides;  // which later pictures its open questions hide: "all", "shuffles" or "atomics"
  // The check is not run before this time, so that its verdict cannot help with the submission.
  std::time_t hidden_until = 0;
  std::string path;  // the rubric
  unsigned line = 0;
  // What to launch and to compare (declared/declaration.h); null: a LAB_CHECK does it.
  std::shared_ptr<const CheckDeclaration> declaration;

  bool dropped() const;  // a check without points is not run; for its successors it has passed
  bool hidden() const;

  // The value of a key that the check takes: from its own table or, if that has none, from the top
  // of the file. Throws Error with file and line if the type is wrong.
  double required_number(const std::string& key) const;
  uint32_t required_count(const std::string& key) const {
    return static_cast<uint32_t>(required_number(key));
  }
  std::vector<double> required_numbers(const std::string& key) const;
  std::string required_text(const std::string& key) const;
  bool required_flag(const std::string& key) const;
  bool has(const std::string& key) const;          // whether a key that the check may take is there
  bool asks() const;                               // whether it has questions
  std::vector<RubricAnswerKey> questions() const;  // sorted by name

 private:
  friend class RubricReader;
  std::shared_ptr<const struct RubricFile> file_;
  std::vector<RubricKey> takes_;
};

class Rubric {
 public:
  // Reads folder/<lab>.toml and compares it with the registered checks of the lab. Every registered
  // check needs one row, a row without one declares its check, every key must be one that a check
  // takes, prerequisites come before their successors, and the points add up to `max_score`. Throws
  // Error "FILE:LINE: ..." otherwise.
  Rubric(const std::filesystem::path& folder, const std::string& lab);
  // As above with these checks instead of the registered ones, for tests.
  Rubric(const std::filesystem::path& folder, const std::string& lab,
         const std::vector<RegisteredCheck>& checks);

  const std::string& lab() const { return lab_; }
  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<RubricCheckEntry>& rows() const { return rows_; }  // in the order of the file

 private:
  std::string lab_;
  std::filesystem::path folder_;
  std::vector<RubricCheckEntry> rows_;
};

// The folder of a lab's rubric; without a lab, that of the project's own rubrics.
std::filesystem::path rubric_folder(const std::string& lab = {});

// A line "TABLE QUESTION HASH" for each question of the lab, for `lab32 seal`.
std::string sealed_answer_lines(const Rubric& rubric);

}  // namespace lab32::grading
