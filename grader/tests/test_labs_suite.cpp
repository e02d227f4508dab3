// The way from a TEST_CASE to a line of the score board, with kernels that are functions.

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "fake_device.h"
#include "labs/coalescing_patterns.h"
#include "labs/progress.h"
#include "labs/reporter.h"
#include "labs/rule.h"
#include "labs/suite.h"

namespace lab32::labs {
namespace {

using report::Status;
using tests::FakeDevice;
using tests::FakeModule;

// What the suite below does is decided by the kernel "kernel", which each test of the harness sets.
void run_kernel() {
  Input<float> in("in", {1, 2, 3, 4});
  Output<float> out("out", 4);
  const device::Run launched = run({"kernel", {{1}, {4}}, {in, out, 4}, "n = 4"});
  check_result("n = 4", 2, mismatch("out", out.read(), in.values()));
  credit_sectors(launched, 8, "Think of neighbours.");
}

}  // namespace

TEST_SUITE("lab:.harness") {
  TEST_CASE("kernel" * points(4)) { run_kernel(); }
  TEST_CASE("check" * points(2)) { CHECK(session().seed == 7); }
  TEST_CASE("after" * points(1)) {
    const Rule rule("after");
    rule.after("kernel");
  }
  TEST_CASE("points that the limits contradict" * points(1)) { const Rule rule("other"); }
}

namespace {

constexpr const char* kLimits = "sizes = [0, 4]\n[after]\npoints = 1\n[other]\npoints = 2\n";

struct Graded {
  report::Lab lab;
  size_t leaked = 0;
  const report::Test& test(const std::string& name) const {
    for (const report::Test& t : lab.tests)
      if (t.name == name) return t;
    throw std::logic_error(name);
  }
};

Graded grade_harness(tests::FakeBody body, uint64_t seed = 7) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("lab32-limits-" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << kLimits;
  const Limits limits(path);
  std::filesystem::remove(path);
  FakeDevice device;
  FakeModule module;
  if (body) module.add("kernel", std::move(body));
  module.add("other", [](auto&, auto&, auto&) { return device::Run{}; });
  const Source source = Source::of_text("first line\n  out[i] = in[i];\n", "lab.cu");
  Progress progress(false);
  Session session{device, module, source, limits, seed, progress, {}, {}, 0, {}, {}};
  Graded graded;
  graded.lab.name = ".harness";
  run_suite(session, graded.lab);
  graded.leaked = device.live();
  return graded;
}

device::Run copy(FakeDevice& device, const device::Shape&, const std::vector<device::Arg>& args) {
  const int n = FakeDevice::value<int>(args[2]);
  for (int i = 0; i < n; ++i) device.array<float>(args[1])[i] = device.array<float>(args[0])[i];
  device::Run run;
  run.counters.emplace();
  run.counters->load = {1, 4};
  run.counters->store = {1, 4};
  return run;
}

}  // namespace

TEST_CASE("a right kernel gets all points, and memory is given back") {
  const Graded graded = grade_harness(copy);
  const report::Test& test = graded.test("kernel");
  CHECK(test.status == Status::passed);
  CHECK(test.score == 4);
  CHECK(test.measured == "8 sectors");
  CHECK(test.figures.at("sectors") == 8);
  CHECK(test.message == "");
  CHECK(graded.test("check").status == Status::passed);
  CHECK(graded.test("after").status == Status::passed);
  CHECK(graded.leaked == 0);
}

TEST_CASE("scores are summed, and the order is that of the file") {
  const Graded graded = grade_harness(copy);
  REQUIRE(graded.lab.tests.size() == 4);
  CHECK(graded.lab.tests[0].name == "kernel");
  CHECK(graded.lab.tests[1].name == "check");
  CHECK(graded.lab.score == 7);
  CHECK(graded.lab.max_score == 8);
  CHECK(graded.lab.status == Status::failed);
}

TEST_CASE("credit is ideal / reached, with the worst access told lane by lane") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::Run run = copy(device, shape, args);
    run.counters->load = {4, 24};
    observe::LineCounters line;
    line.file = "lab.cu";
    line.line = 2;
    line.counters.l2_sectors = 28;
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
  const report::Test& test = graded.test("kernel");
  CHECK(test.status == Status::failed);
  CHECK(test.score == doctest::Approx(4 * 8 / 28.0).epsilon(0.01));
  CHECK(test.line == 2);
  CHECK(test.message ==
        "lab.cu:2\n    out[i] = in[i];\nWarp 0 of block 0: 4 lanes' loads of 4 bytes touch 4 "
        "sectors where 1 would do: lane 0 in[0], lane 1 in[1], lane 2 in[2], lane 3 in[3].\nThink "
        "of neighbours.");
}

TEST_CASE("a wrong result loses, and names index and values") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::Run run = copy(device, shape, args);
    device.array<float>(args[1])[3] = 9;
    return run;
  });
  const report::Test& test = graded.test("kernel");
  CHECK(test.status == Status::failed);
  CHECK(test.score == 0);
  CHECK(test.measured == "wrong, n = 4");
  CHECK(test.message ==
        "lab.cu:2\n    out[i] = in[i];\nn = 4: out[3] is 9 where 4 was expected; 1 of 4 elements "
        "is wrong: only the last one.");
  CHECK(graded.test("after").status == Status::failed);
  CHECK(graded.test("after").message == "Counts once nothing is lost there: see `kernel`.");
  CHECK(graded.leaked == 0);
}

TEST_CASE("an output that was not written is poison, not luck") {
  const Graded graded = grade_harness([](auto&, auto&, auto&) { return device::Run{}; });
  CHECK(graded.test("kernel").message.find("out[0] was not written") != std::string::npos);
}

TEST_CASE("a changed input loses") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::Run run = copy(device, shape, args);
    device.array<float>(args[0])[2] = 5;
    return run;
  });
  CHECK(graded.test("kernel").status == Status::failed);
  CHECK(graded.test("kernel").message ==
        "n = 4: the kernel has changed in[2], which it may only read.");
}

TEST_CASE("a fault becomes the verdict with its line") {
  const Graded graded = grade_harness([](auto&, auto&, auto&) {
    device::Run run;
    run.fault = device::Fault{"out of bounds", "lab.cu", 2,
                              "thread 4 of block 0 writes 4 bytes at 0x1010, 0 bytes past out"};
    return run;
  });
  const report::Test& test = graded.test("kernel");
  CHECK(test.status == Status::failed);
  CHECK(test.measured == "out of bounds");
  CHECK(test.line == 2);
  CHECK(test.message ==
        "lab.cu:2\n    out[i] = in[i];\nn = 4: out of bounds: thread 4 of block 0 writes 4 bytes "
        "at 0x1010, 0 bytes past out\nCompare the index with the size of the array before the "
        "access.");
}

TEST_CASE("a hazard costs the test, a note does not") {
  for (const bool note : {false, true}) {
    const Graded graded = grade_harness([note](FakeDevice& device, auto& shape, auto& args) {
      device::Run run = copy(device, shape, args);
      observe::Finding finding;
      finding.note = note;
      finding.file = "lab.cu";
      finding.line = 2;
      finding.message = "race on tile[17]";
      run.hazards = std::vector<observe::Finding>{finding};
      return run;
    });
    CHECK((graded.test("kernel").status == Status::passed) == note);
    CHECK((graded.test("kernel").message.find("race on tile[17]") != std::string::npos) == !note);
  }
}

TEST_CASE("what a device cannot count is not run, and counts neither way") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::Run run = copy(device, shape, args);
    run.counters.reset();
    return run;
  });
  CHECK(graded.test("kernel").status == Status::not_run);
  CHECK(graded.test("kernel").message == "the device `fake` does not count sectors");
  CHECK(graded.lab.max_score == 4);
}

TEST_CASE("counts at PTX level decide no points") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::Run run = copy(device, shape, args);
    run.counters->ptx_level = run.counters->global_ptx_level = true;
    run.ptx_level = {"lab.cu:2: PTX has 4 loads, SASS 1"};
    return run;
  });
  CHECK(graded.test("kernel").status == Status::not_run);
  CHECK(graded.test("kernel").message.find("PTX has 4 loads") != std::string::npos);
}

TEST_CASE("how shared accesses are grouped does not touch sectors") {
  const Graded graded = grade_harness([](FakeDevice& device, auto& shape, auto& args) {
    device::Run run = copy(device, shape, args);
    run.counters->ptx_level = true;
    return run;
  });
  CHECK(graded.test("kernel").status == Status::passed);
}

TEST_CASE("a missing kernel loses its test only") {
  const Graded graded = grade_harness(nullptr);
  CHECK(graded.test("kernel").status == Status::failed);
  CHECK(graded.test("kernel").message ==
        "The file has no kernel `kernel` (it has other). Names and parameters of the kernels stay "
        "as given.");
  CHECK(graded.test("check").status == Status::passed);
}

TEST_CASE("an Error in one test is that test's error") {
  const Graded graded = grade_harness(
      [](auto&, auto&, auto&) -> device::Run { throw Error("`wmma` is not supported"); });
  CHECK(graded.test("kernel").status == Status::error);
  CHECK(graded.test("kernel").message == "`wmma` is not supported");
  CHECK(graded.test("check").status == Status::passed);
  CHECK(graded.test("points that the limits contradict").status == Status::error);
}

TEST_CASE("a CHECK that fails is shown in doctest's words") {
  const Graded graded = grade_harness(copy, 8);
  CHECK(graded.test("check").status == Status::failed);
  CHECK(graded.test("check").message.find("8 == 7") != std::string::npos);
}

TEST_CASE("the coalescing lab's points are those of its limits, a hundred in all") {
  double sum = 0, timed = 0;
  for (const Rubric& rubric : rubrics("lab:coalescing"))
    (rubric.timed ? timed : sum) += rubric.points;
  CHECK(sum == 100);
  CHECK(timed == 10);
  const auto labs = known_labs();
  CHECK(std::find(labs.begin(), labs.end(), "coalescing") != labs.end());
  CHECK(std::find(labs.begin(), labs.end(), ".harness") == labs.end());
}

TEST_CASE("patterns hold every width, empty masks and unaligned nothing") {
  Random random(3);
  const std::vector<Pattern> tried = patterns(random, 600);
  bool empty = false, beyond = false;
  std::map<uint32_t, int> widths;
  for (const Pattern& p : tried) {
    empty |= p.active == 0;
    ++widths[p.bytes];
    for (int lane = 0; lane < 32; ++lane)
      if (p.active >> lane & 1) {
        CHECK(p.address[lane] % p.bytes == 0);
        beyond |= p.address[lane] >> 32 != 0;
      }
    CHECK(p.sectors() <= 32);
    CHECK((p.sectors() == 0) == (p.requests() == 0));
  }
  CHECK(empty);
  CHECK(beyond);
  CHECK(widths.size() == 5);
  for (const auto& [bytes, count] : widths) CHECK(count >= 80);
}

TEST_CASE("wrong ideas are told apart") {
  Random random(3);
  const std::vector<Pattern> tried = patterns(random, 600);
  const auto hint = [&](auto answer) {
    std::vector<int> answers;
    for (const Pattern& p : tried) answers.push_back(answer(p));
    return misconception(tried, answers);
  };
  CHECK(hint([](const Pattern& p) { return p.lanes(); }).find("lanes") != std::string::npos);
  CHECK(hint([](const Pattern& p) { return (p.lanes() * int(p.bytes) + 31) / 32; }).find("bytes") !=
        std::string::npos);
  CHECK(hint([](const Pattern& p) { return static_cast<int>(p.sectors()); }) == "");
  CHECK(hint([](const Pattern& p) { return p.lanes() / 2; }) == "");
}

TEST_CASE("a pattern is shown whole, from its line of 128 bytes on") {
  Pattern p;
  p.bytes = 4;
  p.active = 0x80000003;
  for (int lane = 0; lane < 32; ++lane) p.address[lane] = 0x1000 + 132 + 4 * lane;
  CHECK(
      p.show() ==
      "4 bytes a lane, active 0x80000003; bytes from 0x1080 on: lane 0 at 4, lane 1 at 8, lane 31 "
      "at 128.");
  p.active = 0x8000030f;
  CHECK(p.show() ==
        "4 bytes a lane, active 0x8000030f; bytes from 0x1080 on:\n"
        "    lane  0:      4      8     12     16      -      -      -      -\n"
        "    lane  8:     36     40      -      -      -      -      -      -\n"
        "    lane 16:      -      -      -      -      -      -      -      -\n"
        "    lane 24:      -      -      -      -      -      -      -    128");
  p.active = 0;
  CHECK(p.show() == "4 bytes a lane, and no lane is active");
}

TEST_CASE("limits name what is missing") {
  CHECK_THROWS_WITH_AS(Limits("/nowhere.toml").number("a"), doctest::Contains("/nowhere.toml"),
                       Error);
  const auto path = std::filesystem::temp_directory_path() /
                    ("lab32-limits-" + std::to_string(getpid()) + ".toml");
  std::ofstream(path) << "a = 1\nb = [1, 2.5]\n[t]\nx = 'y'\n";
  const Limits limits(path);
  CHECK(limits.number("a") == 1);
  CHECK(limits.numbers("b") == std::vector<double>{1, 2.5});
  CHECK(limits.text("t.x") == "y");
  CHECK(limits.keys("t") == std::vector<std::string>{"x"});
  CHECK_THROWS_WITH_AS(limits.number("t.z"), doctest::Contains("no number `t.z`"), Error);
  std::ofstream(path) << "a = \n";
  CHECK_THROWS_WITH_AS(Limits{path}, doctest::Contains(":1:"), Error);
  std::filesystem::remove(path);
}

}  // namespace lab32::labs
