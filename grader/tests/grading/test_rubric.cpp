// A rubric that does not fit its checks is an error with file and line, before anything is graded.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <ostream>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "grading/engine/registry.h"
#include "grading/rubric/rubric.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/scratch.h"

namespace lab32::grading {
namespace {

const std::vector<RegisteredCheck> kChecks = {
    {"b: time", "timing.cpp", 9, {"n"}},
    {"a: result",
     "suite.cpp",
     3,
     {numbers("sizes", 0, 1000), {"type", RubricValueConstraint::ExpectedType::text}}},
    {"a: sectors", "suite.cpp", 5, {"n", "questions"}}};

// Lines 1 to 27.
const std::string kText = R"(lab = "lab"
max_score = 10
sizes = [0, 2.5]
n = 7

[result]
check = "a: result"
points = 4
credit = "all"
type = "int"
reason = "why"

[sectors]
check = "a: sectors"
points = 6
credit = "share"
after = "result"
[sectors.questions.how_many]
answer = 5
hint = "Count."

[time]
check = "b: time"
bonus = 2
credit = "share"
after = ["result", "sectors"]
n = 8
)";

Rubric read(const std::string& text, const std::vector<RegisteredCheck>& checks = kChecks) {
  const tests::ScratchDirectory folder;
  folder.write("lab.toml", text);
  return Rubric(folder.path, "lab", checks);
}

TEST_CASE("grading: `hides` is read, and refused for a check without questions") {
  const std::string at = "after = \"result\"\n";
  std::string text = kText;
  text.insert(text.find(at), "hides = \"shuffles\"\n");
  CHECK(read(text).rows().at(1).hides == "shuffles");
  CHECK(read(kText).rows().at(1).hides.empty());
  text.replace(text.find("shuffles"), 8, "steps");
  CHECK_THROWS_WITH_AS(read(text), doctest::Contains("lab.toml:17: `hides` is \"all\", "), Error);
  text = kText;
  text.insert(text.find("type = "), "hides = \"all\"\n");  // it asks nothing
  CHECK_THROWS_WITH_AS(read(text), doctest::Contains("lab.toml:10: `hides` is"), Error);
}

// Reads the rubric with `from` replaced by `to`, and expects this error.
void check_refused(const std::string& from, const std::string& to, const std::string& words) {
  CAPTURE(to);
  std::string text = kText;
  REQUIRE(text.find(from) != std::string::npos);
  text.replace(text.find(from), from.size(), to);
  CHECK_THROWS_WITH_AS(read(text), doctest::Contains(("/lab.toml:" + words).c_str()), Error);
}

}  // namespace

TEST_CASE("grading: a rubric has a row for each check and decides their order") {
  const Rubric rubric = read(kText);
  REQUIRE(rubric.rows().size() == 3);
  const RubricCheckEntry &result = rubric.rows()[0], &sectors = rubric.rows()[1],
                         &time = rubric.rows()[2];
  CHECK(result.check == "a: result");
  CHECK(result.points == 4);
  CHECK(result.credit == Credit::all);
  CHECK_FALSE(result.bonus);
  CHECK(result.required_numbers("sizes") == std::vector<double>{0, 2.5});
  CHECK(result.required_text("type") == "int");
  CHECK(sectors.credit == Credit::share);
  CHECK(sectors.after == std::vector<size_t>{0});
  CHECK(sectors.required_number("n") == 7);  // the lab's
  REQUIRE(sectors.questions().size() == 1);
  CHECK(sectors.questions()[0].name == "how_many");
  CHECK(sectors.questions()[0].answer.number() == 5);
  CHECK(time.bonus);
  CHECK(time.points == 2);
  CHECK(time.after == std::vector<size_t>{0, 1});
  CHECK(time.required_count("n") == 8);  // its own
}

TEST_CASE("grading: a check reads only the keys that it declares") {
  const Rubric rubric = read(kText);
  CHECK_THROWS_WITH(rubric.rows()[0].required_number("n"),
                    doctest::Contains("\"a: result\" reads `n` and does not say so"));
  CHECK_THROWS_WITH_AS(rubric.rows()[0].required_number("type"),
                       doctest::Contains(":10: `type` is a number"), Error);
  CHECK_THROWS_WITH_AS(rubric.rows()[0].required_text("sizes"),
                       doctest::Contains(":3: `sizes` is a text"), Error);
}

TEST_CASE("grading: each value has a range, and the error names it with file and line") {
  check_refused("n = 7", "n = 0", "4: `n` of [sectors] is a whole number from 1 to 268435456");
  check_refused("n = 8", "n = 8.5", "27: `n` of [time] is a whole number from 1 to 268435456");
  check_refused("n = 7", "n = nan", "4: `n` of [sectors] is a whole number");
  check_refused("n = 7", "n = 1e22", "4: `n` of [sectors] is a whole number");
  check_refused("n = 7", "n = \"7\"", "4: `n` of [sectors] is a whole number");
  check_refused("[0, 2.5]", "[]", "3: `sizes` of [result] is a list of numbers from 0 to 1000");
  check_refused("[0, 2.5]", "[0, -1]", "3: `sizes` of [result] is a list of numbers");
  check_refused("type = \"int\"", "type = 3", "10: `type` of [result] is a text");
  check_refused("points = 6", "points = nan", "15: the points of [sectors] must be 0, which");
  check_refused("answer = 5", "answer = inf", "18: the question how_many has");
}

TEST_CASE("grading: a rubric that is no small regular file is one line") {
  const tests::ScratchDirectory folder;
  const auto refusal = [&] {
    try {
      Rubric(folder.path, "lab", kChecks);
    } catch (const Error& error) {
      return std::string(error.what()).substr(folder.path.string().size());
    }
    return std::string();
  };
  const std::filesystem::path file = folder.path / "lab.toml";
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK(refusal() == "/lab.toml: not a regular file");
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/dev/zero", file);
  CHECK(refusal() == "/lab.toml: not a regular file");
  std::filesystem::remove(file);
  folder.write("lab.toml", "");
  std::filesystem::resize_file(file, (1 << 20) + 1);
  CHECK(refusal() == "/lab.toml: larger than 1 MiB");
}

TEST_CASE("grading: the forms of a rubric's values") {
  const auto refusal = [](const RubricKey& key, const std::string& value) {
    return key.range.refusal(*toml::parse("x = " + value).get("x"));
  };
  CHECK(refusal(interval_valued_key("drawn", 5, 9), "[5, 9]").empty());
  for (const char* other : {"[]", "[5]", "[9, 5]", "[4, 9]", "[5, 10]", "[5, 6, 7]", "5"})
    CHECK(refusal(interval_valued_key("drawn", 5, 9), other) ==
          "two whole numbers from 5 to 9, the smaller first");
  CHECK(refusal(power_of_two("block", 64, 1024), "512").empty());
  CHECK(refusal(power_of_two("block", 64, 1024), "96") == "a power of two from 64 to 1024");
  CHECK(refusal(powers_of_two("blocks", 64, 1024), "[64, 96]") ==
        "a list of powers of two from 64 to 1024");
  CHECK(refusal(whole("nodes", 8, 64, 8), "16").empty());
  CHECK(refusal(whole("nodes", 8, 64, 8), "3") == "a whole number from 8 to 64 (a multiple of 8)");
  CHECK(refusal(wholes("skeleton", 1, 1024, 2), "[32]") ==
        "a list of 2 whole numbers from 1 to 1024");
  CHECK(refusal(shapes("sweep"), "[64, 4, 0, 256, 1, 0]").empty());
  for (const char* other : {"[0, 4, 0]", "[64, 0, 0]", "[64, 4]", "[64, 4, 0, 1]"})
    CHECK_FALSE(refusal(shapes("sweep"), other).empty());
  CHECK(refusal(choice("large", {"int", "short"}), "\"int\"").empty());
  CHECK(refusal(choice("large", {"int", "short"}), "\"long\"") == "one of \"int\", \"short\"");
  CHECK(refusal({"lanes_only", RubricValueConstraint::ExpectedType::flag}, "1") == "true or false");
  CHECK_THROWS_AS(RubricKey("nodes"), std::logic_error);
}

TEST_CASE("grading: lists that belong together are of one length") {
  const std::vector<RegisteredCheck> checks = {
      {"a",
       "a.cpp",
       1,
       {wholes("blocks", 1, 9), with_length_of("blocks", numbers("limits", 0, 9))}}};
  const auto text = [](const char* limits) {
    return std::string("lab = \"lab\"\nmax_score = 1\nblocks = [1, 2]\n[a]\ncheck = \"a\"\n") +
           "points = 1\ncredit = \"all\"\nlimits = " + limits + "\n";
  };
  CHECK(read(text("[3, 4]"), checks).rows().size() == 1);
  CHECK_THROWS_WITH_AS(
      read(text("[3]"), checks),
      doctest::Contains("lab.toml:8: `limits` of [a] has as many entries as `blocks`"), Error);
}

TEST_CASE("grading: a rubric that does not fit its checks is an error with file and line") {
  check_refused("a: sectors", "a: sektors",
                "14: there is no check \"a: sektors\"; is \"a: sectors\"");
  check_refused("a: sectors", "a: result", "14: the check \"a: result\" has two tables");
  check_refused("type = \"int\"", "typ = \"int\"",
                "10: \"a: result\" takes no `typ` (it takes sizes");
  check_refused("type = \"int\"\n", "", "6: [result] has no `type`, which \"a: result\" takes");
  check_refused("sizes = [0, 2.5]\n", "", "5: [result] has no `sizes`");
  check_refused("n = 7", "n = 7\nm = 7", "5: no check takes `m`");
  check_refused("n = 7", "n = ", "4: ");
  // One line, although the mistake is the end of the line.
  check_refused("n = 7", "n = n",
                "4: Error while parsing floating-point: expected 'nan', saw 'n\\n'");
  check_refused("[result]", "[,]", "6: a character that TOML does not allow here");
  check_refused("[time]", "[other]\nx = 1\n[time]", "23: no check takes `other.x`");
  check_refused("after = \"result\"", "after = \"results\"", "17: [sectors] comes after `results`");
  check_refused("after = \"result\"", "after = \"time\"",
                "17: [sectors] comes after [time], which");
  check_refused("after = \"result\"", "after = 3", "17: `after` is the name of a table");
  check_refused("points = 6", "points = 7", "2: max_score is 10, and the points add up to 11");
  check_refused("points = 6", "points = -6", "15: the points of [sectors] must be 0, which drops");
  check_refused("points = 6", "points = 6\nbonus = 1",
                "13: [sectors] has either `points` or `bonus`");
  check_refused("credit = \"share\"", "credit = \"half\"",
                "16: `credit` is \"all\", \"share\" or \"questions\"");
  check_refused("hint = \"Count.\"\n", "", "18: the question how_many has");
  check_refused("answer = 5", "answer = \"five\"", "18: the question how_many has");
  check_refused("lab = \"lab\"", "lab = \"other\"", "1: the file of lab lab says");
  check_refused("max_score = 10", "max_score = ", "2: ");
}

TEST_CASE("grading: a check without points is dropped, and a hidden one waits for its time") {
  std::string text = kText;
  text.replace(text.find("points = 4"), 10, "points = 0\nhidden_until = 2999-01-01T00:00:00+01:00");
  text.replace(text.find("points = 6"), 10, "points = 10\nhidden_until = 1999-01-01T00:00:00Z");
  const Rubric rubric = read(text);
  CHECK(rubric.rows()[0].dropped());
  CHECK(rubric.rows()[0].hidden());
  CHECK_FALSE(rubric.rows()[1].dropped());
  CHECK_FALSE(rubric.rows()[1].hidden());
  CHECK(rubric.rows()[0].hidden_until == 32472140400);  // by `date`
  check_refused("points = 6", "points = 6\nhidden_until = 2999-01-01",
                "16: `hidden_until` is a time with its zone");
}

TEST_CASE("grading: points in hundredths add up") {
  std::string text = kText;
  text.replace(text.find("points = 4"), 10, "points = 3.34");
  text.replace(text.find("points = 6"), 10, "points = 6.66");
  CHECK(read(text).rows()[0].points == 3.34);
}

TEST_CASE("grading: a check without a row and two checks of one name are errors") {
  std::vector<RegisteredCheck> checks = kChecks;
  checks.push_back({"c", "more.cpp", 4, {}});
  CHECK_THROWS_WITH_AS(read(kText, checks),
                       doctest::Contains("/lab.toml: no table has check = \"c\" (more.cpp:4)"),
                       Error);
  checks.back().name = "a: result";
  CHECK_THROWS_WITH_AS(read(kText, checks),
                       doctest::Contains("two checks are called \"a: result\""), Error);
}

TEST_CASE("grading: the error about a missing rubric names it") {
  const tests::ScratchDirectory folder;
  CHECK_THROWS_WITH_AS(Rubric(folder.path, "lab", kChecks),
                       doctest::Contains("/lab.toml: no such file"), Error);
}

TEST_CASE("grading: the project's rubrics fit their checks and have a hundred points each") {
  for (const std::string& lab : tests::each_lab()) {
    CAPTURE(lab);
    double points = 0;
    const Rubric rubric(rubric_folder(), lab);
    for (const RubricCheckEntry& row : rubric.rows())
      if (!row.bonus) points += row.points;
    CHECK(points == 100);
  }
}

TEST_CASE("grading: labs are known by their suites") {
  const auto labs = known_labs();
  CHECK(std::find(labs.begin(), labs.end(), "coalescing") != labs.end());
  CHECK(std::find(labs.begin(), labs.end(), ".harness") == labs.end());
}

TEST_CASE("grading: all labs with a rubric are linked, and an unknown lab is an error") {
  CHECK(labs_or_all({}) == known_labs());
  CHECK(labs_or_all({"transpose"}) == std::vector<std::string>{"transpose"});
  CHECK_THROWS_WITH_AS(labs_or_all({"transposition"}),
                       doctest::Contains("there is no lab `transposition`; the labs are: bank_"),
                       Error);
}

}  // namespace lab32::grading
