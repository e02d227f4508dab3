// What strong loads may return when the stores that they miss are not ordered before them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::Simulated;
using Loads = device::LaunchOptions::Loads;

namespace {

constexpr uint64_t kSeeds = 30;

// A kernel of the words x, y, z and out. %b is the block, %t the thread of the block.
std::string kernel_of(const std::string& body) {
  return tests::with_header(R"(
.visible .entry test(.param .u64 test_x)
{
  .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b16 %h<2>; .reg .b64 %x, %y, %z, %out, %d<8>; .reg .b32 %b, %t;
  .shared .align 4 .b32 flag;
  ld.param.u64 %x, [test_x];
  add.u64 %y, %x, 4; add.u64 %z, %x, 8; add.u64 %out, %x, 16;
  mov.u32 %b, %ctaid.x; mov.u32 %t, %tid.x;
)" + body + "\n}\n");
}

struct Result {
  std::vector<uint32_t> words;  // x, y, z, unused, out[0], ...
  std::vector<counters::Finding> stale;
  uint32_t out(size_t i) const { return words.at(4 + i); }
};

Result launch(const std::string& body, const device::LaunchShape& shape, Loads loads,
              uint64_t seed) {
  Simulated simulated(kernel_of(body));
  const device::DeviceAddressRange memory = simulated.upload(std::vector<uint32_t>(64, 0), "words");
  device::LaunchOptions options;
  options.check_hazards = false;
  options.loads = loads;
  options.schedule = seed;
  device::LaunchResult run = simulated.launch("test", shape, {memory}, options);
  REQUIRE_MESSAGE(!run.fault, (run.fault ? describe(*run.fault) : ""));
  return {simulated.download<uint32_t>(memory), std::move(run.stale)};
}

// How many of the runs give `out[0] == value`.
uint64_t runs_with(uint32_t value, const std::string& body, const device::LaunchShape& shape) {
  uint64_t runs = 0;
  for (const Loads loads : {Loads::oldest, Loads::any})
    for (uint64_t seed = 0; seed < kSeeds; ++seed)
      runs += launch(body, shape, loads, seed).out(0) == value;
  return runs;
}
constexpr uint64_t kRuns = 2 * kSeeds;

const device::LaunchShape kTwoBlocks{{2, 1, 1}, {1, 1, 1}}, kTwoWarps{{1, 1, 1}, {64, 1, 1}};

// One thread stores 42 to x and then sets y; another waits for y and reads x to out[0]. `reader` is
// the register whose value chooses the role, and `of` its value for the reader.
std::string message(const std::string& after_store, const std::string& before_load,
                    const std::string& reader = "%b", int of = 1) {
  return fmt::format(R"(
  setp.eq.u32 %p1, {0}, {1};
  @%p1 bra READ;
  setp.ne.u32 %p2, {0}, 0;
  @%p2 ret;
  st.relaxed.gpu.global.u32 [%x], 42;
  {2}
  st.relaxed.gpu.global.u32 [%y], 1;
  ret;
READ:
  ld.relaxed.gpu.global.u32 %r1, [%y];
  setp.eq.u32 %p3, %r1, 0;
  @%p3 bra READ;
  {3}
  ld.relaxed.gpu.global.u32 %r2, [%x];
  st.global.u32 [%out], %r2;
  ret;)",
                     reader, of, after_store, before_load);
}

}  // namespace

TEST_CASE("counters: stale values: a message needs a fence on both sides, of sufficient scope") {
  const std::string device = "fence.acq_rel.gpu;", block = "fence.acq_rel.cta;";
  CHECK(runs_with(42, message(device, device), kTwoBlocks) == kRuns);
  CHECK(runs_with(42, message("membar.gl;", "membar.gl;"), kTwoBlocks) == kRuns);
  CHECK(runs_with(0, message("", ""), kTwoBlocks) > kSeeds);
  CHECK(runs_with(0, message(device, ""), kTwoBlocks) > kSeeds);
  CHECK(runs_with(0, message("", device), kTwoBlocks) > kSeeds);
  CHECK(runs_with(0, message("membar.gl;", ""), kTwoBlocks) > kSeeds);
  CHECK(runs_with(0, message(block, block), kTwoBlocks) > kSeeds);
  CHECK(runs_with(0, message("membar.cta;", "membar.cta;"), kTwoBlocks) > kSeeds);
  // Two warps of one block.
  CHECK(runs_with(42, message(block, block, "%t", 32), kTwoWarps) == kRuns);
  CHECK(runs_with(0, message("", "", "%t", 32), kTwoWarps) > kSeeds);
}

TEST_CASE("counters: stale values: the first load that misses a store is named, polls last") {
  const Result r = launch(message("", ""), kTwoBlocks, Loads::oldest, 1);
  REQUIRE(!r.stale.empty());
  CHECK(r.stale[0].object == "words");
  CHECK(r.stale[0].element == 0);
  CHECK(r.stale[0].stale);
  CHECK(launch(message("", ""), kTwoBlocks, Loads::newest, 1).stale.empty());
}

TEST_CASE("counters: stale values: release and acquire order without a fence") {
  std::string body = message("", "");
  const auto replace = [&](const std::string& from, const std::string& to) {
    body.replace(body.find(from), from.size(), to);
  };
  replace("st.relaxed.gpu.global.u32 [%y]", "st.release.gpu.global.u32 [%y]");
  replace("ld.relaxed.gpu.global.u32 %r1", "ld.acquire.gpu.global.u32 %r1");
  CHECK(runs_with(42, body, kTwoBlocks) == kRuns);
  replace("ld.acquire.gpu", "ld.relaxed.gpu");
  CHECK(runs_with(0, body, kTwoBlocks) > kSeeds);
}

TEST_CASE("counters: stale values: a flag in shared memory orders accesses to device memory") {
  std::string body = R"(
  setp.eq.u32 %p1, %t, 32;
  mov.u32 %r5, flag;
  st.volatile.shared.u32 [%r5], 0;
  bar.sync 0;
  @%p1 bra READ;
  setp.ne.u32 %p2, %t, 0;
  @%p2 ret;
  st.relaxed.gpu.global.u32 [%x], 42;
  fence.acq_rel.cta;
  st.volatile.shared.u32 [%r5], 1;
  ret;
READ:
  ld.volatile.shared.u32 %r1, [%r5];
  setp.eq.u32 %p3, %r1, 0;
  @%p3 bra READ;
  fence.acq_rel.cta;
  ld.relaxed.gpu.global.u32 %r2, [%x];
  st.global.u32 [%out], %r2;
  ret;)";
  CHECK(runs_with(42, body, kTwoWarps) == kRuns);
}

TEST_CASE(
    "counters: stale values: both threads may miss the other's store, unless fence.sc orders") {
  const auto body = [](const std::string& fence) {
    return fmt::format(R"(
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra OTHER;
  st.relaxed.gpu.global.u32 [%x], 1;
  {0}
  ld.relaxed.gpu.global.u32 %r1, [%y];
  st.global.u32 [%out], %r1;
  ret;
OTHER:
  st.relaxed.gpu.global.u32 [%y], 1;
  {0}
  ld.relaxed.gpu.global.u32 %r1, [%x];
  st.global.u32 [%out+4], %r1;
  ret;)",
                       fence);
  };
  const auto both_zero = [&](const std::string& fence) {
    uint64_t runs = 0;
    for (const Loads loads : {Loads::oldest, Loads::any})
      for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        const Result r = launch(body(fence), kTwoBlocks, loads, seed);
        runs += r.out(0) == 0 && r.out(1) == 0;
      }
    return runs;
  };
  CHECK(both_zero("") > kSeeds);
  CHECK(both_zero("fence.acq_rel.gpu;") > kSeeds);
  CHECK(both_zero("fence.sc.gpu;") == 0);
  CHECK(both_zero("membar.gl;") == 0);
}

TEST_CASE(
    "counters: stale values: successive reads of a thread never go back, nor those it passes on") {
  // Block 0 counts x up to 20. Block 1 reads it 16 times and sums up the steps back.
  const std::string body = R"(
  mov.u32 %r1, 0;
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra READ;
WRITE:
  add.u32 %r1, %r1, 1;
  st.relaxed.gpu.global.u32 [%x], %r1;
  setp.lt.u32 %p2, %r1, 20;
  @%p2 bra WRITE;
  ret;
READ:
  mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;
NEXT:
  ld.relaxed.gpu.global.u32 %r5, [%x];
  setp.lt.u32 %p3, %r5, %r2;
  selp.u32 %r6, 1, 0, %p3;
  add.u32 %r3, %r3, %r6;
  mov.u32 %r2, %r5;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p4, %r4, 16;
  @%p4 bra NEXT;
  st.global.u32 [%out], %r3;
  ret;)";
  CHECK(runs_with(0, body, kTwoBlocks) == kRuns);
  // Block 1 reads x and passes on, by release and acquire, that it has read 1; block 2 then
  // reads 1.
  const std::string chain = R"(
  setp.eq.u32 %p1, %b, 1;
  @%p1 bra MIDDLE;
  setp.eq.u32 %p2, %b, 2;
  @%p2 bra LAST;
  st.relaxed.gpu.global.u32 [%x], 1;
  ret;
MIDDLE:
  ld.relaxed.gpu.global.u32 %r1, [%x];
  setp.eq.u32 %p3, %r1, 0;
  @%p3 bra MIDDLE;
  st.release.gpu.global.u32 [%y], 1;
  ret;
LAST:
  ld.acquire.gpu.global.u32 %r1, [%y];
  setp.eq.u32 %p3, %r1, 0;
  @%p3 bra LAST;
  ld.relaxed.gpu.global.u32 %r2, [%x];
  st.global.u32 [%out], %r2;
  ret;)";
  CHECK(runs_with(1, chain, {{3, 1, 1}, {1, 1, 1}}) == kRuns);
}

TEST_CASE("counters: stale values: load, add and store loses updates, an atomic none") {
  const std::string by_steps = R"(
  ld.relaxed.gpu.global.u32 %r1, [%out];
  add.u32 %r1, %r1, 1;
  st.relaxed.gpu.global.u32 [%out], %r1;
  ret;)";
  const device::LaunchShape blocks{{8, 1, 1}, {1, 1, 1}};
  const Result r = launch(by_steps, blocks, Loads::oldest, 1);
  CHECK(r.out(0) == 1);
  CHECK(runs_with(8, by_steps, blocks) < kSeeds);
  // The load is not part of the update, but makes the adversary watch the launch.
  const std::string by_atomics = R"(
  ld.relaxed.gpu.global.u32 %r1, [%out];
  atom.global.add.u32 %r2, [%out], 1;
  ret;)";
  CHECK(runs_with(8, by_atomics, blocks) == kRuns);
}

TEST_CASE("counters: stale values: a barrier orders, and a thread sees its own stores") {
  const std::string body = R"(
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra JOIN;
  st.relaxed.gpu.global.u32 [%x], 7;
  ld.relaxed.gpu.global.u32 %r1, [%x];
  st.global.u32 [%y], %r1;
JOIN:
  bar.sync 0;
  ld.relaxed.gpu.global.u32 %r2, [%x];
  ld.global.u32 %r3, [%y];
  add.u32 %r2, %r2, %r3;
  setp.eq.u32 %p2, %t, 33;
  @%p2 st.global.u32 [%out], %r2;
  ret;)";
  CHECK(runs_with(14, body, kTwoWarps) == kRuns);
}

TEST_CASE(
    "counters: stale values: the block with the last ticket reads all sums only after fences") {
  // Each block stores 1 to a word of its own; the last one adds them.
  const auto body = [](const std::string& before, const std::string& after) {
    return fmt::format(R"(
  mul.wide.u32 %d1, %b, 4;
  add.u64 %d2, %out, %d1;
  add.u64 %d2, %d2, 4;
  st.relaxed.gpu.global.u32 [%d2], 1;
  {0}
  atom.global.add.u32 %r1, [%x], 1;
  setp.ne.u32 %p1, %r1, 19;
  @%p1 ret;
  {1}
  mov.u32 %r2, 0; mov.u32 %r3, 0;
  add.u64 %d2, %out, 4;
NEXT:
  ld.relaxed.gpu.global.u32 %r4, [%d2];
  add.u32 %r2, %r2, %r4;
  add.u64 %d2, %d2, 4;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 20;
  @%p2 bra NEXT;
  st.global.u32 [%out], %r2;
  ret;)",
                       before, after);
  };
  const device::LaunchShape blocks{{20, 1, 1}, {1, 1, 1}};
  for (const std::string fence : {"membar.gl;", "fence.acq_rel.gpu;", "fence.acq_rel.sys;"}) {
    CHECK(runs_with(20, body(fence, fence), blocks) == kRuns);
    CHECK(runs_with(20, body("", fence), blocks) < kSeeds);
    // The block's own fence before the ticket does not order its loads, fence.sc no more than
    // others.
    CHECK(runs_with(20, body(fence, ""), blocks) < kSeeds);
    CHECK(launch(body(fence, ""), blocks, Loads::oldest, 1).out(0) != 20);
  }
  CHECK(runs_with(20, body("membar.cta;", "membar.cta;"), blocks) < kSeeds);
}

TEST_CASE("counters: stale values: parts of a word and vectors have older values, too") {
  const auto with = [](const std::string& store, const std::string& load) {
    std::string body = message("", "");
    const auto replace = [&](const std::string& from, const std::string& to) {
      body.replace(body.find(from), from.size(), to);
    };
    replace("st.relaxed.gpu.global.u32 [%x], 42;", store);
    replace("ld.relaxed.gpu.global.u32 %r2, [%x];", load);
    return body;
  };
  const std::vector<std::string> bodies = {
      with("mov.u32 %r5, 42; cvt.u16.u32 %h1, %r5; st.relaxed.gpu.global.u8 [%x+1], %h1;",
           "ld.relaxed.gpu.global.u8 %h1, [%x+1]; cvt.u32.u16 %r2, %h1;"),
      with("mov.u32 %r5, 42; cvt.u16.u32 %h1, %r5; st.relaxed.gpu.global.u16 [%x+2], %h1;",
           "ld.relaxed.gpu.global.u16 %h1, [%x+2]; cvt.u32.u16 %r2, %h1;"),
      with("mov.u64 %d1, 42; st.relaxed.gpu.global.u64 [%out+16], %d1;",
           "ld.relaxed.gpu.global.u64 %d1, [%out+16]; cvt.u32.u64 %r2, %d1;"),
      with("mov.u32 %r5, 42; st.volatile.global.v4.u32 [%out+16], {%r5, %r5, %r5, %r5};",
           "ld.volatile.global.v4.u32 {%r5, %r6, %r7, %r2}, [%out+16];")};
  for (const std::string& body : bodies) {
    CAPTURE(body);
    CHECK(runs_with(0, body, kTwoBlocks) > kSeeds);
    CHECK(launch(body, kTwoBlocks, Loads::oldest, 1).out(0) == 0);
    CHECK(launch(body, kTwoBlocks, Loads::newest, 1).out(0) == 42);
  }
}
