// Measures the patterns of the coalescing lab on a real GPU: each task's given and optimised form,
// the kernels of the source document, and the variants that the handout mentions.
//
//   measure time       CSV on stdout: median times with a cold L2, and those of a device-to-device copy
//   measure counters   launches each kernel once under ncu
//
// measure.sh runs both. The kernels are those of labs/ and solutions/ themselves.
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "lab32.cuh"
// Both files define the same records, which this program does not use.
#undef LAB32_ANSWER
#define LAB32_ANSWER(question, value) extern int question
namespace given {
#include "../../../../labs/coalescing/coalescing.cu"
}
namespace optimised {
#include "../../../../solutions/coalescing/coalescing.cu"
}

// Forms that neither file has.
namespace variant {

// B3 without shared memory: two requests of 16 bytes per lane each way instead of eight of 4.
__global__ void push_float4(const given::Particle* in, given::Particle* out, float ex, float ey,
                            float ez, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4* from = reinterpret_cast<const float4*>(in + i);
  float4* to = reinterpret_cast<float4*>(out + i);
  float4 p = from[0], q = from[1];  // x y z vx, vy vz mass charge
  float a = dt * q.w / q.z;
  p.x += dt * p.w;
  p.y += dt * q.x;
  p.z += dt * q.y;
  p.w += a * ex;
  q.x += a * ey;
  q.y += a * ez;
  to[0] = p;
  to[1] = q;
}

// B4: the given pattern, but the four columns of a row belong to the same block.
__global__ void centre_in_block(const float* in, const float* mean, float* out, int n) {
  int row = blockIdx.x * 64 + threadIdx.x;
  int column = threadIdx.y;
  if (row < n) out[4 * row + column] = in[4 * row + column] - mean[column];
}

// B5 with one element per thread and four times the blocks.
__global__ void axpy_one(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// B5 with a thread's four elements loaded separately, all before the first store.
__global__ void axpy_batched(float a, const float* x, float* y, int n) {
  int first = 4 * blockDim.x * blockIdx.x + threadIdx.x;
  float from[4], to[4];
  for (int k = 0; k < 4; ++k) {
    int i = first + k * blockDim.x;
    if (i < n) from[k] = x[i], to[k] = y[i];
  }
  for (int k = 0; k < 4; ++k) {
    int i = first + k * blockDim.x;
    if (i < n) y[i] = a * from[k] + to[k];
  }
}

// These variants of the patterns bypass L1 (ld.global.cg), so that L2 does L1's work.
__global__ void add2_cg(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  z[i] = __ldcg(x + i) + __ldcg(y + i);
}
__global__ void scale_cg(const float* in, float* out, float factor, int n) {
  int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 16; ++k) {
    int i = first + k;
    if (i < n) out[i] = factor * __ldcg(in + i);
  }
}
__global__ void length_aos_cg(const given::Point* p, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = __ldcg(&p[i].x), y = __ldcg(&p[i].y), z = __ldcg(&p[i].z);
  out[i] = sqrtf(x * x + y * y + z * z);
}
// ... and use the read-only path (ld.global.nc).
__global__ void length_aos_ldg(const given::Point* p, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = __ldg(&p[i].x), y = __ldg(&p[i].y), z = __ldg(&p[i].z);
  out[i] = sqrtf(x * x + y * y + z * z);
}

}  // namespace variant

#define CHECK(call)                                                                             \
  do {                                                                                          \
    cudaError_t error = (call);                                                                 \
    if (error != cudaSuccess) {                                                                 \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

namespace {

// Values between 0.5 and 1.5, all different: zeros would be faster and would hide mistakes.
__global__ void fill(float* to, size_t n, unsigned seed) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) {
    unsigned h = unsigned(i) * 2654435761u ^ seed;
    h = (h ^ h >> 15) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    to[i] = 0.5f + float(h >> 8) / float(1 << 24);
  }
}
__global__ void read_all(const float4* from, size_t n, float* sink) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  float sum = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) sum += from[i].x;
  if (sum == 1.0f) *sink = sum;  // never true; it keeps the compiler from removing the loads
}
// Counts values that differ by more than rounding; NaN (the poison) differs from everything.
__global__ void compare(const float* a, const float* b, size_t n, unsigned* wrong) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) {
    if (!(fabsf(a[i] - b[i]) <= 1e-5f * fabsf(b[i]))) atomicAdd(wrong, 1);
  }
}

constexpr size_t kFlush = size_t{512} << 20;  // bytes: several times the L2 of any GPU today
float *a, *b, *out, *expected, *flush;
unsigned* wrong;

float* allocate(size_t floats) {
  float* p;
  CHECK(cudaMalloc(&p, floats * sizeof(float)));
  return p;
}

struct Case {
  std::string task, form;
  int n, block;
  size_t useful;      // bytes that the task must read and write
  size_t out_floats;  // compared with the first form of the task
  std::function<void(int grid)> launch;
  int per_block;  // elements per block
};

std::vector<Case> cases(int n) {
  using given::Particle;
  using given::Point;
  const float e = 0.25f, dt = 0.125f;
  size_t N = n;
  std::vector<Case> list;
  auto add = [&](const char* task, const std::string& form, int count, int block, int per_block,
                 size_t useful, size_t floats, std::function<void(int)> launch) {
    list.push_back({task, form, count, block, useful, floats, launch, per_block});
  };
  for (int block : {64, 256}) {
    std::string suffix = "/" + std::to_string(block);
    auto adds = [&](const char* name, size_t useful, size_t floats, auto kernel) {
      add(name, name + suffix, n, block, block, useful, floats,
          [=](int grid) { kernel<<<grid, block>>>(a, b, out); });
    };
    adds("add1", 12 * N, N, given::add1);
    adds("add2", 12 * N, N, given::add2);
    adds("add2_cg", 12 * N, N, variant::add2_cg);
    adds("add3", 12 * N, N, given::add3);
    adds("add4", 12 * N / 32, N / 32, given::add4);
    adds("add5", 12 * N, N, given::add5);
  }
  for (int stride : {1, 2, 3, 4, 8, 16, 32}) {
    add(("stride " + std::to_string(stride)).c_str(), "copy_strided", n, 256, 256, 8 * N, N,
        [=](int grid) { given::copy_strided<<<grid, 256>>>(a, out, stride); });
  }
  auto scale = [&](const char* form, auto kernel) {
    add("scale", form, n, 256, 4096, 8 * N, N,
        [=](int grid) { kernel<<<grid, 256>>>(a, out, 1.5f, n); });
  };
  scale("given", given::scale);
  scale("optimised", optimised::scale);
  scale("given, ld.cg", variant::scale_cg);
  // Different layouts read different values, so they are not compared (out_floats 0).
  add("fields", "given", n, 256, 256, 8 * N, 0,
      [=](int grid) { given::scale_field<<<grid, 256>>>(a, out, 6, 1.5f, n); });
  add("fields", "optimised", n, 256, 256, 8 * N, 0,
      [=](int grid) { optimised::scale_field<<<grid, 256>>>(a, out, 6, 1.5f, n); });
  auto push = [&](const char* form, auto kernel, auto* from, auto* to) {
    add("push", form, n, 256, 256, 64 * N, 8 * N,
        [=](int grid) { kernel<<<grid, 256>>>(from, to, e, e, e, dt, n); });
  };
  push("given", given::push, (const Particle*)a, (Particle*)out);
  push("optimised", optimised::push, (const optimised::Particle*)a, (optimised::Particle*)out);
  push("float4", variant::push_float4, (const Particle*)a, (Particle*)out);
  auto centre = [&](const char* form, auto kernel) {
    add("centre", form, n / 4, 256, 256, 8 * N, N,
        [=](int grid) { kernel<<<dim3(grid, 4), 256>>>(a, b, out, n / 4); });
  };
  centre("given", given::centre);
  centre("optimised", optimised::centre);
  add("centre", "column = threadIdx.y", n / 4, 256, 64, 8 * N, N,
      [=](int grid) { variant::centre_in_block<<<grid, dim3(64, 4)>>>(a, b, out, n / 4); });
  // axpy updates in place: y drifts equally in all forms with each launch; it is compared after one launch.
  auto axpy = [&](const char* form, int per_block, auto kernel) {
    add("axpy", form, n, 256, per_block, 12 * N, N,
        [=](int grid) { kernel<<<grid, 256>>>(0.5f, a, out, n); });
  };
  axpy("given", 1024, given::axpy);
  axpy("optimised", 1024, optimised::axpy);
  axpy("batched", 1024, variant::axpy_batched);
  axpy("one per thread", 256, variant::axpy_one);
  auto points = [&](const char* form, auto kernel) {
    add("length", form, n, 256, 256, 16 * N, N,
        [=](int grid) { kernel<<<grid, 256>>>((const Point*)a, out, n); });
  };
  points("aos", given::length_aos);
  points("aos, ld.cg", variant::length_aos_cg);
  points("aos, ldg", variant::length_aos_ldg);
  add("length", "soa", n, 256, 256, 16 * N, 0,
      [=](int grid) { given::length_soa<<<grid, 256>>>(a, a + N, a + 2 * N, out, n); });
  return list;
}

void launch(const Case& c) {
  c.launch(ceil_div(c.n, c.per_block));
  CHECK(cudaGetLastError());
}

double median_ms(int repeats, const std::function<void()>& work, double* best) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  std::vector<float> times;
  for (int k = 0; k < repeats + 2; ++k) {
    read_all<<<1024, 256>>>((const float4*)flush, kFlush / 16, out);
    CHECK(cudaEventRecord(start));
    work();
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (k >= 2) times.push_back(ms);  // the first two warm up
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  std::sort(times.begin(), times.end());
  *best = times.front();
  return times[times.size() / 2];
}

// Runs once from known buffers and compares with the first form of the task.
bool verified(const Case& c, bool first) {
  size_t reach = std::max<size_t>(c.out_floats, 1) + 1;
  CHECK(cudaMemset(out, 0xff, reach * sizeof(float)));
  if (c.task == "axpy") fill<<<1024, 256>>>(out, c.n, 3);
  launch(c);
  if (!c.out_floats) return true;
  if (c.task.compare(0, 3, "add") == 0) return true;  // each form writes different places
  if (first) {
    CHECK(cudaMemcpy(expected, out, c.out_floats * sizeof(float), cudaMemcpyDeviceToDevice));
  }
  CHECK(cudaMemset(wrong, 0, sizeof(unsigned)));
  compare<<<1024, 256>>>(out, expected, c.out_floats, wrong);
  unsigned count;
  CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
  if (count) fprintf(stderr, "%s, %s: %u values differ\n", c.task.c_str(), c.form.c_str(), count);
  return count == 0;
}

int time_all() {
  bool good = true;
  printf("task,form,n,block,median_ms,min_ms,useful_bytes,useful_gb_s,copy_ms,times_copy\n");
  for (int n : {1 << 20, 1 << 24, 1 << 26}) {
    std::string task;
    for (const Case& c : cases(n)) {
      good &= verified(c, c.task != task);
      task = c.task;
      double best, copy_best;
      double ms = median_ms(
          31, [&] { launch(c); }, &best);
      double copy = median_ms(
          31, [&] { CHECK(cudaMemcpyAsync(out, a, c.useful / 2, cudaMemcpyDeviceToDevice)); },
          &copy_best);
      printf("%s,\"%s\",%d,%d,%.5f,%.5f,%zu,%.0f,%.5f,%.2f\n", c.task.c_str(), c.form.c_str(), c.n,
             c.block, ms, best, c.useful, c.useful / ms / 1e6, copy, ms / copy);
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
  // The largest case is stride 32 at 2^26. ncu saves and restores what a kernel may write, so it
  // gets less.
  size_t floats = size_t{1} << (what == "time" ? 31 : 26);
  a = allocate(floats), b = allocate(floats / 4), out = allocate(floats / 2);
  expected = allocate(floats / 2), flush = allocate(kFlush / 4);
  CHECK(cudaMalloc(&wrong, sizeof *wrong));
  fill<<<1024, 256>>>(a, floats, 1);
  fill<<<1024, 256>>>(b, floats / 4, 2);
  fill<<<1024, 256>>>(out, floats / 2, 3);
  fill<<<1024, 256>>>(flush, kFlush / 4, 4);
  CHECK(cudaDeviceSynchronize());
  if (what == "time") return time_all();

  // The tasks run at 2^20, and the document's kernels also at its 8 Mi threads. The order is
  // printed so that collect.py can label ncu's rows.
  int id = 0;
  CHECK(cudaProfilerStart());
  for (int n : {1 << 20, 1 << 23}) {
    for (const Case& c : cases(n)) {
      if (n == 1 << 23 && c.task.compare(0, 3, "add") != 0) continue;
      printf("launch,%d,%s,\"%s\",%d,%d\n", id++, c.task.c_str(), c.form.c_str(), c.n, c.block);
      launch(c);
    }
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
  return 0;
}
