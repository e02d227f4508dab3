// Expressions of a rubric: "max(1, ceil_div(n, 256))", "red.sectors + atom.sectors",
// "in[i] * factor". They are computed in double precision; a / b is not rounded.
//
//   c ? a : b    a || b    a && b    < <= > >= == !=    + - * / %    -a !a    a[i]
//   min max ceil_div floor ceil abs sqrt exp log pow
//   sum(k, a, b, in[k]): the sum for k from a to b - 1; likewise least() and greatest()
//   random(a, b): a whole number from a to b - 1, where random numbers are allowed
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"

namespace lab32::grading {

// The names that an expression may use. Its values have the same order.
struct AllowedExpressionNames {
  std::vector<std::string> numbers, arrays;
  bool random = false;
};

struct ExpressionInputArray {
  size_t count = 0;
  std::function<double(size_t)> at;
};

struct ExpressionValues {
  std::vector<double> numbers;
  std::vector<ExpressionInputArray> arrays;
  Random* random = nullptr;
  mutable std::vector<double> bound = {};  // the variables of sum(), least() and greatest()
};

// clang-format off
enum class ExpressionOp : uint8_t {
  number, name, bound, element, choose, either, both, less, at_most, more, at_least, equal, differ,
  add, subtract, multiply, divide, remainder, negate, invert,
  min, max, ceil_div, floor, ceil, abs, sqrt, exp, log, pow, random, sum, least, greatest
};
// clang-format on

class Expression {
 public:
  Expression() : Expression(0) {}
  explicit Expression(double number);
  // `where`: the file and line of the text, for errors. Throws Error if the text
  // is no expression of these names.
  Expression(const std::string& text, const AllowedExpressionNames& names, std::string where);

  // Throws Error for an index outside its array.
  double value(const ExpressionValues& values) const;
  // The values where the last number of `values` is begin, begin + 1, ..., which is several times
  // faster than value() for each. Throws as value() does.
  void values_in_range(const ExpressionValues& values, size_t begin, size_t count,
                       double* results) const;
  // As value(), for a number of elements, blocks or threads: throws Error unless the value is a
  // whole number from `least` to `most`.
  uint64_t whole_value(const ExpressionValues& values, uint64_t least, uint64_t most) const;
  const std::string& text() const { return text_; }
  // The numbers that the expression uses, each once.
  std::vector<std::string> used_number_names() const;
  bool uses_array(const std::string& name) const;

 private:
  friend class ExpressionParser;
  struct Node {
    ExpressionOp op = ExpressionOp::number;
    double number = 0;
    size_t slot = 0;  // the index of the name, array or bound variable
    std::vector<Node> parts = {};
  };
  // Elements that are evaluated together; `last`: the last number of the values for each.
  struct Batch {
    const double* last;
    size_t count;
  };

  void evaluate(const Node& node, const ExpressionValues& values, Batch batch, double* to) const;
  void evaluate_short_circuit(const Node& node, const ExpressionValues& values, Batch batch,
                              double* to) const;
  void evaluate_reduction_over_range(const Node& node, const ExpressionValues& values, Batch batch,
                                     double* to) const;
  [[noreturn]] void throw_error(const std::string& message) const;

  std::string text_, where_;
  std::shared_ptr<const Node> root_;
  std::shared_ptr<const AllowedExpressionNames> names_;
};

}  // namespace lab32::grading
