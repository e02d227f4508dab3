// Declared checks: rubric rows that say what to launch, with which arrays, and what to compare or
// to count, so that the check needs no code. README.md has the keys. declared_launch.h runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/toml_file.h"
#include "grading/declared/elements.h"
#include "grading/declared/expression.h"
#include "grading/rubric/value_range.h"

namespace lab32::grading {

// A text with expressions in braces: "row {floor(i / n)}". A format may follow a space and a colon:
// "{load.sectors :>8,}" fills eight columns from the right and groups the digits, "{x :.1}" has one
// decimal.
class TextTemplate {
 public:
  // Throws Error if a pair of braces holds no expression of these names.
  TextTemplate(const std::string& text, const AllowedExpressionNames& names,
               const std::string& where);

  std::string filled(const ExpressionValues& values) const;

 private:
  struct Piece {
    std::string text;  // before the value
    bool has_value = false;
    Expression value = {};
    bool right = false, grouped = false;
    size_t width = 0;
    int decimals = -1;  // -1: as many as the value needs
  };
  std::vector<Piece> pieces_;
};

// One way to fill an array: a distribution, or an expression in `i` per element.
struct ArrayFillRule {
  std::string name;  // the distribution; empty: `each` gives the elements
  Expression each = {};
};

// The size of a launch: a value for each of DeclaredLaunch::extents.
using LaunchSize = std::vector<uint32_t>;

struct DeclaredArray {
  std::string name;
  const ElementType* type = nullptr;
  Expression count = {};
  size_t fields = 1;  // elements of a structure, if the kernel takes an array of structures
  // Without contents, an output is poisoned. Launches use them in turn.
  std::vector<ArrayFillRule> contents = {};
  std::optional<Expression> from = {}, below = {};  // the range of the distributions
  // Only outputs: an expression in `i`, in all arrays as they are before the launch, and in
  // expected[0] ... expected[i - 1]. Absent: the reference kernel writes the expected values.
  std::optional<Expression> expected = {};
  // If given, the array is a sum: `expected` is added to the element `at`, for each i below `over`.
  std::optional<Expression> at = {}, over = {};
  std::optional<TextTemplate> note = {};  // what a message says about the first wrong element
};

struct DeclaredScalar {
  std::string name;
  const ElementType* type = nullptr;
  Expression value = {};
};

// Extents along x, y and z.
using DeclaredExtents = std::vector<Expression>;

struct DeclaredArgumentSource {
  enum class Kind : uint8_t { input, output, scalar, number } kind = Kind::number;
  size_t index = 0;        // which array or scalar it names
  Expression number = {};  // an int
};

// A launch of a kernel and its expected result.
struct DeclaredLaunch {
  std::string check, kernel;                 // the result check, and what it launches
  std::string variant = {};                  // the values of `each`: "block = 96"
  std::string function = {};                 // the function whose line a message quotes
  std::vector<std::string> extents = {"n"};  // the names of the numbers that are its size
  std::optional<TextTemplate> setting = {};  // how messages name the launch
  // Who chooses the shape: the rubric, or a record in the submission.
  enum class Shape : uint8_t { declared, launch_record, tile_record } shape = Shape::declared;
  DeclaredExtents grid = {}, block = {};
  std::vector<DeclaredScalar> scalars = {};
  std::vector<DeclaredArray> inputs = {}, outputs = {};
  std::vector<DeclaredArgumentSource> arguments = {};
  std::string reference = {};  // a kernel of given.cu with the same parameters
  DeclaredExtents reference_grid = {}, reference_block = {};

  // The number of sets of contents with which the kernel is launched: the most that an array has.
  size_t content_variant_count() const;
};

// A counter, and the value that a kernel needs at least: its limit.
struct DeclaredLimit {
  Expression counter = {}, ideal = {};
  std::string counted = {};  // the unit, for the table and the message
  std::string idea = {};     // the hint of a further counter
};

// A launch of a given kernel, whose counters and outputs a question shows.
struct GivenKernelLaunch {
  DeclaredLaunch launch;
  LaunchSize size = {};
};

// A line whose lanes access more bytes than a matrix has.
struct RepeatedAccessRemark {
  Expression bytes = {};  // of the matrix
  std::string idea = {};
};

// Bank conflicts that cost no points in this check.
struct UnscoredBankConflicts {
  std::string questions = {};  // the table of the questions that they would answer
  std::string note = {};
};

struct CheckDeclaration {
  enum class Kind : uint8_t { result, counter, time, question } kind = Kind::question;
  // One for each combination of the values of `each`. Counters and times are those of the first.
  std::vector<DeclaredLaunch> launches = {};
  LaunchSize largest = {};      // of a result check: a size for the last of these launches only
  bool changes_launch = false;  // the launch differs from that of the result check
  DeclaredLimit limit = {};
  std::vector<DeclaredLimit> also = {};  // further counters, whose shares multiply the credit
  // The sectors of device memory, atomics included, up to which a kernel keeps its points, in the
  // check of another counter: a kernel must not save there by working in device memory instead.
  std::optional<Expression> most_sectors = {};
  // A kernel whose counter is below `least` loses the check: it is a later version already, whose
  // idea `later` names.
  std::optional<Expression> least = {};
  std::string later = {};
  std::optional<RepeatedAccessRemark> repeated = {};
  std::optional<UnscoredBankConflicts> conflicts = {};
  Expression bytes = {};  // of a timing check: the bytes that the kernel has to move
  // The previous version and its name in the table, of a timing check that compares two.
  std::optional<DeclaredLaunch> before = {};
  std::string form_before = {};
  // What a check of answers launches, and shows once all answers are right.
  std::vector<GivenKernelLaunch> given = {};
  std::optional<TextTemplate> shown = {};
  std::vector<std::pair<std::string, Expression>> figures = {};
};

// One row of a rubric as its reader sees it.
struct DeclaredRubricRow {
  const toml::table& own;   // the row's table
  const toml::table* of;    // the table of the result check that `of` names, or null
  const toml::table& file;  // the whole rubric
  std::string table, path;  // for errors
};

// The kind of check that the row declares; nullopt: it declares none, so the check must be code.
std::optional<CheckDeclaration::Kind> declared_kind(const toml::table& row);
// The keys that a check of that kind takes. It needs those that are marked as required.
struct AcceptedKey {
  RubricKey key;
  bool required;
};
std::vector<AcceptedKey> accepted_keys(CheckDeclaration::Kind kind, const toml::table& row,
                                       const toml::table& file);
// The table below [launches] with a launch that no check has; null: there is none of that name.
const toml::table* launch_table(const toml::table& file, const std::string& name);

// Reads a declaration. Throws Error "FILE:LINE: ..." for everything that is wrong.
CheckDeclaration read_declaration(const DeclaredRubricRow& row, CheckDeclaration::Kind kind);

// ---- the readers of a row (declaration_text.cpp, read_launch.cpp) ----

// The text of a row. A key is looked up in the row's own table, in that of the launch that `of`
// names, and at the top of the file. In every text the values of `each` replace their names in
// braces.
class DeclarationRowReader {
 public:
  using Variant = std::vector<std::pair<std::string, std::string>>;

  explicit DeclarationRowReader(const DeclaredRubricRow& of, Variant values = {})
      : row(of), variant(std::move(values)) {}

  const DeclaredRubricRow& row;
  Variant variant;  // the values of `each`

  [[noreturn]] void fail(const toml::node& at, const std::string& message) const;
  std::string position_text(const toml::node& at) const;

  const toml::node* find_own_or_inherited_key(const char* key) const;
  const toml::node& require_key(const char* key) const;
  std::string require_text(const toml::node& node, const std::string& key) const;
  // The elements of a list, numbers or texts.
  std::vector<std::string> require_texts(const toml::node& node, const std::string& key) const;
  Expression read_expression(const toml::node& node, const std::string& key,
                             const AllowedExpressionNames& names) const;
  TextTemplate read_text_template(const toml::node& node, const std::string& key,
                                  const AllowedExpressionNames& names) const;
  const toml::table& require_table(const toml::node& node, const std::string& name) const;
  // A table that has only these keys.
  const toml::table& require_table_with_keys(const toml::node& node, const std::string& name,
                                             const std::vector<std::string>& keys) const;
};

// The entries of a table in the order of the text; toml++ sorts them by name.
std::vector<std::pair<std::string, const toml::node*>> entries_in_source_order(
    const toml::table& table);

// The size and the scalars of a launch, then `more`.
AllowedExpressionNames expression_names_of_launch(const DeclaredLaunch& launch,
                                                  const std::vector<std::string>& more = {});

// The launches of the row: one for each combination of the values of `each` (read_launch.cpp).
std::vector<DeclaredLaunch> read_launches(const DeclaredRubricRow& row);

}  // namespace lab32::grading
