#include "grading/declared/expression.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace lab32::grading {

namespace {

using Op = ExpressionOp;

struct ExpressionFunction {
  const char* name;
  Op op;
  size_t arguments;
  bool over_range = false;
};

constexpr ExpressionFunction kFunctions[] = {
    {"min", Op::min, 2},           {"max", Op::max, 2},
    {"ceil_div", Op::ceil_div, 2}, {"floor", Op::floor, 1},
    {"ceil", Op::ceil, 1},         {"abs", Op::abs, 1},
    {"sqrt", Op::sqrt, 1},         {"exp", Op::exp, 1},
    {"log", Op::log, 1},           {"pow", Op::pow, 2},
    {"random", Op::random, 2},     {"sum", Op::sum, 4, true},
    {"least", Op::least, 4, true}, {"greatest", Op::greatest, 4, true}};

}  // namespace

// Recursive descent, one function per level of precedence.
class ExpressionParser {
 public:
  using Node = Expression::Node;

  ExpressionParser(const Expression& whole, const AllowedExpressionNames& names)
      : whole_(whole), text_(whole.text_), names_(names) {}

  Node parse() {
    Node node = parse_conditional();
    if (!rest_of_text().empty()) throw_error(fmt::format("`{}` is not expected", rest_of_text()));
    return node;
  }

 private:
  struct BinaryOperator {
    const char* sign;
    Op op;
  };
  static constexpr size_t kDeepest = 100;

  [[noreturn]] void throw_error(const std::string& message) const { whole_.throw_error(message); }

  std::string rest_of_text() {
    skip_space();
    return text_.substr(at_);
  }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool accept_token(const std::string& sign) {
    skip_space();
    if (text_.compare(at_, sign.size(), sign) != 0) return false;
    at_ += sign.size();
    return true;
  }

  void require_token(const std::string& sign) {
    if (!accept_token(sign))
      throw_error(rest_of_text().empty()
                      ? fmt::format("a `{}` is missing at the end", sign)
                      : fmt::format("a `{}` is missing before `{}`", sign, rest_of_text()));
  }

  Node parse_conditional() {
    if (++depth_ > kDeepest) throw_error("it is nested too deeply");
    Node node = parse_binary(0);
    if (accept_token("?")) {
      Node then = parse_conditional();
      require_token(":");
      node = {Op::choose, 0, 0, {std::move(node), std::move(then), parse_conditional()}};
    }
    --depth_;
    return node;
  }

  Node parse_binary(size_t level) {
    // A longer sign comes before its prefix.
    static const std::vector<std::vector<BinaryOperator>> levels = {
        {{"||", Op::either}},
        {{"&&", Op::both}},
        {{"==", Op::equal},
         {"!=", Op::differ},
         {"<=", Op::at_most},
         {">=", Op::at_least},
         {"<", Op::less},
         {">", Op::more}},
        {{"+", Op::add}, {"-", Op::subtract}},
        {{"*", Op::multiply}, {"/", Op::divide}, {"%", Op::remainder}}};
    if (level == levels.size()) return parse_unary();
    Node node = parse_binary(level + 1);
    for (;;) {
      const auto& all = levels[level];
      const auto found = std::find_if(all.begin(), all.end(), [&](const BinaryOperator& one) {
        return accept_token(one.sign);
      });
      if (found == all.end()) return node;
      node = {found->op, 0, 0, {std::move(node), parse_binary(level + 1)}};
    }
  }

  Node parse_unary() {
    if (++depth_ > kDeepest) throw_error("it is nested too deeply");
    Node node;
    if (accept_token("-"))
      node = {Op::negate, 0, 0, {parse_unary()}};
    else if (accept_token("!"))
      node = {Op::invert, 0, 0, {parse_unary()}};
    else
      node = parse_primary();
    --depth_;
    return node;
  }

  Node parse_primary() {
    if (accept_token("(")) {
      Node node = parse_conditional();
      require_token(")");
      return node;
    }
    skip_space();
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (std::isdigit(static_cast<unsigned char>(first)) || first == '.') return parse_number();
    if (std::isalpha(static_cast<unsigned char>(first)) || first == '_') return parse_name();
    throw_error(rest_of_text().empty()
                    ? "a value is missing at the end"
                    : fmt::format("a value is missing before `{}`", rest_of_text()));
  }

  Node parse_number() {
    const char* begin = text_.c_str() + at_;
    char* end = nullptr;
    Node node;
    node.number = std::strtod(begin, &end);
    if (end == begin) throw_error(fmt::format("`{}` is no number", rest_of_text()));
    at_ += static_cast<size_t>(end - begin);
    return node;
  }

  std::string parse_word() {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  size_t index_of_name(const std::vector<std::string>& known, const std::string& name,
                       const char* what) const {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found != known.end()) return static_cast<size_t>(found - known.begin());
    const std::vector<std::string> near = suggestions(name, {known.begin(), known.end()}, 1);
    throw_error(fmt::format("there is no {} `{}`{}", what, name,
                            !near.empty()   ? fmt::format("; did you mean `{}`?", near[0])
                            : known.empty() ? std::string(" here")
                            : known.size() > 12
                                ? std::string()
                                : fmt::format(" (there is {})", fmt::join(known, ", "))));
  }

  Node parse_name() {
    const std::string name = parse_word();
    if (accept_token("(")) return parse_call(name);
    Node node;
    if (accept_token("[")) {
      node = {Op::element, 0, index_of_name(names_.arrays, name, "array"), {parse_conditional()}};
      require_token("]");
      return node;
    }
    if (const auto bound = std::find(bound_.rbegin(), bound_.rend(), name);
        bound != bound_.rend()) {
      node.op = Op::bound;
      node.slot = static_cast<size_t>(bound_.rend() - bound) - 1;
      return node;
    }
    node.op = Op::name;
    node.slot = index_of_name(names_.numbers, name, "name");
    return node;
  }

  Node parse_call(const std::string& name) {
    const auto* function =
        std::find_if(std::begin(kFunctions), std::end(kFunctions),
                     [&](const ExpressionFunction& one) { return one.name == name; });
    if (function == std::end(kFunctions))
      throw_error(fmt::format("there is no function `{}`", name));
    if (function->op == Op::random && !names_.random)
      throw_error("random() is allowed only in `values` of arrays and in `scalars`");
    Node node;
    node.op = function->op;
    if (function->over_range) bound_.push_back(parse_bound_variable());
    for (size_t i = function->over_range ? 1 : 0; i < function->arguments; ++i) {
      if (i > 0) require_token(",");
      node.parts.push_back(parse_conditional());
    }
    if (function->over_range) {
      bound_.pop_back();
      node.slot = bound_.size();
    }
    require_token(")");
    return node;
  }

  std::string parse_bound_variable() {
    const std::string name = parse_word();
    if (name.empty()) throw_error("sum(k, a, b, ...) begins with a variable");
    return name;
  }

  const Expression& whole_;
  const std::string& text_;
  const AllowedExpressionNames& names_;
  std::vector<std::string> bound_;  // the variables of the functions around this place
  size_t at_ = 0, depth_ = 0;
};

Expression::Expression(double number) : text_(fmt::format("{}", number)) {
  Node node;
  node.number = number;
  root_ = std::make_shared<const Node>(std::move(node));
  names_ = std::make_shared<const AllowedExpressionNames>();
}

Expression::Expression(const std::string& text, const AllowedExpressionNames& names,
                       std::string where)
    : text_(text),
      where_(std::move(where)),
      names_(std::make_shared<const AllowedExpressionNames>(names)) {
  root_ = std::make_shared<const Node>(ExpressionParser(*this, *names_).parse());
}

void Expression::throw_error(const std::string& message) const {
  throw Error(fmt::format("{}{}the expression \"{}\": {}", where_, where_.empty() ? "" : ": ",
                          text_, message));
}

uint64_t Expression::whole_value(const ExpressionValues& values, uint64_t least,
                                 uint64_t most) const {
  const double number = value(values);
  if (!(number >= static_cast<double>(least) && number <= static_cast<double>(most)) ||
      number != std::floor(number))
    throw_error(
        fmt::format("its value {} is not a whole number from {} to {}", number, least, most));
  return static_cast<uint64_t>(number);
}

std::vector<std::string> Expression::used_number_names() const {
  std::set<std::string> used;
  const std::function<void(const Node&)> visit = [&](const Node& node) {
    if (node.op == Op::name) used.insert(names_->numbers[node.slot]);
    for (const Node& part : node.parts) visit(part);
  };
  visit(*root_);
  return {used.begin(), used.end()};
}

bool Expression::uses_array(const std::string& name) const {
  const std::function<bool(const Node&)> uses = [&](const Node& node) {
    return (node.op == Op::element && names_->arrays[node.slot] == name) ||
           std::any_of(node.parts.begin(), node.parts.end(), uses);
  };
  return uses(*root_);
}

}  // namespace lab32::grading
