// How a TEST_CASE becomes a row of the score report. Kernels are C++ functions on a fake device.

#include <fmt/format.h>

#include <new>

#include "base/process.h"
#include "grading/engine/limits.h"
#include "grading/engine/progress.h"
#include "grading/engine/run_suite.h"
#include "grading/engine/suite.h"
#include "grading/launch/standard_checks.h"
#include "tests/fixtures/fake_device.h"
#include "tests/fixtures/scratch.h"

namespace lab32::grading {
namespace {

using report::Status;
using tests::FakeDevice;
using tests::FakeModule;

constexpr uint64_t kFailedAssert = 9;  // a seed with which the check "check" has a failed CHECK
constexpr uint64_t kOfShared = 8;  // a seed that has the kernel judged by its shared memory, too

// The checks below launch the kernel "kernel", which each test defines.
void run_kernel(Check& check) {
  Input<float> in(check, "in", {1, 2, 3, 4});
  Output<float> out(check, "out", 4);
  const device::LaunchResult launched = run(check, {"kernel", {{1}, {4}}, {in, out, 4}, "n = 4"});
  check_result(check, "n = 4", 2, mismatch("out", out.read(), in.values()));
  if (check.session.setup.seed == kOfShared)
    check.figure(
        "wavefronts",
        static_cast<double>(counters_of(check, launched, Counted::shared).shared_wavefronts()));
  credit_sectors(check, launched, 8, "Think of neighbours.");
}

}  // namespace

TEST_SUITE("lab:.harness") {
  // Not in the order of the rubric, which decides the order of checks.
  LAB_CHECK("after" * takes_rubric_keys(whole("limit", 0, 9))) {
    CHECK(check.row.required_number("limit") == 3);
  }
  LAB_CHECK("kernel") { run_kernel(check); }
  LAB_CHECK("check") {
    if (check.session.setup.seed == kFailedAssert)
      CHECK(check.session.setup.seed == 7);
    else if (check.session.setup.seed != 7)
      check.fail_and_throw(0, "The seed is not 7.");
  }
}

namespace {

constexpr const char* kRubric = R"(lab = ".harness"
max_score = 7
limit = 3
[kernel]
check = "kernel"
points = 4
credit = "share"
[check]
check = "check"
points = 2
credit = "all"
[after]
check = "after"
points = 1
credit = "all"
after = "kernel"
)";

struct Graded {
  report::LabResult lab;
  size_t leaked = 0;
  const report::CheckResult& test(const std::string& name) const {
    for (const report::CheckResult& t : lab.tests)
      if (t.name == name) return t;
    throw std::logic_error(name);
  }
};

Graded grade_harness(tests::FakeBody body, uint64_t seed = 7, const std::string& text = kRubric,
                     const SimulationBudget& spent = SimulationBudget()) {
  const tests::ScratchDirectory folder;
  folder.write(".harness.toml", text);
  const Rubric rubric(folder.path, ".harness");
  FakeDevice device;
  FakeModule module;
  if (body) module.add("kernel", std::move(body));
  module.add("other", [](auto&, auto&, auto&) { return device::LaunchResult{}; });
  module.add("lab32_given::its_own", [](auto&, auto&, auto&) { return device::LaunchResult{}; });
  const SourceFile source = SourceFile::from_text("first line\n  out[i] = in[i];\n", "lab.cu");
  ProgressReporter progress(false);
  const GradingSetup setup{device, seed, progress};
  GradingSession session{setup, module, source, rubric};
  session.spending = spent;
  Graded graded;
  graded.lab.name = ".harness";
  run_suite(session, graded.lab);
  graded.leaked = device.live();
  return graded;
}

device::LaunchResult copy(FakeDevice& device, const device::LaunchShape&,
                          const std::vector<device::KernelArgument>& args) {
  const int n = FakeDevice::value<int>(args[2]);
  for (int i = 0; i < n; ++i) device.array<float>(args[1])[i] = device.array<float>(args[0])[i];
  device::LaunchResult run;
  run.counters.emplace();
  run.counters->load = {1, 4};
  run.counters->store = {1, 4};
  return run;
}

}  // namespace

TEST_CASE("grading: a right kernel gets all points, and its memory is freed") {
  const Graded graded = grade_harness(copy);
  const report::CheckResult& test = graded.test("kernel");
  CHECK(test.status == Status::passed);
  CHECK(test.score == 4);
  CHECK(test.measured == "8 sectors");
  CHECK(test.figures.at("sectors") == 8);
  CHECK(test.message == "");
  CHECK(graded.test("check").status == Status::passed);
  CHECK(graded.test("after").status == Status::passed);
  CHECK(graded.leaked == 0);
}

TEST_CASE(
    "grading: dropped and hidden checks are not run, and count as passed for their successors") {
  const auto without = [](const std::string& points) {
    std::string text = kRubric;
    text.replace(text.find("points = 4"), 10, points);
    text.replace(text.find("max_score = 7"), 13,
                 points[9] == '0' ? "max_score = 3" : "max_score = 7");
    return grade_harness(nullptr, 7, text);  // there is no kernel
  };
  const Graded dropped = without("points = 0"),
               hidden = without("points = 4\nhidden_until = 2999-01-01T00:00:00Z");
  for (const Graded* graded : {&dropped, &hidden}) {
    CHECK(graded->test("after").status == Status::passed);
    CHECK(graded->lab.score == 3);
    CHECK(graded->lab.max_score == 3);
  }
  CHECK(dropped.lab.tests.size() == 2);
  CHECK(hidden.test("kernel").status == Status::not_run);
  CHECK(hidden.test("kernel").not_run->kind == report::NotRunReason::Kind::hidden);
  CHECK(hidden.test("kernel").message ==
        "The course shows the result of this check after the deadline.");
}

TEST_CASE("grading: the output of a failing kernel is shown, shortened and without control codes") {
  const auto graded = [](bool right) {
    return grade_harness([=](FakeDevice& device, auto& shape, auto& args) {
      device::LaunchResult run = copy(device, shape, args);
      run.output = "x = 3\n\x1b[31mred\n";
      for (int i = 0; i < 20; ++i) run.output += "line\n";
      if (!right) device.template array<float>(args[1])[0] = 7;
      return run;
    });
  };
  const std::string message = graded(false).test("kernel").message;
  CHECK(message.find("The kernel printed, n = ") != std::string::npos);
  CHECK(message.find(":\n    x = 3\n    \\x1b[31mred\n    line\n") != std::string::npos);
  CHECK(message.find("\n    and 12 more lines") != std::string::npos);
  // What a kernel prints is shown even if the check is passed.
  CHECK(graded(true).test("kernel").message.find("The kernel printed, n = ") == 0);
}

TEST_CASE("grading: an error of the machine fails no check") {
  for (const bool memory : {false, true}) {
    const auto broken = [=](FakeDevice&, auto&, auto&) -> device::LaunchResult {
      if (memory) throw std::bad_alloc();
      throw MachineError("the disk is full");
    };
    CHECK_THROWS_WITH_AS(grade_harness(broken),
                         memory ? "this machine has not enough memory" : "the disk is full",
                         MachineError);
  }
}

TEST_CASE("grading: an exception of an unknown type fails its check with a message") {
  const Graded graded =
      grade_harness([](FakeDevice&, auto&, auto&) -> device::LaunchResult { throw 4711; });
  CHECK(graded.test("kernel").message == "The grader has failed here with an unknown error.");
  CHECK(graded.test("kernel").status == Status::error);
}

TEST_CASE(
    "grading: a check that may not launch any more names the check that has used up the limit") {
  SimulationBudget spent;
  spent.add("an earlier one", 1'000'000'000, 1);
  const Graded graded = grade_harness(copy, 7, kRubric, spent);
  CHECK(graded.test("kernel").message.find("most of it in \"an earlier one\".") !=
        std::string::npos);
  CHECK(graded.test("kernel").measured == "runs too long");
  CHECK(graded.test("kernel").score == 0);
}

TEST_CASE("grading: checks run in the rubric's order, and their scores are added up") {
  const Graded graded = grade_harness(copy);
  REQUIRE(graded.lab.tests.size() == 3);
  CHECK(graded.lab.tests[0].name == "kernel");
  CHECK(graded.lab.tests[1].name == "check");
  CHECK(graded.lab.tests[2].name == "after");
  CHECK(graded.lab.score == 7);
  CHECK(graded.lab.max_score == 7);
  CHECK(graded.lab.status == Status::passed);
  double sum = 0;
  for (const double points : {3.04, 33.0, 50.0}) sum = report::add_points(sum, points);
  CHECK(sum == 86.04);
  CHECK(report::add_points(0.1, 0.2) == 0.3);
}

device::LaunchResult wasteful(FakeDevice& device, const device::LaunchShape& shape,
                              const std::vector<device::KernelArgument>& args) {
  device::LaunchResult run = copy(device, shape, args);
  run.counters->load = {4, 12};
  return run;
}

TEST_CASE("grading: the rubric's credit decides what a share is worth") {
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(grade_harness(wasteful).test("kernel").score == 2);
  const Graded all = grade_harness(wasteful, 7, with(kRubric, "\"share\"", "\"all\""));
  CHECK(all.test("kernel").score == 0);
  CHECK(all.test("kernel").status == Status::failed);
  CHECK(all.test("after").message == "This check counts once the result is right: see `kernel`.");
  // Credit "share" needs a check that measures a share.
  const Graded none = grade_harness(
      copy, 7, with(kRubric, "points = 2\ncredit = \"all\"", "points = 2\ncredit = \"share\""));
  CHECK(none.test("check").status == Status::error);
  CHECK(none.test("check").score == 0);
}

TEST_CASE(
    "grading: credit is ideal / reached, and the message shows the worst access lane by lane") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::LaunchResult run = copy(device, shape, args);
    run.counters->load = {4, 24};
    counters::LineCounters line;
    line.file = "lab.cu";
    line.line = 2;
    line.counters.load.sectors = 28;
    line.counters.l2_sectors_ideal = 8;
    run.lines.push_back(line);
    device::WorstAccess worst;
    worst.file = "lab.cu";
    worst.line = 2;
    worst.mask = 0xf;
    worst.cost = 4;
    worst.ideal = 1;
    const uint64_t in = FakeDevice::value<uint64_t>(args[0]);
    for (int lane = 0; lane < 4; ++lane) worst.address[lane] = in + 4 * lane;
    run.worst.push_back(worst);
    return run;
  });
  const report::CheckResult& test = graded.test("kernel");
  CHECK(test.status == Status::failed);
  CHECK(test.score == doctest::Approx(4 * 8 / 28.0).epsilon(0.01));
  CHECK(test.line == 2);
  REQUIRE(test.failure);
  CHECK(test.failure->kind == report::CheckFailureReason::Kind::wasteful);
  CHECK(*test.failure->measured == 28);
  CHECK(*test.failure->expected == 8);
  CHECK(test.message ==
        "lab.cu:2\n    out[i] = in[i];\nWarp 0 of block 0: 4 lanes' loads of 4 bytes touch 4 "
        "sectors where 1 would do: lane 0 in[0], lane 1 in[1], lane 2 in[2], lane 3 in[3].\nThink "
        "of neighbours.");
}

TEST_CASE("grading: a wrong result loses the check, and the message names index and values") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::LaunchResult run = copy(device, shape, args);
    device.array<float>(args[1])[3] = 9;
    return run;
  });
  const report::CheckResult& test = graded.test("kernel");
  CHECK(test.status == Status::failed);
  CHECK(test.score == 0);
  CHECK(test.measured == "wrong, n = 4");
  CHECK(test.message ==
        "lab.cu:2\n    out[i] = in[i];\nn = 4: out[3] is 9 where 4 was expected; 1 of 4 elements "
        "is wrong: only the last one.");
  CHECK(test.failure->kind == report::CheckFailureReason::Kind::wrong_result);
  CHECK(test.failure->setting == "n = 4");
  CHECK(graded.test("after").status == Status::failed);
  CHECK(graded.test("after").failure->kind == report::CheckFailureReason::Kind::prerequisite);
  CHECK(graded.test("after").failure->subject == "kernel");
  CHECK(graded.test("after").message ==
        "This check counts once nearly all points are reached: see `kernel`.");
  CHECK(graded.leaked == 0);
}

TEST_CASE("grading: an output that was not written is poison and never right by luck") {
  const Graded graded = grade_harness([](auto&, auto&, auto&) { return device::LaunchResult{}; });
  CHECK(graded.test("kernel").message.find("out[0] was not written") != std::string::npos);
}

TEST_CASE("grading: a changed input loses the check") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::LaunchResult run = copy(device, shape, args);
    device.array<float>(args[0])[2] = 5;
    return run;
  });
  CHECK(graded.test("kernel").status == Status::failed);
  CHECK(graded.test("kernel").failure->kind == report::CheckFailureReason::Kind::changed_input);
  CHECK(graded.test("kernel").failure->index == 2u);
  CHECK(graded.test("kernel").message ==
        "n = 4: the kernel has changed in[2], which it may only read.");
}

TEST_CASE("grading: a fault becomes the verdict with its line") {
  const Graded graded = grade_harness([](auto&, auto&, auto&) {
    device::LaunchResult run;
    sim::TrapFacts facts;
    facts.reason = sim::TrapReason::past_end;
    facts.thread = {{0, 0, 0}, {4, 0, 0}};
    facts.access = {sim::AccessSpace::global, sim::AccessUse::write, 4, 0x1010, "out", 16, 16};
    run.fault = device::KernelFault{facts.kind(), "lab.cu", 2, facts, {}, {}, 0};
    return run;
  });
  const report::CheckResult& test = graded.test("kernel");
  CHECK(test.status == Status::failed);
  CHECK(test.measured == "out of bounds");
  CHECK(test.line == 2);
  CHECK(test.failure->kind == report::CheckFailureReason::Kind::fault);
  CHECK(test.failure->detail == "out of bounds");
  REQUIRE(test.failure->access);
  CHECK(test.failure->access->thread == std::vector<uint32_t>{4, 0, 0});
  CHECK(test.failure->access->object == "out");
  CHECK(test.failure->access->offset == 16);
  CHECK(
      test.message ==
      "lab.cu:2\n    out[i] = in[i];\nn = 4: out of bounds: thread (4,0,0) of block (0,0,0) "
      "writes out[4]; the last is out[3]\nCompare the index with the size of the array before the "
      "access.");
  CHECK(test.failure->access->element == 4u);
}

TEST_CASE("grading: a hazard loses the check, and a note does not") {
  for (const bool note : {false, true}) {
    const Graded graded = grade_harness([note](FakeDevice& device, auto& shape, auto& args) {
      device::LaunchResult run = copy(device, shape, args);
      counters::Finding finding;
      finding.note = note;
      finding.file = "lab.cu";
      finding.line = 2;
      finding.object = "tile";
      finding.element = 17;
      run.hazards = std::vector<counters::Finding>{finding};
      return run;
    });
    CHECK((graded.test("kernel").status == Status::passed) == note);
    if (!note) {
      const std::optional<report::CheckFailureReason>& failure = graded.test("kernel").failure;
      REQUIRE(failure);
      CHECK(failure->detail == "race");
      CHECK(failure->access->element == 17u);
    }
    CHECK((graded.test("kernel").message.find("race on tile[17] (shared, block 0)") !=
           std::string::npos) == !note);
  }
}

TEST_CASE(
    "grading: a check that the device cannot count is not run and does not affect the score") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::LaunchResult run = copy(device, shape, args);
    run.counters.reset();
    return run;
  });
  CHECK(graded.test("kernel").status == Status::not_run);
  CHECK(graded.test("kernel").message == "The device `fake` does not count sectors.");
  CHECK(graded.test("kernel").not_run->kind == report::NotRunReason::Kind::no_counters);
  CHECK(graded.test("kernel").not_run->device == "fake");
  CHECK(graded.lab.max_score == 3);
}

TEST_CASE(
    "grading: accesses that could not be matched count as rarely as they may, and the message "
    "gives "
    "both limits") {
  const auto graded = [](uint64_t sectors, uint64_t least) {
    return grade_harness([=](FakeDevice& device, auto& shape, auto& args) {
      device::LaunchResult run = copy(device, shape, args);
      run.counters->ptx_level = run.counters->global_ptx_level = true;
      run.least = run.counters;
      run.counters->load.sectors += sectors;
      run.least->load.sectors += least;
      return run;
    });
  };
  CHECK(graded(1 << 20, 0).test("kernel").status == Status::passed);
  CHECK(graded(1 << 20, 0).test("kernel").message.empty());
  const Graded lost = graded(1 << 20, 1 << 18);
  CHECK(lost.test("kernel").status == Status::failed);
  CHECK(lost.test("kernel").failure->kind == report::CheckFailureReason::Kind::wasteful);
  CHECK(lost.test("kernel").message.find("They take at most ") != std::string::npos);
}

TEST_CASE("grading: traffic that cannot be counted earns no points") {
  using device::LaunchResult;
  const auto graded = [](const std::function<void(LaunchResult&)>& change) {
    return grade_harness([=](FakeDevice& device, auto& shape, auto& args) {
      LaunchResult run = copy(device, shape, args);
      change(run);
      return run;
    });
  };
  const auto lost = [](const Graded& graded, const char* words) {
    const report::CheckResult& test = graded.test("kernel");
    return test.failure && test.failure->kind == report::CheckFailureReason::Kind::uncountable &&
           test.score == 0 && test.message.find(words) != std::string::npos;
  };
  CHECK(
      lost(graded([](LaunchResult& r) { r.counters->other.bulk_unknown = 1; }), "the copy engine"));
  CHECK(lost(graded([](LaunchResult& r) { r.counters->other.texture_unknown = 1; }), "textures"));
  CHECK(lost(graded([](LaunchResult& r) { r.child_launches = 1; }), "launches kernels"));
}

TEST_CASE("grading: traffic of the copy engine and of other blocks counts, too") {
  const auto graded = [](uint64_t seed,
                         const std::function<void(counters::TextureBulkRemoteTraffic&)>& change) {
    return grade_harness(
        [=](FakeDevice& device, auto& shape, auto& args) {
          device::LaunchResult run = copy(device, shape, args);
          change(run.counters->other);
          return run;
        },
        seed);
  };
  const auto score = [](const Graded& graded) { return graded.test("kernel").score; };
  const double full = score(graded(7, [](auto&) {}));
  // As many sectors again by the copy engine, or from another block's shared memory.
  CHECK(score(graded(7, [](auto& w) { w.bulk_load = {1, 1 << 20, 1 << 20, 1 << 18}; })) < full / 2);
  CHECK(score(graded(7, [](auto& w) { w.remote_load = {1 << 18, 1 << 20}; })) < full / 2);
  CHECK(score(graded(7, [](auto& w) { w.texture = {1 << 18, 1 << 20}; })) < full / 2);
  // The banks of another block, or the banks that the copy engine fills.
  const auto wavefronts = [](const Graded& graded) {
    return graded.test("kernel").figures.at("wavefronts");
  };
  const double own = wavefronts(graded(kOfShared, [](auto&) {}));
  CHECK(wavefronts(graded(kOfShared, [](auto& w) {
          w.remote_banks = {1, 32, 500, 1};
        })) == own + 500);
  CHECK(wavefronts(graded(kOfShared, [](auto& w) { w.bulk_load = {1, 1, 1, 70}; })) == own + 70);
}

TEST_CASE("grading: uncertain groups of shared accesses do not affect sectors") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::LaunchResult run = copy(device, shape, args);
    run.counters->ptx_level = true;
    return run;
  });
  CHECK(graded.test("kernel").status == Status::passed);
}

TEST_CASE("grading: a missing kernel loses its own check only") {
  const Graded graded = grade_harness(nullptr);
  CHECK(graded.test("kernel").status == Status::failed);
  CHECK(graded.test("kernel").message ==
        "The file has no kernel `kernel` (it has other). Keep the names and "
        "parameters of the given kernels.");
  CHECK(graded.test("check").status == Status::passed);
}

TEST_CASE("grading: an Error in one check is an error of that check only") {
  const Graded graded = grade_harness(
      [](auto&, auto&, auto&) -> device::LaunchResult { throw Error("`wmma` is not supported"); });
  CHECK(graded.test("kernel").status == Status::error);
  CHECK(graded.test("kernel").message == "`wmma` is not supported");
  CHECK(graded.test("check").status == Status::passed);
}

TEST_CASE("grading: a check that loses has the message that it gives") {
  const Graded graded = grade_harness(copy, 8);
  CHECK(graded.test("check").status == Status::failed);
  CHECK(graded.test("check").message == "The seed is not 7.");
}

TEST_CASE("grading: the message of a failed CHECK is doctest's") {
  const ProcessOutcome printed = run_process({{"/proc/self/exe", "--failed-check"}, {}, "", {}});
  CHECK(printed.ok());
  CHECK(printed.out == "The check failed: 9 == 7\n");
}

}  // namespace lab32::grading

namespace lab32::tests {

// main() calls this outside of doctest's loop over test cases, where a LAB_CHECK runs in `lab32
// grade`.
std::string message_of_failed_check() {
  return grading::grade_harness(grading::copy, grading::kFailedAssert).test("check").message;
}

}  // namespace lab32::tests
