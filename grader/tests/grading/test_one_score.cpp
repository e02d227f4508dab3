// A file has one score, whatever the seed is, and whatever the file does to the given kernels: the
// checks launch those of labs/<lab>/given.cu instead.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "base/environment.h"
#include "base/files.h"
#include "device/device.h"
#include "grading/engine/progress.h"
#include "grading/engine/runner.h"
#include "report/render.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/scratch.h"
#include "tests/fixtures/splice.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  const auto text = read_file(lab32_root() / path);
  REQUIRE_MESSAGE(text, path.string());
  return *text;
}

std::vector<std::string> kernels_in(const std::string& text) {
  std::vector<std::string> names;
  const std::string mark = "__global__ void ";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const size_t begin = at + mark.size(), end = text.find_first_of("(<", begin);
    if (text.compare(at - std::min<size_t>(at, 9), 9, "template ") != 0)
      names.push_back(text.substr(begin, end - begin));
  }
  return names;
}

std::string emptied(std::string text, const std::string& kernel) {
  const size_t at = text.find("__global__ void " + kernel + "(");
  REQUIRE_MESSAGE(at != std::string::npos, kernel);
  const size_t open = text.find("{\n", at), close = text.find("\n}\n", at);
  return text.erase(open + 1, close - open - 1);
}

// The solution with its given kernels emptied, and with macros at its end that would change the
// code behind it.
std::string with_given_spoiled(std::string text, const std::string& lab) {
  // A lab whose checks are declared may launch no given kernel.
  const auto given = read_file(lab32_root() / "grader/labs" / lab / "given.cu");
  const std::vector<std::string> kernels = kernels_in(given.value_or(""));
  CHECK((!given || !kernels.empty()));
  for (const std::string& kernel : kernels)
    // The solution does not have the kernels that only the skeleton uses.
    if (kernel.find("_as_given") == std::string::npos) text = emptied(text, kernel);
  return text +
         "#define __global__ __device__\n#define __shared__\n#define threadIdx blockIdx\n"
         "#define if(x) if (!(x))\n#define PASTED(a, b) a##b\n"
         "namespace PASTED(lab32_, given) { __device__ unsigned threadIdx; }\n";
}

report::LabResult graded(const std::string& text, const std::string& lab, uint64_t seed) {
  const ScratchDirectory scratch;
  const fs::path file = scratch.path / (lab + ".cu");
  std::ofstream(file) << text;
  const auto device = device::open_device("sim");
  grading::ProgressReporter progress(false);
  grading::GradingSetup setup{*device, seed, progress};
  setup.modelled_times = false;
  return grading::grade_file(grading::Rubric(grading::rubric_folder(), lab), file, setup);
}

std::string text_of_report(const report::LabResult& lab) {
  report::GradingResult result;
  result.labs = {lab};
  return report::text(result);
}

}  // namespace

void check_one_score(const std::string& lab) {
  std::string text = text_of("solutions/" + lab + "/" + lab + ".cu");
  // The solution with some of the wrong submissions in it, each of which keeps part of the points.
  std::vector<std::string> wrong;
  for (const auto& entry : fs::directory_iterator(folder_of(lab) / "submissions/wrong")) {
    std::string changes = text_of(entry.path());
    if (changes.find("\n// half right\n") != std::string::npos) wrong.push_back(std::move(changes));
  }
  if (wrong.empty() && !is_core(lab)) return;
  REQUIRE_MESSAGE(!wrong.empty(), lab, ": none of its wrong submissions says `// half right`");
  std::sort(wrong.begin(), wrong.end());
  for (const std::string& changes : wrong) text = splice(text, changes);
  const report::LabResult first = graded(text, lab, 1);
  CHECK(first.score > 0);
  CHECK(first.score < first.max_score);
  const report::LabResult again = graded(with_given_spoiled(text, lab), lab, 2);
  INFO(text_of_report(first), text_of_report(again));
  CHECK(again.score == first.score);
  REQUIRE(again.tests.size() == first.tests.size());
  for (size_t i = 0; i < first.tests.size(); ++i) {
    INFO(first.tests[i].name);
    CHECK(again.tests[i].score == first.tests[i].score);
  }
}

TEST_EACH_LAB("grading: one file has one score", check_one_score, 0);

}  // namespace lab32::tests
