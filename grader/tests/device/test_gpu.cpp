// The GPU behind the Device interface: without a GPU there is a reason, with one its results are
// right.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include "base/error.h"
#include "gpu/device.h"
#include "tests/fixtures/scratch.h"
#include "toolchain/nvcc.h"

using namespace lab32;
using namespace lab32::device;

TEST_SUITE("device gpu") {
  TEST_CASE("device: without a driver the reason is reported") {
    GpuSearchResult search = find_gpu();
    CHECK((search.device != nullptr) == search.reason.empty());
    if (!dlopen("libcuda.so.1", RTLD_LAZY))
      CHECK(search.reason == "no CUDA driver (libcuda.so.1) on this machine");
  }

  TEST_CASE("device: a GPU handles memory, arguments, symbols, printf and refusals") {
    GpuSearchResult search = find_gpu();
    if (!search.device) {
      MESSAGE("not run: " << search.reason);
      return;
    }
    tests::ScratchDirectory s;
    auto source = s.write("k.cu",
                          "#include <cstdio>\n"
                          "__constant__ int table[2] = {1, 2};\n"
                          "__global__ void add(const float* a, float* b, int n) {\n"
                          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "  if (i < n) b[i] = a[i] + table[1];\n"
                          "}\n"
                          "__global__ void say() { printf(\"hello\\n\"); }\n");
    Device& gpu = *search.device;
    auto module = gpu.load(toolchain::compile(source, gpu.arch(), "k.cu"));
    Kernel* add = module->find("add");
    REQUIRE(add);
    CHECK(add->info().parameter_bytes == std::vector<uint32_t>{8, 8, 4});
    CHECK_FALSE(module->find("sub"));
    const int n = 1000;
    std::vector<float> in(n), out(n + 1);
    for (int i = 0; i < n; ++i) in[i] = 0.5f * i;
    DeviceAddressRange a = gpu.allocate(n * 4, "a"), b = gpu.allocate(n * 4 + 4, "b");
    gpu.upload(a, in.data(), n * 4);
    const int table[2] = {0, 7};
    CHECK(module->write_symbol("table", table, sizeof table));
    CHECK_FALSE(module->read_symbol("no_such"));
    LaunchResult run = gpu.launch(*add, {{4}, {256}, 0}, {a, b, n});
    CHECK_FALSE(run.fault);
    CHECK_FALSE(run.counters);
    gpu.download(out.data(), b, n * 4 + 4);
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong += out[i] != in[i] + 7;
    CHECK(wrong == 0);
    CHECK(out[n] != out[n]);  // the kernel does not write this element, so it is still poisoned
    CHECK(gpu.launch(*module->find("say"), {{1}, {2}, 0}, {}).output == "hello\nhello\n");
    CHECK_THROWS_WITH_AS(gpu.launch(*add, {}, {a, b}), "add takes 3 arguments, not 2", Error);
    CHECK_THROWS_AS(gpu.launch(*add, {}, {a, b, 1.0}), Error);
    CHECK_THROWS_AS(gpu.download(out.data(), {b.address, 1u << 20}, 1u << 20), Error);
    // A block that is too large fails the launch and has no further effect.
    LaunchResult refused = gpu.launch(*add, {{1}, {4096}, 0}, {a, b, n});
    REQUIRE(refused.fault);
    CHECK(refused.fault->kind == sim::TrapKind::launch);
    CHECK_FALSE(gpu.launch(*add, {{4}, {256}, 0}, {a, b, n}).fault);
    gpu.release(a);
    gpu.release(b);
  }
}
