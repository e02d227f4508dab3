// The grader is graded: each submission in submissions/ must get the verdict that it names.

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/environment.h"
#include "base/files.h"
#include "base/pattern.h"
#include "gpu/gpu_timer.h"
#include "grading/engine/progress.h"
#include "grading/engine/runner.h"
#include "grading/launch/alike.h"
#include "report/render.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/splice.h"

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

// Lines that begin with `head`: "verdict", or "verdict on a GPU".
std::vector<Verdict> verdicts_of(const std::string& text, const std::string& head = "verdict") {
  const Pattern line("// " + head + R"re(: ([^|]+) \| ([^|]+) \| "(.*)")re"), quote("\\\\\"");
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
  std::set<std::string> touched;  // of the solution
};

std::string solution_of(const std::string& lab) {
  return read(root() / "solutions" / lab / (lab + ".cu"));
}

Submission submission(const fs::path& file, const std::string& solution) {
  const std::string text = Pattern("@ROOT@").replace(read(file), root().string());
  return {file, text, verdicts_of(text), touched_by(text, solution)};
}

// Of the solution all checks run; of the others those whose kernels are not the solution's.
grading::Alike& alike_of(const std::string& lab);

report::Lab grade_text(const std::string& text, const fs::path& name, const std::string& lab,
                       device::Timer* timer, grading::Alike* alike, uint64_t seed = 20) {
  const fs::path dir = fs::temp_directory_path() / ("lab32-submission-" + std::to_string(getpid()));
  fs::create_directories(dir);
  const fs::path whole = dir / name;
  std::ofstream(whole) << text;
  // Addresses are never handed out twice, so one device would be full after some hundred gradings.
  const auto device = device::open_device("sim");
  grading::Progress progress(false);
  report::Lab graded = grading::grade_file(grading::Rubric(grading::rubric_folder(), lab), whole,
                                           *device, seed, progress, timer, alike);
  fs::remove_all(dir);
  return graded;
}

grading::Alike& alike_of(const std::string& lab) {
  static std::map<std::string, grading::Alike> of;
  const auto known = of.find(lab);
  if (known != of.end()) return known->second;
  const report::Lab solved = grade_text(solution_of(lab), "solution.cu", lab, nullptr, &of[lab]);
  CHECK(solved.score == 100);
  return of[lab];
}

// The changes of all of them in one file.
report::Lab grade_together(const std::vector<Submission>& several, const std::string& lab,
                           device::Timer* timer = nullptr) {
  std::string text = solution_of(lab);
  for (const Submission& one : several) text = splice(text, one.text);
  return grade_text(text, several.front().file.filename(), lab, timer,
                    timer ? nullptr : &alike_of(lab));
}

std::string report_of(const report::Lab& lab) {
  report::Result result;
  result.labs = {lab};
  return report::text(result);
}

// What of the report is not as these submissions say.
std::vector<std::string> differences(const report::Lab& lab, const std::vector<Verdict>& expected) {
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
    const auto test = std::find_if(lab.tests.begin(), lab.tests.end(),
                                   [&](const report::Test& t) { return t.name == verdict.test; });
    demand(test != lab.tests.end() && report::to_string(test->status) == verdict.status &&
               test->message.find(verdict.words) != std::string::npos,
           wanted);
  }
  demand((lab.score == lab.max_score) == expected.empty(), "full marks for nothing but the right");
  demand(lab.max_score == 100, "100 points");
  if (lab.status == report::Status::error) return found;
  for (const report::Test& test : lab.tests) {
    if (named.count(test.name)) continue;
    // These gradings have no timer: a timing check cannot be run, and counts for nothing.
    const char* wanted = test.bonus ? "not run" : "passed";
    demand(report::to_string(test.status) == std::string(wanted),
           test.name + " | " + wanted + ", since it is not named");
  }
  return found;
}

// Of a lab's, for the line that sums them up.
struct Judged {
  size_t right = 0, refused = 0, wrong = 0, accepted = 0;
  void add(const Submission& one, bool full_marks) {
    ++(one.expected.empty() ? right : wrong);
    if (one.expected.empty() != full_marks) ++(full_marks ? accepted : refused);
  }
};
Judged judged;

void check(const Submission& one, const std::string& lab_name) {
  INFO("submission: ", one.file.filename().string());
  const report::Lab lab = grade_together({one}, lab_name);
  INFO("report:\n", report_of(lab));
  judged.add(one, lab.score == lab.max_score);
  for (const std::string& difference : differences(lab, one.expected))
    FAIL_CHECK("expected: ", difference);
}

// Whether the changes of both can stand in one file, and each verdict be told apart.
bool fit_together(const Submission& a, const Submission& b) {
  const auto common = [](const std::set<std::string>& x, const std::set<std::string>& y) {
    return std::any_of(x.begin(), x.end(), [&](const std::string& each) { return y.count(each); });
  };
  const auto tests = [](const Submission& s) {
    std::set<std::string> names;
    for (const Verdict& v : s.expected) names.insert(v.test);
    return names;
  };
  return !common(a.touched, b.touched) && !common(tests(a), tests(b)) &&
         !mentions(a.text, b.touched) && !mentions(b.text, a.touched);
}

// Whole files, those that cost the whole lab, those whose macros would reach into others, and those
// that answer wrongly, to whom others' messages would not tell all, are graded alone.
bool stands_alone(const Submission& one, const std::string& solution) {
  static const Pattern harmless("\n#(include <[^>]*>|pragma unroll)");
  return splice(solution, one.text) == one.text ||
         one.text.find("LAB32_ANSWER(") != std::string::npos ||
         (!one.expected.empty() && one.expected.front().test == "lab") ||
         harmless.replace(one.text, "").find("\n#") != std::string::npos;
}

// As few groups as are easily found.
std::vector<std::vector<Submission>> groups_of(const std::vector<Submission>& all,
                                               const std::string& solution) {
  std::vector<std::vector<Submission>> alone, together;
  for (const Submission& one : all) {
    if (stands_alone(one, solution)) {
      alone.push_back({one});
      continue;
    }
    const auto group = std::find_if(together.begin(), together.end(), [&](const auto& others) {
      return std::all_of(others.begin(), others.end(),
                         [&](const Submission& other) { return fit_together(one, other); });
    });
    if (group == together.end())
      together.push_back({one});
    else
      group->push_back(one);
  }
  alone.insert(alone.end(), together.begin(), together.end());
  return alone;
}

// What a group shows: checks that fail.
size_t failing(const std::vector<Submission>& group) {
  std::set<std::string> checks;
  for (const Submission& one : group)
    for (const Verdict& verdict : one.expected) checks.insert(verdict.test);
  return checks.size();
}

// Takes the one that shows most out of `groups`.
std::vector<Submission> take_most(std::vector<std::vector<Submission>>& groups) {
  REQUIRE(!groups.empty());
  const auto most =
      std::max_element(groups.begin(), groups.end(),
                       [](const auto& a, const auto& b) { return failing(a) < failing(b); });
  std::vector<Submission> taken = std::move(*most);
  groups.erase(most);
  return taken;
}

// Grading one costs seconds, so those that have nothing to do with each other are graded as one
// file. Where its report is not what all of them say, each half is graded by itself.
void check_together(const std::vector<Submission>& group, const std::string& lab) {
  if (group.size() == 1) return check(group.front(), lab);
  std::vector<Verdict> expected;
  std::string files;
  for (const Submission& one : group) {
    expected.insert(expected.end(), one.expected.begin(), one.expected.end());
    files += " " + one.file.filename().string();
  }
  const std::vector<std::string> found = differences(grade_together(group, lab), expected);
  if (found.empty()) {
    for (const Submission& one : group) judged.add(one, one.expected.empty());
    return;
  }
  MESSAGE("do not fit together:", files, ": ", found.front());
  const auto half = group.begin() + static_cast<ptrdiff_t>(group.size() / 2);
  check_together({group.begin(), half}, lab);
  check_together({half, group.end()}, lab);
}

// Kinds of submissions that a simulator does not tell everything of: those that cheat the clock,
// and those whose kernels fail at the sizes that are timed.
const char* const kAboutGpus[] = {"cheat", "fault"};

// Timing checks that are not named must pass, or be none on this card: a fault costs its own alone.
void check_on_gpu(const fs::path& file, const std::string& lab_name,
                  const std::vector<Verdict>& expected, const char* kind, device::Timer& timer) {
  INFO("submission: ", file.filename().string());
  const report::Lab lab =
      grade_together({submission(file, solution_of(lab_name))}, lab_name, &timer);
  INFO("report:\n", report_of(lab));
  for (const report::Test& test : lab.tests) {
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

// Those that are right, those that are wrong, and what a simulator finds of those that are about a
// GPU: some of these pass, since only a clock can tell.
std::vector<Submission> all_of(const std::string& lab, const std::string& solution) {
  std::vector<Submission> all;
  const auto add = [&](const std::string& kind) {
    for (const fs::path& file : submissions(kind, lab)) all.push_back(submission(file, solution));
  };
  add("correct");
  CHECK(all.size() >= 6);
  for (const Submission& one : all)
    CHECK_MESSAGE(one.expected.empty(), one.file.string(), " names a verdict");
  const size_t correct = all.size();
  add("wrong");
  CHECK(all.size() >= correct + 6);
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

void check_each(const std::string& lab, const std::vector<std::vector<Submission>>& groups) {
  judged = {};
  for (const std::vector<Submission>& group : groups) check_together(group, lab);
  std::printf(
      "submissions of %s: %zu right, %zu of them refused; %zu wrong or cheating, %zu of them "
      "accepted; %zu gradings\n",
      lab.c_str(), judged.right, judged.refused, judged.wrong, judged.accepted, groups.size());
}

std::vector<std::vector<Submission>> groups_of(const std::string& lab) {
  const std::string solution = solution_of(lab);
  return groups_of(all_of(lab, solution), solution);
}

void check_most(const std::string& lab) {
  std::vector<std::vector<Submission>> groups = groups_of(lab);
  check_each(lab, {take_most(groups)});
}

void check_others(const std::string& lab) {
  std::vector<std::vector<Submission>> groups = groups_of(lab);
  take_most(groups);
  check_each(lab, groups);
}

TEST_EACH_LAB("grading: submissions get the verdict that they deserve", check_most, 1);
TEST_EACH_LAB("grading: all other submissions get theirs, too", check_others, 0);

// Prints what grader/tools/measure/solutions/measure.sh records.
TEST_CASE("grading: cheats and faults on a GPU") {
  const auto timer = device::find_gpu_timer().timer;
  if (!timer) {
    MESSAGE("not run: there is no GPU here; data/measured has what one said");
    return;
  }
  for (const char* kind : kAboutGpus)
    for (const std::string& lab : each_lab())
      for (const fs::path& file : submissions(kind, lab)) {
        const std::vector<Verdict> expected = verdicts_of(read(file), "verdict on a GPU");
        if (expected.empty()) continue;  // the simulator has told all
        check_on_gpu(file, lab, expected, kind, *timer);
      }
}

}  // namespace lab32::tests
