// The kernels of checks/<lab>/given.cu are what is launched, whatever the submission makes of its
// own.
#include <doctest/doctest.h>

#include <fstream>

#include "base/pattern.h"
#include "base/read_file.h"
#include "base/root.h"
#include "device/device.h"
#include "grading/given.h"
#include "grading/progress.h"
#include "grading/runner.h"
#include "report/render.h"
#include "tests/fixtures/each_lab.h"
#include "tests/fixtures/scratch.h"

namespace lab32::tests {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  const auto text = read_file(root() / path);
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

}  // namespace

void check_given(const std::string& lab) {
  std::string text = text_of("solutions/" + lab + "/" + lab + ".cu");
  const std::vector<std::string> kernels =
      kernels_in(text_of("grader/checks/" + lab + "/given.cu"));
  CHECK(kernels.size() >= 2);
  for (const std::string& kernel : kernels)
    // Not what only the skeleton has.
    if (kernel.find("_as_given") == std::string::npos) text = emptied(text, kernel);
  text +=
      "#define __global__ __device__\n#define __shared__\n#define threadIdx blockIdx\n"
      "#define if(x) if (!(x))\n#define lab32_given mine\n";

  const Scratch scratch;
  const fs::path file = scratch.path / (lab + ".cu");
  std::ofstream(file) << text;
  const auto device = device::open_device("sim");
  grading::Progress progress(false);
  const report::Lab graded = grading::grade_file(grading::Rubric(grading::rubric_folder(), lab),
                                                 file, *device, 20, progress, nullptr);
  report::Result result;
  result.labs = {graded};
  INFO(report::text(result));
  CHECK(graded.score == 100);
}

TEST_EACH_LAB("grading: given kernels are the grader's", check_given);

}  // namespace lab32::tests
