// A Timed is serialised by the process that holds the GPU and read by the grader without loss.
#include <doctest/doctest.h>

#include "base/error.h"
#include "device/run_text.h"
#include "gpu/timer.h"

using namespace lab32;
using namespace lab32::device;

TEST_SUITE("device timed") {
  TEST_CASE("device: a timing is unchanged by serialisation") {
    MeasuredGpuTimes timing;
    timing.candidates = {{"reduce_v3", {1e-6, 2e-6}, {3e-6, 4e-6}}, {"reduce_v2", {5e-6}, {}}};
    timing.copy = {"copy", {7e-6}, {8e-6}};
    const auto region = std::make_shared<const ForkSharedMemory>(4096);
    region->data()[5] = std::byte{1};
    region->data()[6] = std::byte{255};
    timing.outputs = {
        {0, 2, 11, {RefCountedBytes(nullptr, region->data() + 5, 2), RefCountedBytes()}},
        {1, 0, 12, {}}};
    timing.before = GpuClocks{1980, 3201, 4};
    timing.l2_bytes = 1 << 20;
    timing.peak_bandwidth = 4.8e12;
    timing.start_seconds = 0.5;
    timing.rounds_seconds = 0.25;
    const std::vector<std::byte> bytes = encode_gpu_timing_result({timing, std::nullopt}, *region);
    const GpuTimingResult back = decode_gpu_timing_result(bytes, region);
    REQUIRE(back.timing);
    CHECK_FALSE(back.fault);
    REQUIRE(back.timing->candidates.size() == 2);
    CHECK(back.timing->candidates[1].name == "reduce_v2");
    CHECK(back.timing->candidates[0].cold == timing.candidates[0].cold);
    CHECK(back.timing->candidates[0].warm == timing.candidates[0].warm);
    CHECK(back.timing->copy.cold == timing.copy.cold);
    CHECK_FALSE(back.timing->baseline);
    REQUIRE(back.timing->outputs.size() == 2);
    CHECK(back.timing->outputs[0].set == 2);
    CHECK(back.timing->outputs[0].rounds == 11);
    CHECK(back.timing->outputs[0].arrays == timing.outputs[0].arrays);
    CHECK(back.timing->outputs[0].arrays[0].data() == region->data() + 5);
    CHECK(back.timing->start_seconds == 0.5);
    CHECK(back.timing->rounds_seconds == 0.25);
    CHECK_THROWS_WITH_AS(
        decode_gpu_timing_result(bytes, std::make_shared<const ForkSharedMemory>(6)),
        "an output lies nowhere", Error);
    CHECK(back.timing->outputs[1].candidate == 1);
    CHECK(back.timing->before->throttled == 4);
    CHECK_FALSE(back.timing->after);
    CHECK(back.timing->l2_bytes == timing.l2_bytes);
    CHECK(back.timing->peak_bandwidth == timing.peak_bandwidth);
  }

  TEST_CASE("device: a fault is unchanged by serialisation, and damaged bytes are refused") {
    KernelFault fault;
    fault.kind = sim::TrapKind::out_of_bounds;
    fault.driver = DriverError{"v7", "CUDA_ERROR_ILLEGAL_ADDRESS", "illegal"};
    const auto region = std::make_shared<const ForkSharedMemory>(1);
    const GpuTimingResult back =
        decode_gpu_timing_result(encode_gpu_timing_result({std::nullopt, fault}, *region), region);
    CHECK_FALSE(back.timing);
    REQUIRE(back.fault);
    CHECK(back.fault->kind == sim::TrapKind::out_of_bounds);
    CHECK(describe(*back.fault) == "v7: CUDA_ERROR_ILLEGAL_ADDRESS (illegal)");
    CHECK_THROWS_AS(decode_gpu_timing_result({std::byte{0xff}}, region), Error);
  }
}
