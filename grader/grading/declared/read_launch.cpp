#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "grading/declared/declaration.h"

namespace lab32::grading {
namespace {

std::vector<std::string> array_names(const std::vector<DeclaredArray>& arrays) {
  std::vector<std::string> names;
  for (const DeclaredArray& array : arrays) names.push_back(array.name);
  return names;
}

// Reads the launch of a row for one combination of the values of `each`.
class DeclaredLaunchReader : private DeclarationRowReader {
 public:
  using DeclarationRowReader::DeclarationRowReader;

  DeclaredLaunch read_launch() {
    DeclaredLaunch launch;
    const toml::node* check = row.of ? row.of->get("check") : nullptr;
    if (!check) check = row.own.get("check");
    launch.check = check ? require_text(*check, "check") : row.table;
    if (const toml::node* names = row.file.get("extents"))
      launch.extents = require_texts(*names, "extents");
    launch.kernel = require_text(require_key("kernel"), "kernel");
    const toml::node* function = find_own_or_inherited_key("line_of");
    launch.function = function ? require_text(*function, "line_of")
                               : launch.kernel.substr(0, launch.kernel.find('<'));
    for (const auto& [name, value] : variant)
      launch.variant += fmt::format("{}{} = {}", launch.variant.empty() ? "" : ", ", name, value);
    if (const toml::node* node = find_own_or_inherited_key("scalars")) read_scalars(launch, *node);
    if (const toml::node* node = find_own_or_inherited_key("setting"))
      launch.setting = read_text_template(*node, "setting", expression_names_of_launch(launch));
    read_launch_shape(launch);
    read_inputs(launch);
    launch.outputs = read_arrays(launch, require_key("outputs"), true);
    read_expected(launch, require_key("outputs"));
    read_arguments(launch, require_key("arguments"));
    read_reference(launch);
    return launch;
  }

 private:
  // A check of another row's launch replaces some of its inputs.
  void read_inputs(DeclaredLaunch& launch) const {
    const toml::node* all = row.of ? row.of->get("inputs") : row.own.get("inputs");
    if (!all) all = row.file.get("inputs");
    if (all) launch.inputs = read_arrays(launch, *all, false);
    const toml::node* changed = row.of ? row.own.get("inputs") : nullptr;
    if (!changed) return;
    for (DeclaredArray& array : read_arrays(launch, *changed, false)) {
      const auto at = std::find_if(launch.inputs.begin(), launch.inputs.end(),
                                   [&](const DeclaredArray& a) { return a.name == array.name; });
      if (at == launch.inputs.end())
        fail(*changed, fmt::format("the check of `of` has no input `{}`", array.name));
      *at = std::move(array);
    }
  }

  const ElementType& read_element_type(const toml::table& table,
                                       const std::string& declared_name) const {
    const toml::node* node = table.get("type");
    const std::string wanted = node ? require_text(*node, "type") : "";
    if (const ElementType* type = find_element_type(wanted)) return *type;
    fail(node ? *node : table, fmt::format("`{}` needs a `type`: {}", declared_name,
                                           fmt::join(element_type_names(), ", ")));
  }

  void require_valid_name(const toml::node& at, const std::string& name,
                          const DeclaredLaunch& launch) const {
    static const RegularExpression identifier("[A-Za-z_][A-Za-z0-9_]*");
    if (!identifier.match(name)) fail(at, fmt::format("`{}` is no name", name));
    for (const char* taken : {"n", "i", "blocks", "threads", "expected"})
      if (name == taken) fail(at, fmt::format("`{}` is a name of the grader's", name));
    for (const auto& known : {expression_names_of_launch(launch).numbers,
                              array_names(launch.inputs), array_names(launch.outputs)})
      if (std::find(known.begin(), known.end(), name) != known.end())
        fail(at, fmt::format("there are two `{}`", name));
  }

  void read_scalars(DeclaredLaunch& launch, const toml::node& node) const {
    if (!node.is_table()) fail(node, "`scalars` is a table of tables");
    for (const auto& [name, each] : entries_in_source_order(*node.as_table())) {
      require_valid_name(*each, name, launch);
      const toml::table& table = require_table_with_keys(*each, name, {"type", "value"});
      AllowedExpressionNames names = expression_names_of_launch(launch);
      names.random = true;
      const toml::node* value = table.get("value");
      if (!value) fail(*each, fmt::format("`{}` has no `value`", name));
      launch.scalars.push_back(
          {name, &read_element_type(table, name), read_expression(*value, "value", names)});
    }
  }

  DeclaredExtents read_extents(const DeclaredLaunch& launch, const toml::node& node,
                               const char* key) const {
    DeclaredExtents found;
    if (const toml::array* several = node.as_array())
      for (const toml::node& each : *several)
        found.push_back(read_expression(each, key, expression_names_of_launch(launch)));
    else
      found.push_back(read_expression(node, key, expression_names_of_launch(launch)));
    if (found.empty() || found.size() > 3)
      fail(node, fmt::format("`{}` has one to three extents", key));
    return found;
  }

  void read_launch_shape(DeclaredLaunch& launch) const {
    const toml::node *grid = find_own_or_inherited_key("grid"),
                     *block = find_own_or_inherited_key("block");
    const std::string record = grid ? grid->value<std::string>().value_or("") : "";
    using Shape = DeclaredLaunch::Shape;
    if (record == "LAB32_LAUNCH") launch.shape = Shape::launch_record;
    if (record == "LAB32_TILE") launch.shape = Shape::tile_record;
    if (launch.shape != Shape::declared) {
      if (launch.shape == Shape::tile_record && launch.extents.size() != 2)
        fail(*grid, "a launch with LAB32_TILE has two `extents`: rows and columns");
      return;
    }
    if (!grid || !block)
      fail(row.own, fmt::format("[{}] needs `grid` and `block`; with grid = \"LAB32_LAUNCH\" the "
                                "submission chooses both",
                                row.table));
    launch.grid = read_extents(launch, *grid, "grid");
    launch.block = read_extents(launch, *block, "block");
  }

  std::vector<ArrayFillRule> read_contents_by_turn(const DeclaredLaunch& launch,
                                                   const DeclaredArray& array,
                                                   const toml::node& node) const {
    std::vector<ArrayFillRule> all;
    if (const toml::array* several = node.as_array()) {
      for (const toml::node& each : *several) all.push_back(read_content(launch, array, each));
      if (all.empty()) fail(node, "`values` is empty");
    } else {
      all.push_back(read_content(launch, array, node));
    }
    return all;
  }

  ArrayFillRule read_content(const DeclaredLaunch& launch, const DeclaredArray& array,
                             const toml::node& node) const {
    const std::string name = node.value<std::string>().value_or("");
    AllowedExpressionNames names = expression_names_of_launch(launch, {"i"});
    names.random = true;
    if (find_distribution(name)) {
      const std::string why = distribution_error(name, *array.type, array.from.has_value());
      if (!why.empty()) fail(node, fmt::format("`{}` cannot be \"{}\": {}", array.name, name, why));
      return {name};
    }
    static const RegularExpression word("[A-Za-z_]+");
    if (word.match(name) &&
        std::find(names.numbers.begin(), names.numbers.end(), name) == names.numbers.end())
      fail(node, fmt::format("`values` is an expression or one of {}, not \"{}\"",
                             fmt::join(distribution_names(), ", "), name));
    return {"", read_expression(node, "values", names)};
  }

  std::vector<DeclaredArray> read_arrays(const DeclaredLaunch& launch, const toml::node& node,
                                         bool are_outputs) const {
    std::vector<DeclaredArray> all;
    if (!node.is_table()) fail(node, "`inputs` and `outputs` are tables of tables");
    std::vector<std::string> keys = {"type", "count", "fields", "values", "from", "below"};
    if (are_outputs) keys.insert(keys.end(), {"expected", "at", "over", "note"});
    for (const auto& [name, each] : entries_in_source_order(*node.as_table())) {
      const std::vector<std::string> known = array_names(launch.inputs);
      const bool changes_known = std::find(known.begin(), known.end(), name) != known.end();
      if (are_outputs || !changes_known) require_valid_name(*each, name, launch);
      const toml::table& table = require_table_with_keys(*each, name, keys);
      DeclaredArray array{name, &read_element_type(table, name)};
      const toml::node *count = table.get("count"), *values = table.get("values"),
                       *from = table.get("from"), *below = table.get("below");
      if (!count) fail(*each, fmt::format("`{}` has no `count`", name));
      array.count = read_expression(*count, "count", expression_names_of_launch(launch));
      if (const toml::node* fields = table.get("fields")) {
        array.fields = fields->value_or(size_t{0});
        if (array.fields < 1 || array.fields > 64)
          fail(*fields, "`fields` is a whole number from 1 to 64");
      }
      if (from && !below) fail(*from, "`from` needs `below`, the end of the range");
      if (below) {
        array.from = from ? read_expression(*from, "from", expression_names_of_launch(launch))
                          : Expression(0);
        array.below = read_expression(*below, "below", expression_names_of_launch(launch));
      }
      if (values) array.contents = read_contents_by_turn(launch, array, *values);
      if (!values && !are_outputs) array.contents = {{"uniform"}};
      all.push_back(std::move(array));
    }
    return all;
  }

  void read_expected(DeclaredLaunch& launch, const toml::node& node) const {
    AllowedExpressionNames names = expression_names_of_launch(launch, {"i"});
    for (const auto* some : {&launch.inputs, &launch.outputs})
      for (const DeclaredArray& array : *some) names.arrays.push_back(array.name);
    names.arrays.emplace_back("expected");
    for (DeclaredArray& output : launch.outputs) {
      const toml::table& table = *node.as_table()->at_path(output.name).as_table();
      const toml::node *expected = table.get("expected"), *at = table.get("at"),
                       *over = table.get("over");
      if (expected) output.expected = read_expression(*expected, "expected", names);
      if (const toml::node* note = table.get("note"))
        output.note = read_text_template(*note, "note", expression_names_of_launch(launch, {"i"}));
      if (!at && !over) continue;
      if (!at || !over || !expected)
        fail(table, fmt::format("`{}` needs all of `expected`, `at` and `over`, or only the first",
                                output.name));
      output.at = read_expression(*at, "at", names);
      output.over = read_expression(*over, "over", expression_names_of_launch(launch));
    }
  }

  void read_arguments(DeclaredLaunch& launch, const toml::node& node) const {
    const toml::array* list = node.as_array();
    if (!list) fail(node, "`arguments` is a list of arrays, scalars and expressions");
    const auto find_in = [](const std::vector<std::string>& names, const std::string& name) {
      return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    std::vector<std::string> scalars;
    for (const DeclaredScalar& scalar : launch.scalars) scalars.push_back(scalar.name);
    std::vector<std::string> unused = array_names(launch.inputs);
    for (const std::string& name : array_names(launch.outputs)) unused.push_back(name);
    for (const toml::node& each : *list) {
      const std::string name = each.value<std::string>().value_or("");
      unused.erase(std::remove(unused.begin(), unused.end(), name), unused.end());
      using Place = DeclaredArgumentSource::Kind;
      const std::array<std::pair<Place, size_t>, 3> places = {
          {{Place::input, find_in(array_names(launch.inputs), name)},
           {Place::output, find_in(array_names(launch.outputs), name)},
           {Place::scalar, find_in(scalars, name)}}};
      if (places[0].second < launch.inputs.size())
        launch.arguments.push_back({places[0].first, places[0].second});
      else if (places[1].second < launch.outputs.size())
        launch.arguments.push_back({places[1].first, places[1].second});
      else if (places[2].second < scalars.size())
        launch.arguments.push_back({places[2].first, places[2].second});
      else
        launch.arguments.push_back(
            {Place::number, 0,
             read_expression(each, "arguments", expression_names_of_launch(launch))});
    }
    if (!unused.empty()) fail(node, fmt::format("no argument is `{}`", unused.front()));
    if (launch.outputs.empty()) fail(node, "the kernel has no `outputs`");
  }

  void read_reference(DeclaredLaunch& launch) const {
    if (const toml::node* node = find_own_or_inherited_key("reference")) {
      launch.reference = require_text(*node, "reference");
      const toml::node *grid = find_own_or_inherited_key("reference_grid"),
                       *block = find_own_or_inherited_key("reference_block");
      if (launch.shape != DeclaredLaunch::Shape::declared && (!grid || !block))
        fail(*node,
             "the submission chooses its shape, so the reference needs `reference_grid` and "
             "`reference_block`");
      launch.reference_grid = grid ? read_extents(launch, *grid, "reference_grid") : launch.grid;
      launch.reference_block =
          block ? read_extents(launch, *block, "reference_block") : launch.block;
    }
    if (!row.own.contains("check")) return;  // a given kernel for a question: nothing is compared
    for (const DeclaredArray& output : launch.outputs)
      if (!output.expected && launch.reference.empty())
        fail(row.own, fmt::format("`{}` has no `expected`, and [{}] names no `reference` kernel",
                                  output.name, row.table));
  }
};

}  // namespace

std::vector<DeclaredLaunch> read_launches(const DeclaredRubricRow& row) {
  const DeclarationRowReader text(row);
  std::vector<DeclarationRowReader::Variant> variants = {{}};
  if (const toml::node* each = text.find_own_or_inherited_key("each"))
    for (const auto& [name, values] : entries_in_source_order(text.require_table(*each, "each"))) {
      std::vector<DeclarationRowReader::Variant> more;
      for (const DeclarationRowReader::Variant& variant : variants)
        for (const std::string& value : text.require_texts(*values, name)) {
          more.push_back(variant);
          more.back().emplace_back(name, value);
        }
      variants = std::move(more);
    }
  std::vector<DeclaredLaunch> all;
  for (DeclarationRowReader::Variant& variant : variants)
    all.push_back(DeclaredLaunchReader(row, std::move(variant)).read_launch());
  return all;
}

}  // namespace lab32::grading
