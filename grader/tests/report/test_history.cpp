// The history of attempts, and the list of changes between two results.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "base/environment.h"
#include "base/files.h"
#include "report/history.h"
#include "tests/fixtures/sample_result.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/slow.h"

namespace lab32::report {
namespace {

using KeptLine = nlohmann::json;

std::vector<KeptLine> lines_of(const std::filesystem::path& file) {
  std::vector<KeptLine> lines;
  std::istringstream in(read_file(file).value_or(""));
  for (std::string line; std::getline(in, line);) lines.push_back(KeptLine::parse(line));
  return lines;
}

TEST_CASE("report: the history keeps each attempt once per lab and drops the oldest") {
  const tests::ScratchDirectory scratch;
  const auto file = scratch.path / ".lab32/history";
  GradingResult result = tests::sample_result();
  append_to_history(scratch.path, result, "2026-01-01T10:00:00+00:00");
  // an equal result is not added
  append_to_history(scratch.path, result, "2026-01-01T10:01:00+00:00");
  CHECK(lines_of(file).size() == result.labs.size());
  CHECK(lines_of(file)[0]["time"] == "2026-01-01T10:00:00+00:00");
  CHECK(lines_of(file)[0]["checks"]["B1 scale: sectors"]["measured"] == "2,097,152 sectors");
  for (int k = 0; k < 210; ++k) {
    result.labs[0].tests[0].score = k;
    append_to_history(scratch.path, result, "2026-01-02T10:00:00+00:00");
  }
  size_t of_first = 0;
  for (const KeptLine& line : lines_of(file)) of_first += line["lab"] == result.labs[0].name;
  CHECK(of_first == 200);
}

TEST_CASE("report: the history keeps the first prediction beyond the attempts that it drops" *
          kSlow) {
  const tests::ScratchDirectory scratch;
  GradingResult result = tests::sample_result();
  result.labs.resize(1);
  CheckResult& test = result.labs[0].tests[0];
  for (int k = 0; k < 210; ++k) {
    test.figures["answer sectors"] = 32 - k % 31;
    if (k > 100) test.figures["answer banks"] = k;
    append_to_history(scratch.path, result, "2026-01-02T10:00:00+00:00");
  }
  const KeptLine last = lines_of(scratch.path / ".lab32/history").back();
  CHECK(last["predictions"] == KeptLine{{"answer sectors", 32}, {"answer banks", 101}});
  CHECK(last["checks"][test.name]["figures"]["answer banks"] == 209);
}

TEST_CASE("report: a history with invalid lines is still read") {
  const tests::ScratchDirectory scratch;
  scratch.write(".lab32/history", "no json\n[1]\n{\"lab\": 3}\n");
  append_to_history(scratch.path, tests::sample_result(), current_time());
  CHECK(lines_of(scratch.path / ".lab32/history").size() == tests::sample_result().labs.size());
}

TEST_CASE("report: a pipe in place of the history is left alone, and deep values are dropped") {
  namespace fs = std::filesystem;
  const tests::ScratchDirectory scratch, deep;
  fs::create_directories(scratch.path / ".lab32");
  REQUIRE(mkfifo((scratch.path / ".lab32/history").c_str(), 0600) == 0);
  append_to_history(scratch.path, tests::sample_result(), current_time());  // does not wait
  CHECK(fs::is_fifo(scratch.path / ".lab32/history"));

  const std::string nested(200000, '[');
  deep.write(".lab32/history",
             "{\"lab\": \"x\", \"checks\": " + nested + std::string(200000, ']') + "}\n");
  append_to_history(deep.path, tests::sample_result(), current_time());
  CHECK(lines_of(deep.path / ".lab32/history").size() == tests::sample_result().labs.size());
}

TEST_CASE("report: LAB32_HISTORY=off disables the history") {
  {
    const ScopedEnvironmentVariable off(variables::kHistory, "off");
    CHECK_FALSE(history_enabled());
  }
  CHECK(history_enabled());
}

TEST_CASE("report: changes are listed check by check") {
  const GradingResult before = tests::sample_result();
  GradingResult after = before;
  CHECK(result_changes_text(before, after).empty());
  LabResult& lab = after.labs[0];
  lab.tests[1].measured = "524,288 sectors";
  lab.tests[1].score = 4;
  lab.score = 8;
  CHECK(result_changes_text(before, after) ==
        "coalescing: 5 -> 8 of 12 points\n"
        "  B1 scale: sectors: 2,097,152 sectors -> 524,288 sectors (+3)\n");
}

TEST_CASE("base: a watch reports files that are written in place and files that are replaced") {
  const tests::ScratchDirectory scratch;
  const auto a = scratch.write("a/a.cu", "1"), b = scratch.write("b/b.cu", "1");
  FileSaveWatch watch({a, b});
  scratch.write("b/b.cu", "2");
  scratch.write("b/other.cu", "2");
  CHECK(watch.wait() == std::vector<size_t>{1});
  const auto fresh = scratch.write("a/a.cu~", "2");
  std::filesystem::rename(fresh, a);
  CHECK(watch.wait() == std::vector<size_t>{0});
}

}  // namespace
}  // namespace lab32::report
