// Evaluates expressions, for up to kBatch elements at once: a node of the tree is visited once for
// all of them. Branches are evaluated only for the elements that take them, since the other branch
// may access an element that does not exist.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "grading/declared/expression.h"

namespace lab32::grading {
namespace {

using Op = ExpressionOp;

constexpr size_t kBatch = 256;

bool is_branch(Op op) { return op == Op::choose || op == Op::either || op == Op::both; }
bool is_reduction_over_range(Op op) {
  return op == Op::sum || op == Op::least || op == Op::greatest;
}

// fmod() of whole numbers, which is exact and several times faster than fmod() itself.
double remainder_of(double a, double b) {
  constexpr double kExact = 0x1p53;
  if (a >= 0 && a < kExact && b >= 1 && b < kExact) {
    const auto whole_a = static_cast<uint64_t>(a), whole_b = static_cast<uint64_t>(b);
    if (static_cast<double>(whole_a) == a && static_cast<double>(whole_b) == b)
      return static_cast<double>(whole_a % whole_b);
  }
  return std::fmod(a, b);
}

template <class Function>
void transform_values_in_place(double* to, size_t count, Function function) {
  for (size_t i = 0; i < count; ++i) to[i] = function(to[i]);
}

// Replaces each value by the operator's result; returns false for an operator of two values.
bool apply_unary(Op op, double* to, size_t count) {
  const auto with = [&](auto function) {
    return transform_values_in_place(to, count, function), true;
  };
  switch (op) {
    case Op::negate:
      return with([](double x) { return -x; });
    case Op::invert:
      return with([](double x) { return x == 0 ? 1.0 : 0.0; });
    case Op::floor:
      return with([](double x) { return std::floor(x); });
    case Op::ceil:
      return with([](double x) { return std::ceil(x); });
    case Op::abs:
      return with([](double x) { return std::abs(x); });
    case Op::sqrt:
      return with([](double x) { return std::sqrt(x); });
    case Op::exp:
      return with([](double x) { return std::exp(x); });
    case Op::log:
      return with([](double x) { return std::log(x); });
    default:
      return false;
  }
}

void apply_binary(Op op, double* to, const double* right, size_t count) {
  const auto with = [&](auto function) {
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<double>(function(to[i], right[i]));
  };
  switch (op) {
    case Op::less:
      return with([](double a, double b) { return a < b; });
    case Op::at_most:
      return with([](double a, double b) { return a <= b; });
    case Op::more:
      return with([](double a, double b) { return a > b; });
    case Op::at_least:
      return with([](double a, double b) { return a >= b; });
    case Op::equal:
      return with([](double a, double b) { return a == b; });
    case Op::differ:
      return with([](double a, double b) { return a != b; });
    case Op::add:
      return with([](double a, double b) { return a + b; });
    case Op::subtract:
      return with([](double a, double b) { return a - b; });
    case Op::multiply:
      return with([](double a, double b) { return a * b; });
    case Op::divide:
      return with([](double a, double b) { return a / b; });
    case Op::remainder:
      return with(remainder_of);
    case Op::min:
      return with([](double a, double b) { return std::min(a, b); });
    case Op::max:
      return with([](double a, double b) { return std::max(a, b); });
    case Op::ceil_div:
      return with([](double a, double b) { return std::ceil(a / b); });
    default:
      return with([](double a, double b) { return std::pow(a, b); });
  }
}

}  // namespace

double Expression::value(const ExpressionValues& values) const {
  const double last = values.numbers.empty() ? 0 : values.numbers.back();
  double result = 0;
  evaluate(*root_, values, {&last, 1}, &result);
  return result;
}

void Expression::values_in_range(const ExpressionValues& values, size_t begin, size_t count,
                                 double* results) const {
  // Random numbers are drawn element by element.
  const size_t together = values.random ? 1 : kBatch;
  double last[kBatch];
  for (size_t done = 0; done < count; done += together) {
    const size_t now = std::min(together, count - done);
    for (size_t i = 0; i < now; ++i) last[i] = static_cast<double>(begin + done + i);
    evaluate(*root_, values, {last, now}, results + done);
  }
}

void Expression::evaluate(const Node& node, const ExpressionValues& values, Batch batch,
                          double* to) const {
  if (is_branch(node.op)) return evaluate_short_circuit(node, values, batch, to);
  if (is_reduction_over_range(node.op))
    return evaluate_reduction_over_range(node, values, batch, to);
  if (node.op == Op::number) {
    std::fill_n(to, batch.count, node.number);
  } else if (node.op == Op::name) {
    if (node.slot + 1 == values.numbers.size())
      std::copy_n(batch.last, batch.count, to);
    else
      std::fill_n(to, batch.count, values.numbers[node.slot]);
  } else if (node.op == Op::bound) {
    std::fill_n(to, batch.count, values.bound[node.slot]);
  } else {
    evaluate(node.parts[0], values, batch, to);
    if (node.op == Op::element) {
      const ExpressionInputArray& array = values.arrays[node.slot];
      const auto count = static_cast<double>(array.count);
      transform_values_in_place(to, batch.count, [&](double index) {
        if (!(index >= 0 && index < count) || index != std::floor(index))
          throw_error(fmt::format("{}[{}] is not among its {} elements", names_->arrays[node.slot],
                                  index, array.count));
        return array.at(static_cast<size_t>(index));
      });
    } else if (!apply_unary(node.op, to, batch.count)) {
      double right[kBatch];
      evaluate(node.parts[1], values, batch, right);
      if (node.op != Op::random) return apply_binary(node.op, to, right, batch.count);
      for (size_t i = 0; i < batch.count; ++i) {
        const double range = right[i] - to[i];
        if (!(range > 0 && range <= 0x1p32)) throw_error("random(a, b) needs b > a");
        to[i] += static_cast<double>(
            values.random->below(static_cast<uint32_t>(std::min(range, 0x1p32 - 1))));
      }
    }
  }
}

// For a ? b : c, a || b and a && b: b and c are evaluated only for the elements that take them.
void Expression::evaluate_short_circuit(const Node& node, const ExpressionValues& values,
                                        Batch batch, double* to) const {
  double condition[kBatch];
  evaluate(node.parts[0], values, batch, condition);
  for (const bool truth : {true, false}) {
    size_t taken[kBatch], count = 0;
    double last[kBatch], results[kBatch];
    for (size_t i = 0; i < batch.count; ++i) {
      if ((condition[i] != 0) != truth) continue;
      taken[count] = i;
      last[count++] = batch.last[i];
    }
    if (count == 0) continue;
    if (node.op == Op::choose)
      evaluate(node.parts[truth ? 1 : 2], values, {last, count}, results);
    else if (truth == (node.op == Op::both))
      evaluate(node.parts[1], values, {last, count}, results);
    else
      std::fill_n(results, count, truth ? 1.0 : 0.0);
    for (size_t k = 0; k < count; ++k)
      to[taken[k]] = node.op == Op::choose ? results[k] : static_cast<double>(results[k] != 0);
  }
}

void Expression::evaluate_reduction_over_range(const Node& node, const ExpressionValues& values,
                                               Batch batch, double* to) const {
  double from[kBatch], below[kBatch], one[kBatch];
  evaluate(node.parts[0], values, batch, from);
  evaluate(node.parts[1], values, batch, below);
  if (values.bound.size() <= node.slot) values.bound.resize(node.slot + 1);
  // Elements with one range are evaluated together.
  for (size_t begin = 0, end; begin < batch.count; begin = end) {
    for (end = begin + 1; end < batch.count; ++end)
      if (from[end] != from[begin] || below[end] != below[begin]) break;
    const Batch part{batch.last + begin, end - begin};
    double* all = to + begin;
    std::fill_n(all, part.count,
                node.op == Op::sum     ? 0
                : node.op == Op::least ? HUGE_VAL
                                       : -HUGE_VAL);
    for (double k = from[begin]; k < below[begin]; ++k) {
      values.bound[node.slot] = k;
      evaluate(node.parts[2], values, part, one);
      for (size_t i = 0; i < part.count; ++i)
        all[i] = node.op == Op::sum     ? all[i] + one[i]
                 : node.op == Op::least ? std::min(all[i], one[i])
                                        : std::max(all[i], one[i]);
    }
  }
}

}  // namespace lab32::grading
