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
    const device::DeviceAddressRange words = sim.upload(std::vector<uint32_t>(32, 7), "words");
    const auto launch = [&](device::KernelArgument from, Model model) {
      return sim.launch("loads", {{1}, {32}}, {from}, with_model(model));
    };
    const auto sectors_read = [&](Model model) {
      const device::LaunchResult run = launch(words, model);
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

  TEST_CASE("device: a part of a block runs as if the other threads had exited") {
    // Each thread waits for the block, then stores 1 to its word.
    Simulated sim(with_header(R"(
.visible .entry marks(.param .u64 to) {
  .reg .b64 %rd<3>; .reg .b32 %r<4>;
  ld.param.u64 %rd0, [to];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 64, %r0;
  mul.wide.u32 %rd1, %r2, 4; add.u64 %rd2, %rd0, %rd1;
  bar.sync 0;
  mov.u32 %r3, 1; st.global.u32 [%rd2], %r3;
  ret;
}
)"));
    const auto marked = [&](const PartialBlockLaunch& part) {
      const device::DeviceAddressRange words = sim.upload(std::vector<uint32_t>(192, 0), "words");
      device::LaunchOptions options;
      options.part = part;
      REQUIRE_FALSE(sim.launch("marks", {{3}, {64}}, {words}, options).fault);
      std::vector<uint32_t> found;
      for (uint32_t i = 0; i < 192; ++i)
        if (sim.download<uint32_t>(words)[i] == 1) found.push_back(i);
      return found;
    };
    CHECK(marked({1}).size() == 64);
    CHECK(marked({1}).front() == 64);
    CHECK(marked({1, 0, 0}).size() == 32);
    CHECK(marked({1, 0, 0}).front() == 96);
    CHECK(marked({0, 1u << 31}).size() == 62);
    CHECK(marked({0, 1u << 31})[31] == 32);
  }
}

}  // namespace
