// Measures the versions of the histogram lab on a real GPU, for four kinds of keys, and CUB beside
// them.
//
//   measure time       CSV on stdout: median times with a cold L2, and those of a device-to-device
//   copy measure counters   launches each kernel once under ncu
//
// measure.sh runs both. The kernels are those of solutions/histogram.
#include <cuda_profiler_api.h>

#include <cub/device/device_histogram.cuh>
#include <string>

#include "../../../tools/measure/timing.cuh"
#include "lab32.cuh"
// The file's records, which this program does not use.
#undef LAB32_ANSWER
#define LAB32_ANSWER(question, value) extern int question
namespace optimised {
#include "../../../../solutions/histogram/histogram.cu"
}

// B2's skeleton, and B1's idea with weights.
namespace variant {

constexpr int kBlock = 256, kKeysPerBlock = 4096;

__global__ void weights_by_device(const int* key, const unsigned* weight, unsigned* bins, int n) {
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&bins[key[i]], weight[i]);
  }
}

__global__ void weights_by_block(const int* key, const unsigned* weight, unsigned* bins, int n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&own[key[i]], weight[i]);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

}  // namespace variant

namespace {

constexpr int kBins = 256, kThreads = 256, kKeysPerBlock = 4096;

enum class Keys { uniform, sorted, constant, few };
constexpr const char* kNames[] = {"uniform", "sorted", "constant", "few"};

// `few`: a warp has at most four different keys, in four banks, as where the grader counts
// wavefronts.
__global__ void make_keys(int* key, unsigned* weight, const unsigned* random, size_t n, Keys kind) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) {
    int drawn = random[i] >> 11 & 255;
    weight[i] = random[i] % 100;
    key[i] = kind == Keys::uniform    ? drawn
             : kind == Keys::sorted   ? static_cast<int>(i * kBins / n)
             : kind == Keys::constant ? 17
                                      : 8 * (drawn & 3);
  }
}

int* key;
unsigned *weight, *random_numbers, *bins, *expected;
void *scratch, *copied;
size_t scratch_bytes;

struct Form {
  std::string name;
  bool weighted;
  std::function<void(int n)> launch;
};

// Each kind of result begins with the form that the others are compared with.
std::vector<Form> forms() {
  const auto begin = [](auto launch) {
    return [=](int n) {
      CHECK(cudaMemsetAsync(bins, 0, kBins * sizeof(unsigned)));
      launch((n + kKeysPerBlock - 1) / kKeysPerBlock, n);
    };
  };
  const auto counts = [&](const char* name, void (*kernel)(const int*, unsigned*, int)) {
    return Form{name, false,
                begin([=](int grid, int n) { kernel<<<grid, kThreads>>>(key, bins, n); })};
  };
  const auto weights = [&](const char* name,
                           void (*kernel)(const int*, const unsigned*, unsigned*, int)) {
    return Form{name, true,
                begin([=](int grid, int n) { kernel<<<grid, kThreads>>>(key, weight, bins, n); })};
  };
  return {counts("device", optimised::histogram_device),
          counts("block", optimised::histogram_block),
          Form{"cub", false,
               [](int n) {
                 CHECK(cub::DeviceHistogram::HistogramEven(scratch, scratch_bytes, key, bins,
                                                           kBins + 1, 0, kBins, n));
               }},
          weights("weights by device", variant::weights_by_device),
          weights("weights by block", variant::weights_by_block),
          weights("aggregated", optimised::histogram_aggregated),
          weights("warp", optimised::histogram_warp)};
}

// Whether the form's counts are those of the first one.
bool verified(const Form& form, Keys kind, int n, bool first) {
  CHECK(cudaMemset(bins, 0xff, kBins * sizeof(unsigned)));
  form.launch(n);
  std::vector<unsigned> got(kBins), want(kBins);
  CHECK(cudaMemcpy(got.data(), bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  if (first) CHECK(cudaMemcpy(expected, bins, kBins * sizeof(unsigned), cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(want.data(), expected, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost));
  size_t sum = 0;
  for (unsigned count : got) sum += count;
  if (got == want && (form.weighted || sum == size_t(n))) return true;
  fprintf(stderr, "%s, %s, n = %d: the counts are wrong\n", form.name.c_str(), kNames[int(kind)],
          n);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::string what = argc == 2 ? argv[1] : "";
  if (what != "time" && what != "counters") {
    fprintf(stderr, "usage: measure time|counters\n");
    return 2;
  }
  const bool timed = what == "time";
  const int most = timed ? 1 << 26 : 1 << 18;
  using timing::allocate;
  key = (int*)allocate(4 * size_t(most), 1), weight = (unsigned*)allocate(4 * size_t(most), 7);
  random_numbers = (unsigned*)allocate(4 * size_t(most), 2);
  bins = (unsigned*)allocate(4 * kBins, 3), expected = (unsigned*)allocate(4 * kBins, 4);
  CHECK(cub::DeviceHistogram::HistogramEven(nullptr, scratch_bytes, key, bins, kBins + 1, 0, kBins,
                                            most));
  scratch = allocate(scratch_bytes + 4, 5), copied = allocate(4 * size_t(most), 6);
  const Keys kinds[] = {Keys::uniform, Keys::sorted, Keys::constant, Keys::few};
  bool good = true;
  int id = 0;
  if (timed)
    printf("task,form,n,block,median_ms,min_ms,useful_bytes,useful_gb_s,copy_ms,times_copy\n");
  for (int n : timed ? std::vector<int>{1 << 22, 1 << 24, 1 << 26} : std::vector<int>{most})
    for (Keys kind : kinds) {
      make_keys<<<1024, 256>>>(key, weight, random_numbers, n, kind);
      CHECK(cudaDeviceSynchronize());
      bool first = true, weighted = false;
      for (const Form& form : forms()) {
        const char* task = kNames[int(kind)];
        if (!timed) {
          // The counters are those of the lab's own kernels; CUB launches several.
          if (form.name == "cub") continue;
          printf("launch,%d,\"%s\",\"%s\",%d,%d\n", id++, task, form.name.c_str(), n, kThreads);
          CHECK(cudaProfilerStart());
          form.launch(n);
          CHECK(cudaDeviceSynchronize());
          CHECK(cudaProfilerStop());
          continue;
        }
        first |= form.weighted != weighted;
        weighted = form.weighted;
        good &= verified(form, kind, n, first);
        first = false;
        const size_t useful = (weighted ? 8 : 4) * size_t(n);
        const timing::Time time = timing::measure(31, [&] { form.launch(n); });
        const timing::Time copy = timing::measure(
            31, [&] { CHECK(cudaMemcpyAsync(copied, key, useful / 2, cudaMemcpyDeviceToDevice)); });
        printf("\"%s\",\"%s\",%d,%d,%.5f,%.5f,%zu,%.0f,%.5f,%.2f\n", task, form.name.c_str(), n,
               kThreads, time.median_ms, time.min_ms, useful, useful / time.median_ms / 1e6,
               copy.median_ms, time.median_ms / copy.median_ms);
      }
    }
  return good ? 0 : 1;
}
