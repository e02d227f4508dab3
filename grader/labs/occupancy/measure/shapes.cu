// Measures launch shapes: the kernels of the occupancy lab, each in many shapes.
//
//   shapes time       CSV on stdout: median times of a launch, cold L2
//   shapes counters   each launch once, for ncu or for `lab32 profile` to count
//   shapes suggested  prints cudaOccupancyMaxPotentialBlockSize's suggestion for each kernel
//
// measure.sh runs all. The kernels are those of labs/ and solutions/ themselves.
#include <cuda_profiler_api.h>

#include <string>
#include <vector>

#include "../../../tools/measure/timing.cuh"
#include "lab32.cuh"
// The files define the same records, which this program does not use.
#undef LAB32_LAUNCH
#undef LAB32_ANSWER
#define LAB32_LAUNCH(kernel, ...) extern int launch_##kernel
#define LAB32_ANSWER(question, value) extern int answer_##question
namespace given {
#include "../../../../labs/occupancy/occupancy.cu"
}
namespace optimised {
#include "../../../../solutions/occupancy/occupancy.cu"
}
#include "variants.cuh"

namespace {

constexpr int kLinks = 1 << 20, kNodes = 1 << 19, kSteps = 16, kOrbitSteps = 32;
constexpr int kMost = 132 * 2048 * 32 * 8;  // floats of the largest case
int multiprocessors;

int* links;
float *start, *in, *out, *expected;
float4* field;
unsigned* wrong;

__device__ unsigned mixed(unsigned i) {
  unsigned h = i * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  return h ^ h >> 13;
}

// Groups of eight nodes, a sector of links, stay together: a warp's request touches four sectors.
__global__ void fill_links(int* links) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kLinks) links[i] = mixed(i / 8) % (kLinks / 8) * 8 + i % 8;
}
// Steps of up to 16 cells. Particles that start in one cell stay together.
__global__ void fill_field(float4* field, float* start, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned h = mixed(i);
  if (i < given::kSide * given::kSide * given::kSide)
    field[i] = {(h & 63) / 4.0f, (h >> 6 & 63) / 4.0f, (h >> 12 & 63) / 4.0f, (h >> 18) / 16384.0f};
  if (i >= n) return;
  start[i] = i % 1024 / 16.0f, start[n + i] = i / 1024 % 64, start[2 * n + i] = i / 65536;
}
__global__ void fill_floats(float* to, size_t n) {
  size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i < n) to[i] = 1 + (mixed(unsigned(i)) >> 9) / 8388608.0f;
}
// Counts values that are not bitwise equal.
__global__ void compare(const unsigned* a, const unsigned* b, size_t words, unsigned* wrong) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < words; i += step)
    if (a[i] != b[i]) atomicAdd(wrong, 1);
}

struct Case {
  std::string task, form;
  int n, block, items, per_sm;  // per_sm: blocks per multiprocessor; 0: as many as n needs
  size_t words;                 // words of the result
  const void* kernel;
  size_t shared_per_item;  // dynamic shared memory: bytes per element of the block's tile,
  size_t shared_more;      // plus a fixed number of bytes
  std::function<void(int grid, int block, size_t shared)> launch;

  int grid() const {
    int blocks = ceil_div(n, block * items);
    return per_sm ? std::min(blocks, per_sm * multiprocessors) : blocks;
  }
  size_t shared() const {
    int width = ceil_div(n, grid() * block) * block;
    return shared_per_item ? shared_per_item * width + shared_more : 0;
  }
  // As LAB32_LAUNCH in the lab's file sets it.
  std::string shape() const {
    std::string text = std::to_string(block) + " x " + std::to_string(items);
    return per_sm ? text + " in " + std::to_string(per_sm) : text;
  }
  void go() const {
    launch(grid(), block, shared());
    CHECK(cudaGetLastError());
  }
};

std::vector<Case> follow_cases() {
  std::vector<Case> list;
  const auto add = [&](int block, int items, int per_sm) {
    list.push_back({"follow", "given", kNodes, block, items, per_sm, size_t(kNodes),
                    (const void*)given::follow, 0, 0, [=](int grid, int threads, size_t) {
                      given::follow<<<grid, threads>>>(links, (int*)out, kNodes, kSteps);
                    }});
  };
  for (int block : {32, 64, 128, 256, 512, 1024})
    for (int items : {1, 2, 4, 8}) add(block, items, 0);
  for (int block : {96, 384, 768}) add(block, 1, 0);
  // One wave of 1 to 64 warps per multiprocessor.
  for (int blocks : {1, 2, 4, 8, 16, 24, 32}) add(32, 1, blocks);
  for (int blocks : {4, 5, 6, 7, 8}) add(256, 1, blocks);
  return list;
}

std::vector<Case> copy_cases(bool large) {
  std::vector<Case> list;
  const auto add = [&](int n, const char* form, int per_sm, const void* kernel, auto launch) {
    list.push_back({"copy", form, n, 256, 1, per_sm, size_t(n), kernel, 0, 0,
                    [=](int grid, int threads, size_t) { launch(grid, threads, n); }});
  };
  for (int n : {1 << 22, 1 << 26}) {
    if (n > 1 << 22 && !large) break;
    for (int per_sm : {1, 2, 3, 4, 6, 8}) {
      add(n, "one float", per_sm, (const void*)variant::copy_one,
          [](int g, int b, int n) { variant::copy_one<<<g, b>>>(in, out, n); });
      add(n, "given", per_sm, (const void*)given::copy,
          [](int g, int b, int n) { given::copy<<<g, b>>>(in, out, n); });
      add(n, "1 float4", per_sm, (const void*)variant::copy_quads<1>, [](int g, int b, int n) {
        variant::copy_quads<1><<<g, b>>>((const float4*)in, (float4*)out, n);
      });
      add(n, "2 float4", per_sm, (const void*)variant::copy_quads<2>, [](int g, int b, int n) {
        variant::copy_quads<2><<<g, b>>>((const float4*)in, (float4*)out, n);
      });
      add(n, "4 float4", per_sm, (const void*)variant::copy_quads<4>, [](int g, int b, int n) {
        variant::copy_quads<4><<<g, b>>>((const float4*)in, (float4*)out, n);
      });
      add(n, "8 float4", per_sm, (const void*)variant::copy_quads<8>, [](int g, int b, int n) {
        variant::copy_quads<8><<<g, b>>>((const float4*)in, (float4*)out, n);
      });
      add(n, "optimised", per_sm, (const void*)optimised::copy,
          [](int g, int b, int n) { optimised::copy<<<g, b>>>(in, out, n); });
    }
  }
  return list;
}

std::vector<Case> trace_cases() {
  std::vector<Case> list;
  const auto add = [&](const char* form, int block, auto kernel) {
    const int n = 1 << 18;
    list.push_back({"trace", form, n, block, 1, 0, size_t(14) * n, (const void*)kernel, 0, 0,
                    [=](int grid, int threads, size_t) {
                      kernel<<<grid, threads>>>(field, start, out, n, kSteps);
                    }});
  };
  for (int block : {128, 256, 512, 1024}) {
    add("given", block, given::trace);
    add("bounds 1024 1", block, one_block::trace);
    add("bounds 1024 2", block, optimised::trace);
    add("24 registers", block, too_few::trace);
  }
  return list;
}

std::vector<Case> smooth_cases(bool large) {
  std::vector<Case> list;
  for (int n : {1 << 20, 1 << 24}) {
    if (n > 1 << 20 && !large) break;
    for (int block : {128, 256, 512, 1024})
      for (int items : {1, 2, 3, 4, 6, 8, 12, 16, 24}) {
        const size_t more = 2 * given::kReach * sizeof(float4);
        if (block * items * sizeof(float4) + more > 227 * 1024) continue;
        list.push_back({"smooth", "given", n, block, items, 0, 4 * size_t(n),
                        (const void*)given::smooth, sizeof(float4), more,
                        [=](int grid, int threads, size_t shared) {
                          given::smooth<<<grid, threads, shared>>>((const float4*)in, (float4*)out,
                                                                   n);
                        }});
      }
  }
  return list;
}

std::vector<Case> orbits_cases(bool large) {
  std::vector<Case> list;
  const auto add = [&](const char* task, int n, int block, int items, int per_sm) {
    list.push_back({task, "given", n, block, items, per_sm, size_t(n), (const void*)given::orbits,
                    0, 0, [=](int grid, int threads, size_t) {
                      given::orbits<<<grid, threads>>>(out, n, kOrbitSteps);
                    }});
  };
  const int n = int(1.05 * 132 * 1024 * 4);
  for (int block : {128, 256, 512, 1024})
    for (int items : {1, 2, 4, 8}) add("orbits", n, block, items, 0);
  for (int block : {128, 256, 512, 1024})
    for (int per_sm : {1, 2, 3, 4, 5, 6, 8, 12})
      if (per_sm * block <= 2048 && (large || per_sm * block >= 768))
        add("orbits", n, block, 1, per_sm);
  // The staircase: an increasing number of blocks with equal work, and the same work in one wave.
  for (int blocks : {33,  66,  99,  132, 139, 165, 198, 231, 264, 271,
                     297, 330, 363, 396, 403, 429, 462, 528, 535}) {
    if (!large && blocks > 271) break;
    add("waves", blocks * 4096, 1024, 4, 0);
    if (large && blocks >= 132) add("waves", blocks * 4096, 1024, 1, 1);
  }
  return list;
}

// Rows of so many interleaved arrays; the lab has four.
template <int kArrays>
void add_rows(std::vector<Case>& list, bool large) {
  const int n = 132 * 2048;
  const auto add = [&](int rows, int block, int per_sm) {
    const float* array[4];
    for (int a = 0; a < 4; ++a) array[a] = in + size_t(a % kArrays) * given::kColumns * rows;
    list.push_back({kArrays == 4 ? "match" : "match of " + std::to_string(kArrays), "given", rows,
                    block, 1, per_sm, size_t(rows), (const void*)given::match, 0, 0,
                    [=](int grid, int threads, size_t) {
                      given::match<<<grid, threads>>>(array[0], array[1], array[2], array[3], out,
                                                      rows);
                    }});
  };
  for (int per_sm : {1, 2, 3, 4, 6, 8, 10, 12, 14, 16})
    if (large || kArrays == 4) add(n, 128, per_sm);
  if (kArrays < 4) return;
  for (int block : {64, 128, 256, 512, 1024}) add(n, block, 0);
  for (int per_sm : {1, 2, 4}) add(n, 256, per_sm);
  for (int per_sm : {1, 2, 3, 4, 6, 8, 12, 16})
    if (large) add(2 * n, 128, per_sm);
}

std::vector<Case> match_cases(bool large) {
  std::vector<Case> list;
  add_rows<1>(list, large);
  add_rows<2>(list, large);
  add_rows<4>(list, large);
  return list;
}

std::vector<Case> cases(bool large) {
  std::vector<Case> all;
  for (const std::vector<Case>& some :
       {follow_cases(), copy_cases(large), trace_cases(), smooth_cases(large), orbits_cases(large),
        match_cases(large)})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

// Resident warps per multiprocessor: those that fit, or all if there are fewer.
int resident_warps(const Case& c) {
  int fit;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, c.kernel, c.block, c.shared()));
  return std::min(fit, ceil_div(c.grid(), multiprocessors)) * ceil_div(c.block, kWarpSize);
}

// Runs once onto poison and compares with the first shape of the task and n.
bool verified(const Case& c, bool first) {
  CHECK(cudaMemset(out, 0xff, c.words * 4));
  c.go();
  if (first) CHECK(cudaMemcpy(expected, out, c.words * 4, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemset(wrong, 0, sizeof(unsigned)));
  compare<<<1024, 256>>>((const unsigned*)out, (const unsigned*)expected, c.words, wrong);
  unsigned count;
  CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
  if (count)
    fprintf(stderr, "%s, %s, %s: %u words differ\n", c.task.c_str(), c.form.c_str(),
            c.shape().c_str(), count);
  return count == 0;
}

int time_all() {
  bool good = true;
  printf("task,form,shape,n,block,grid,registers,warps,median_ms,min_ms\n");
  std::string before;
  for (const Case& c : cases(true)) {
    const std::string now = c.task + std::to_string(c.n);
    good &= verified(c, now != before);
    before = now;
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, c.kernel));
    const timing::Time time = timing::measure(21, [&] { c.go(); });
    printf("%s,%s,%s,%d,%d,%d,%d,%d,%.5f,%.5f\n", c.task.c_str(), c.form.c_str(),
           c.shape().c_str(), c.n, c.block, c.grid(), attributes.numRegs, resident_warps(c),
           time.median_ms, time.min_ms);
  }
  return good ? 0 : 1;
}

// The block size that the runtime suggests, and the resident warps with it.
template <class Kernel>
void suggest(const char* name, Kernel* kernel) {
  int grid, block, fit;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, block, 0));
  printf("%s,%d,%d,%d\n", name, block, grid, fit * block / kWarpSize);
}

void allocate(size_t floats) {
  links = (int*)timing::allocate(kLinks * 4, 1);
  fill_links<<<kLinks / 256, 256>>>(links);
  start = (float*)timing::allocate(3 * 4 << 18, 1);
  field = (float4*)timing::allocate(sizeof(float4) << 18, 1);
  fill_field<<<1024, 256>>>(field, start, 1 << 18);
  in = (float*)timing::allocate(floats * 4, 1);
  fill_floats<<<floats / 256, 256>>>(in, floats);
  out = (float*)timing::allocate(floats * 4, 2);
  CHECK(cudaFuncSetAttribute(given::smooth, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             227 * 1024));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what != "time" && what != "counters" && what != "suggested") {
    fprintf(stderr, "usage: shapes time|counters|suggested\n");
    return 2;
  }
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  if (what == "suggested") {
    printf("kernel,block,grid,warps\n");
    suggest("follow", given::follow);
    suggest("copy", given::copy);
    suggest("trace", given::trace);
    suggest("orbits", given::orbits);
    suggest("match", given::match);
    return 0;
  }
  allocate(what == "time" ? size_t{kMost} : size_t{132} * 2048 * 32 * 4);
  if (what == "time") {
    expected = (float*)timing::allocate(size_t{kMost} * 4, 3);
    CHECK(cudaMalloc(&wrong, sizeof *wrong));
    CHECK(cudaDeviceSynchronize());
    return time_all();
  }
  // The order is printed, so that collect.py can name the rows.
  CHECK(cudaDeviceSynchronize());
  int id = 0;
  CHECK(cudaProfilerStart());
  for (const Case& c : cases(false)) {
    printf("launch,%d,%s,%s; %s,%d,%d\n", id++, c.task.c_str(), c.form.c_str(), c.shape().c_str(),
           c.n, c.block);
    c.go();
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
  return 0;
}
