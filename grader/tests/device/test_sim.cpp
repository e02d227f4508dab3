// State that the simulated device keeps from launch to launch.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

// One warp loads 32 adjacent words: four sectors.
const char* const kLoads = R"(
.visible .entry loads(.param .u64 from) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd0, [from];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd2, %rd0, %rd1;
  ld.global.u32 %r1, [%rd2];
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

device::LaunchOptions with_model(device::LaunchOptions::Model model) {
  device::LaunchOptions options;
  options.model = model;
  return options;
}

TEST_SUITE("device: sim") {
  TEST_CASE(
      "device: a warm launch finds what the last one has left in L2, and nothing after a fault") {
    using Model = device::LaunchOptions::Model;
    Simulated sim(with_header(kLoads));
    const device::Buffer words = sim.upload(std::vector<uint32_t>(32, 7), "words");
    const auto launch = [&](device::Arg from, Model model) {
      return sim.launch("loads", {{1}, {32}}, {from}, with_model(model));
    };
    const auto sectors_read = [&](Model model) {
      const device::Run run = launch(words, model);
      REQUIRE_FALSE(run.fault);
      return run.caches->dram_read / 32;
    };
    CHECK(sectors_read(Model::cold) == 4);
    CHECK(sectors_read(Model::warm) == 0);
    CHECK(sectors_read(Model::cold) == 4);
    CHECK(launch(uint64_t{0}, Model::warm).fault);
    CHECK(sectors_read(Model::warm) == 4);
    CHECK(sectors_read(Model::warm) == 0);
  }
}

}  // namespace
