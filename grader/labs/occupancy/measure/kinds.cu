// Measures kinds of memory: constant memory against its alternatives, the read-only path, textures,
// and computing values instead of loading them.
//
//   kinds time       CSV on stdout: median times of a launch, cold L2
//   kinds counters   launches each once under ncu
#include <cuda_profiler_api.h>

#include <string>
#include <vector>

#include "../../../tools/measure/timing.cuh"
#include "kinds.cuh"
#include "lab32.cuh"

namespace {

constexpr int kThreads = 132 * 2048, kSide = 4096, kPoints = 1 << 26;
float *table, *large_table, *in, *window, *out, *expected;
unsigned *index_, *wrong;
cudaTextureObject_t texture;

__global__ void fill_floats(float* to, size_t n) {
  size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  unsigned h = unsigned(i) * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  if (i < n) to[i] = 1 + ((h ^ h >> 13) >> 9) / 8388608.0f;
}
__global__ void compare(const float* a, const float* b, size_t n, unsigned* wrong) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step)
    if (!(fabsf(a[i] - b[i]) <= 1e-5f * fabsf(b[i]))) atomicAdd(wrong, 1);
}

struct Case {
  std::string task, form;
  int n;
  std::function<void()> launch;
};

std::vector<Case> cases(int points) {
  std::vector<Case> list;
  for (int places : {256, kinds::kTable})
    for (int addresses : {1, 2, 4, 8, 16, 32}) {
      const std::string task =
          std::to_string(places / 256) + " KiB, " + std::to_string(addresses) + " places";
      const int n = kThreads, blocks = n / 256;
      list.push_back({task, "constant", n, [=] {
                        kinds::from_constant<<<blocks, 256>>>(out, n, addresses, places);
                      }});
      list.push_back({task, "global", n, [=] {
                        kinds::from_global<<<blocks, 256>>>(table, out, n, addresses, places);
                      }});
      list.push_back({task, "shared", n, [=] {
                        kinds::from_shared<<<blocks, 256>>>(table, out, n, addresses, places);
                      }});
    }
  const int terms = 1 << 22;
  list.push_back({"polynomial", "constant", terms,
                  [=] { kinds::terms_constant<<<terms / 256, 256>>>(in, out, terms); }});
  list.push_back({"polynomial", "global", terms,
                  [=] { kinds::terms_global<<<terms / 256, 256>>>(in, table, out, terms); }});
  list.push_back({"polynomial", "shared", terms,
                  [=] { kinds::terms_shared<<<terms / 256, 256>>>(in, table, out, terms); }});
  for (unsigned mask : {(1u << 15) - 1, (1u << 20) - 1}) {
    const std::string task = "gather, " + std::to_string((mask + 1) / 256) + " KiB";
    list.push_back({task, "plain", kThreads, [=] {
                      kinds::gather_plain<<<1056, 256>>>(large_table, index_, out, kThreads, mask);
                    }});
    list.push_back({task, "read-only", kThreads, [=] {
                      kinds::gather_read_only<<<1056, 256>>>(large_table, index_, out, kThreads,
                                                             mask);
                    }});
  }
  const dim3 grid(kSide / 32, kSide / 8);
  const char* names[] = {"image, rows", "image, columns", "image, diagonals"};
  for (kinds::Walk walk : {kinds::rows, kinds::columns, kinds::diagonals}) {
    list.push_back({names[walk], "global", kSide * kSide,
                    [=] { kinds::image_global<<<grid, 256>>>(in, out, kSide, walk); }});
    list.push_back({names[walk], "texture", kSide * kSide,
                    [=] { kinds::image_texture<<<grid, 256>>>(texture, out, kSide, walk); }});
  }
  const float step = 6.2831853f / points;
  list.push_back({"window", "loaded", points, [=] {
                    kinds::window_loaded<<<points / 1024, 256>>>(
                        (const float4*)in, (const float4*)window, (float4*)out, points);
                  }});
  list.push_back({"window", "computed", points, [=] {
                    kinds::window_computed<<<points / 1024, 256>>>((const float4*)in, (float4*)out,
                                                                   points, step);
                  }});
  return list;
}

bool verified(const Case& c, bool first) {
  CHECK(cudaMemset(out, 0xff, c.n * 4ull));
  c.launch();
  CHECK(cudaGetLastError());
  if (first) CHECK(cudaMemcpy(expected, out, c.n * 4ull, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemset(wrong, 0, sizeof(unsigned)));
  compare<<<1024, 256>>>(out, expected, c.n, wrong);
  unsigned count;
  CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
  if (count) fprintf(stderr, "%s, %s: %u values differ\n", c.task.c_str(), c.form.c_str(), count);
  return count == 0;
}

cudaTextureObject_t make_texture() {
  cudaArray_t array;
  cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&array, &floats, kSide, kSide));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, in, kSide * 4, kSide * 4, kSide,
                            cudaMemcpyDeviceToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModePoint;
  how.readMode = cudaReadModeElementType;
  cudaTextureObject_t made;
  CHECK(cudaCreateTextureObject(&made, &resource, &how, nullptr));
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what != "time" && what != "counters") {
    fprintf(stderr, "usage: kinds time|counters\n");
    return 2;
  }
  const int points = what == "time" ? kPoints : kSide * kSide;
  table = (float*)timing::allocate(kinds::kTable * 4, 1);
  fill_floats<<<kinds::kTable / 256, 256>>>(table, kinds::kTable);
  CHECK(cudaMemcpyToSymbol(kinds::constant_table, table, kinds::kTable * 4, 0,
                           cudaMemcpyDeviceToDevice));
  large_table = (float*)timing::allocate(4 << 20, 1);
  fill_floats<<<4096, 256>>>(large_table, 1 << 20);
  index_ = (unsigned*)timing::allocate(kThreads * 4, 7);
  in = (float*)timing::allocate(points * 4ull, 1);
  fill_floats<<<points / 256, 256>>>(in, points);
  window = (float*)timing::allocate(points * 4ull, 1);
  kinds::fill_window<<<1024, 256>>>(window, points, 6.2831853f / points);
  out = (float*)timing::allocate(points * 4ull, 2);
  expected = (float*)timing::allocate(points * 4ull, 3);
  CHECK(cudaMalloc(&wrong, sizeof *wrong));
  texture = make_texture();
  CHECK(cudaDeviceSynchronize());
  bool good = true;
  std::string before;
  if (what == "time") {
    printf("task,form,n,median_ms,min_ms\n");
    for (const Case& c : cases(points)) {
      good &= verified(c, c.task != before);
      before = c.task;
      const timing::Time time = timing::measure(21, c.launch);
      printf("\"%s\",%s,%d,%.5f,%.5f\n", c.task.c_str(), c.form.c_str(), c.n, time.median_ms,
             time.min_ms);
    }
    return good ? 0 : 1;
  }
  // The launch order is printed so that collect.py can label ncu's rows.
  int id = 0;
  CHECK(cudaProfilerStart());
  for (const Case& c : cases(points)) {
    printf("launch,%d,\"%s\",%s,%d,256\n", id++, c.task.c_str(), c.form.c_str(), c.n);
    c.launch();
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
  return 0;
}
