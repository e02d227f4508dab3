// Which launches are simulated in enough detail for pictures.

#include "grading/engine/progress.h"
#include "grading/engine/run_suite.h"
#include "grading/engine/suite.h"
#include "grading/launch/launch.h"
#include "grading/launch/standard_checks.h"
#include "tests/fixtures/fake_device.h"
#include "tests/fixtures/scratch.h"

namespace lab32::grading {
namespace {

using tests::FakeDevice;

constexpr uint64_t kAnswered = 1, kOpen = 2;  // seeds: what becomes of the question

Launch launch_of(const std::string& setting) { return {"kernel", {{1}, {32}}, {}, setting}; }

}  // namespace

TEST_SUITE("lab:.pictures") {
  LAB_CHECK("question" * takes_rubric_keys("questions")) {
    if (check.session.setup.seed != kAnswered) check.fail_and_throw(0, "The question is open.");
  }
  LAB_CHECK("result") {
    run(check, launch_of("result"));
    Launch not_drawn = launch_of("not drawn");
    not_drawn.in_pictures = false;
    run(check, not_drawn);
  }
  LAB_CHECK("shared result") {
    reused_launch(check, "both", "kernel", [&check] { return run(check, launch_of("shared")); });
    run(check, launch_of("after it"));
  }
  LAB_CHECK("count") {
    run(check, launch_of("count"));
    check.credit(1, 1);
  }
}

namespace {

constexpr const char* kRubricOfPictures = R"(lab = ".pictures"
max_score = 4
[question]
check = "question"
points = 1
credit = "all"
hides = "shuffles"
[question.questions.number]
answer = 1
hint = "Count."
[result]
check = "result"
points = 1
credit = "all"
[shared]
check = "shared result"
points = 1
credit = "all"
[count]
check = "count"
points = 1
credit = "share"
)";

// The settings of the launches for which caches and time are modelled.
std::vector<std::string> modelled(uint64_t seed, const std::string& hides = "shuffles") {
  std::string text = kRubricOfPictures;
  text.replace(text.find("shuffles"), std::string("shuffles").size(), hides);
  const tests::ScratchDirectory folder;
  folder.write(".pictures.toml", text);
  const Rubric rubric(folder.path, ".pictures");
  FakeDevice device;
  tests::FakeModule module;
  module.add("kernel", [](auto&, auto&, auto&) { return device::LaunchResult{}; });
  const SourceFile source = SourceFile::from_text("", "lab.cu");
  ProgressReporter progress(false);
  GradingSetup setup{device, seed, progress};
  setup.launch_detail.emplace();
  GradingSession session{setup, module, source, rubric};
  std::vector<std::string> settings;
  for (const char* setting : {"result", "not drawn", "shared", "after it", "count"})
    settings.emplace_back(setting);
  report::LabResult lab;
  lab.name = ".pictures";
  run_suite(session, lab);
  REQUIRE(device.models.size() == settings.size());
  std::vector<std::string> found;
  for (size_t i = 0; i < settings.size(); ++i)
    if (device.models[i] != device::LaunchOptions::Model::none) found.push_back(settings[i]);
  return found;
}

using Settings = std::vector<std::string>;

}  // namespace

TEST_CASE("pictures: only launches that may be shown are modelled") {
  CHECK(modelled(kAnswered) == Settings{"result", "shared", "after it", "count"});
}

TEST_CASE("pictures: while a question is open, only launches of counts are modelled") {
  CHECK(modelled(kOpen) == Settings{"shared", "count"});
}

TEST_CASE("pictures: while a question that hides all is open, nothing is modelled") {
  CHECK(modelled(kOpen, "all").empty());
  CHECK(modelled(kAnswered, "all").size() == 4);
}

}  // namespace lab32::grading
