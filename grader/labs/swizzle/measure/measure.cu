// Measures the tiles of the swizzle lab on a real GPU.
//
//   measure time       CSV on stdout: median times with a cold L2, and those of a device-to-device copy
//   measure counters   launches each kernel once under ncu
//
// measure.sh runs both. The kernels are those of solutions/ themselves.
#include <cuda_profiler_api.h>

#include <cstring>
#include <string>

#include "../../../../solutions/swizzle/swizzle.cu"
#include "../../../tools/measure/timing.cuh"

// Forms that the lab does not have.
namespace variant {

// Each warp reads the strip of 16 rows with its number once, so nothing is read twice.
template <int kPad, bool kTurn>
__global__ void read_once(const uint4* in, uint4* out) {
  __shared__ uint4 tile[kRows][kChunks + kPad];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += blockDim.x) {
    int row = j / kChunks, chunk = j % kChunks;
    tile[row][chunk ^ (kTurn ? row % 8 : 0)] = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    int row = 16 * warp + lane % 16, chunk = 2 * k + lane / 16;
    out[((kRows / 16 * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] =
        load_matrices<false>(&tile[row][chunk ^ (kTurn ? row % 8 : 0)]);
  }
}

}  // namespace variant

namespace {

uint4 *in, *out, *expected;
unsigned *weight, *wrong;

__global__ void compare(const unsigned* a, const unsigned* b, size_t words, unsigned* wrong) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < words; i += step) {
    if (a[i] != b[i]) atomicAdd(wrong, 1);
  }
}

struct Case {
  std::string task, form;
  int block;
  size_t in_bytes, out_bytes;  // bytes per tile
  std::function<void(int tiles)> launch;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  auto weigh = [&](const char* task, const char* form, auto kernel) {
    list.push_back({task, form, 32 * kWarps, 8192, 16384,
                    [=](int tiles) { kernel<<<tiles, 32 * kWarps>>>(in, weight, out); }});
  };
  auto once = [&](const char* form, auto kernel) {
    list.push_back(
        {"once", form, 128, 8192, 8192, [=](int tiles) { kernel<<<tiles, 128>>>(in, out); }});
  };
  weigh("x4", "plain", weigh_plain<false>);
  weigh("x4", "padded", weigh_padded<false>);
  weigh("x4", "swizzled", weigh_swizzled<false>);
  weigh("x4.trans", "plain", weigh_plain<true>);
  weigh("x4.trans", "padded", weigh_padded<true>);
  weigh("x4.trans", "swizzled", weigh_swizzled<true>);
  once("plain", variant::read_once<0, false>);
  once("padded", variant::read_once<1, false>);
  once("swizzled", variant::read_once<0, true>);
  return list;
}

// Runs once on poisoned output and compares it with the first form of the task.
bool verified(const Case& c, bool first, int tiles) {
  const size_t bytes = c.out_bytes * tiles;
  CHECK(cudaMemset(out, 0xff, bytes));
  c.launch(tiles);
  CHECK(cudaGetLastError());
  if (first) CHECK(cudaMemcpy(expected, out, bytes, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemset(wrong, 0, sizeof(unsigned)));
  compare<<<1024, 256>>>((const unsigned*)out, (const unsigned*)expected, bytes / 4, wrong);
  unsigned count;
  CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
  if (count) fprintf(stderr, "%s, %s: %u words differ\n", c.task.c_str(), c.form.c_str(), count);
  return count == 0;
}

int time_all() {
  bool good = true;
  printf("task,form,n,block,median_ms,min_ms,useful_bytes,useful_gb_s,copy_ms,times_copy\n");
  for (int tiles : {1024, 16384, 65536}) {
    std::string task;
    for (const Case& c : cases()) {
      good &= verified(c, c.task != task, tiles);
      task = c.task;
      const size_t useful = (c.in_bytes + c.out_bytes) * tiles;
      const timing::Time time = timing::measure(31, [&] { c.launch(tiles); });
      const timing::Time copy = timing::measure(
          31, [&] { CHECK(cudaMemcpyAsync(out, in, useful / 2, cudaMemcpyDeviceToDevice)); });
      printf("%s,%s,%d,%d,%.5f,%.5f,%zu,%.0f,%.5f,%.2f\n", c.task.c_str(), c.form.c_str(), tiles,
             c.block, time.median_ms, time.min_ms, useful, useful / time.median_ms / 1e6,
             copy.median_ms, time.median_ms / copy.median_ms);
    }
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string what = argc == 2 ? argv[1] : "";
  if (what != "time" && what != "counters") {
    fprintf(stderr, "usage: measure time|counters\n");
    return 2;
  }
  // ncu saves and restores all memory that a kernel may write, so its runs use less.
  const size_t tiles = what == "time" ? 65536 : 1024;
  in = (uint4*)timing::allocate(16384 * tiles, 1);
  out = (uint4*)timing::allocate(16384 * tiles, 2);
  expected = (uint4*)timing::allocate(16384 * tiles, 3);
  weight = (unsigned*)timing::allocate(4 * 4 * kWarps, 4);
  CHECK(cudaMalloc(&wrong, sizeof *wrong));
  CHECK(cudaDeviceSynchronize());
  if (what == "time") return time_all();

  // The launch order is printed so that collect.py can label ncu's rows.
  int id = 0;
  CHECK(cudaProfilerStart());
  for (int count : {16, 1024}) {
    for (const Case& c : cases()) {
      printf("launch,%d,%s,%s,%d,%d\n", id++, c.task.c_str(), c.form.c_str(), count, c.block);
      c.launch(count);
      CHECK(cudaGetLastError());
    }
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
  return 0;
}
