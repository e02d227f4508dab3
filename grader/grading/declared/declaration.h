// Declared checks: rubric rows that say what to launch, with which arrays, and what to compare or
// to count, so that the check needs no code. README.md has the keys. declared_launch.h runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/toml_file.h"
#include "grading/declared/elements.h"
#include "grading/declared/expression.h"
#include "grading/rubric/value_range.h"

namespace lab32::grading {

// One way to fill an array: a distribution, or an expression in `i` per element.
struct DeclaredContent {
  std::string name;  // the distribution; empty: `each` gives the elements
  Expression each = {};
};

struct DeclaredArray {
  std::string name;
  const ElementType* type = nullptr;
  Expression count = {};
  // Without contents, an output is poisoned. Launches use them in turn.
  std::vector<DeclaredContent> contents = {};
  std::optional<Expression> from = {}, below = {};  // the range of the distributions
  // Only outputs: an expression in `i`, in all arrays as they are before the launch, and in
  // expected[0] ... expected[i - 1]. Absent: the reference kernel writes the expected values.
  std::optional<Expression> expected = {};
  // If given, the array is a sum: `expected` is added to the element `at`, for each i below `over`.
  std::optional<Expression> at = {}, over = {};
};

struct DeclaredScalar {
  std::string name;
  const ElementType* type = nullptr;
  Expression value = {};
};

// Extents along x, y and z.
using DeclaredExtents = std::vector<Expression>;

struct DeclaredArgument {
  enum class Kind : uint8_t { input, output, scalar, number } kind = Kind::number;
  size_t index = 0;        // which array or scalar it names
  Expression number = {};  // an int
};

// A launch of a kernel and its expected result.
struct DeclaredLaunch {
  std::string check, kernel;         // the result check, and what it launches
  std::string variant = {};          // the values of `each`: "block = 96"
  std::string function = {};         // the function whose line a message quotes
  bool shape_of_submission = false;  // the submission has LAB32_LAUNCH(kernel, ...)
  DeclaredExtents grid = {}, block = {};
  std::vector<DeclaredScalar> scalars = {};
  std::vector<DeclaredArray> inputs = {}, outputs = {};
  std::vector<DeclaredArgument> arguments = {};
  std::string reference = {};  // a kernel of given.cu with the same parameters
  DeclaredExtents reference_grid = {}, reference_block = {};

  // The number of sets of contents with which the kernel is launched: the most that an array has.
  size_t content_count() const;
};

// A counter, and the value that a kernel needs at least: its limit.
struct DeclaredLimit {
  Expression counter = {}, ideal = {};
  std::string counted = {};  // the unit, for the table and the message
  std::string idea = {};     // the hint of a further counter
};

struct Declaration {
  enum class Kind : uint8_t { result, counter, time, question } kind = Kind::question;
  // One for each combination of the values of `each`. Counters and times are those of the first.
  std::vector<DeclaredLaunch> launches = {};
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
  Expression bytes = {};  // of a timing check: the bytes that the kernel has to move
};

// One row of a rubric as its reader sees it.
struct DeclaredRow {
  const toml::table& own;   // the row's table
  const toml::table* of;    // the table of the result check that `of` names, or null
  const toml::table& file;  // the whole rubric
  std::string table, path;  // for errors
};

// The kind of check that the row declares; nullopt: it declares none, so the check must be code.
std::optional<Declaration::Kind> declared_kind(const toml::table& row);
// The keys that a check of that kind takes. It needs those that are marked as required.
struct DeclaredKey {
  RubricKey key;
  bool required;
};
const std::vector<DeclaredKey>& declared_keys(Declaration::Kind kind);

// Reads a declaration. Throws Error "FILE:LINE: ..." for everything that is wrong.
Declaration read_declaration(const DeclaredRow& row, Declaration::Kind kind);

}  // namespace lab32::grading
