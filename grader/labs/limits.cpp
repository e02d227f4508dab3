#include "labs/limits.h"

#include <fmt/core.h>
#include <toml++/toml.h>

#include "base/error.h"

namespace lab32::labs {

struct Limits::Table {
  toml::table values;
};

Limits::Limits() = default;
Limits::~Limits() = default;
Limits::Limits(Limits&&) noexcept = default;
Limits& Limits::operator=(Limits&&) noexcept = default;

Limits::Limits(const std::filesystem::path& path)
    : table_(std::make_unique<Table>()), path_(path.string()) {
  try {
    table_->values = toml::parse_file(path_);
  } catch (const toml::parse_error& e) {
    throw Error(
        fmt::format("{}:{}: {}; the file comes with the project: restore it with "
                    "`git checkout`",
                    path_, e.source().begin.line, std::string(e.description())));
  }
}

void Limits::missing(const char* what, const std::string& key) const {
  throw Error(
      fmt::format("{} has no {} `{}`; the file comes with the project: restore it with "
                  "`git checkout`",
                  path_, what, key));
}

double Limits::number(const std::string& key) const {
  if (table_)
    if (const auto value = table_->values.at_path(key).value<double>()) return *value;
  missing("number", key);
}

std::vector<double> Limits::numbers(const std::string& key) const {
  const toml::array* array = table_ ? table_->values.at_path(key).as_array() : nullptr;
  if (!array) missing("list of numbers", key);
  std::vector<double> values;
  for (const toml::node& node : *array) {
    const auto value = node.value<double>();
    if (!value) missing("list of numbers", key);
    values.push_back(*value);
  }
  return values;
}

std::string Limits::text(const std::string& key) const {
  if (table_)
    if (const auto value = table_->values.at_path(key).value<std::string>()) return *value;
  missing("text", key);
}

std::vector<std::string> Limits::keys(const std::string& key) const {
  const toml::table* table = table_ ? table_->values.at_path(key).as_table() : nullptr;
  if (!table) missing("table", key);
  std::vector<std::string> names;
  for (const auto& [name, node] : *table) names.emplace_back(name.str());
  return names;
}

}  // namespace lab32::labs
