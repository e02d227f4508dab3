// CUDA code as nvcc compiles it: recursion, virtual functions, switches, locks, cooperative groups,
// printf.
#include <doctest/doctest.h>

#include <chrono>
#include <numeric>

#include "base/error.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;

namespace {

std::vector<uint32_t> words(tests::Simulated& s, const std::string& kernel,
                            const device::LaunchShape& shape, size_t n,
                            std::vector<device::KernelArgument> before = {}) {
  const auto out = s.device->allocate(4 * n, "out");
  s.device->upload(out, std::vector<uint32_t>(n, 0xdeadbeef).data(), 4 * n);
  before.emplace_back(out);
  const device::LaunchResult run = s.launch(kernel, shape, before);
  REQUIRE_MESSAGE(!run.fault, (run.fault ? describe(*run.fault) : ""));
  return s.download<uint32_t>(out);
}

device::KernelFault fault_of(const std::string& kernel, const device::LaunchShape& shape,
                             const std::vector<device::KernelArgument>& args,
                             const device::LaunchOptions& options = {}) {
  const device::LaunchResult run = tests::compiled_kernels().launch(kernel, shape, args, options);
  REQUIRE(run.fault);
  CHECK(run.fault->file == "sim_kernels.cu");
  return *run.fault;
}

}  // namespace

TEST_CASE("core: cuda: recursion, virtual functions and function pointers work") {
  tests::Simulated& s = tests::compiled_kernels();
  CHECK(words(s, "fibonacci_of_lane", {{1}, {64}}, 64) == each(64, [](uint32_t t) {
          const uint32_t f[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610};
          return f[t % 16];
        }));
  CHECK(words(s, "virtual_areas", {{1}, {50}}, 50) ==
        each(50, [](uint32_t t) { return t % 3 == 0 ? t * t : 100 + t; }));
  CHECK(words(s, "through_table", {{1}, {50}}, 50) == each(50, [](uint32_t t) {
          return t % 3 == 0 ? 2 * t : t % 3 == 1 ? 0u - t : t * t;
        }));
  struct Big {
    int32_t values[12];
  } big;
  std::iota(big.values, big.values + 12, 1);
  CHECK(words(s, "structures", {{1}, {40}}, 40, {big}) == each(40, [&](uint32_t t) {
          Big own = big;
          own.values[t % 12] += 1000;
          uint32_t sum = 0;
          for (int i = 0; i < 12; ++i)
            sum = sum * 3 + static_cast<uint32_t>(own.values[11 - i]) + t;
          return sum;
        }));
}

TEST_CASE("core: cuda: switches and loops work") {
  tests::Simulated& s = tests::compiled_kernels();
  const auto in = each(96, [](uint32_t i) { return i * 5 % 11; });
  const auto buffer = s.upload(in, "in");
  CHECK(words(s, "dense_switch", {{3}, {32}}, 96, {buffer}) ==
        each(96, [&](uint32_t i) -> uint32_t {
          uint32_t x = in[i];
          switch (x) {
            case 0:
              return 17;
            case 1:
              return 8;
            case 2:
              for (uint32_t k = 0; k < i; ++k) x ^= k * 7;
              return x;
            case 3:
              return 0u - 12;
            case 4:
              return 0u - 5;
            case 5:
              return in[i ^ 1];
            case 6:
              return 0xdeadbeef;
            case 7:
              return 56;
            default:
              return 1u << (x & 7);
          }
        }));
  CHECK(words(s, "collatz", {{2}, {100}}, 200) == each(200, [](uint32_t start) -> uint32_t {
          if (start == 0) return 0xdeadbeef;
          uint32_t steps = 0;
          for (uint64_t n = start; n != 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
          return steps;
        }));
}

TEST_CASE("core: cuda: locks between the lanes of a warp make progress") {
  tests::Simulated& s = tests::compiled_kernels();
  for (const std::string kernel : {"locked_count", "naive_lock"}) {
    CAPTURE(kernel);
    const auto counter = s.upload(std::vector<int>{0}, "counter");
    const device::LaunchResult run = s.launch(kernel, {{3}, {70}}, {counter});
    REQUIRE_MESSAGE(!run.fault, (run.fault ? describe(*run.fault) : ""));
    CHECK(s.download<int>(counter)[0] == 210);
  }
}

TEST_CASE("core: cuda: the last block adds the partial sums") {
  tests::Simulated& s = tests::compiled_kernels();
  const auto in = s.upload(each(50 * 128, [](uint32_t i) { return i % 1000; }), "in");
  const auto partial = s.device->allocate(200, "partial");
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 50 * 128; ++i) sum += i % 1000;
  for (int again = 0; again < 2; ++again)
    CHECK(words(s, "last_block_sums", {{50}, {128}}, 1, {in, partial})[0] == sum);
}

TEST_CASE("core: cuda: cooperative groups work") {
  tests::Simulated& s = tests::compiled_kernels();
  const auto in = each(64, [](uint32_t i) { return i * i % 17; });
  const auto buffer = s.upload(in, "in");
  CHECK(words(s, "group_sums", {{1}, {64}}, 64, {buffer}) == each(64, [&](uint32_t t) {
          uint32_t sum = 0, even = 0;
          for (uint32_t k = t / 8 * 8; k < t / 8 * 8 + 8; ++k) sum += in[k];
          sum += in[t ^ 3] * 100;
          for (uint32_t k = t / 32 * 32; k < t / 32 * 32 + 32; ++k) even += in[k] % 2 == 0;
          return sum + (in[t] % 2 == 0 ? 10000 * even : 0);
        }));
}

TEST_CASE("core: cuda: printf formats like the host's and returns its number of arguments") {
  tests::Simulated& s = tests::compiled_kernels();
  const auto out = s.upload(std::vector<int>{-1, -1}, "out");
  const device::LaunchResult run = s.launch("formats", {{1}, {32}}, {out, out});
  REQUIRE_MESSAGE(!run.fault, (run.fault ? describe(*run.fault) : ""));
  std::string want;
  for (int t = 0; t < 2; ++t) {
    char line[400];
    const std::string local = "loc" + std::to_string(t);
    std::snprintf(line, sizeof line,
                  "%d|%5d|%-5u|%x|%#X|%o|%c|%s|%%|%6.2f|%e|%g|%lld|%lu|%hd|%+d|%*d|%.3s|%p\n", -t,
                  42, 7u, 255, 255, 8, 'x', "text", 3.14159, 12345.678, 0.5, -1234567890123ll, 99ul,
                  static_cast<short>(7), 5, 4, 6, local.c_str(), static_cast<void*>(nullptr));
    want += line;
  }
  CHECK(run.output == want + "plain\nplain\n");
  CHECK(s.download<int>(out) == std::vector<int>{19, 19});
}

TEST_CASE("core: cuda: printf output is in the order of the blocks") {
  tests::Simulated& s = tests::compiled_kernels();
  const device::LaunchResult run = s.launch("chatter", {{40}, {3}}, {});
  std::string want;
  for (int b = 0; b < 40; ++b)
    for (int t = 0; t < 3; ++t)
      want += "block " + std::to_string(b) + " thread " + std::to_string(t) + "\n";
  CHECK(run.output == want);
}

TEST_CASE("core: cuda: printf beyond the runtime's buffer is dropped") {
  tests::Simulated& s = tests::compiled_kernels();
  const device::LaunchResult run = s.launch("flood", {{1500}, {1}}, {});
  CHECK(run.output.size() == 1 << 20);
  CHECK(run.output_lost);
  CHECK(run.output.substr(500 * 1001 + 997, 4) == "500\n");
}

TEST_CASE("core: cuda: the output limit bounds the cost of a printf of any width") {
  tests::Simulated& s = tests::compiled_kernels();
  const auto begin = std::chrono::steady_clock::now();
  const device::LaunchResult run = s.launch("wide", {{2000}, {32}}, {});
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK(run.output == std::string(1 << 20, ' '));
  CHECK(run.output_lost);
}

TEST_CASE("core: cuda: faults name the student's line") {
  tests::Simulated& s = tests::compiled_kernels();
  const auto in = s.upload(each(32, [](uint32_t i) { return i; }), "in");
  const auto out = s.device->allocate(256, "out");
  device::KernelFault f = fault_of("asserts", {{1}, {32}}, {in});
  CHECK(f.kind == sim::TrapKind::assertion);
  CHECK(f.line == tests::line_of_kernels("assert"));
  CHECK(describe(f) ==
        "thread (20,0,0) of block (0,0,0): assertion `in[threadIdx.x] < 20` failed (line " +
            std::to_string(f.line) + ")");
  f = fault_of("falls_off", {{1}, {32}}, {in, out});
  CHECK(f.kind == sim::TrapKind::out_of_bounds);
  CHECK(f.line == tests::line_of_kernels("off_by_one"));
  CHECK(
      describe(f) ==
      "thread (31,0,0) of block (0,0,0) reads 4 bytes at offset 128 of `in`: 4 bytes past its end "
      "(128 bytes)");
  device::LaunchOptions options;
  options.warp_budget = 10'000;
  f = fault_of("half_waits", {{1}, {64}}, {out}, options);
  CHECK(f.kind == sim::TrapKind::instruction_limit);
  CHECK(f.line == tests::line_of_kernels("spins"));
}

TEST_CASE("core: cuda: a virtual function that cannot run is refused when it is called") {
  const device::KernelFault f = fault_of("deletes", {{1}, {1}}, {});
  CHECK(f.kind == sim::TrapKind::trap);
  CHECK(f.line == tests::line_of_kernels("deletes"));
  CHECK(describe(f).find("thread (0,0,0) of block (0,0,0) calls `Square::~Square()`, which the "
                         "simulator cannot run: PTX line ") == 0);
  CHECK(describe(f).find("the device function `free` is not supported") != std::string::npos);
}

TEST_CASE(
    "core: cuda: a kernel that the simulator does not support is refused when it is looked up") {
  try {
    tests::compiled_kernels().module->find("needs_texture");
    FAIL("was accepted");
  } catch (const Error& e) {
    const std::string text = e.what();
    CHECK(text.find("txq.num_samples.b32: the result for texture objects is not known") !=
          std::string::npos);
    CHECK(text.find("sim_kernels.cu:" + std::to_string(tests::line_of_kernels("texture"))) !=
          std::string::npos);
  }
  // The other kernels of the module run.
  CHECK(tests::compiled_kernels().module->find("chatter"));
}
