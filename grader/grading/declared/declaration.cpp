#include "grading/declared/declaration.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "simulator/observers/counters.h"

namespace lab32::grading {
namespace {

using Kind = CheckDeclaration::Kind;

// Reads what a row says besides its launches: limits of counters, times, what a question shows.
class CheckDeclarationReader : private DeclarationRowReader {
 public:
  using DeclarationRowReader::DeclarationRowReader;

  void read_counter_limits(CheckDeclaration& declaration) {
    const DeclaredLaunch& launch = declaration.launches.front();
    declaration.limit = {read_counter(require_key("counter")),
                         read_limit_expression(launch, require_key("ideal"))};
    const toml::node* counted = find_own_or_inherited_key("counted");
    declaration.limit.counted =
        counted ? require_text(*counted, "counted") : declaration.limit.counter.text();
    if (const toml::node* most = find_own_or_inherited_key("most_sectors"))
      declaration.most_sectors = read_limit_expression(launch, *most);
    if (const toml::node* least = find_own_or_inherited_key("least")) {
      declaration.least = read_limit_expression(launch, *least);
      declaration.later = require_text(require_key("later"), "later");
    }
    if (const toml::node* also = row.own.get("also")) read_also_limits(declaration, *also);
    read_conflict_and_repeat_notes(declaration);
  }

  // "counter" = "ideal", or "counter" = { ideal = "...", counted = "...", idea = "..." }.
  void read_also_limits(CheckDeclaration& declaration, const toml::node& also) {
    if (!also.is_table()) fail(also, "`also` is a table: \"counter\" = \"ideal\"");
    for (const auto& [name, node] : entries_in_source_order(*also.as_table())) {
      const toml::node *ideal = node, *counted = nullptr, *idea = nullptr;
      if (node->is_table()) {
        const toml::table& table =
            require_table_with_keys(*node, name, {"ideal", "counted", "idea"});
        ideal = table.get("ideal");
        counted = table.get("counted");
        idea = table.get("idea");
        if (!ideal) fail(*node, fmt::format("`{}` has no `ideal`", name));
      }
      declaration.also.push_back(
          {Expression(name, {counters::counter_names(), {}}, position_text(*node)),
           read_limit_expression(declaration.launches.front(), *ideal),
           counted ? require_text(*counted, "counted") : name,
           idea ? require_text(*idea, "idea") : ""});
    }
  }

  void read_largest_size(CheckDeclaration& declaration) const {
    const toml::node* node = row.own.get("largest");
    if (!node) return;
    const toml::array* list = node->as_array();
    for (size_t i = 0; list && i < list->size(); ++i)
      declaration.largest.push_back((*list)[i].value_or(uint32_t{0}));
    if (declaration.largest.size() != declaration.launches.front().extents.size())
      fail(*node, "`largest` is a list with a number for each of `extents`");
  }

  void read_timing_keys(CheckDeclaration& declaration) const {
    declaration.bytes = read_limit_expression(declaration.launches.front(), require_key("bytes"));
    require_timeable(declaration.launches.front());
    const toml::node* before = row.own.get("before");
    if (!before) return;
    declaration.form_before = require_text(*before, "before");
    const toml::table* table = launch_table(row.file, declaration.form_before);
    if (!table) table = row.file[declaration.form_before].as_table();
    if (!table || !table->contains("kernel"))
      fail(*before, fmt::format("`before` names the table of a launch, not \"{}\"",
                                declaration.form_before));
    declaration.before =
        read_launches({row.own, table, row.file, declaration.form_before, row.path}).front();
    require_timeable(*declaration.before);
    const std::vector<DeclaredArray>&now = declaration.launches.front().inputs,
          &then = declaration.before->inputs;
    const auto same = [](const DeclaredArray& a, const DeclaredArray& b) {
      return a.name == b.name && a.type == b.type && a.count.text() == b.count.text();
    };
    if (!std::equal(now.begin(), now.end(), then.begin(), then.end(), same))
      fail(*before, "both versions of a step take the same inputs");
  }

  void read_question_displays(CheckDeclaration& declaration) const {
    const toml::node *shown = row.own.get("shown"), *figures = row.own.get("figures");
    if (!shown && !figures) return;
    AllowedExpressionNames names;
    const toml::table* launches = row.file["launches"].as_table();
    if (!launches) fail(row.own, "what a question shows are the launches below [launches]");
    const std::string all_text =
        (shown ? require_text(*shown, "shown") : "") + figure_expressions_text(figures);
    for (const auto& [name, node] : entries_in_source_order(*launches)) {
      if (all_text.find(name + ".") == std::string::npos) continue;
      declaration.given.push_back(read_given_launch(name, require_table(*node, name)));
      for (const std::string& counter : counters::counter_names())
        names.numbers.push_back(name + "." + counter);
      for (const DeclaredArray& output : declaration.given.back().launch.outputs)
        names.arrays.push_back(name + "." + output.name);
    }
    if (shown) declaration.shown = read_text_template(*shown, "shown", names);
    if (!figures) return;
    for (const auto& [name, node] : entries_in_source_order(require_table(*figures, "figures")))
      declaration.figures.emplace_back(name, read_expression(*node, name, names));
  }

 private:
  Expression read_limit_expression(const DeclaredLaunch& launch, const toml::node& node) const {
    std::vector<std::string> more = {"blocks", "threads"};
    for (const auto* arrays : {&launch.inputs, &launch.outputs})
      for (const DeclaredArray& array : *arrays) more.push_back(array.name + ".bytes");
    return read_expression(node, "ideal", expression_names_of_launch(launch, more));
  }
  Expression read_counter(const toml::node& node) const {
    return read_expression(node, "counter", {counters::counter_names(), {}});
  }

  // A bank conflict or a repeated access that the message of a count names.
  void read_conflict_and_repeat_notes(CheckDeclaration& declaration) const {
    if (const toml::node* node = row.own.get("repeated")) {
      const toml::table& table = require_table_with_keys(*node, "repeated", {"bytes", "idea"});
      const toml::node *bytes = table.get("bytes"), *idea = table.get("idea");
      if (!bytes || !idea) fail(*node, "`repeated` has `bytes` and `idea`");
      declaration.repeated = {read_limit_expression(declaration.launches.front(), *bytes),
                              require_text(*idea, "idea")};
    }
    if (const toml::node* node = row.own.get("conflicts")) {
      const toml::table& table =
          require_table_with_keys(*node, "conflicts", {"withheld_until", "note"});
      const toml::node *until = table.get("withheld_until"), *note = table.get("note");
      if (!until || !note) fail(*node, "`conflicts` has `withheld_until` and `note`");
      declaration.conflicts = {require_text(*until, "withheld_until"), require_text(*note, "note")};
    }
  }

  // The timer fills outputs with zeros or not at all, and compares them at the timed size.
  void require_timeable(const DeclaredLaunch& launch) const {
    for (const DeclaredArray& output : launch.outputs) {
      if (!output.expected)
        fail(row.own,
             "a timing check needs `expected` for each output: a reference kernel would "
             "take too long at the timed size");
      if (output.contents.empty()) continue;
      const ArrayFillRule& content = output.contents.front();
      if (output.contents.size() > 1 || !content.name.empty() || content.each.text() != "0")
        fail(row.own, fmt::format("a timing check fills an output before each launch with "
                                  "`values = 0` or not at all; `{}` has other values",
                                  output.name));
    }
  }

  std::string figure_expressions_text(const toml::node* figures) const {
    std::string all;
    if (figures)
      for (const auto& [name, node] : entries_in_source_order(require_table(*figures, "figures")))
        all += "\n" + require_text(*node, name);
    return all;
  }

  GivenKernelLaunch read_given_launch(const std::string& name, const toml::table& table) const {
    GivenKernelLaunch given{read_launches({table, nullptr, row.file, name, row.path}).front(), {}};
    for (const std::string& extent : given.launch.extents) {
      const toml::node* size = table.get(extent);
      const auto value = size ? size->value<int64_t>() : std::optional<int64_t>(1);
      if (!value || *value < 0 || *value > 1 << 28)
        fail(size ? *size : table, fmt::format("`{}` is a whole number up to 2^28", extent));
      given.size.push_back(static_cast<uint32_t>(*value));
    }
    return given;
  }
};

// The keys of the size: lists of a result check, numbers of a counter check.
std::vector<RubricKey> size_keys(const toml::table& file, Kind kind) {
  constexpr double kMostSide = 1 << 15;
  const toml::array* extents = file["extents"].as_array();
  if (!extents) return {kind == Kind::result ? RubricKey("sizes") : RubricKey("n")};
  std::vector<RubricKey> keys;
  for (const toml::node& each : *extents) {
    const std::string name = each.value_or(std::string());
    if (kind == Kind::counter)
      keys.push_back(whole(name.c_str(), 1, kMostSide));
    else if (keys.empty())
      keys.push_back(wholes(name.c_str(), 0, kMostSide));
    else
      keys.push_back(with_length_of(keys.front().name.c_str(), wholes(name.c_str(), 0, kMostSide)));
  }
  return keys;
}

}  // namespace

size_t DeclaredLaunch::content_variant_count() const {
  size_t most = 1;
  for (const auto* arrays : {&inputs, &outputs})
    for (const DeclaredArray& array : *arrays) most = std::max(most, array.contents.size());
  return most;
}

std::optional<Kind> declared_kind(const toml::table& row) {
  if (row.contains("kernel")) return Kind::result;
  if (row.contains("of")) return row.contains("counter") ? Kind::counter : Kind::time;
  // Answers are right or wrong: with a share of points, code must be meant.
  const bool shares = row["credit"].value<std::string>() == "share";
  if (row.contains("questions") && !shares) return Kind::question;
  return std::nullopt;
}

std::vector<AcceptedKey> accepted_keys(Kind kind, const toml::table& row, const toml::table& file) {
  using Form = RubricValueConstraint::ExpectedType;
  std::vector<AcceptedKey> keys;
  const auto add = [&keys](bool required, const std::vector<RubricKey>& more) {
    for (const RubricKey& key : more) keys.push_back({key, required});
  };
  const auto add_parts = [&keys](const std::vector<const char*>& names) {
    for (const char* name : names) keys.push_back({{name, Form::elsewhere}, false});
  };
  switch (kind) {
    case Kind::result:
      add(true,
          {{"kernel", Form::text}, {"arguments", Form::elsewhere}, {"outputs", Form::elsewhere}});
      add(true, size_keys(file, kind));
      add_parts({"grid", "block", "inputs", "scalars", "each", "reference_grid", "reference_block",
                 "largest", "extents", "setting"});
      add(false, {{"line_of", Form::text},
                  {"reference", Form::text},
                  "relative_tolerance",
                  "shared_bytes"});
      return keys;
    case Kind::counter:
      add(true, {{"of", Form::text},
                 {"counter", Form::elsewhere},
                 {"ideal", Form::elsewhere},
                 "drawn",
                 "min_working_share"});
      add(true, size_keys(file, kind));
      add_parts({"also", "least", "inputs", "scalars", "each", "grid", "block", "most_sectors",
                 "repeated", "conflicts", "extents", "setting"});
      add(false, {{"idea", Form::text},
                  {"counted", Form::text},
                  {"later", Form::text},
                  {"withheld_until", Form::text},
                  {"lanes_only", Form::flag},
                  "unit",
                  "shared_bytes",
                  "relative_tolerance",
                  number("least_recounted", 0, 1)});
      return keys;
    case Kind::time:
      add(true, {{"of", Form::text}, {"bytes", Form::elsewhere}, "n", "n_modelled"});
      if (row.contains("before"))
        add(true, {{"before", Form::text}, "steps.share_of_gain", "steps.least_gain"});
      else
        add(true, {"fraction", "speed.of_reference"});
      add_parts({"inputs", "scalars", "each", "launches", "extents", "arguments", "outputs", "grid",
                 "block"});
      add(false, {choice("baseline", {"cub_sum_int"}), "relative_tolerance"});
      return keys;
    case Kind::question:
      break;
  }
  add(true, {"questions"});
  add_parts({"launches", "figures", "shown", "inputs", "outputs", "arguments", "extents"});
  return keys;
}

const toml::table* launch_table(const toml::table& file, const std::string& name) {
  const toml::table* launches = file["launches"].as_table();
  return launches ? (*launches)[name].as_table() : nullptr;
}

CheckDeclaration read_declaration(const DeclaredRubricRow& row, Kind kind) {
  CheckDeclaration declaration;
  declaration.kind = kind;
  CheckDeclarationReader reader(row);
  if (kind == Kind::question) {
    reader.read_question_displays(declaration);
    return declaration;
  }
  declaration.launches = read_launches(row);
  for (const char* key : {"inputs", "grid", "block", "scalars"})
    declaration.changes_launch |= row.of && row.own.contains(key);
  if (kind == Kind::result) reader.read_largest_size(declaration);
  if (kind == Kind::counter) reader.read_counter_limits(declaration);
  if (kind == Kind::time) reader.read_timing_keys(declaration);
  return declaration;
}

}  // namespace lab32::grading
