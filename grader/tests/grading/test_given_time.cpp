// Modelled times of given kernels do not depend on earlier gradings, and are computed once.

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "base/environment.h"
#include "grading/engine/check.h"
#include "grading/engine/compiled.h"
#include "grading/engine/progress.h"
#include "grading/launch/arrays.h"
#include "grading/launch/launch.h"
#include "grading/rubric/rubric.h"
#include "grading/timing/given_time.h"

namespace lab32::tests {
namespace {

using namespace lab32::grading;

// The occupancy lab's solution in a session of its own. `before`: bytes that are already allocated.
class Solved {
 public:
  explicit Solved(uint64_t before, const std::string& follow = "")
      : device_(device::open_device("sim")), rubric_(rubric_folder(), "occupancy") {
    if (before > 0) device_->allocate(before, "other");
    const std::string file = "solutions/occupancy/occupancy.cu";
    toolchain::Submission submission = toolchain::read_submission(lab32_root() / file, file);
    artifact_ = compile_with_given_kernels("occupancy", submission, device_->arch(), file);
    if (!follow.empty()) {
      const size_t at = artifact_.ptx.find("add.s32", artifact_.ptx.find("6followE"));
      REQUIRE(at != std::string::npos);
      artifact_.ptx.replace(at, 7, follow);
    }
    module_ = device_->load(artifact_);
    source_ = SourceFile::from_text(submission.text(), file);
  }

  double time(const std::string& work, int& computed) {
    const GradingSetup setup{*device_, 1, progress_};
    GradingSession session{setup, *module_, source_, rubric_, &artifact_};
    Check check(session, rubric_.rows().front());
    return cached_time_of_given_kernel(check, "follow", work, [&](Check& own) {
      ++computed;
      constexpr int kNodes = 4096;
      std::vector<int32_t> links(kNodes);
      for (int i = 0; i < kNodes; ++i) links[i] = (i * 37 + 11) % kNodes;
      const Input<int32_t> next(own, "next", links);
      const Output<int32_t> out(own, "out", kNodes);
      const device::LaunchResult run = run_to_count(own, {kernel_name_with_namespace(own, "follow"),
                                                          {{16}, {256}},
                                                          {next, out, kNodes, 4},
                                                          "",
                                                          device::LaunchOptions::Model::cold});
      CHECK(&own.device() != device_.get());
      return run.predicted->kernel_seconds;
    });
  }

 private:
  std::unique_ptr<device::Device> device_;
  Rubric rubric_;
  toolchain::CompiledArtifact artifact_;
  std::unique_ptr<device::LoadedModule> module_;
  SourceFile source_ = SourceFile::from_text("", "");
  ProgressReporter progress_{false};
};

// A key that no earlier run of these tests has cached.
std::string unseen(int n) { return "test " + std::to_string(getpid()) + "." + std::to_string(n); }

}  // namespace

TEST_CASE("grading: the time of a given kernel does not depend on the contents of memory") {
  int computed = 0;
  const double alone = Solved(0).time(unseen(1), computed);
  CHECK(alone > 0);
  CHECK(Solved(100'003 * 128).time(unseen(2), computed) == alone);
  CHECK(computed == 2);
}

TEST_CASE("grading: the time of a given kernel is computed once, and again for other code") {
  int computed = 0;
  const double first = Solved(0).time(unseen(3), computed);
  CHECK(Solved(0).time(unseen(3), computed) == first);
  CHECK(computed == 1);
  // A module with another kernel of that name gets a time of its own.
  Solved(0, "sub.s32").time(unseen(3), computed);
  CHECK(computed == 2);
}

}  // namespace lab32::tests
