#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "grading/declared/declaration.h"

namespace lab32::grading {
namespace {

std::string with_grouped_digits(std::string digits) {
  const size_t first = digits.find_first_of("0123456789");
  const size_t point = std::min(digits.find('.'), digits.size());
  for (size_t at = point; at > first + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace

TextTemplate::TextTemplate(const std::string& text, const AllowedExpressionNames& names,
                           const std::string& where) {
  static const RegularExpression format("(.*) :([<>]?)([0-9]*)(\\.[0-9])?(,?)");
  for (size_t at = 0; at < text.size();) {
    Piece piece;
    const size_t open = std::min(text.find('{', at), text.size());
    piece.text = text.substr(at, open - at);
    at = open;
    if (open < text.size()) {
      const size_t close = text.find('}', open);
      if (close == std::string::npos)
        throw Error(fmt::format("{}: a `}}` is missing after \"{}\"", where, text.substr(open)));
      std::string inside = text.substr(open + 1, close - open - 1);
      if (const auto parts = format.match(inside)) {
        piece.right = parts->at(2) == ">";
        piece.width = static_cast<size_t>(std::atoi(parts->at(3).c_str()));
        if (!parts->at(4).empty()) piece.decimals = parts->at(4)[1] - '0';
        piece.grouped = !parts->at(5).empty();
        inside = parts->at(1);
      }
      piece.value = Expression(inside, names, where);
      piece.has_value = true;
      at = close + 1;
    }
    pieces_.push_back(std::move(piece));
  }
}

std::string TextTemplate::filled(const ExpressionValues& values) const {
  std::string text;
  for (const Piece& piece : pieces_) {
    text += piece.text;
    if (!piece.has_value) continue;
    const double number = piece.value.value(values);
    std::string shown = piece.decimals >= 0 ? fmt::format("{:.{}f}", number, piece.decimals)
                        : number == std::floor(number) ? fmt::format("{:.0f}", number)
                                                       : fmt::format("{:g}", number);
    if (piece.grouped) shown = with_grouped_digits(shown);
    if (shown.size() < piece.width)
      shown.insert(piece.right ? 0 : shown.size(), piece.width - shown.size(), ' ');
    text += shown;
  }
  return text;
}

std::vector<std::pair<std::string, const toml::node*>> entries_in_source_order(
    const toml::table& table) {
  std::vector<std::tuple<unsigned, unsigned, std::string, const toml::node*>> placed;
  for (auto&& [key, node] : table)
    placed.emplace_back(key.source().begin.line, key.source().begin.column, std::string(key.str()),
                        &node);
  std::sort(placed.begin(), placed.end());
  std::vector<std::pair<std::string, const toml::node*>> found;
  for (auto& [line, column, name, node] : placed) found.emplace_back(std::move(name), node);
  return found;
}

AllowedExpressionNames expression_names_of_launch(const DeclaredLaunch& launch,
                                                  const std::vector<std::string>& more) {
  AllowedExpressionNames names{launch.extents, {}};
  for (const DeclaredScalar& scalar : launch.scalars) names.numbers.push_back(scalar.name);
  names.numbers.insert(names.numbers.end(), more.begin(), more.end());
  return names;
}

void DeclarationRowReader::fail(const toml::node& at, const std::string& message) const {
  throw Error(fmt::format("{}: {}", position_text(at), message));
}

std::string DeclarationRowReader::position_text(const toml::node& at) const {
  return fmt::format("{}:{}", row.path, at.source().begin.line);
}

const toml::node* DeclarationRowReader::find_own_or_inherited_key(const char* key) const {
  if (const toml::node* own = row.own.get(key)) return own;
  static const std::vector<std::string> of_launch = {
      "kernel",  "line_of",   "each",    "scalars",   "grid",           "block",
      "outputs", "arguments", "setting", "reference", "reference_grid", "reference_block"};
  if (row.of && std::find(of_launch.begin(), of_launch.end(), key) != of_launch.end())
    if (const toml::node* other = row.of->get(key)) return other;
  return row.file.get(key);
}

const toml::node& DeclarationRowReader::require_key(const char* key) const {
  const toml::node* node = find_own_or_inherited_key(key);
  if (!node) fail(row.own, fmt::format("[{}] has no `{}`", row.table, key));
  return *node;
}

std::string DeclarationRowReader::require_text(const toml::node& node,
                                               const std::string& key) const {
  const auto value = node.value<std::string>();
  if (!value) fail(node, fmt::format("`{}` is a text", key));
  std::string text = *value;
  for (const auto& [name, given] : variant)
    for (size_t at; (at = text.find("{" + name + "}")) != std::string::npos;)
      text.replace(at, name.size() + 2, given);
  return text;
}

std::vector<std::string> DeclarationRowReader::require_texts(const toml::node& node,
                                                             const std::string& key) const {
  std::vector<std::string> all;
  if (const toml::array* list = node.as_array())
    for (const toml::node& each : *list)
      all.push_back(each.is_integer() ? fmt::format("{}", *each.value<int64_t>())
                                      : require_text(each, key));
  if (all.empty()) fail(node, fmt::format("`{}` is a list of numbers or texts", key));
  return all;
}

Expression DeclarationRowReader::read_expression(const toml::node& node, const std::string& key,
                                                 const AllowedExpressionNames& names) const {
  if (node.is_number()) return Expression(*node.value<double>());
  if (!node.is_string())
    fail(node, fmt::format("`{}` is a number or an expression in quotes", key));
  return Expression(require_text(node, key), names, position_text(node));
}

TextTemplate DeclarationRowReader::read_text_template(const toml::node& node,
                                                      const std::string& key,
                                                      const AllowedExpressionNames& names) const {
  return TextTemplate(require_text(node, key), names, position_text(node));
}

const toml::table& DeclarationRowReader::require_table(const toml::node& node,
                                                       const std::string& name) const {
  if (const toml::table* table = node.as_table()) return *table;
  fail(node, fmt::format("`{}` is a table", name));
}

const toml::table& DeclarationRowReader::require_table_with_keys(
    const toml::node& node, const std::string& name, const std::vector<std::string>& keys) const {
  const toml::table* table = node.as_table();
  if (!table) fail(node, fmt::format("`{}` is a table with {}", name, fmt::join(keys, ", ")));
  for (auto&& [key, each] : *table)
    if (std::find(keys.begin(), keys.end(), key.str()) == keys.end())
      fail(each,
           fmt::format("`{}` takes no `{}` (it takes {})", name, key.str(), fmt::join(keys, ", ")));
  return *table;
}

}  // namespace lab32::grading
