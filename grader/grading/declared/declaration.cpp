#include "grading/declared/declaration.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "simulator/observers/counters.h"

namespace lab32::grading {
namespace {

using Kind = Declaration::Kind;

unsigned toml_line(const toml::node& node) { return node.source().begin.line; }

// The tables of a table in the order of the text; toml++ sorts them by name.
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

std::vector<std::string> array_names(const std::vector<DeclaredArray>& arrays) {
  std::vector<std::string> names;
  for (const DeclaredArray& array : arrays) names.push_back(array.name);
  return names;
}

class DeclarationReader {
 public:
  explicit DeclarationReader(const DeclaredRow& row) : row_(row) {}

  // A launch for each combination of the values of `each`.
  std::vector<DeclaredLaunch> read_launches() {
    std::vector<Variant> variants = {{}};
    if (const toml::node* each = find_key("each"))
      for (const auto& [name, values] : entries_in_source_order(require_table(*each, "each"))) {
        std::vector<Variant> more;
        for (const Variant& variant : variants)
          for (const std::string& value : require_texts(*values, name)) {
            more.push_back(variant);
            more.back().emplace_back(name, value);
          }
        variants = std::move(more);
      }
    std::vector<DeclaredLaunch> all;
    for (Variant& variant : variants) {
      variant_ = std::move(variant);
      all.push_back(read_launch());
    }
    return all;
  }

  void read_limits(Declaration& declaration) {
    const DeclaredLaunch& launch = declaration.launches.front();
    declaration.limit = {read_counter(require_key("counter")),
                         read_limit(launch, require_key("ideal"))};
    const toml::node* counted = find_key("counted");
    declaration.limit.counted =
        counted ? require_text(*counted, "counted") : declaration.limit.counter.text();
    if (const toml::node* most = find_key("most_sectors"))
      declaration.most_sectors = read_limit(launch, *most);
    if (const toml::node* least = find_key("least")) {
      declaration.least = read_limit(launch, *least);
      declaration.later = require_text(require_key("later"), "later");
    }
    if (const toml::node* also = row_.own.get("also")) read_also_limits(declaration, *also);
  }

  // "counter" = "ideal", or "counter" = { ideal = "...", counted = "...", idea = "..." }.
  void read_also_limits(Declaration& declaration, const toml::node& also) {
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
           read_limit(declaration.launches.front(), *ideal),
           counted ? require_text(*counted, "counted") : name,
           idea ? require_text(*idea, "idea") : ""});
    }
  }

  void read_timing_keys(Declaration& declaration) {
    declaration.bytes = read_limit(declaration.launches.front(), require_key("bytes"));
    for (const DeclaredArray& output : declaration.launches.front().outputs) {
      if (!output.expected)
        fail(row_.own,
             "a timing check needs `expected` for each output: a reference kernel would "
             "take too long at the timed size");
      if (output.contents.empty()) continue;
      const DeclaredContent& content = output.contents.front();
      if (output.contents.size() > 1 || !content.name.empty() || content.each.text() != "0")
        fail(row_.own, fmt::format("a timing check fills an output before each launch with "
                                   "`values = 0` or not at all; `{}` has other values",
                                   output.name));
    }
  }

 private:
  using Variant = std::vector<std::pair<std::string, std::string>>;

  DeclaredLaunch read_launch() {
    DeclaredLaunch launch;
    launch.check = require_text(row_.of ? *row_.of->get("check") : require_key("check"), "check");
    launch.kernel = require_text(require_key("kernel"), "kernel");
    const toml::node* function = find_key("line_of");
    launch.function = function ? require_text(*function, "line_of")
                               : launch.kernel.substr(0, launch.kernel.find('<'));
    for (const auto& [name, value] : variant_)
      launch.variant += fmt::format("{}{} = {}", launch.variant.empty() ? "" : ", ", name, value);
    if (const toml::node* node = find_key("scalars")) read_scalars(launch, *node);
    read_shape(launch);
    read_inputs(launch);
    launch.outputs = read_arrays(launch, require_key("outputs"), true);
    read_expected(launch, require_key("outputs"));
    read_arguments(launch, require_key("arguments"));
    read_reference(launch);
    return launch;
  }

  // A check of another row's launch replaces some of its inputs.
  void read_inputs(DeclaredLaunch& launch) const {
    const toml::node* all = row_.of ? row_.of->get("inputs") : row_.own.get("inputs");
    if (!all) all = row_.file.get("inputs");
    if (all) launch.inputs = read_arrays(launch, *all, false);
    const toml::node* changed = row_.of ? row_.own.get("inputs") : nullptr;
    if (!changed) return;
    for (DeclaredArray& array : read_arrays(launch, *changed, false)) {
      const auto at = std::find_if(launch.inputs.begin(), launch.inputs.end(),
                                   [&](const DeclaredArray& a) { return a.name == array.name; });
      if (at == launch.inputs.end())
        fail(*changed, fmt::format("the check of `of` has no input `{}`", array.name));
      *at = std::move(array);
    }
  }

  [[noreturn]] void fail(const toml::node& at, const std::string& message) const {
    throw Error(fmt::format("{}: {}", position_text(at), message));
  }
  std::string position_text(const toml::node& at) const {
    return fmt::format("{}:{}", row_.path, toml_line(at));
  }

  const toml::node* find_key(const char* key) const {
    if (const toml::node* own = row_.own.get(key)) return own;
    static const std::vector<std::string> of_launch = {
        "kernel",  "line_of",   "each",      "scalars",        "grid",           "block",
        "outputs", "arguments", "reference", "reference_grid", "reference_block"};
    if (row_.of && std::find(of_launch.begin(), of_launch.end(), key) != of_launch.end())
      if (const toml::node* other = row_.of->get(key)) return other;
    return row_.file.get(key);
  }
  const toml::node& require_key(const char* key) const {
    const toml::node* node = find_key(key);
    if (!node) fail(row_.own, fmt::format("[{}] has no `{}`", row_.table, key));
    return *node;
  }

  std::string require_text(const toml::node& node, const std::string& key) const {
    if (const auto value = node.value<std::string>()) return substitute_variant(*value);
    fail(node, fmt::format("`{}` is a text", key));
  }
  // The text with the values of `each` in place of "{block}".
  std::string substitute_variant(std::string text) const {
    for (const auto& [name, value] : variant_)
      for (size_t at; (at = text.find("{" + name + "}")) != std::string::npos;)
        text.replace(at, name.size() + 2, value);
    return text;
  }
  // The elements of a list, numbers or texts.
  std::vector<std::string> require_texts(const toml::node& node, const std::string& key) const {
    std::vector<std::string> all;
    if (const toml::array* list = node.as_array())
      for (const toml::node& each : *list)
        all.push_back(each.is_integer() ? fmt::format("{}", *each.value<int64_t>())
                                        : require_text(each, key));
    if (all.empty()) fail(node, fmt::format("`{}` is a list of numbers or texts", key));
    return all;
  }

  Expression read_expression(const toml::node& node, const std::string& key,
                             const ExpressionNames& names) const {
    if (node.is_number()) return Expression(*node.value<double>());
    if (!node.is_string())
      fail(node, fmt::format("`{}` is a number or an expression in quotes", key));
    return Expression(require_text(node, key), names, position_text(node));
  }

  // n and the scalars, then `more`.
  static ExpressionNames names_of_numbers(const DeclaredLaunch& launch,
                                          const std::vector<std::string>& more = {}) {
    ExpressionNames names{{"n"}, {}};
    for (const DeclaredScalar& scalar : launch.scalars) names.numbers.push_back(scalar.name);
    names.numbers.insert(names.numbers.end(), more.begin(), more.end());
    return names;
  }

  Expression read_limit(const DeclaredLaunch& launch, const toml::node& node) const {
    return read_expression(node, "ideal", names_of_numbers(launch, {"blocks", "threads"}));
  }
  Expression read_counter(const toml::node& node) const {
    return read_expression(node, "counter", {counters::counter_names(), {}});
  }

  const ElementType& read_element_type(const toml::table& table, const std::string& name) const {
    const toml::node* node = table.get("type");
    const std::string wanted = node ? require_text(*node, "type") : "";
    if (const ElementType* type = find_element_type(wanted)) return *type;
    fail(node ? *node : table,
         fmt::format("`{}` needs a `type`: {}", name, fmt::join(element_type_names(), ", ")));
  }

  const toml::table& require_table(const toml::node& node, const std::string& name) const {
    if (const toml::table* table = node.as_table()) return *table;
    fail(node, fmt::format("`{}` is a table", name));
  }

  const toml::table& require_table_with_keys(const toml::node& node, const std::string& name,
                                             const std::vector<std::string>& keys) const {
    const toml::table* table = node.as_table();
    if (!table) fail(node, fmt::format("`{}` is a table with {}", name, fmt::join(keys, ", ")));
    for (auto&& [key, each] : *table)
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end())
        fail(each, fmt::format("`{}` takes no `{}` (it takes {})", name, key.str(),
                               fmt::join(keys, ", ")));
    return *table;
  }

  void require_valid_name(const toml::node& at, const std::string& name,
                          const DeclaredLaunch& launch) const {
    static const Pattern identifier("[A-Za-z_][A-Za-z0-9_]*");
    if (!identifier.match(name)) fail(at, fmt::format("`{}` is no name", name));
    for (const char* taken : {"n", "i", "blocks", "threads", "expected"})
      if (name == taken) fail(at, fmt::format("`{}` is a name of the grader's", name));
    for (const auto& known : {names_of_numbers(launch).numbers, array_names(launch.inputs),
                              array_names(launch.outputs)})
      if (std::find(known.begin(), known.end(), name) != known.end())
        fail(at, fmt::format("there are two `{}`", name));
  }

  void read_scalars(DeclaredLaunch& launch, const toml::node& node) const {
    if (!node.is_table()) fail(node, "`scalars` is a table of tables");
    for (const auto& [name, each] : entries_in_source_order(*node.as_table())) {
      require_valid_name(*each, name, launch);
      const toml::table& table = require_table_with_keys(*each, name, {"type", "value"});
      ExpressionNames names = names_of_numbers(launch);
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
        found.push_back(read_expression(each, key, names_of_numbers(launch)));
    else
      found.push_back(read_expression(node, key, names_of_numbers(launch)));
    if (found.empty() || found.size() > 3)
      fail(node, fmt::format("`{}` has one to three extents", key));
    return found;
  }

  void read_shape(DeclaredLaunch& launch) const {
    const toml::node *grid = find_key("grid"), *block = find_key("block");
    if (grid && grid->value<std::string>() == "LAB32_LAUNCH") {
      launch.shape_of_submission = true;
      return;
    }
    if (!grid || !block)
      fail(row_.own, fmt::format("[{}] needs `grid` and `block`; with grid = \"LAB32_LAUNCH\" the "
                                 "submission chooses both",
                                 row_.table));
    launch.grid = read_extents(launch, *grid, "grid");
    launch.block = read_extents(launch, *block, "block");
  }

  std::vector<DeclaredContent> read_contents(const DeclaredLaunch& launch,
                                             const DeclaredArray& array,
                                             const toml::node& node) const {
    std::vector<DeclaredContent> all;
    if (const toml::array* several = node.as_array()) {
      for (const toml::node& each : *several) all.push_back(read_content(launch, array, each));
      if (all.empty()) fail(node, "`values` is empty");
    } else {
      all.push_back(read_content(launch, array, node));
    }
    return all;
  }

  DeclaredContent read_content(const DeclaredLaunch& launch, const DeclaredArray& array,
                               const toml::node& node) const {
    const std::string name = node.value<std::string>().value_or("");
    ExpressionNames names = names_of_numbers(launch, {"i"});
    names.random = true;
    if (find_distribution(name)) {
      const std::string why = distribution_error(name, *array.type, array.from.has_value());
      if (!why.empty()) fail(node, fmt::format("`{}` cannot be \"{}\": {}", array.name, name, why));
      return {name};
    }
    static const Pattern word("[A-Za-z_]+");
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
    std::vector<std::string> keys = {"type", "count", "values", "from", "below"};
    if (are_outputs) keys.insert(keys.end(), {"expected", "at", "over"});
    for (const auto& [name, each] : entries_in_source_order(*node.as_table())) {
      const std::vector<std::string> known = array_names(launch.inputs);
      const bool changes_known = std::find(known.begin(), known.end(), name) != known.end();
      if (are_outputs || !changes_known) require_valid_name(*each, name, launch);
      const toml::table& table = require_table_with_keys(*each, name, keys);
      DeclaredArray array{name, &read_element_type(table, name)};
      const toml::node *count = table.get("count"), *values = table.get("values"),
                       *from = table.get("from"), *below = table.get("below");
      if (!count) fail(*each, fmt::format("`{}` has no `count`", name));
      array.count = read_expression(*count, "count", names_of_numbers(launch));
      if (from && !below) fail(*from, "`from` needs `below`, the end of the range");
      if (below) {
        array.from =
            from ? read_expression(*from, "from", names_of_numbers(launch)) : Expression(0);
        array.below = read_expression(*below, "below", names_of_numbers(launch));
      }
      if (values) array.contents = read_contents(launch, array, *values);
      if (!values && !are_outputs) array.contents = {{"uniform"}};
      all.push_back(std::move(array));
    }
    return all;
  }

  void read_expected(DeclaredLaunch& launch, const toml::node& node) const {
    ExpressionNames names = names_of_numbers(launch, {"i"});
    for (const auto* some : {&launch.inputs, &launch.outputs})
      for (const DeclaredArray& array : *some) names.arrays.push_back(array.name);
    names.arrays.emplace_back("expected");
    for (DeclaredArray& output : launch.outputs) {
      const toml::table& table = *node.as_table()->at_path(output.name).as_table();
      const toml::node *expected = table.get("expected"), *at = table.get("at"),
                       *over = table.get("over");
      if (expected) output.expected = read_expression(*expected, "expected", names);
      if (!at && !over) continue;
      if (!at || !over || !expected)
        fail(table, fmt::format("`{}` needs all of `expected`, `at` and `over`, or only the first",
                                output.name));
      output.at = read_expression(*at, "at", names);
      output.over = read_expression(*over, "over", names_of_numbers(launch));
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
      using Place = DeclaredArgument::Kind;
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
            {Place::number, 0, read_expression(each, "arguments", names_of_numbers(launch))});
    }
    if (!unused.empty()) fail(node, fmt::format("no argument is `{}`", unused.front()));
    if (launch.outputs.empty()) fail(node, "the kernel has no `outputs`");
  }

  void read_reference(DeclaredLaunch& launch) const {
    if (const toml::node* node = find_key("reference")) {
      launch.reference = require_text(*node, "reference");
      const toml::node *grid = find_key("reference_grid"), *block = find_key("reference_block");
      if (launch.shape_of_submission && (!grid || !block))
        fail(*node,
             "the submission chooses its shape, so the reference needs `reference_grid` and "
             "`reference_block`");
      launch.reference_grid = grid ? read_extents(launch, *grid, "reference_grid") : launch.grid;
      launch.reference_block =
          block ? read_extents(launch, *block, "reference_block") : launch.block;
    }
    for (const DeclaredArray& output : launch.outputs)
      if (!output.expected && launch.reference.empty())
        fail(row_.own, fmt::format("`{}` has no `expected`, and [{}] names no `reference` kernel",
                                   output.name, row_.table));
  }

  const DeclaredRow& row_;
  Variant variant_ = {};
};

}  // namespace

size_t DeclaredLaunch::content_count() const {
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

const std::vector<DeclaredKey>& declared_keys(Kind kind) {
  using Form = ValueRange::Form;
  static const std::vector<DeclaredKey> result = {{{"kernel", Form::text}, true},
                                                  {{"arguments", Form::elsewhere}, true},
                                                  {{"outputs", Form::elsewhere}, true},
                                                  {"sizes", true},
                                                  {{"grid", Form::elsewhere}, false},
                                                  {{"block", Form::elsewhere}, false},
                                                  {{"inputs", Form::elsewhere}, false},
                                                  {{"scalars", Form::elsewhere}, false},
                                                  {{"each", Form::elsewhere}, false},
                                                  {{"line_of", Form::text}, false},
                                                  {{"reference", Form::text}, false},
                                                  {{"reference_grid", Form::elsewhere}, false},
                                                  {{"reference_block", Form::elsewhere}, false},
                                                  {"relative_tolerance", false},
                                                  {"shared_bytes", false}};
  static const std::vector<DeclaredKey> counter = {{{"of", Form::text}, true},
                                                   {{"counter", Form::elsewhere}, true},
                                                   {{"ideal", Form::elsewhere}, true},
                                                   {"n", true},
                                                   {"drawn", true},
                                                   {"min_working_share", true},
                                                   {{"idea", Form::text}, false},
                                                   {{"also", Form::elsewhere}, false},
                                                   {{"counted", Form::text}, false},
                                                   {"unit", false},
                                                   {{"least", Form::elsewhere}, false},
                                                   {{"later", Form::text}, false},
                                                   {{"inputs", Form::elsewhere}, false},
                                                   {{"scalars", Form::elsewhere}, false},
                                                   {{"each", Form::elsewhere}, false},
                                                   {{"grid", Form::elsewhere}, false},
                                                   {{"block", Form::elsewhere}, false},
                                                   {"shared_bytes", false},
                                                   {{"lanes_only", Form::flag}, false},
                                                   {"relative_tolerance", false},
                                                   {{"withheld_until", Form::text}, false},
                                                   {{"most_sectors", Form::elsewhere}, false}};
  static const std::vector<DeclaredKey> time = {{{"of", Form::text}, true},
                                                {{"bytes", Form::elsewhere}, true},
                                                {"n", true},
                                                {"n_modelled", true},
                                                {"fraction", true},
                                                {"speed.of_reference", true},
                                                {{"inputs", Form::elsewhere}, false},
                                                {{"scalars", Form::elsewhere}, false},
                                                {"relative_tolerance", false}};
  static const std::vector<DeclaredKey> question = {{"questions", true}};
  switch (kind) {
    case Kind::result:
      return result;
    case Kind::counter:
      return counter;
    case Kind::time:
      return time;
    case Kind::question:
      break;
  }
  return question;
}

Declaration read_declaration(const DeclaredRow& row, Kind kind) {
  Declaration declaration;
  declaration.kind = kind;
  if (kind == Kind::question) return declaration;
  DeclarationReader reader(row);
  declaration.launches = reader.read_launches();
  for (const char* key : {"inputs", "grid", "block", "scalars"})
    declaration.changes_launch |= row.of && row.own.contains(key);
  if (kind == Kind::counter) reader.read_limits(declaration);
  if (kind == Kind::time) reader.read_timing_keys(declaration);
  return declaration;
}

}  // namespace lab32::grading
