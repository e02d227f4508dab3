#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/environment.h"
#include "base/text.h"
#include "report/render.h"
#include "tests/fixtures/sample_result.h"

namespace lab32::report {
namespace {

using tests::sample_result;

constexpr const char* kReport =
    R"(coalescing                                                                5 / 12
================================================================================
check                          measured             expected              points
--------------------------------------------------------------------------------
B1 scale: result               right                right                  4 / 4
B1 scale: sectors              2,097,152 sectors    262,144 sectors        1 / 8
a check whose name is far too                                            not run
 long for its column of the
 table
--------------------------------------------------------------------------------

B1 scale: sectors (7 of 8 lost)
  labs/coalescing/coalescing.cu:97
      if (i < n) out[i] = factor * in[i];
  Warp 0 of block 0: 32 lanes' loads of 4 bytes touch 32 sectors where 4 would
  do: lane 0 in[0], lane 1 in[16].

a check whose name is far too long for its column of the table (not run, does
not count)
  the device `gpu` does not count sectors

reduction                                                                 0 / 10
================================================================================
  reduction.cu does not compile:
  reduction.cu(3): error: expected a ";" and a line of the compiler that is longer than the page

total   sim:h200 (simulated counts), seed 7                               5 / 22
)";

}  // namespace

TEST_CASE("report: the text report equals its golden text") {
  CHECK(text(sample_result()) == kReport);
}

TEST_CASE(
    "report: a terminal shows two reasons, and one line each for other checks and for checks that "
    "were not run") {
  GradingResult result = sample_result();
  result.labs.pop_back();
  LabResult& lab = result.labs[0];
  const CheckResult lost = lab.tests[1];
  for (const char* name : {"C1", "C2", "C3"}) {
    lab.tests.push_back(lost);
    lab.tests.back().name = name;
  }
  ReportStyle brief;
  brief.brief = true;
  brief.command = "build/lab32";
  std::string shown = text(result, brief);
  CHECK(shown.find("B1 scale: sectors (7 of 8 lost)\n") != std::string::npos);
  CHECK(shown.find("C1 (7 of 8 lost)\n") != std::string::npos);
  CHECK(shown.find("C2 (7 of 8 lost)\n") == std::string::npos);
  CHECK(shown.find("2 other checks lost points, too: `build/lab32 grade coalescing --all` says "
                   "why.\n1 check was not run and costs no points.\n") != std::string::npos);
  CHECK(shown.find("not run\n") == std::string::npos);  // no row of the table

  lab.tests = {lab.tests[0], lab.tests[2]};
  lab.tests[0].message = "The table of the given kernel.";
  lab.score = lab.max_score;
  shown = text(result, brief);
  CHECK(shown.find("1 check passed.\n") != std::string::npos);
  CHECK(shown.find("measured") == std::string::npos);
  CHECK(shown.find("The table") == std::string::npos);
  // The output of a kernel is always shown.
  lab.tests[0].message = "The kernel printed:\n    7";
  lab.tests[0].has_output = true;
  CHECK(text(result, brief).find("The kernel printed:\n      7\n") != std::string::npos);
  lab.tests[0].has_output = false;
  CHECK(std::count(shown.begin(), shown.end(), '\n') <= 12);
}

TEST_CASE("report: no line of a table is wider than the page, and colour adds no column") {
  ReportStyle colour;
  colour.colour = true;
  const std::string coloured = text(sample_result(), colour);
  CHECK(coloured.find("\033[32m") != std::string::npos);
  std::string plain;
  for (size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\033')
      i = coloured.find('m', i);
    else
      plain += coloured[i];
  }
  CHECK(plain == kReport);
}

TEST_CASE("report: a seed that does not fit next to the card's name gets a line of its own") {
  GradingResult result = sample_result();
  result.labs.clear();
  result.timer = "NVIDIA H200";
  result.seed = 103572911814788;
  CHECK(text(result) ==
        "total   sim:h200 (simulated counts), NVIDIA H200 (measured times)         5 / 22\n"
        "        seed 103572911814788\n");
  result.timer = "NVIDIA H100 80GB HBM3";  // this does not fit, either
  CHECK(text(result) ==
        "total   sim:h200 (simulated counts)                                       5 / 22\n"
        "        NVIDIA H100 80GB HBM3 (measured times), seed 103572911814788\n");
}

TEST_CASE("report: json follows the schema") {
  const auto j = nlohmann::json::parse(json(sample_result()));
  CHECK(j["schema"] == "lab32-result/2");
  CHECK(j["device"] == "sim:h200");
  CHECK(j["timer"] == "");
  CHECK(j["seed"] == 7);
  CHECK(j["score"] == 5);
  CHECK(j["max_score"] == 22);
  REQUIRE(j["labs"].size() == 2);
  const auto& lab = j["labs"][0];
  CHECK(lab["lab"] == "coalescing");
  CHECK(lab["status"] == "failed");
  REQUIRE(lab["tests"].size() == 3);
  const auto& test = lab["tests"][1];
  CHECK(test["name"] == "B1 scale: sectors");
  CHECK(test["status"] == "failed");
  CHECK(test["line"] == 97);
  CHECK(test["file"] == "labs/coalescing/coalescing.cu");
  CHECK(test["figures"]["sectors"] == 2097152);
  CHECK(test["figures"]["sectors"].is_number_integer());
  CHECK(test["figures"]["ratio"] == 0.125);
  CHECK(test["expected"] == "262,144 sectors");
  CHECK(test["bonus"] == false);
  CHECK(test["failure"]["kind"] == "wasteful");
  CHECK(test["failure"]["measured"] == 2097152);
  CHECK(test["failure"]["index"].is_null());
  CHECK(test["failure"]["access"]["thread"] == nlohmann::json{33, 0, 0});
  CHECK(test["failure"]["access"]["offset"] == -4);
  CHECK(test["failure"]["access"]["element"].is_null());
  CHECK(test["not_run"].is_null());
  const auto& absent = lab["tests"][2];
  CHECK(absent["status"] == "not run");
  CHECK(absent["bonus"] == true);
  CHECK(absent["failure"].is_null());
  CHECK(absent["not_run"]["kind"] == "no_counters");
  CHECK(absent["not_run"]["device"] == "gpu");
  CHECK(absent["not_run"]["modelled"]["seconds"] == 1.5e-6);
  CHECK(lab["tests"][0]["figures"].is_object());
  CHECK(j["labs"][1]["status"] == "error");
}

namespace {

// All keys except those of `figures`, which belong to the checks.
void collect_keys(const nlohmann::json& value, std::set<std::string>& keys) {
  if (value.is_array())
    for (const auto& each : value) collect_keys(each, keys);
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    keys.insert(key);
    if (key != "figures") collect_keys(inner, keys);
  }
}

std::string readme() {
  std::ifstream file(lab32_root() / "grader/report/README.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("report: README.md documents exactly the printed keys") {
  std::set<std::string> printed, documented;
  collect_keys(nlohmann::json::parse(json(sample_result())), printed);
  const std::string text = readme();
  const std::string schema = text.substr(text.find("```"), text.rfind("```") - text.find("```"));
  const RegularExpression key("(^|\n|\\{)\\s*\\{?\"(\\w+)\":");
  for (const RegularExpression::Groups& found : key.all(schema)) documented.insert(found[2]);
  documented.erase("ideal_sectors");  // a figure
  CHECK(printed == documented);
}

TEST_CASE("report: README.md documents every kind of failure and every reason") {
  const std::string text = readme();
  for (int kind = 0; kind <= static_cast<int>(CheckFailureReason::Kind::impossible_time); ++kind) {
    const std::string name = to_string(static_cast<CheckFailureReason::Kind>(kind));
    CHECK_MESSAGE(text.find("| `" + name + "` |") != std::string::npos, name);
  }
  for (int kind = 0; kind <= static_cast<int>(NotRunReason::Kind::hidden); ++kind) {
    const std::string name = to_string(static_cast<NotRunReason::Kind>(kind));
    CHECK_MESSAGE(text.find("| `" + name + "` |") != std::string::npos, name);
  }
}

TEST_CASE("report: json survives a message that is not UTF-8") {
  GradingResult result = sample_result();
  result.labs[0].tests[0].message = "caf\xe9";
  CHECK(nlohmann::json::parse(json(result))["labs"][0]["tests"][0]["message"] == "caf\\xe9");
}

TEST_CASE("report: every format makes foreign text visible") {
  const std::string evil =
      "\x1b]0;owned\x07\xc2\x9b"
      "2J\u202e\xff\uffff";
  GradingResult result = sample_result();
  LabResult broken;
  broken.name = "shuffle";
  broken.status = Status::error;
  broken.message = "a.cu:1: error: " + evil;
  result.labs.push_back(broken);
  for (LabResult& lab : result.labs)
    for (CheckResult& test : lab.tests) {
      for (std::string* place : {&test.measured, &test.expected, &test.message, &test.file})
        *place += evil;
      if (!test.failure) continue;
      test.failure->subject = test.failure->detail = evil;
      if (test.failure->access) test.failure->access->object = evil;
    }
  for (const std::string& format : format_names()) {
    CAPTURE(format);
    const std::string shown = render(result, format);
    // CodeGrade's line has no text at all.
    if (format != "codegrade") CHECK(shown.find("owned") != std::string::npos);
    for (const char* hidden :
         {"\x1b", "\x07", "\xc2\x9b", "\u202e", "\xff", "\uffff", "\\u001b", "\\u0007"})
      CHECK(shown.find(hidden) == std::string::npos);
  }
}

TEST_CASE("report: a lab that was not graded is named and not part of the sums") {
  GradingResult result = sample_result();
  const double max_score = result.max_score;
  LabResult lost;
  lost.name = "shuffle";
  lost.status = Status::not_graded;
  lost.message = "no scratch directory in /nowhere";
  result.labs.push_back(lost);
  CHECK(sample_result().all_labs_graded());
  CHECK_FALSE(result.all_labs_graded());
  const std::string shown = text(result);
  CHECK(shown.find("not graded\n====") != std::string::npos);
  CHECK(shown.find("\n  no scratch directory in /nowhere\n") != std::string::npos);
  CHECK(shown.find("\nwithout the labs that were not graded: shuffle\n") != std::string::npos);
  const auto record = nlohmann::json::parse(json(result));
  CHECK(record["complete"] == false);
  CHECK(record["max_score"] == max_score);
  CHECK(record["labs"].back()["status"] == "not graded");
}

TEST_CASE("report: points are written as people write them") {
  CHECK(format_points(4) == "4");
  CHECK(format_points(3.5) == "3.5");
  CHECK(format_points(0.25) == "0.25");
  CHECK(format_points(0) == "0");
  CHECK(format_points(10) == "10");
}

TEST_CASE("report: wrapping keeps code, indents and long words") {
  using Lines = std::vector<std::string>;
  CHECK(wrap("one two three", 7) == Lines{"one two", "three"});
  CHECK(wrap("a\n\nb", 10) == Lines{"a", "", "b"});
  CHECK(wrap("  one two three", 9) == Lines{"  one two", "  three"});
  CHECK(wrap("    code is never broken", 10) == Lines{"    code is never broken"});
  CHECK(wrap("abcdefghij k", 4) == Lines{"abcd", "efgh", "ij k"});
  CHECK(wrap("", 10) == Lines{""});
}

TEST_CASE("report: columns are counted in code points") {
  CHECK(display_columns("é×") == 2);
  CHECK(pad_left("×", 3) == "  ×");
  CHECK(wrap("éééé", 2) == std::vector<std::string>{"éé", "éé"});
}

}  // namespace lab32::report
