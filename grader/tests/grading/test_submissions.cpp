// Tests of the grader itself: each submission in submissions/ must get the verdicts that its first
// lines name.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/environment.h"
#include "base/files.h"
#include "base/text.h"
#include "gpu/timer.h"
#include "grading/engine/progress.h"
#include "grading/engine/runner.h"
#include "report/render.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/splice.h"
#include "tools/mutants/reused_checks.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  const auto text = read_file(path);
  REQUIRE_MESSAGE(text, path.string());
  return *text;
}

struct Verdict {
  std::string test, status, words;
};

// The verdicts in lines that begin with `head`: "verdict", or "verdict on a GPU".
std::vector<Verdict> verdicts_of(const std::string& text, const std::string& head = "verdict") {
  const RegularExpression line("// " + head + R"re(: ([^|]+) \| ([^|]+) \| "(.*)")re"),
      quote("\\\\\"");
  std::vector<Verdict> found;
  std::istringstream in(text);
  for (std::string s; std::getline(in, s);) {
    const auto m = line.match(s);
    if (!m) {
      CHECK_MESSAGE(s.find("// " + head + ":") == std::string::npos, "not understood: ", s);
      continue;
    }
    found.push_back({m->at(1), m->at(2), quote.replace(m->at(3), "\"")});
  }
  return found;
}

std::vector<fs::path> submissions(const std::string& kind, const std::string& lab) {
  std::vector<fs::path> files;
  const fs::path dir = folder_of(lab) / "submissions" / kind;
  if (!fs::exists(dir)) return files;
  for (const auto& entry : fs::directory_iterator(dir))
    if (entry.path().extension() == ".cu") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

struct Submission {
  fs::path file;
  std::string text;
  std::vector<Verdict> expected;
};

std::string solution_of(const std::string& lab) {
  return read(lab32_root() / "solutions" / lab / (lab + ".cu"));
}

Submission submission(const fs::path& file) {
  const std::string text = RegularExpression("@ROOT@").replace(read(file), lab32_root().string());
  return {file, text, verdicts_of(text)};
}

constexpr uint64_t kSeed = 20;

// The solution with the definitions that the submission replaces, in a file with the submission's
// name.
struct Whole : ScratchDirectory {
  Whole(const Submission& one, const std::string& lab) : file(path / one.file.filename()) {
    std::ofstream(file) << splice(solution_of(lab), one.text);
  }
  fs::path file;
};

// Grades the solution first, with all checks. For a submission only those checks run whose kernels
// differ from the solution's.
report::LabResult graded(const Submission& one, const std::string& lab) {
  static std::map<std::string, mutants::CheckReusingGrader> gradings;
  const auto [grading, is_new] = gradings.try_emplace(lab, lab, kSeed);
  if (is_new)
    CHECK(grading->second.grade(lab32_root() / "solutions" / lab / (lab + ".cu")).score == 100);
  return grading->second.grade(Whole(one, lab).file);
}

std::string report_of(const report::LabResult& lab) {
  report::GradingResult result;
  result.labs = {lab};
  return report::text(result);
}

// The differences between the report and the verdicts of the submission.
std::vector<std::string> differences(const report::LabResult& lab,
                                     const std::vector<Verdict>& expected) {
  std::vector<std::string> found;
  const auto demand = [&](bool holds, const std::string& what) {
    if (!holds) found.push_back(what);
  };
  std::set<std::string> named;
  for (const Verdict& verdict : expected) {
    const std::string wanted =
        verdict.test + " | " + verdict.status + " | \"" + verdict.words + "\"";
    named.insert(verdict.test);
    if (verdict.test == "lab") {
      demand(report::to_string(lab.status) == verdict.status && lab.score == 0 &&
                 lab.message.find(verdict.words) != std::string::npos,
             wanted);
      continue;
    }
    const auto test =
        std::find_if(lab.tests.begin(), lab.tests.end(),
                     [&](const report::CheckResult& t) { return t.name == verdict.test; });
    demand(test != lab.tests.end() && report::to_string(test->status) == verdict.status &&
               test->message.find(verdict.words) != std::string::npos,
           wanted);
  }
  demand((lab.score == lab.max_score) == expected.empty(), "full marks for nothing but the right");
  demand(lab.max_score == 100, "100 points");
  if (lab.status == report::Status::error) return found;
  for (const report::CheckResult& test : lab.tests) {
    if (named.count(test.name)) continue;
    // These gradings have no timer, so a timing check is not run and counts for nothing.
    const char* wanted = test.bonus ? "not run" : "passed";
    demand(report::to_string(test.status) == std::string(wanted),
           test.name + " | " + wanted + ", since it is not named");
  }
  return found;
}

// The submissions of a lab, counted for the summary line.
struct Tally {
  size_t right = 0, refused = 0, wrong = 0, accepted = 0;
  void add(const Submission& one, bool full_marks) {
    ++(one.expected.empty() ? right : wrong);
    if (one.expected.empty() != full_marks) ++(full_marks ? accepted : refused);
  }
};
Tally tally;

void check(const Submission& one, const std::string& lab_name) {
  INFO("submission: ", one.file.filename().string());
  const report::LabResult lab = graded(one, lab_name);
  INFO("report:\n", report_of(lab));
  tally.add(one, lab.score == lab.max_score);
  for (const std::string& difference : differences(lab, one.expected))
    FAIL_CHECK("expected: ", difference);
}

// The kinds of submissions that need a GPU: those that cheat the clock, and those whose kernels
// fail at the sizes that are timed.
const char* const kAboutGpus[] = {"cheat", "fault"};

// Timing checks without a verdict line must pass or must not be asked for on this card: a fault
// affects its own check only.
void check_on_gpu(const fs::path& file, const std::string& lab_name,
                  const std::vector<Verdict>& expected, const char* kind,
                  device::KernelTimingDevice& timer) {
  INFO("submission: ", file.filename().string());
  const auto device = device::open_device("sim");
  grading::ProgressReporter progress(false);
  const report::LabResult lab = grading::grade_file(
      grading::Rubric(grading::rubric_folder(), lab_name), Whole(submission(file), lab_name).file,
      {*device, kSeed, progress, &timer});
  INFO("report:\n", report_of(lab));
  for (const report::CheckResult& test : lab.tests) {
    if (!test.bonus) continue;
    const auto named = std::find_if(expected.begin(), expected.end(),
                                    [&](const Verdict& v) { return v.test == test.name; });
    INFO("check: ", test.name);
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

// The correct and wrong submissions, and those for a GPU as far as the simulator can check them:
// some of these pass here.
std::vector<Submission> all_of(const std::string& lab) {
  std::vector<Submission> all;
  const auto add = [&](const std::string& kind) {
    for (const fs::path& file : submissions(kind, lab)) all.push_back(submission(file));
  };
  add("correct");
  CHECK((all.size() >= 6 || !is_core(lab)));
  for (const Submission& one : all)
    CHECK_MESSAGE(one.expected.empty(), one.file.string(), " names a verdict");
  const size_t correct = all.size();
  add("wrong");
  CHECK(all.size() >= correct + (is_core(lab) ? 6 : 1));
  for (size_t i = correct; i < all.size(); ++i)
    CHECK_MESSAGE(!all[i].expected.empty(), all[i].file.string(), " names no verdict");
  for (const char* kind : kAboutGpus) add(kind);
  return all;
}

}  // namespace

TEST_CASE("grading: splicing replaces definitions by name") {
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

void check_each(const std::string& lab, const std::vector<Submission>& submissions) {
  tally = {};
  for (const Submission& one : submissions) check(one, lab);
  std::printf(
      "submissions of %s: %zu right, %zu of them refused; %zu wrong or cheating, %zu of them "
      "accepted\n",
      lab.c_str(), tally.right, tally.refused, tally.wrong, tally.accepted);
}

// The submissions in the order of how many checks they fail, most first.
std::vector<Submission> most_failing_first(const std::string& lab) {
  std::vector<Submission> all = all_of(lab);
  const auto most =
      std::max_element(all.begin(), all.end(), [](const Submission& a, const Submission& b) {
        return a.expected.size() < b.expected.size();
      });
  std::iter_swap(all.begin(), most);
  return all;
}

void check_most(const std::string& lab) { check_each(lab, {most_failing_first(lab).front()}); }

void check_others(const std::string& lab) {
  std::vector<Submission> all = most_failing_first(lab);
  all.erase(all.begin());
  check_each(lab, all);
}

TEST_EACH_LAB("grading: submissions get the verdicts that they name", check_most, 1);
TEST_EACH_LAB("grading: all other submissions get the verdicts that they name, too", check_others,
              0);

// Prints the table that grader/tools/measure/solutions/measure.sh records.
TEST_CASE("grading: cheats and faults on a GPU") {
  const device::TimerSearchResult search = device::find_gpu_for_timing();
  if (!search.timer) {
    MESSAGE("not run: " << search.reason << "; data/measured has what one said");
    return;
  }
  for (const char* kind : kAboutGpus)
    for (const std::string& lab : each_lab())
      for (const fs::path& file : submissions(kind, lab)) {
        const std::vector<Verdict> expected = verdicts_of(read(file), "verdict on a GPU");
        if (expected.empty()) continue;  // the simulator checks all of it
        check_on_gpu(file, lab, expected, kind, *search.timer);
      }
}

}  // namespace lab32::tests
