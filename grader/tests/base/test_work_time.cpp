#include <doctest/doctest.h>

#include "base/work.h"
#include "simulator/core/warp/launch_context.h"

using namespace lab32;

TEST_CASE("base: the slowness of a machine never decreases") {
  const double first = measure_machine_slowness();
  CHECK(first >= 1);
  CHECK(first <= 16);
  CHECK(measure_machine_slowness() >= first);
  CHECK(slowness() >= first);
  {
    const ScopedFakeMachineSlowness nine(9);
    CHECK(measure_machine_slowness() == 9);
    CHECK(slowness() == 9);
  }
  CHECK(slowness() >= first);
}

TEST_CASE("core: limits: the time limit of a launch grows with the slowness of the machine") {
  const auto work = [](double seconds) {
    const WorkTimer watch;
    while (watch.min_of_wall_and_cpu_seconds() < seconds) {
    }
  };
  {
    const ScopedFakeMachineSlowness usual(1);
    sim::LaunchLimitMeter meter(0, 0.02, 0);
    CHECK(meter.add_instructions(1) == sim::LaunchLimitMeter::ExceededLimit::nothing);
    work(0.03);
    CHECK(meter.add_instructions(1) == sim::LaunchLimitMeter::ExceededLimit::time);
  }
  const ScopedFakeMachineSlowness five(5);
  sim::LaunchLimitMeter meter(0, 0.02, 0);
  work(0.03);
  CHECK(meter.add_instructions(1) == sim::LaunchLimitMeter::ExceededLimit::nothing);
  work(0.08);
  CHECK(meter.add_instructions(1) == sim::LaunchLimitMeter::ExceededLimit::time);
}
