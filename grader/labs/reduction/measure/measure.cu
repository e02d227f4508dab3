// Measures the versions of the reduction lab on a real GPU, with CUB, the Reduce Tutorial's versions and
// the variants that the handout mentions.
//
//   measure time       CSV on stdout: median times, and those of a device-to-device copy
//   measure counters   launches each kernel once under ncu
//   measure steps      counts blocks with a wrong sum if the last warp lacks barriers
//
// measure.sh runs all. The kernels of the lab are those of solutions/ themselves, or of SUBMISSION.
#include <cuda_profiler_api.h>

#include <cmath>
#include <cub/cub.cuh>
#include <string>

#include "../../../tools/measure/timing.cuh"
#include "lab32.cuh"
#include "tutorial.cuh"
#include "variants.cuh"
#ifndef SUBMISSION
#define SUBMISSION "../../../../solutions/reduction/reduction.cu"
#endif
#include SUBMISSION

namespace {

cudaStream_t stream = nullptr;  // the default one, but while a graph is captured
int *ints, *out;                // `out` has a word for the largest number of blocks
float* floats;
void* scratch;  // CUB's
size_t scratch_bytes;
double* expected;
int multiprocessors;

// Ints from -128 to 127, whose sums stay far from the ends of the range, and floats from 0 to 1.
__global__ void make_inputs(int* ints, float* floats, size_t n) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) {
    floats[i] = float(unsigned(ints[i]) >> 8) / (1 << 24);
    ints[i] >>= 24;
  }
}

// Atomics on doubles, one per element and thread: slow, and unlike the lab's solution.
template <class T>
__global__ void add_doubles(const T* in, double* sum, size_t n) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  double mine = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) mine += in[i];
  atomicAdd(sum, mine);
}

struct Case {
  std::string task, form;
  int n, block;
  size_t useful;                 // bytes that the task must move
  int sums;                      // number of words of `out` whose sum is the result; 0: not verified
  std::function<void()> launch;  // everything from the input to those sums
  bool warm = false;
};

bool is_float(const Case& c) { return c.task.find("float") == 0; }

// ---- the versions
// --------------------------------------------------------------------------------

int blocks(const Lab32Launch& shape, int n) {
  int wanted = ceil_div(n, shape.block * shape.items_per_thread);
  int most = shape.blocks_per_sm ? shape.blocks_per_sm * multiprocessors : wanted;
  return std::max(1, std::min(wanted, most));
}

Lab32Launch shape_of(const Lab32Launch& record) {
  Lab32Launch shape;
  CHECK(cudaMemcpyFromSymbol(&shape, record, sizeof shape));
  return shape;
}

void launch_per_block(std::vector<Case>& list, const char* form, int n, int block, int per_block,
                      void (*kernel)(const int*, int*), bool right = true) {
  int grid = n / per_block;
  list.push_back({"int", form, n, block, 4 * size_t(n), right ? grid : 0,
                  [=] { kernel<<<grid, block, 0, stream>>>(ints, out); }});
}

template <class T>
void launch_v7(const T* in, T* to, int n) {
  static const Lab32Launch shape = shape_of(lab32_launch_reduce_v7);
  void (*kernel)(const T*, T*, int) = shape.block == 128   ? reduce_v7<T, 128>
                                      : shape.block == 256 ? reduce_v7<T, 256>
                                      : shape.block == 512 ? reduce_v7<T, 512>
                                                           : reduce_v7<T, 1024>;
  CHECK(cudaMemsetAsync(to, 0, sizeof(T), stream));
  kernel<<<blocks(shape, n), shape.block, 0, stream>>>(in, to, n);
}

template <class T>
void add_free_versions(std::vector<Case>& list, const char* task, const T* in, int n) {
  T* to = reinterpret_cast<T*>(out);
  auto one = [&](const char* form, int block, std::function<void()> launch) {
    list.push_back({task, form, n, block, sizeof(T) * n, 1, launch});
  };
  one("v7", shape_of(lab32_launch_reduce_v7).block, [=] { launch_v7(in, to, n); });
  const Lab32Launch best = shape_of(lab32_launch_reduce_v8);
  one("v8", best.block, [=] {
    reduce_v8<T><<<blocks(best, n), best.block, best.dynamic_shared, stream>>>(in, to, n);
  });
  one("CUB", 0, [=] {
    size_t bytes = scratch_bytes;
    CHECK(cub::DeviceReduce::Sum(scratch, bytes, in, to, n, stream));
  });
}

std::vector<Case> versions(int n) {
  std::vector<Case> list;
  launch_per_block(list, "v1", n, 128, 128, reduce_v1);
  launch_per_block(list, "v2", n, 128, 128, reduce_v2);
  launch_per_block(list, "v3", n, 128, 128, reduce_v3);
  launch_per_block(list, "v4", n, 128, 256, reduce_v4);
  launch_per_block(list, "v5", n, 128, 256, reduce_v5);
  launch_per_block(list, "v6", n, 128, 256, reduce_v6<128>);
  add_free_versions(list, "int", ints, n);
  return list;
}

std::vector<Case> variants(int n) {
  std::vector<Case> list;
  using variant::Step;
  launch_per_block(list, "v1, mask", n, 128, 128, variant::v1_mask);
  launch_per_block(list, "v5, volatile", n, 128, 256, variant::v5<Step::is_volatile>);
  launch_per_block(list, "v5, __syncwarp", n, 128, 256, variant::v5<Step::synced>);
  launch_per_block(list, "no tree", n, 128, 256, variant::no_tree, false);
  launch_per_block(list, "empty", n, 128, 256, variant::empty, false);
  launch_per_block(list, "empty, one int per thread", n, 128, 128, variant::empty, false);
  for (int threads : {256, 512, 1024}) {
    const std::string size = ", " + std::to_string(threads) + " threads";
    launch_per_block(list, ("v4" + size).c_str(), n, threads, 2 * threads, reduce_v4);
    launch_per_block(list, ("v6" + size).c_str(), n, threads, 2 * threads,
                     threads == 256   ? reduce_v6<256>
                     : threads == 512 ? reduce_v6<512>
                                      : reduce_v6<1024>);
    launch_per_block(list, ("no tree" + size).c_str(), n, threads, 2 * threads, variant::no_tree,
                     false);
    launch_per_block(list, ("empty" + size).c_str(), n, threads, 2 * threads, variant::empty,
                     false);
  }
  // A grid that fills the GPU once. Its shapes are independent of v7's.
  auto whole = [&](const char* form, auto kernel) {
    list.push_back({"int", form, n, 256, 4 * size_t(n), 1, [=] {
                      CHECK(cudaMemsetAsync(out, 0, 4, stream));
                      int grid = std::min(8 * multiprocessors, ceil_div(n, 16 * 256));
                      kernel<<<grid, 256, 0, stream>>>(ints, out, n);
                    }});
  };
  whole("one load at a time", variant::strided<1>);
  whole("four loads", variant::strided<4>);
  whole("four loads, int4", variant::strided_int4);
  whole("pieces", variant::pieces);
  // v6 down to one number: v7 adds the blocks' sums.
  list.push_back({"int", "v6, then v7", n, 128, 4 * size_t(n), 1, [=] {
                    reduce_v6<128><<<n / 256, 128, 0, stream>>>(ints, out + 64);
                    launch_v7(out + 64, out, n / 256);
                  }});
  return list;
}

std::vector<Case> floats_and_warm(int n) {
  std::vector<Case> list, warm;
  add_free_versions(list, "float", floats, n);
  for (Case& c : versions(n)) warm.push_back(c);
  for (Case& c : list) warm.push_back(c);
  for (Case& c : warm) {
    c.task += ", warm";
    c.warm = true;
    list.push_back(c);
  }
  return list;
}

// ---- the Reduce Tutorial's versions, and active lanes
// --------------------------------------------------------

std::vector<Case> ladder(int n) {
  std::vector<Case> list;
  auto one = [&](const char* form, int block, int per_block, auto kernel) {
    int grid = ceil_div(n, per_block);
    list.push_back({"tutorial", form, n, block, 4 * size_t(n), 1, [=] {
                      CHECK(cudaMemsetAsync(out, 0, 4, stream));
                      kernel<<<grid, block, 0, stream>>>(ints, out, n);
                    }});
  };
  one("naive, 8 threads", 8, 8, tutorial::naive<8>);
  one("two loads, 8 threads", 8, 16, tutorial::two_loads<8>);
  one("no divergence, 8 threads", 8, 8, tutorial::sequential<8>);
  one("naive, 32 threads", 32, 32, tutorial::naive<32>);
  one("two loads, 32 threads", 32, 64, tutorial::two_loads<32>);
  one("no divergence, 32 threads", 32, 32, tutorial::sequential<32>);
  // The tutorial's number of blocks: three quarters of them add only zeros.
  one("int4, four times the blocks", 32, 32, tutorial::vectorised<32>);
  one("int4 staged, 32 threads", 32, 128, tutorial::vectorised<32>);
  one("int4 added, 32 threads", 32, 128, tutorial::coarsened<32>);
  one("shuffle, 32 threads", 32, 128, tutorial::shuffled<32>);
  one("int4 added, 128 threads", 128, 512, tutorial::coarsened<128>);
  one("shuffle, 128 threads", 128, 512, tutorial::shuffled<128>);
  one("naive, 256 threads", 256, 256, tutorial::naive<256>);
  one("no divergence, 256 threads", 256, 256, tutorial::sequential<256>);
  one("int4 staged, 256 threads", 256, 1024, tutorial::vectorised<256>);
  one("int4 added, 256 threads", 256, 1024, tutorial::coarsened<256>);
  one("shuffle, 256 threads", 256, 1024, tutorial::shuffled<256>);
  return list;
}

std::vector<Case> lanes(int n) {
  std::vector<Case> list;
  auto* to = reinterpret_cast<float*>(out);
  auto one = [&](const char* task, const char* form, int block, std::function<void()> launch) {
    list.push_back({task, form, n, block, 8 * size_t(n), 0, launch});
  };
  auto branch = [&](const char* form, void (*kernel)(const float*, float*)) {
    one("branch", form, 256, [=] { kernel<<<n / 256, 256, 0, stream>>>(floats, to); });
  };
  branch("lanes differ, work in both", variant::work_in_both<0>);
  branch("lanes differ, work extracted", variant::work_extracted<0>);
  branch("warps differ, work in both", variant::work_in_both<1>);
  branch("warps differ, work extracted", variant::work_extracted<1>);
  for (int block : {32, 33, 48, 64}) {
    one("blocks", (std::to_string(block) + " threads").c_str(), block,
        [=] { variant::busy<<<ceil_div(n, block), block, 0, stream>>>(floats, to, n); });
  }
  return list;
}

// ---- running them
// --------------------------------------------------------------------------------

bool verified(const Case& c) {
  if (!c.sums) return true;
  CHECK(cudaMemset(out, 0xff, 4));
  c.launch();
  CHECK(cudaGetLastError());
  CHECK(cudaMemsetAsync(expected, 0, 16, stream));
  if (is_float(c)) {
    add_doubles<<<1024, 256, 0, stream>>>(floats, expected, c.n);
    add_doubles<<<1024, 256, 0, stream>>>((float*)out, expected + 1, c.sums);
  } else {
    add_doubles<<<1024, 256, 0, stream>>>(ints, expected, c.n);
    add_doubles<<<1024, 256, 0, stream>>>(out, expected + 1, c.sums);
  }
  double sum[2];
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(sum, expected, sizeof sum, cudaMemcpyDeviceToHost));
  const bool good = fabs(sum[0] - sum[1]) <= (is_float(c) ? 1e-5 * sum[0] : 0);
  if (!good) {
    fprintf(stderr, "%s, %s, n = %d: %.1f instead of %.1f\n", c.task.c_str(), c.form.c_str(), c.n,
            sum[1], sum[0]);
  }
  return good;
}

// Launches back to back, with as much of the input in L2 as fits. A graph of several calls keeps the host
// from being the bottleneck.
timing::Time measure_warm(int repeats, int calls, const std::function<void()>& work) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int k = 0; k < calls; ++k) work();
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int k = 0; k < repeats + 2; ++k) {
    CHECK(cudaEventRecord(start, stream));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaEventSynchronize(stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (k >= 2) times.push_back(ms / calls);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  stream = nullptr;
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front()};
}

bool time_cases(const std::vector<Case>& list) {
  bool good = true;
  for (const Case& c : list) {
    good &= verified(c);
    auto measure = [&](const std::function<void()>& work) {
      if (!c.warm) return timing::measure(31, work);
      return measure_warm(31, c.n > 1 << 26 ? 3 : 20, work);
    };
    const timing::Time time = measure(c.launch);
    CHECK(cudaGetLastError());
    // Copies one half of the input to unused memory: as many bytes as the task moves.
    char* to = static_cast<char*>(scratch) + scratch_bytes;
    const timing::Time copy = measure(
        [&] { CHECK(cudaMemcpyAsync(to, ints, c.useful / 2, cudaMemcpyDeviceToDevice, stream)); });
    printf("\"%s\",\"%s\",%d,%d,%.5f,%.5f,%zu,%.0f,%.5f,%.2f\n", c.task.c_str(), c.form.c_str(),
           c.n, c.block, time.median_ms, time.min_ms, c.useful, c.useful / time.median_ms / 1e6,
           copy.median_ms, time.median_ms / copy.median_ms);
  }
  return good;
}

int time_all() {
  bool good = true;
  printf("task,form,n,block,median_ms,min_ms,useful_bytes,useful_gb_s,copy_ms,times_copy\n");
  for (int n = 1 << 20; n <= 1 << 28; n *= 2) {
    good &= time_cases(versions(n));
    good &= time_cases(variants(n));
    good &= time_cases(floats_and_warm(n));
  }
  good &= time_cases(ladder(100000000));
  good &= time_cases(lanes(1 << 22));
  return good ? 0 : 1;
}

// At the lab's size, for comparison with the simulator's counts, and at the tutorial's. The
// order is printed so that collect.py can label ncu's rows, one per kernel. CUB launches several,
// so it is left out.
void launch_all() {
  std::vector<Case> list;
  auto take = [&](const std::vector<Case>& more) {
    for (const Case& c : more)
      if (c.form != "CUB" && c.form != "v6, then v7") list.push_back(c);
  };
  take(versions(1 << 22));
  take(variants(1 << 22));
  std::vector<Case> float_ones;
  add_free_versions(float_ones, "float", floats, 1 << 22);
  take(float_ones);
  take(ladder(100000000));
  take(lanes(1 << 22));
  int id = 0;
  CHECK(cudaProfilerStart());
  for (const Case& c : list) {
    printf("launch,%d,\"%s\",\"%s\",%d,%d\n", id++, c.task.c_str(), c.form.c_str(), c.n, c.block);
    c.launch();
    CHECK(cudaGetLastError());
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
}

// Counts blocks with a wrong sum, for each way to keep the last warp in step.
void count_wrong_blocks() {
  using variant::Step;
  const int n = 1 << 22, grid = n / 256;
  std::vector<int> in(n), sums(grid);
  CHECK(cudaMemcpy(in.data(), ints, 4 * size_t(n), cudaMemcpyDeviceToHost));
  printf("form,blocks,wrong\n");
  auto one = [&](const char* form, void (*kernel)(const int*, int*)) {
    int wrong = 0;
    kernel<<<grid, 128, 0, stream>>>(ints, out);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(sums.data(), out, 4 * size_t(grid), cudaMemcpyDeviceToHost));
    for (int b = 0; b < grid; ++b) {
      int sum = 0;
      for (int i = 256 * b; i < 256 * (b + 1); ++i) sum += in[i];
      wrong += sum != sums[b];
    }
    printf("\"%s\",%d,%d\n", form, grid, wrong);
  };
  one("nothing", variant::v5<Step::plain>);
  one("volatile", variant::v5<Step::is_volatile>);
  one("half a step, then __syncwarp", variant::v5<Step::half_synced>);
  one("load, __syncwarp, store, __syncwarp", variant::v5<Step::synced>);
  one("shuffles", reduce_v5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what != "time" && what != "counters" && what != "steps") {
    fprintf(stderr, "usage: measure time|counters|steps\n");
    return 2;
  }
  const size_t most = what == "time" ? size_t{1} << 28 : 100000000;
  CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  ints = (int*)timing::allocate(4 * most, 1);
  floats = (float*)timing::allocate(4 * most, 2);
  out = (int*)timing::allocate(std::max(4 * most / 32, size_t{1} << 24), 3);
  make_inputs<<<1024, 256>>>(ints, floats, most);
  CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, ints, out, int(most), stream));
  scratch_bytes = (scratch_bytes + 255) / 256 * 256;
  scratch = timing::allocate(scratch_bytes + 2 * most + 4, 4);
  CHECK(cudaMalloc(&expected, 2 * sizeof(double)));
  CHECK(cudaDeviceSynchronize());
  if (what == "time") return time_all();
  if (what == "counters") launch_all();
  if (what == "steps") count_wrong_blocks();
  return 0;
}
