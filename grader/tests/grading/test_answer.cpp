#include <doctest/doctest.h>

#include "grading/engine/registry.h"
#include "grading/rubric/rubric.h"
#include "tests/fixtures/slow.h"

namespace lab32::grading {
namespace {

std::string damaged(std::string sealed, size_t place) {
  sealed[place] = sealed[place] == 'a' ? 'b' : 'a';
  return sealed;
}

}  // namespace

TEST_CASE("grading: a sealed answer matches its number only") {
  const std::string sealed = AnswerOrHash(4).answer_hash();
  CHECK(sealed.find("$y$") == 0);
  const auto answer = AnswerOrHash::from_answer_hash(sealed);
  REQUIRE(answer);
  CHECK(answer->equals_number(4));
  CHECK(answer->equals_number(4.0f));
  CHECK_FALSE(answer->equals_number(5));
  CHECK_FALSE(answer->equals_number(4.5));
  CHECK_FALSE(answer->equals_number(-4));
  CHECK_FALSE(answer->number());
  CHECK(answer->answer_hash() == sealed);
}

TEST_CASE("grading: a sealed answer treats -0 as 0 and distinguishes every answer of a lab") {
  CHECK(AnswerOrHash::from_answer_hash(AnswerOrHash(0).answer_hash())->equals_number(-0.0));
  CHECK(AnswerOrHash::from_answer_hash(AnswerOrHash(1.25).answer_hash())->equals_number(1.25f));
  const auto next_float = AnswerOrHash::from_answer_hash(AnswerOrHash(16777218).answer_hash());
  CHECK(next_float->equals_number(16777218.0f));
  CHECK_FALSE(next_float->equals_number(16777216.0f));
}

TEST_CASE("grading: equal answers have different seals") {
  CHECK(AnswerOrHash(4).answer_hash() != AnswerOrHash(4).answer_hash());
}

TEST_CASE("grading: a text that seal() has not made is no sealed answer") {
  const std::string sealed = AnswerOrHash(4).answer_hash();
  for (const char* text : {"", "4", "$y$", "$6$salt$hash", "$1$abcdefgh$0123456789012345678901"})
    CHECK_FALSE(AnswerOrHash::from_answer_hash(text));
  CHECK_FALSE(AnswerOrHash::from_answer_hash(sealed.substr(0, sealed.rfind('$'))));
  CHECK_FALSE(AnswerOrHash::from_answer_hash(sealed.substr(0, sealed.size() - 1)));
  CHECK_FALSE(AnswerOrHash::from_answer_hash(sealed + "a"));
  CHECK_FALSE(AnswerOrHash::from_answer_hash(damaged(sealed, sealed.size() - 9))->equals_number(4));
}

TEST_CASE("grading: a plain answer is its number") {
  CHECK(AnswerOrHash(4).equals_number(4));
  CHECK_FALSE(AnswerOrHash(4).equals_number(5));
  CHECK(AnswerOrHash(4).number() == 4);
}

TEST_CASE("grading: the nearest option goes by the ratio") {
  CHECK(nearest_option_by_ratio(1.1, {1, 1.25, 3, 8}) == 1);
  CHECK(nearest_option_by_ratio(4.8, {1, 1.25, 3, 8}) == 3);  // 1.6 times 3, 8 is 1.67 times it
  CHECK(nearest_option_by_ratio(100, {1, 1.25, 3, 8}) == 8);
}

TEST_CASE("grading: the sealed answers of every lab match the rubric's answers" * kSlow) {
  size_t questions = 0;
  for (const std::string& lab : known_labs()) {
    const Rubric rubric(rubric_folder(), lab);
    const std::string lines = sealed_answer_lines(rubric);
    for (const RubricCheckEntry& row : rubric.rows()) {
      if (!row.asks()) continue;
      for (const RubricAnswerKey& question : row.questions()) {
        const std::string head = row.table + " " + question.name + " ";
        const size_t at = lines.find(head);
        REQUIRE(at != std::string::npos);
        const size_t from = at + head.size();
        const auto sealed =
            AnswerOrHash::from_answer_hash(lines.substr(from, lines.find('\n', at) - from));
        REQUIRE(sealed);
        CHECK(sealed->equals_number(question.answer.number().value()));
        ++questions;
      }
    }
  }
  CHECK(questions >= 38);
}

}  // namespace lab32::grading
