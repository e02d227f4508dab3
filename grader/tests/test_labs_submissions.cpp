// The grader is graded: each submission in submissions/ must get the verdict that it names.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "device/gpu_stopwatch.h"
#include "labs/grade.h"
#include "labs/progress.h"
#include "labs_to_try.h"
#include "report/render.h"
#include "splice.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  REQUIRE_MESSAGE(file.good(), path.string());
  return text.str();
}

struct Verdict {
  std::string test, status, words;
};

// Lines that begin with `head`: "verdict", or "verdict on a GPU".
std::vector<Verdict> verdicts_of(const std::string& text, const std::string& head = "verdict") {
  const std::regex line("// " + head + R"re(: (.+?) \| (.+?) \| "(.*)")re");
  std::vector<Verdict> found;
  std::istringstream in(text);
  for (std::string s; std::getline(in, s);) {
    std::smatch m;
    if (!std::regex_match(s, m, line)) {
      CHECK_MESSAGE(s.find("// " + head + ":") == std::string::npos, "not understood: ", s);
      continue;
    }
    found.push_back({m[1], m[2], std::regex_replace(m[3].str(), std::regex(R"(\\")"), "\"")});
  }
  return found;
}

std::vector<fs::path> submissions(const std::string& kind, const std::string& lab) {
  std::vector<fs::path> files;
  const fs::path dir = labs::root() / "grader/tests/submissions" / kind / lab;
  if (!fs::exists(dir)) return files;
  for (const auto& entry : fs::directory_iterator(dir))
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

report::Lab grade_submission(const fs::path& file, const std::string& lab,
                             device::Stopwatch* stopwatch = nullptr) {
  const std::string root = labs::root().string();
  std::string text = std::regex_replace(read(file), std::regex("@ROOT@"), root);
  text = splice(read(labs::root() / "solutions" / lab / (lab + ".cu")), text);
  const fs::path dir = fs::temp_directory_path() / ("lab32-submission-" + std::to_string(getpid()));
  fs::create_directories(dir);
  const fs::path whole = dir / file.filename();
  std::ofstream(whole) << text;
  // Addresses are never handed out twice, so one device would be full after some hundred gradings.
  const auto device = device::open_device("sim");
  labs::Progress progress(false);
  report::Lab graded = labs::grade_file(lab, whole, *device, 20, progress, stopwatch);
  fs::remove_all(dir);
  return graded;
}

std::string board(const report::Lab& lab) {
  report::Result result;
  result.labs = {lab};
  return report::text(result);
}

void check(const fs::path& file, const std::string& lab_name, bool correct) {
  INFO("submission: ", file.filename().string());
  const std::vector<Verdict> expected = verdicts_of(read(file));
  const report::Lab lab = grade_submission(file, lab_name);
  INFO("board:\n", board(lab));
  CHECK(expected.empty() == correct);
  if (correct) {
    CHECK(lab.score == lab.max_score);
    CHECK(lab.max_score == 100);
  } else {
    CHECK(lab.score < lab.max_score);
  }
  std::set<std::string> named;
  for (const Verdict& verdict : expected) {
    INFO("expected: ", verdict.test, " | ", verdict.status, " | ", verdict.words);
    named.insert(verdict.test);
    if (verdict.test == "lab") {
      CHECK(report::to_string(lab.status) == verdict.status);
      CHECK(lab.message.find(verdict.words) != std::string::npos);
      CHECK(lab.score == 0);
      CHECK(lab.max_score == 100);
      continue;
    }
    const auto test = std::find_if(lab.tests.begin(), lab.tests.end(),
                                   [&](const report::Test& t) { return t.name == verdict.test; });
    REQUIRE(test != lab.tests.end());
    CHECK(report::to_string(test->status) == verdict.status);
    CHECK(test->message.find(verdict.words) != std::string::npos);
  }
  if (lab.status == report::Status::error) return;
  for (const report::Test& test : lab.tests) {
    if (named.count(test.name)) continue;
    INFO("not named: ", test.name);
    // These gradings have no stopwatch: a check of time cannot be run, and counts for nothing.
    if (test.name.find(": time") != std::string::npos) {
      CHECK(report::to_string(test.status) == std::string("not run"));
      continue;
    }
    CHECK(report::to_string(test.status) == std::string("passed"));
  }
}

// Kinds of submissions that a simulator does not tell everything of: those that cheat the clock,
// and those whose kernels fail at the sizes that are timed.
const char* const kAboutGpus[] = {"cheat", "fault"};

// Lines of time that are not named must pass, or be none on this card: a fault costs its own alone.
void check_on_gpu(const fs::path& file, const std::string& lab_name,
                  const std::vector<Verdict>& expected, const char* kind,
                  device::Stopwatch& stopwatch) {
  INFO("submission: ", file.filename().string());
  const report::Lab lab = grade_submission(file, lab_name, &stopwatch);
  INFO("board:\n", board(lab));
  for (const report::Test& test : lab.tests) {
    if (test.name.find(": time") == std::string::npos) continue;
    const auto named = std::find_if(expected.begin(), expected.end(),
                                    [&](const Verdict& v) { return v.test == test.name; });
    INFO("line: ", test.name);
    if (named == expected.end()) {
      CHECK((test.status == report::Status::passed || test.status == report::Status::not_run));
      continue;
    }
    CHECK(report::to_string(test.status) == named->status);
    CHECK(test.message.find(named->words) != std::string::npos);
    std::printf("%s,%s,%s,\"%s\",%s,\"%s\",\"%s\"\n", kind, lab_name.c_str(), file.stem().c_str(),
                test.name.c_str(), report::to_string(test.status), test.measured.c_str(),
                named->words.c_str());
    std::fflush(stdout);
  }
}

}  // namespace

TEST_CASE("splicing replaces definitions by name") {
  const std::string base =
      "#include \"a.h\"\n\n// f\nint f(int a,\n      int b) {\n  if (a) {\n  }\n}\n\nint g() { "
      "return 1; }\n"
      "LAB32_ANSWER(x, 1);\nLAB32_ANSWER(y, 2);\n";
  CHECK(splice(base, "// why\nint g() { return 2; }\n") ==
        "#include \"a.h\"\n\n// f\nint f(int a,\n      int b) {\n  if (a) {\n  }\n}\n\n// why\n"
        "int g() { return 2; }\nLAB32_ANSWER(x, 1);\nLAB32_ANSWER(y, 2);\n");
  CHECK(splice(base, "LAB32_ANSWER(y, 3);\n").find("(x, 1);\nLAB32_ANSWER(y, 3);") !=
        std::string::npos);
  CHECK(splice(base, "int h() { return 0; }\nint f(int a, int b) {\n  return 3;\n}\n")
            .find("int h() { return 0; }\nint f(int a, int b) {\n  return 3;\n}\n\nint g()") !=
        std::string::npos);
  CHECK(splice(base, "#include \"solution.cu\"\n") == "#include \"solution.cu\"\n");
}

TEST_CASE("correct submissions get full marks") {
  for (const std::string& lab : labs_to_try()) {
    INFO("lab: ", lab);
    const auto files = submissions("correct", lab);
    CHECK(files.size() >= 2);
    for (const fs::path& file : files) check(file, lab, true);
  }
}

TEST_CASE("wrong submissions get the verdict that they deserve") {
  for (const std::string& lab : labs_to_try()) {
    INFO("lab: ", lab);
    const auto files = submissions("wrong", lab);
    CHECK(files.size() >= 6);
    for (const fs::path& file : files) check(file, lab, false);
  }
}

// What a simulator finds of those that are about a GPU. Some pass there: only a clock can tell.
TEST_CASE("cheats and faults get what they deserve") {
  for (const char* kind : kAboutGpus)
    for (const std::string& lab : labs_to_try())
      for (const fs::path& file : submissions(kind, lab))
        check(file, lab, verdicts_of(read(file)).empty());
}

// Prints what data/measured/solutions/measure.sh records.
TEST_CASE("cheats and faults on a GPU") {
  const auto stopwatch = device::find_gpu_stopwatch().stopwatch;
  if (!stopwatch) {
    MESSAGE("not run: there is no GPU here; data/measured has what one said");
    return;
  }
  for (const char* kind : kAboutGpus)
    for (const std::string& lab : labs_to_try())
      for (const fs::path& file : submissions(kind, lab)) {
        const std::vector<Verdict> expected = verdicts_of(read(file), "verdict on a GPU");
        if (expected.empty()) continue;  // the simulator has told all
        check_on_gpu(file, lab, expected, kind, *stopwatch);
      }
}

}  // namespace lab32::tests
