// Declared checks: expressions, distributions, and errors of a row, each with file and line.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "grading/declared/declaration.h"
#include "grading/declared/elements.h"
#include "grading/declared/expression.h"
#include "grading/rubric/rubric.h"
#include "simulator/observers/counters.h"
#include "tests/fixtures/scratch.h"

namespace lab32::grading {
namespace {

double evaluated(const std::string& text, double n = 0) {
  const AllowedExpressionNames names{{"n", "load.sectors"}, {"in"}, true};
  Random random(1);
  const std::vector<double> in = {3, 1, 2};
  ExpressionValues values{{n, 7}, {{in.size(), [&](size_t i) { return in[i]; }}}, &random};
  return Expression(text, names, "x.toml:3").value(values);
}

TEST_CASE("grading: an expression has the operators of C and reads names and arrays") {
  CHECK(evaluated("1 + 2 * 3 - 8 / 2 / 2") == 5);
  CHECK(evaluated("-2 * -(1 + 1)") == 4);
  CHECK(evaluated("n % 4 == 3 && !(n < 7) || 0", 7) == 1);
  CHECK(evaluated("n >= 8 ? 1 : n != 7 ? 2 : 3", 7) == 3);
  CHECK(evaluated("max(1, ceil_div(n, 256))", 0) == 1);
  CHECK(evaluated("ceil_div(n, 256) + min(n, 2)", 257) == 4);
  CHECK(evaluated("floor(7 / 2) + ceil(0.5) + abs(-1) + sqrt(16) + pow(2, 3)") == 17);
  CHECK(evaluated("log(exp(2))") == doctest::Approx(2));
  CHECK(evaluated("load.sectors + 1") == 8);
  CHECK(evaluated("in[n] + in[0]", 2) == 5);
  CHECK(evaluated("sum(k, 0, 3, in[k]) + 10 * least(k, 0, 3, in[k])") == 16);
  CHECK(evaluated("greatest(k, 1, n, in[k] * k) + sum(k, 2, 2, k)", 3) == 4);
  CHECK(evaluated("sum(j, 0, 3, sum(k, 0, j, 10 * j + k)) + sum(j, 0, 2, j)") == 52);
  const double drawn = evaluated("random(5, 8)");
  CHECK((drawn == 5 || drawn == 6 || drawn == 7));
}

TEST_CASE("grading: the values of a range are those of its elements, one by one") {
  const std::vector<double> in = {3, 1, 2};
  ExpressionValues values{{5, 0}, {{in.size(), [&](size_t i) { return in[i]; }}}};
  const auto check = [&](const std::string& text) {
    CAPTURE(text);
    const Expression each(text, {{"n", "i"}, {"in"}}, "x.toml:3");
    std::vector<double> together(1500);
    each.values_in_range(values, 100, together.size(), together.data());
    for (size_t k = 0; k < together.size(); ++k) {
      values.numbers.back() = static_cast<double>(100 + k);
      CHECK(together[k] == each.value(values));
    }
  };
  check("2 * i - n % 3");
  check("i % 256 + -i % 7 + i / 2 % 1.5 + pow(i, 2) + floor(sqrt(i))");
  // A branch is evaluated only where it is taken: in[] has three elements.
  check("i % 100 < 3 ? in[i % 100] : i < 300 && i != 200 ? -i : n");
  check("(i % 50 < 3 && in[i % 50] > 1) + (i % 50 >= 3 || in[i % 50] > 1)");
  check("sum(k, 0, i % 5, least(m, k, 3, in[m] + i)) + greatest(k, 0, 3, in[k] * (i % 2))");
  const Expression outside("in[i]", {{"n", "i"}, {"in"}}, "x.toml:3");
  double results[4];
  CHECK_THROWS_WITH_AS(outside.values_in_range(values, 0, 4, results),
                       doctest::Contains("in[3] is not among its 3 elements"), Error);
}

TEST_CASE("grading: an error of an expression says where and what") {
  const auto check = [](const std::string& text, const std::string& words) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(
        evaluated(text, 5),
        doctest::Contains(("x.toml:3: the expression \"" + text + "\": " + words).c_str()), Error);
  };
  check("n +", "a value is missing at the end");
  check("(n", "a `)` is missing at the end");
  check("n n", "`n` is not expected");
  check("m", "there is no name `m`");
  check("load.sector", "there is no name `load.sector`; did you mean `load.sectors`?");
  check("out[0]", "there is no array `out`");
  check("min(n)", "a `,` is missing before `)`");
  check("maximum(n, 1)", "there is no function `maximum`");
  check("in[n]", "in[5] is not among its 3 elements");
  check("in[0.5]", "in[0.5] is not among");
  check("sum(k, 0, 1, k) + k", "there is no name `k`");
  check("sum(, 0, 1, 2)", "sum(k, a, b, ...) begins with a variable");
  check("random(3, 3)", "random(a, b) needs b > a");
  check(std::string(500, '('), "it is nested too deeply");
  check(std::string(500, '-') + "1", "it is nested too deeply");
  CHECK_THROWS_WITH_AS(Expression("random(0, 2)", {}, ""), doctest::Contains("only in `values`"),
                       Error);
  const Expression half(0.5);
  CHECK_THROWS_WITH_AS(half.whole_value({}, 0, 9),
                       doctest::Contains("is not a whole number from 0 to 9"), Error);
}

TEST_CASE("grading: a text has the values of its expressions in columns") {
  const AllowedExpressionNames names{{"n", "load.sectors"}, {}};
  const ExpressionValues values{{7, 12345}, {}};
  const auto filled = [&](const std::string& text) {
    return TextTemplate(text, names, "x.toml:3").filled(values);
  };
  CHECK(filled("nothing") == "nothing");
  CHECK(filled("{n} rows, {n / 2}") == "7 rows, 3.5");
  CHECK(filled("|{n / 3 :>8.1}|{load.sectors :<8,}|") == "|     2.3|12,345  |");
  CHECK(filled("{n > 3 ? 1 : 2}") == "1");
  CHECK_THROWS_WITH_AS(filled("{n"), doctest::Contains("x.toml:3: a `}` is missing after \"{n\""),
                       Error);
  CHECK_THROWS_WITH_AS(filled("{m :>8}"),
                       doctest::Contains("the expression \"m\": there is no name"), Error);
}

std::vector<double> drawn_values(const std::string& name, const std::string& type, size_t count,
                                 const ElementValueRange& range = {}) {
  TypedHostArray elements(*find_element_type(type), count);
  Random random(7);
  find_distribution(name)(elements, range, random);
  std::vector<double> values;
  for (size_t i = 0; i < count; ++i) values.push_back(elements.at(i));
  return values;
}

TEST_CASE("grading: each distribution fills arrays of each type that it fits") {
  for (const std::string& type : element_type_names())
    for (const std::string& name : distribution_names()) {
      if (!distribution_error(name, *find_element_type(type), false).empty()) continue;
      CAPTURE(type);
      CAPTURE(name);
      CHECK(drawn_values(name, type, 100).size() == 100);
      CHECK(drawn_values(name, type, 0).empty());
    }
  const ElementValueRange keys{true, 3, 9};
  const std::vector<double> uniform = drawn_values("uniform", "int", 300, keys);
  CHECK(std::set<double>(uniform.begin(), uniform.end()) == std::set<double>{3, 4, 5, 6, 7, 8});
  const std::vector<double> sorted = drawn_values("sorted", "unsigned char", 300, keys);
  CHECK(std::is_sorted(sorted.begin(), sorted.end()));
  CHECK(sorted.front() < sorted.back());
  const std::vector<double> constant = drawn_values("constant", "float", 50);
  CHECK(std::count(constant.begin(), constant.end(), constant[0]) == 50);
  CHECK(drawn_values("ramp", "short", 4) == std::vector<double>{0, 1, 2, 3});
  CHECK(drawn_values("ramp", "int", 8, keys)[7] == 4);
  double sum = 0;
  for (const double v : drawn_values("small", "float", 1 << 20)) {
    CHECK(v != 0);
    sum += std::abs(v);
  }
  CHECK(sum <= 0x1p24);
  CHECK(std::isinf(drawn_values("minus_infinity", "double", 1)[0]));
  CHECK(!distribution_error("minus_infinity", *find_element_type("int"), false).empty());
  CHECK(!distribution_error("small", *find_element_type("int"), true).empty());
  TypedHostArray byte(*find_element_type("unsigned char"), 1);
  CHECK(byte.set(0, 255));
  CHECK_FALSE(byte.set(0, 256));
  CHECK_FALSE(byte.set(0, -1));
  CHECK_FALSE(byte.set(0, 0.5));
}

TEST_CASE("grading: all counters have names, and sums of them, too") {
  const std::vector<std::string> names = counters::counter_names();
  counters::Counters counters;
  counters.red = {1, 30};
  counters.atom = {2, 12};
  counters.other.bulk_load.sectors = 9;
  const std::vector<double> values = counters::counter_values(counters);
  REQUIRE(values.size() == names.size());
  const auto value = [&](const std::string& name) {
    const auto at = std::find(names.begin(), names.end(), name);
    REQUIRE_MESSAGE(at != names.end(), name);
    return values[static_cast<size_t>(at - names.begin())];
  };
  CHECK(value("sectors") == 42);
  CHECK(value("requests") == 3);
  CHECK(value("red.sectors") == 30);
  CHECK(value("other.bulk_load.sectors") == 9);
  CHECK(value("shared_load.wavefronts") == 0);
  CHECK(counters::is_shared_counter("shared_atom.requests"));
  CHECK_FALSE(counters::is_shared_counter("red.sectors"));
}

// Lines 1 to 49.
const std::string kDeclared = R"toml(lab = "lab"
max_score = 10
sizes = [0, 33]
drawn = [4096, 8192]
min_working_share = 0.25

[scale]
check = "scale: result"
points = 2
credit = "all"
kernel = "scale"
grid = ["ceil_div(n, 256)", 1]
block = 256
arguments = ["in", "out", "factor", "n"]
scalars.factor = { type = "float", value = "0.25 * random(2, 14)" }
inputs.in = { type = "float", count = "n" }
outputs.out = { type = "float", count = "n", expected = "in[i] * factor" }

[scale_sectors]
check = "scale: sectors"
points = 4
credit = "share"
of = "scale"
n = 4096
counter = "load.sectors + store.sectors"
ideal = "n / 4"
idea = "Read in order."

[scale_time]
check = "scale: time"
bonus = 4
credit = "share"
of = "scale"
n = 4096
n_modelled = 4096
fraction = 0.8
bytes = "8 * n"

[why]
check = "why"
points = 4
credit = "all"
[why.questions.how_many]
answer = 5
hint = "Count."
hints = { "4" = "Count from 0." }

[speed]
of_reference = 0.9
)toml";

Rubric read_declared(const std::string& text) {
  const tests::ScratchDirectory folder;
  folder.write("lab.toml", text);
  return Rubric(folder.path, "lab", {});
}

void check_row_refused(const std::string& from, const std::string& to, const std::string& words) {
  CAPTURE(to);
  std::string text = kDeclared;
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
  CHECK_THROWS_WITH_AS(read_declared(text), doctest::Contains(("/lab.toml:" + words).c_str()),
                       Error);
}

TEST_CASE("grading: rows declare results, counters, times and questions") {
  const Rubric rubric = read_declared(kDeclared);
  REQUIRE(rubric.rows().size() == 4);
  const CheckDeclaration& result = *rubric.rows()[0].declaration;
  CHECK(result.kind == CheckDeclaration::Kind::result);
  CHECK(result.launches[0].grid.size() == 2);
  REQUIRE(result.launches[0].arguments.size() == 4);
  CHECK(result.launches[0].arguments[2].kind == DeclaredArgumentSource::Kind::scalar);
  CHECK(result.launches[0].arguments[3].kind == DeclaredArgumentSource::Kind::number);
  CHECK(result.launches[0].outputs[0].contents.empty());
  const CheckDeclaration& counter = *rubric.rows()[1].declaration;
  CHECK(counter.kind == CheckDeclaration::Kind::counter);
  CHECK(counter.launches[0].kernel == "scale");
  CHECK(rubric.rows()[1].after == std::vector<size_t>{0});
  CHECK(rubric.rows()[2].declaration->kind == CheckDeclaration::Kind::time);
  CHECK(rubric.rows()[3].asks());
  CHECK(rubric.rows()[3].questions()[0].hints.at(4) == "Count from 0.");
}

TEST_CASE("grading: a declared check has a launch for each variant") {
  std::string text = kDeclared;
  text.replace(text.find("block = 256"), 11, "block = \"{size}\"\neach.size = [96, 256]");
  text.replace(text.find("counter ="), 9, "each.size = [128]\ncounter =");
  const Rubric rubric = read_declared(text);
  const std::vector<DeclaredLaunch>& result = rubric.rows()[0].declaration->launches;
  REQUIRE(result.size() == 2);
  CHECK(result[1].variant == "size = 256");
  CHECK(result[1].block[0].value({}) == 256);
  const std::vector<DeclaredLaunch>& counter = rubric.rows()[1].declaration->launches;
  REQUIRE(counter.size() == 1);
  CHECK(counter[0].variant == "size = 128");
  CHECK(counter[0].check == "scale: result");
}

const std::string kLaunches = R"toml(
[launches]
old = { kernel = "old_scale" }
one = { kernel = "one", n = 4, grid = 1, block = 32, arguments = ["out"], inputs = {}, outputs.out = { type = "int", count = "n" } }
)toml";

TEST_CASE("grading: a question shows launches of given kernels, and a step is timed from another") {
  std::string text = kDeclared + kLaunches;
  const auto replace = [&text](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("[why.questions", "shown = \"{one.red.sectors} of {one.out[0]}\"\n[why.questions");
  replace("fraction = 0.8\n", "before = \"old\"\n");
  replace("old = { kernel = \"old_scale\" }",
          "old = { kernel = \"old_scale\", grid = 1, block = 32, arguments = [\"in\", \"out\"], "
          "inputs.in = { type = \"float\", count = \"n\" }, "
          "outputs.out = { type = \"float\", count = \"n\", expected = \"in[i]\" } }");
  replace("[speed]\nof_reference = 0.9", "[steps]\nshare_of_gain = 0.5\nleast_gain = 0.05");
  const Rubric rubric = read_declared(text);
  const CheckDeclaration& asks = *rubric.rows()[3].declaration;
  REQUIRE(asks.given.size() == 1);
  CHECK(asks.given[0].launch.kernel == "one");
  CHECK(asks.given[0].size == LaunchSize{4});
  const CheckDeclaration& step = *rubric.rows()[2].declaration;
  CHECK(step.form_before == "old");
  CHECK(step.before->kernel == "old_scale");
  CHECK(step.before->arguments.size() == 2);

  const auto refused = [&](const std::string& from, const std::string& to, const char* words) {
    const std::string before = text;
    replace(from, to);
    CHECK_THROWS_WITH_AS(read_declared(text), doctest::Contains(words), Error);
    text = before;
  };
  refused("{one.red.sectors}", "{one.red.sektors}", "did you mean `one.red.sectors`?");
  refused("{one.out[0]}", "{two.out[0]}", "there is no array `two.out`");
  refused("before = \"old\"", "before = \"new\"", "`before` names the table of a launch");
  refused("count = \"n\", expected = \"in[i]\" } }", "count = \"n\" } }",
          "`out` has no `expected`");
  refused("inputs.in = { type = \"float\", count = \"n\" }, outputs",
          "inputs.in = { type = \"float\", count = \"2 * n\" }, outputs",
          "both versions of a step take the same inputs");
  refused("n = 4, grid", "n = -4, grid", "`n` is a whole number up to 2^28");
}

TEST_CASE("grading: a wrong declaration is an error with file and line") {
  check_row_refused("kernel = \"scale\"\n", "", "8: there is no check \"scale: result\"");
  check_row_refused("kernel = \"scale\"", "kernel = 3", "11: `kernel` of [scale] is a text");
  check_row_refused("grid = [\"ceil_div(n, 256)\", 1]\n", "",
                    "7: [scale] needs `grid` and `block`");
  check_row_refused("block = 256", "block = \"256 +\"", "13: the expression \"256 +\"");
  check_row_refused("block = 256", "block = [1, 1, 1, 1]", "13: `block` has one to three extents");
  check_row_refused("block = 256", "blocks = 256", "13: \"scale: result\" takes no `blocks`");
  check_row_refused("\"factor\", \"n\"]", "\"n\", \"m\"]", "14: the expression \"m\"");
  check_row_refused("\"in\", \"out\"", "\"out\"", "14: no argument is `in`");
  check_row_refused("{ type = \"float\", value", "{ type = \"real\", value",
                    "15: `factor` needs a `type`: int, unsigned");
  check_row_refused("scalars.factor", "scalars.n", "15: `n` is a name of the grader's");
  check_row_refused("count = \"n\" }", "count = \"n\", below = 3, values = \"small\" }",
                    "16: `in` cannot be \"small\": it takes no `from`");
  check_row_refused("count = \"n\" }", "count = \"n\", values = \"unifrom\" }",
                    "16: `values` is an expression or one of uniform, small");
  check_row_refused("count = \"n\" }", "count = \"n\", fields = 0 }",
                    "16: `fields` is a whole number from 1 to 64");
  check_row_refused("count = \"n\" }", "number = \"n\" }", "16: `in` takes no `number`");
  check_row_refused("outputs.out", "outputs.in", "17: there are two `in`");
  check_row_refused(", expected = \"in[i] * factor\"", "",
                    "7: `out` has no `expected`, and [scale] names no `reference` kernel");
  check_row_refused("in[i] * factor", "inn[i]", "17: the expression \"inn[i]\": there is no array");
  check_row_refused("of = \"scale\"", "of = \"scales\"", "23: `of` names the table of a declared");
  check_row_refused("load.sectors +", "load.sektors +", "25: the expression \"load.sektors");
  check_row_refused("ideal = \"n / 4\"", "ideal = \"m\"", "26: the expression \"m\"");
  check_row_refused("credit = \"all\"", "credit = \"share\"", "7: [scale]: `credit`");
  check_row_refused("block = 256", "block = 256\neach.size = 96", "14: `size` is a list of");
  check_row_refused("block = 256", "block = 256\neach = 96", "14: `each` is a table");
  check_row_refused("\"in[i] * factor\" }", "\"in[i]\", at = 0 }", "17: `out` needs all of");
  check_row_refused("ideal = \"n / 4\"", "ideal = 4\nleast = 2",
                    "19: [scale_sectors] has no `later`");
  check_row_refused("bonus = 4", "points = 4", "29: [scale_time]: a timing check, and no other");
  check_row_refused("expected = \"in[i] * factor\" }", "values = 1, expected = \"in[i]\" }",
                    "29: a timing check fills an output");
  check_row_refused("\"4\" = ", "\"four\" = ", "46: `hints` has a text for each wrong answer");
  check_row_refused("max_score = 10", "max_score = 10\ninput.in = 3",
                    "3: no check takes `input.in`");
  check_row_refused("block = 256", "block = 256\nlargest = [1, 2]", "14: `largest` is a list");
  check_row_refused("grid = [\"ceil_div(n, 256)\", 1]\nblock = 256\n", "grid = \"LAB32_TILE\"\n",
                    "12: a launch with LAB32_TILE has two `extents`");
  check_row_refused("idea = \"Read in order.\"", "repeated = { bytes = 4 }",
                    "27: `repeated` has `bytes` and `idea`");
  check_row_refused("idea = \"Read in order.\"", "conflicts = { note = \"B2\" }",
                    "27: `conflicts` has `withheld_until` and `note`");
}

}  // namespace
}  // namespace lab32::grading
