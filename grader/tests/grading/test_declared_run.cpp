// Declared checks from a row to a verdict, with kernels that the test writes.

#include <doctest/doctest.h>

#include "grading/engine/progress.h"
#include "grading/engine/run_suite.h"
#include "tests/fixtures/speed_kit.h"

namespace lab32::grading {
namespace {

using report::Status;
using tests::FakeDevice;
using tests::FakeModule;

constexpr const char* kTwiceRubric = R"toml(lab = ".declared"
max_score = 1
sizes = [0, 33]

[result]
check = "twice: result"
points = 1
credit = "all"
kernel = "twice"
grid = ["ceil_div(n, 32)", 2]
block = 32
arguments = ["in", "out", "factor", "n"]
scalars.factor = { type = "float", value = 2 }
inputs.in = { type = "float", count = "n", values = ["uniform", "constant"] }
outputs.out = { type = "float", count = "n", values = 0, expected = "factor * in[i]" }

[time]
check = "twice: time"
bonus = 4
credit = "share"
of = "result"
n = 64
n_modelled = 8
fraction = 0.9
bytes = "8 * n"

[speed]
of_reference = 0.95
)toml";

struct Kernel {
  int forgets_from = 1 << 30;  // the first element that it does not write
  std::vector<device::LaunchShape> shapes = {};
};

// The tests of the two rows.
std::vector<report::CheckResult> tests_of(Kernel& kernel,
                                          device::KernelTimingDevice* timer = nullptr) {
  const tests::ScratchDirectory folder;
  folder.write(".declared.toml", kTwiceRubric);
  const Rubric rubric(folder.path, ".declared");
  FakeDevice device;
  FakeModule module;
  module.add("twice", [&](FakeDevice& d, const device::LaunchShape& shape,
                          const std::vector<device::KernelArgument>& args) {
    kernel.shapes.push_back(shape);
    const auto factor = FakeDevice::value<float>(args[2]);
    const int n = FakeDevice::value<int>(args[3]);
    for (int i = 0; i < n && i < kernel.forgets_from; ++i)
      d.array<float>(args[1])[i] = factor * d.array<float>(args[0])[i];
    return device::LaunchResult{};
  });
  const SourceFile source = SourceFile::from_text("__global__ void twice()\n", "lab.cu");
  ProgressReporter progress(false);
  const GradingSetup setup{device, 7, progress, timer};
  GradingSession session{setup, module, source, rubric};
  toolchain::CompiledArtifact artifact;
  session.time = {timer, &artifact, nullptr};
  report::LabResult lab;
  lab.name = ".declared";
  run_suite(session, lab);
  return lab.tests;
}

TEST_CASE("grading: a declared check launches its kernel at all sizes with all contents") {
  Kernel kernel;
  const std::vector<report::CheckResult> tests = tests_of(kernel);
  REQUIRE(tests.size() == 2);
  CHECK(tests[0].status == Status::passed);
  CHECK(tests[0].measured == "right");
  CHECK(tests[1].status == Status::not_run);
  // Two published sizes and five drawn ones, twice each; the empty launch has one block.
  REQUIRE(kernel.shapes.size() >= 14);
  CHECK(kernel.shapes[0].grid.x == 1);
  CHECK(kernel.shapes[2].grid.x == 2);
  CHECK(kernel.shapes[2].grid.y == 2);
  CHECK(kernel.shapes[2].block.x == 32);
}

TEST_CASE("grading: a wrong result of a declared check names the launch and the element") {
  Kernel kernel;
  kernel.forgets_from = 32;
  const std::vector<report::CheckResult> tests = tests_of(kernel);
  CHECK(tests[0].status == Status::failed);
  CHECK(tests[0].line == 1);
  says(tests[0], "n = 33, in uniform: out[32] is 0 where ");
  says(tests[0], "1 of 33 elements is wrong: only the last one");
}

TEST_CASE("grading: a declared timing check times the launch and compares its outputs") {
  Kernel kernel;
  FakeTimer watch;
  const report::CheckResult right = tests_of(kernel, &watch).at(1);
  CHECK(right.status == Status::passed);
  CHECK(right.score == 4);
  REQUIRE(watch.asked.size() == 1);
  CHECK(watch.asked[0].copy_bytes == 512);
  CHECK(watch.asked[0].arrays[0].sets.size() == 2);
  CHECK(watch.asked[0].candidates[0].steps.size() == 2);  // zeros, and the launch
  watch.answer = 3;
  const report::CheckResult wrong = tests_of(kernel, &watch).at(1);
  CHECK(wrong.measured == "wrong when timed");
  says(wrong, "out[0] is ");
}

constexpr const char* kMatrixRubric = R"toml(lab = ".declared"
max_score = 2
extents = ["rows", "columns"]
setting = "{rows} x {columns} {type}s"
grid = ["columns", "rows"]
block = 1
arguments = ["in", "out", "rows", "columns"]

[inputs]
in = { type = "{type}", count = "rows * columns", values = "i + 1" }

[outputs]
out = { type = "{type}", count = "rows * columns", expected = "in[i % rows * columns + floor(i / rows)]", note = "Row {floor(i / rows)}, column {i % rows}." }

[launches]
given = { kernel = "turn", each.type = ["float"], rows = 2, columns = 2 }

[result]
check = "turn: result"
points = 1
credit = "all"
kernel = "turn"
each.type = ["int", "float"]
rows = [1, 2]
columns = [1, 3]
largest = [4, 5]

[asks]
check = "asks"
points = 1
credit = "all"
shown = "It is {given.out[1] :>3}, not {given.out[2]}."
questions.second = { answer = 3, hint = "Count." }
)toml";

// The tests of a kernel that copies a matrix from its second row on and transposes it before.
std::vector<report::CheckResult> tests_of_matrix(int right_rows,
                                                 std::vector<device::LaunchShape>& shapes) {
  const tests::ScratchDirectory folder;
  folder.write(".declared.toml", kMatrixRubric);
  const Rubric rubric(folder.path, ".declared");
  FakeDevice device;
  FakeModule module;
  module.add("turn", [&](FakeDevice& d, const device::LaunchShape& shape,
                         const std::vector<device::KernelArgument>& args) {
    shapes.push_back(shape);
    const int n = FakeDevice::value<int>(args[2]), m = FakeDevice::value<int>(args[3]);
    for (int i = 0; i < n * m; ++i)
      d.array<int>(args[1])[i] = d.array<int>(args[0])[i / n < right_rows ? i % n * m + i / n : i];
    device::LaunchResult run;
    run.counters.emplace();
    return run;
  });
  module.add_symbol("lab32_answer_second", 3.0f);
  const SourceFile source = SourceFile::from_text("__global__ void turn()\n", "lab.cu");
  ProgressReporter progress(false);
  const GradingSetup setup{device, 7, progress, nullptr};
  GradingSession session{setup, module, source, rubric};
  report::LabResult lab;
  lab.name = ".declared";
  run_suite(session, lab);
  return lab.tests;
}

TEST_CASE("grading: a declared matrix is launched in all shapes, and a message names the place") {
  std::vector<device::LaunchShape> shapes;
  const std::vector<report::CheckResult> right = tests_of_matrix(1 << 20, shapes);
  CHECK(right.at(0).status == Status::passed);
  // The rubric's two shapes and two drawn ones with each type, and the largest with the last type.
  REQUIRE(shapes.size() >= 9);
  CHECK(shapes[2].grid.x == 3);
  CHECK(shapes[2].grid.y == 2);
  const std::vector<report::CheckResult> wrong = tests_of_matrix(1, shapes);
  CHECK(wrong.at(0).status == Status::failed);
  says(wrong[0], "2 x 3 ints: out[2] is 3 where 2 was expected");
  says(wrong[0], " Row 1, column 0.");
}

TEST_CASE("grading: right answers are followed by what the given kernels did") {
  std::vector<device::LaunchShape> shapes;
  const std::vector<report::CheckResult> tests = tests_of_matrix(1 << 20, shapes);
  REQUIRE(tests.size() == 2);
  CHECK(tests[1].status == Status::passed);
  CHECK(tests[1].message == "It is   3, not 2.");
}

}  // namespace
}  // namespace lab32::grading
