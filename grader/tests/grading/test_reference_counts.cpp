// The recorded counts of the reference solutions: which launch they belong to. test_golden.cpp
// compares them with the solutions' launches.
#include <doctest/doctest.h>

#include "grading/launch/launch_pictures.h"
#include "tests/fixtures/sample_pictures.h"

namespace lab32::grading {
namespace {

TEST_CASE("grading: reference counts of n blocks are n times those of one block") {
  pictures::PicturedLaunch launch = tests::sample_launch();
  launch.kernel = "reduce_v3";
  launch.setting = "7 blocks of 128";
  const auto counts = solution_traffic_of_task(solution_traffic_key_of("reduction", launch));
  launch.setting = "1 block of 128";
  const auto one = solution_traffic_of_task(solution_traffic_key_of("reduction", launch));
  REQUIRE(counts);
  REQUIRE(one);
  // 128 ints are 16 sectors, and their sum is in one more.
  CHECK(one->sectors == 17);
  CHECK(counts->sectors == 7 * 17);
  CHECK(counts->wavefronts == 7 * one->wavefronts);
  CHECK_FALSE(counts->caches);
}

TEST_CASE("grading: reference counts find a launch of any shape and type") {
  pictures::PicturedLaunch launch = tests::sample_launch();
  launch.kernel = "reduce_v7<int, 128>";
  launch.setting = "int, n = 4194304, 2048 blocks of 128";
  const SolutionTrafficKey task = solution_traffic_key_of("reduction", launch);
  CHECK(task.kernel == "reduce_v7");
  CHECK(task.setting == "int, n = 4194304");
  CHECK(task.times == 1);
  launch.setting = "n = 77";
  CHECK_FALSE(solution_traffic_of_task(solution_traffic_key_of("reduction", launch)));
}

}  // namespace
}  // namespace lab32::grading
