#include "grading/rubric/rubric.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"
#include "base/toml_file.h"
#include "grading/declared/declaration.h"

namespace lab32::grading {

struct RubricFile {
  toml::table values;
  std::string path;

  [[noreturn]] void fail(unsigned line, const std::string& message) const {
    throw Error(fmt::format("{}:{}: {}", path, line, message));
  }
};

namespace {

// Keys about the whole lab, which no check takes.
const std::vector<std::string> kAboutTheLab = {"lab",   "max_score", "order", "subject",
                                               "level", "hours",     "idea"};

unsigned line_of(const toml::node& node) { return node.source().begin.line; }

bool contains_text(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

const RubricKey* find_key(const std::vector<RubricKey>& keys, const std::string& name) {
  const auto at = std::find_if(keys.begin(), keys.end(),
                               [&](const RubricKey& key) { return key.name == name; });
  return at == keys.end() ? nullptr : &*at;
}

// The value of `key` in the table or, if the table has none, at the top of the file.
const toml::node* find_value_in_table_or_root(const RubricFile& file, const std::string& table,
                                              const std::string& key) {
  if (const toml::node* own = file.values[table].as_table()->at_path(key).node()) return own;
  return file.values.at_path(key).node();
}

}  // namespace

// Reads a rubric and compares it with the registered checks.
class RubricReader {
 public:
  RubricReader(const std::filesystem::path& path, const std::vector<RegisteredCheck>& checks)
      : checks_(checks) {
    auto file = std::make_shared<RubricFile>();
    file->path = path.string();
    if (!std::filesystem::exists(path))
      throw Error(file->path +
                  ": no such file; --rubric names the folder with each lab's LAB.toml");
    file->values = read_toml(path);
    file_ = std::move(file);
  }

  std::vector<RubricCheckEntry> read_rows(const std::string& lab) {
    for (auto&& [key, node] : file_->values) {
      const toml::table* table = node.as_table();
      if (table && table->contains("check"))
        read_row(std::string(key.str()), *table);
      else
        add_lab_wide_keys(std::string(key.str()), key.source().begin.line, table);
    }
    std::sort(rows_.begin(), rows_.end(),
              [](const RubricCheckEntry& a, const RubricCheckEntry& b) { return a.line < b.line; });
    for (RubricCheckEntry& row : rows_) {
      read_prerequisites(row);
      read_declaration_of(row);
    }
    require_row_for_each_check();
    require_lab_wide_keys_are_used();
    check_lab_key_values(lab);
    require_max_score_is_sum();
    return std::move(rows_);
  }

 private:
  template <class... Words>
  [[noreturn]] void fail(unsigned line, const char* format, const Words&... words) const {
    file_->fail(line, fmt::format(fmt::runtime(format), words...));
  }

  // Records a key or table outside the checks' tables: values for all checks of the lab.
  void add_lab_wide_keys(const std::string& name, unsigned line, const toml::table* table) {
    if (!table) {
      shared_[name] = line;
      return;
    }
    for (auto&& [key, node] : *table)
      if (key.str() != "reason")
        shared_[name + "." + std::string(key.str())] = key.source().begin.line;
    if (table->empty()) fail(line, "[{}] has no `check`", name);
  }

  void read_row(const std::string& name, const toml::table& table) {
    RubricCheckEntry row;
    row.table = name;
    row.line = line_of(table);
    row.path = file_->path;
    row.file_ = file_;
    row.check = require_text(table, "check");
    const unsigned at = line_of(*table.get("check"));
    const auto check = std::find_if(checks_.begin(), checks_.end(),
                                    [&](const RegisteredCheck& c) { return c.name == row.check; });
    const auto kind = declared_kind(table);
    row.credit = read_credit(table);
    if (row.credit == Credit::questions)
      row.takes_ = {};
    else if (check != checks_.end())
      row.takes_ = check->takes;
    else if (kind)
      allow_declared_keys(row, *kind);
    else
      fail(at, "there is no check \"{}\"{}", row.check, nearest_check_hint(row.check));
    for (const RubricCheckEntry& other : rows_)
      if (other.check == row.check)
        fail(at, "the check \"{}\" has two tables, [{}] and [{}]", row.check, other.table, name);
    read_points(row, table);
    if (table.contains("hides")) row.hides = require_text(table, "hides");
    if (const toml::node* until = table.get("hidden_until"))
      row.hidden_until = read_date_time(*until);
    require_valid_row_keys(row, table);
    rows_.push_back(std::move(row));
  }

  Credit read_credit(const toml::table& table) const {
    const std::string credit = require_text(table, "credit");
    if (credit == "all") return Credit::all;
    if (credit == "share") return Credit::share;
    if (credit == "questions") return Credit::questions;
    fail(line_of(*table.get("credit")),
         "`credit` is \"all\", \"share\" or \"questions\", not \"{}\"", credit);
  }

  // Allows a declared check the keys of its kind. The row takes those that the kind requires, and
  // those of the others that the rubric has.
  void allow_declared_keys(RubricCheckEntry& row, CheckDeclaration::Kind kind) {
    const toml::table& table = *file_->values[row.table].as_table();
    for (const AcceptedKey& key : accepted_keys(kind, table, file_->values)) {
      allowed_[row.check].push_back(key.key.name);
      if (key.required || find_value_in_table_or_root(*file_, row.table, key.key.name))
        row.takes_.push_back(key.key);
    }
  }

  void read_declaration_of(RubricCheckEntry& row) {
    if (allowed_.count(row.check) == 0) return;
    const toml::table& table = *file_->values[row.table].as_table();
    const CheckDeclaration::Kind kind = *declared_kind(table);
    const toml::table* result_table = nullptr;
    if (const toml::node* of = table.get("of")) {
      const std::string name = require_text(table, "of");
      result_table = launch_table(file_->values, name);
      const auto result =
          std::find_if(rows_.begin(), rows_.end(),
                       [&](const RubricCheckEntry& other) { return other.table == name; });
      const bool declares = result != rows_.end() && result->declaration &&
                            result->declaration->kind == CheckDeclaration::Kind::result;
      if (!declares && (!result_table || kind != CheckDeclaration::Kind::time))
        fail(line_of(*of), "`of` names the table of a declared result check above, not \"{}\"",
             name);
      if (declares) result_table = file_->values[name].as_table();
      if (declares && row.after.empty()) row.after = {static_cast<size_t>(result - rows_.begin())};
    }
    if (row.bonus != (kind == CheckDeclaration::Kind::time))
      fail(row.line, "[{}]: a timing check, and no other, is a `bonus`", row.table);
    const bool counts =
        kind == CheckDeclaration::Kind::counter || kind == CheckDeclaration::Kind::time;
    if (!counts && row.credit == Credit::share)
      fail(row.line, "[{}]: `credit` of this kind of check is \"all\"", row.table);
    row.declaration = std::make_shared<const CheckDeclaration>(
        read_declaration({table, result_table, file_->values, row.table, file_->path}, kind));
  }

  void read_points(RubricCheckEntry& row, const toml::table& table) const {
    row.bonus = table.contains("bonus");
    if (row.bonus == table.contains("points"))
      fail(row.line, "[{}] has either `points` or `bonus`", row.table);
    const toml::node& node = *table.get(row.bonus ? "bonus" : "points");
    const auto value = node.value<double>();
    constexpr double kMostPoints = 1e6;
    if (!value || !(*value >= 0 && *value <= kMostPoints))
      fail(line_of(node), "the points of [{}] must be 0, which drops the check, or more",
           row.table);
    row.points = *value;
  }

  // Throws Error unless the row has the keys that its check takes, and no keys that neither the
  // check nor the harness knows.
  void require_valid_row_keys(const RubricCheckEntry& row, const toml::table& table) const {
    static const std::set<std::string> own = {"check", "points", "bonus", "credit",
                                              "after", "reason", "hides", "hidden_until"};
    for (auto&& [key, node] : table) {
      const std::string name(key.str());
      if (own.count(name) || find_key(row.takes_, name)) continue;
      const auto allowed = allowed_.find(row.check);
      std::vector<std::string> known;
      for (const RubricKey& taken : row.takes_) known.push_back(taken.name);
      if (allowed != allowed_.end()) known = allowed->second;
      fail(key.source().begin.line, "\"{}\" takes no `{}`{}", row.check, name,
           known.empty() ? "" : fmt::format(" (it takes {})", fmt::join(known, ", ")));
    }
    for (const RubricKey& key : row.takes_) require_valid_value(row, key);
    if (row.asks()) row.questions();
    static const std::set<std::string> hidden = {"", "all", "shuffles", "atomics", "shared"};
    if (hidden.count(row.hides) == 0 || (!row.hides.empty() && !row.asks()))
      fail(line_of(*table.get("hides")),
           "`hides` is \"all\", \"shuffles\", \"atomics\" or \"shared\", of a check that has "
           "questions");
  }

  void require_valid_value(const RubricCheckEntry& row, const RubricKey& key) const {
    const toml::node* value = find_value_in_table_or_root(*file_, row.table, key.name);
    if (!value)
      fail(row.line, "[{}] has no `{}`, which \"{}\" takes", row.table, key.name, row.check);
    if (const std::string wanted = key.range.refusal(*value); !wanted.empty())
      fail(line_of(*value), "`{}` of [{}] is {}", key.name, row.table, wanted);
    if (key.range.with_length_of.empty()) return;
    const toml::node* other =
        find_value_in_table_or_root(*file_, row.table, key.range.with_length_of);
    if (!other || !other->as_array() || other->as_array()->size() != value->as_array()->size())
      fail(line_of(*value), "`{}` of [{}] has as many entries as `{}`", key.name, row.table,
           key.range.with_length_of);
  }

  void read_prerequisites(RubricCheckEntry& row) const {
    const toml::node* node = file_->values[row.table].as_table()->get("after");
    if (!node) return;
    std::vector<std::string> names;
    if (const auto one = node->value<std::string>()) names.push_back(*one);
    if (const toml::array* several = node->as_array())
      for (const toml::node& name : *several) names.push_back(name.value_or(std::string()));
    if (names.empty()) fail(line_of(*node), "`after` is the name of a table, or a list of such");
    for (const std::string& name : names) {
      const auto found =
          std::find_if(rows_.begin(), rows_.end(),
                       [&](const RubricCheckEntry& other) { return other.table == name; });
      if (found == rows_.end())
        fail(line_of(*node), "[{}] comes after `{}`, but no check has that table", row.table, name);
      if (found->line >= row.line)
        fail(line_of(*node), "[{}] comes after [{}], which must stand above it", row.table, name);
      if (found->bonus)
        fail(line_of(*node), "[{}] comes after [{}]: a bonus cannot be a prerequisite", row.table,
             name);
      row.after.push_back(static_cast<size_t>(found - rows_.begin()));
    }
  }

  void require_row_for_each_check() const {
    for (const RegisteredCheck& check : checks_) {
      const auto rows = std::count_if(rows_.begin(), rows_.end(), [&](const RubricCheckEntry& row) {
        return row.check == check.name;
      });
      if (rows == 0)
        throw Error(fmt::format("{}: no table has check = \"{}\" ({}:{})", file_->path, check.name,
                                check.file, check.line));
      for (const RegisteredCheck& other : checks_)
        if (&other != &check && other.name == check.name)
          throw Error(fmt::format("two checks are called \"{}\": {}:{} and {}:{}", check.name,
                                  check.file, check.line, other.file, other.line));
    }
  }

  void require_lab_wide_keys_are_used() const {
    for (const auto& [key, line] : shared_) {
      if (contains_text(kAboutTheLab, key)) continue;
      // A copy of `key`, since lambdas in C++17 cannot capture a structured binding.
      const auto takes_it = [name = key](const RegisteredCheck& check) {
        return find_key(check.takes, name) != nullptr;
      };
      // A declared check may take a table, such as `inputs`, with all that is in it.
      const auto may_take_it = [name = key, table = key.substr(0, key.find('.'))](const auto& row) {
        return contains_text(row.second, name) || contains_text(row.second, table);
      };
      if (std::none_of(checks_.begin(), checks_.end(), takes_it) &&
          std::none_of(allowed_.begin(), allowed_.end(), may_take_it))
        fail(line, "no check takes `{}`", key);
    }
  }

  void check_lab_key_values(const std::string& lab) const {
    const std::string named = require_text(file_->values, "lab");
    if (named != lab)
      fail(line_of(*file_->values.get("lab")), "the file of lab {} says lab = \"{}\"", lab, named);
    if (const toml::node* order = file_->values.get("order"); order && !order->is_integer())
      fail(line_of(*order), "`order` is a whole number: the lab's place in the course");
    if (file_->values.contains("subject")) require_text(file_->values, "subject");
    if (const toml::node* hours = file_->values.get("hours"); hours && !hours->is_number())
      fail(line_of(*hours), "`hours` is a number: how long students are expected to work");
    if (!file_->values.contains("level")) return;
    const std::string level = require_text(file_->values, "level");
    if (level != "core" && level != "extra")
      fail(line_of(*file_->values.get("level")), "`level` is \"core\" or \"extra\", not \"{}\"",
           level);
  }

  void require_max_score_is_sum() const {
    const toml::node* node = file_->values.get("max_score");
    const auto max = node ? node->value<double>() : std::nullopt;
    if (!max) fail(node ? line_of(*node) : 1, "`max_score` is the sum of all points");
    double sum = 0;
    for (const RubricCheckEntry& row : rows_)
      if (!row.bonus) sum += row.points;
    if (std::abs(sum - *max) > 0.001)  // points may be hundredths, which doubles only approximate
      fail(line_of(*node), "max_score is {}, and the points add up to {}", *max, sum);
  }

  std::string require_text(const toml::table& table, const char* key) const {
    const toml::node* node = table.get(key);
    const auto value = node ? node->value<std::string>() : std::nullopt;
    if (!value) fail(node ? line_of(*node) : std::max(1u, line_of(table)), "`{}` is a text", key);
    return *value;
  }

  std::time_t read_date_time(const toml::node& node) const {
    const auto when = node.value<toml::date_time>();
    if (!when || !when->offset)
      fail(line_of(node), "`hidden_until` is a time with its zone: 2026-11-23T23:59:00+01:00");
    std::tm parts{};
    parts.tm_year = when->date.year - 1900;
    parts.tm_mon = when->date.month - 1;
    parts.tm_mday = when->date.day;
    parts.tm_hour = when->time.hour;
    parts.tm_min = when->time.minute - when->offset->minutes;
    return timegm(&parts);
  }

  std::string nearest_check_hint(const std::string& name) const {
    std::vector<std::string> all;
    for (const RegisteredCheck& check : checks_) all.push_back(check.name);
    const std::vector<std::string> near = suggestions(name, {all.begin(), all.end()}, 1);
    return near.empty() ? "" : fmt::format("; is \"{}\" meant?", near.front());
  }

  const std::vector<RegisteredCheck>& checks_;
  std::shared_ptr<const RubricFile> file_;
  std::vector<RubricCheckEntry> rows_;
  std::map<std::string, unsigned> shared_;  // the line of each key at the top of the file
  // The keys that each declared check may have.
  std::map<std::string, std::vector<std::string>> allowed_;
};

namespace {

const toml::node& require_value(const RubricFile& file, const RubricCheckEntry& row,
                                const std::vector<RubricKey>& takes, const std::string& key) {
  const toml::node* node =
      find_key(takes, key) ? find_value_in_table_or_root(file, row.table, key) : nullptr;
  if (!node)
    throw std::logic_error(fmt::format(
        "\"{}\" reads `{}` and does not say so: takes_rubric_keys(...)", row.check, key));
  return *node;
}

std::vector<double> read_numbers(const RubricFile& file, const toml::node& node,
                                 const std::string& key) {
  std::vector<double> values;
  if (const toml::array* array = node.as_array())
    for (const toml::node& each : *array)
      if (const auto value = each.value<double>(); value && std::isfinite(*value))
        values.push_back(*value);
  if (values.empty() || values.size() != node.as_array()->size())
    file.fail(line_of(node), fmt::format("`{}` is a list of numbers", key));
  return values;
}

// The hints for certain wrong answers: "32" = "Lanes of one warp share a sector."
std::map<double, std::string> read_hints_by_wrong_answer(const RubricFile& file,
                                                         const toml::node& node) {
  std::map<double, std::string> hints;
  const toml::table* table = node.as_table();
  if (!table || table->empty()) file.fail(line_of(node), "`hints` is a table of texts");
  for (auto&& [key, value] : *table) {
    const std::string number(key.str());
    char* end = nullptr;
    const double answer = std::strtod(number.c_str(), &end);
    const auto hint = value.value<std::string>();
    if (number.empty() || *end != '\0' || !hint)
      file.fail(line_of(value), fmt::format("`hints` has a text for each wrong answer, which is a "
                                            "number in quotes: \"{}\" is none",
                                            number));
    hints[answer] = *hint;
  }
  return hints;
}

// The answer of a question's table: a number, or a text that `lab32 seal` has made.
std::optional<AnswerOrHash> read_answer(const toml::node& question,
                                        const std::vector<double>& options) {
  const toml::table* table = question.as_table();
  const toml::node* node = table ? table->get("answer") : nullptr;
  if (!node) return std::nullopt;
  if (const auto sealed = node->value<std::string>())
    return AnswerOrHash::from_answer_hash(*sealed);
  const auto number = node->value<double>();
  if (!number || !std::isfinite(*number)) return std::nullopt;
  return AnswerOrHash(options.empty() ? *number : nearest_option_by_ratio(*number, options));
}

}  // namespace

double RubricCheckEntry::required_number(const std::string& key) const {
  const toml::node& node = require_value(*file_, *this, takes_, key);
  if (const auto value = node.value<double>()) return *value;
  file_->fail(line_of(node), fmt::format("`{}` is a number", key));
}

std::vector<double> RubricCheckEntry::required_numbers(const std::string& key) const {
  return read_numbers(*file_, require_value(*file_, *this, takes_, key), key);
}

std::string RubricCheckEntry::required_text(const std::string& key) const {
  const toml::node& node = require_value(*file_, *this, takes_, key);
  if (const auto value = node.value<std::string>()) return *value;
  file_->fail(line_of(node), fmt::format("`{}` is a text", key));
}

bool RubricCheckEntry::required_flag(const std::string& key) const {
  const toml::node& node = require_value(*file_, *this, takes_, key);
  if (const auto value = node.value<bool>()) return *value;
  file_->fail(line_of(node), fmt::format("`{}` is true or false", key));
}

bool RubricCheckEntry::dropped() const { return points == 0; }

bool RubricCheckEntry::hidden() const { return std::time(nullptr) < hidden_until; }

bool RubricCheckEntry::has(const std::string& key) const {
  return find_key(takes_, key) != nullptr;
}

bool RubricCheckEntry::asks() const { return has("questions"); }

std::vector<RubricAnswerKey> RubricCheckEntry::questions() const {
  const toml::node& node = require_value(*file_, *this, takes_, "questions");
  const toml::table* table = node.as_table();
  if (!table) file_->fail(line_of(node), "`questions` is a table");
  std::vector<RubricAnswerKey> all;
  for (auto&& [name, each] : *table) {
    const auto hint = each.at_path("hint").value<std::string>();
    const toml::node* options = each.at_path("options").node();
    const toml::node* hints = each.at_path("hints").node();
    std::vector<double> ratios;
    if (options) ratios = read_numbers(*file_, *options, "options");
    std::optional<AnswerOrHash> answer = read_answer(each, ratios);
    const size_t keys = 2 + (options ? 1 : 0) + (hints ? 1 : 0);
    if (!answer || !hint || each.as_table()->size() != keys)
      file_->fail(line_of(each), fmt::format("the question {} has an `answer`, a `hint`, and maybe "
                                             "`options` and `hints`",
                                             name.str()));
    RubricAnswerKey question{
        std::string(name.str()), std::move(*answer), *hint, {}, std::move(ratios)};
    if (hints) question.hints = read_hints_by_wrong_answer(*file_, *hints);
    all.push_back(std::move(question));
  }
  return all;
}

Rubric::Rubric(const std::filesystem::path& folder, const std::string& lab)
    : Rubric(folder, lab, registered_checks(lab)) {}

Rubric::Rubric(const std::filesystem::path& folder, const std::string& lab,
               const std::vector<RegisteredCheck>& checks)
    : lab_(lab),
      folder_(folder),
      rows_(RubricReader(folder / (lab + ".toml"), checks).read_rows(lab)) {}

std::filesystem::path rubric_folder(const std::string& lab) {
  return root_of_lab(lab) / "data" / "limits";
}

std::string sealed_answer_lines(const Rubric& rubric) {
  std::string lines;
  for (const RubricCheckEntry& row : rubric.rows()) {
    if (!row.asks()) continue;
    for (const RubricAnswerKey& question : row.questions())
      lines += fmt::format("{} {} {}\n", row.table, question.name, question.answer.answer_hash());
  }
  return lines;
}

}  // namespace lab32::grading
