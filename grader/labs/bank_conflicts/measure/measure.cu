// Measures the patterns of the bank-conflict lab on a real GPU: each task's given and optimised form,
// the kernels of the Reduce Tutorial, and the variants that the handout mentions.
//
//   measure time       CSV on stdout: median times with a cold L2, and those of a device-to-device copy
//   measure counters   launches each kernel once under ncu
//
// measure.sh runs both. The kernels are those of labs/, solutions/ and grader/tests/fixtures/documented/.
#include <cuda_profiler_api.h>

#include <string>

#include "../../../tools/measure/timing.cuh"
#include "lab32.cuh"
// Both files define the same records, which this program does not use.
#undef LAB32_ANSWER
#define LAB32_ANSWER(question, value) extern int question
namespace given {
#include "../../../../labs/bank_conflicts/bank_conflicts.cu"
}
namespace optimised {
#include "../../../../solutions/bank_conflicts/bank_conflicts.cu"
}
namespace documented {
#include "../../../../grader/tests/fixtures/documented/bank_conflicts.cu"
#include "../../../../grader/tests/fixtures/documented/reduce.cu"
template __global__ void reduce_eliminate_divergence<256>(const int*, int*, int);
}  // namespace documented

// Forms that neither file has.
namespace variant {

constexpr int kBlock = 256;

// B1 without padding: each row rotates its columns by its number.
__global__ void row_scan_xor(const int* in, int* out, int n) {
  __shared__ int tile[kBlock * 32];
  int first = kBlock * blockIdx.x;
  int words = 32 * min(kBlock, n - first);
  auto at = [](int row, int c) { return 32 * row + (c ^ row % 32); };
  for (int j = threadIdx.x; j < words; j += kBlock) tile[at(j / 32, j % 32)] = in[32 * first + j];
  __syncthreads();
  if (32 * threadIdx.x < words) {
    int sum = 0;
#pragma unroll 1
    for (int c = 0; c < 32; ++c) {
      sum += tile[at(threadIdx.x, c)];
      tile[at(threadIdx.x, c)] = sum;
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < words; j += kBlock) out[32 * first + j] = tile[at(j / 32, j % 32)];
}

// B2 with padding, and with the table stored by columns, which moves the conflict to the stores.
template <int kRowStep, int kColumnStep>
__global__ void look_up(const int* table, const unsigned char* row, const int* column, int* out,
                        int n) {
  __shared__ int entries[255 * kRowStep + 31 * kColumnStep + 1];
  for (int j = threadIdx.x; j < 256 * 32; j += kBlock) {
    entries[j / 32 * kRowStep + j % 32 * kColumnStep] = table[j];
  }
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) out[i] = entries[row[i] * kRowStep + column[i / 32] * kColumnStep];
  }
}

// B5 with the lanes' histograms stored one after the other: all lanes' words of a channel share a bank.
__global__ void spectrum_lane_major(const unsigned* events, unsigned* total, int n) {
  constexpr int kChannels = 64;
  __shared__ unsigned energy[kChannels * 32];
  int lane = threadIdx.x % 32;
  for (int j = threadIdx.x; j < kChannels * 32; j += kBlock) energy[j] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) atomicAdd(&energy[kChannels * lane + events[i] % kChannels], events[i] / kChannels);
  }
  __syncthreads();
  if (threadIdx.x < kChannels) {
    unsigned sum = 0;
    for (int k = 0; k < 32; ++k) sum += energy[kChannels * k + threadIdx.x];
    atomicAdd(&total[threadIdx.x], sum);
  }
}

// Counts instead of adding weights: ptxas has a special instruction for adding the constant 1.
__global__ void count_shared(const unsigned* events, unsigned* total, int n) {
  constexpr int kChannels = 64;
  __shared__ unsigned count[kChannels];
  if (threadIdx.x < kChannels) count[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) atomicAdd(&count[events[i] % kChannels], 1u);
  }
  __syncthreads();
  if (threadIdx.x < kChannels) atomicAdd(&total[threadIdx.x], count[threadIdx.x]);
}

}  // namespace variant

namespace {

unsigned *in, *even, *out, *expected, *wrong;
int *table, *column;
unsigned char* ramp;

// Rows that follow one another with random starts, 256 apart, and events of which seven in eight have
// channel 17, like the inputs that the grader draws.
__global__ void make_inputs(unsigned char* ramp, int* column, unsigned* events, size_t n) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) {
    unsigned warp = unsigned(i / 256) * 2654435761u >> 8;
    ramp[i] = static_cast<unsigned char>(warp + i);
    if (i % 32 == 0) column[i / 32] = (unsigned(i / 32) * 2246822519u >> 16) % 32;
    unsigned h = events[i];
    unsigned channel = h >> 20 & 7 ? 17 : h >> 24 & 63;
    events[i] = (1 + h % 1000) * 64 + channel;
  }
}

// The events of `even` are distributed evenly over the channels.
__global__ void make_even(unsigned* events, size_t n) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) {
    events[i] = (1 + events[i] % 1000) * 64 + (events[i] >> 24 & 63);
  }
}

__global__ void compare(const unsigned* a, const unsigned* b, size_t n, unsigned* wrong) {
  size_t step = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += step) {
    if (a[i] != b[i]) atomicAdd(wrong, 1);
  }
}

struct Case {
  std::string task, form;
  int n, block, per_block;
  size_t useful;     // bytes that the task must read and write
  size_t out_words;  // compared with the first form of the task
  std::function<void(int grid)> launch;
};

// `words` is the size in ints of the larger of input and output: 2^26 for timing.
std::vector<Case> cases(int words) {
  std::vector<Case> list;
  auto add = [&](const char* task, const char* form, int n, int block, int per_block,
                 size_t useful, size_t out_words, std::function<void(int)> launch) {
    list.push_back({task, form, n, block, per_block, useful, out_words, launch});
  };
  const int* ints = reinterpret_cast<const int*>(in);
  int* to = reinterpret_cast<int*>(out);
  const int n = words;
  const size_t N = n;

  const int rows = n / 32;
  auto scan = [&](const char* form, auto kernel) {
    add("row_scan", form, rows, 256, 256, 8 * N, N,
        [=](int grid) { kernel<<<grid, 256>>>(ints, to, rows); });
  };
  scan("given", given::row_scan);
  scan("optimised", optimised::row_scan);
  scan("xor", variant::row_scan_xor);

  auto look = [&](const char* form, auto kernel) {
    add("look_up", form, n, 256, 16384, 5 * N + N / 8, N,
        [=](int grid) { kernel<<<grid, 256>>>(table, ramp, column, to, n); });
  };
  look("given", given::look_up);
  look("optimised", optimised::look_up);
  look("padded", variant::look_up<33, 1>);
  look("by columns", variant::look_up<1, 256>);

  auto sums = [&](const char* form, auto kernel) {
    add("block_sums", form, n, 256, 256, 4 * N + N / 64, N / 256,
        [=](int grid) { kernel<<<grid, 256>>>(ints, to, n); });
  };
  sums("given", given::block_sums);
  sums("optimised", optimised::block_sums);

  const int image = n / 8;  // rows of 32 bytes
  auto moments = [&](const char* form, auto kernel) {
    add("row_moments", form, image, 256, 256, 36 * size_t(image), image,
        [=](int grid) { kernel<<<grid, 256>>>((const uchar4*)in, to, image); });
  };
  moments("given", given::row_moments);
  moments("optimised", optimised::row_moments);

  auto spectrum = [&](const char* task, const char* form, auto kernel, const unsigned* events) {
    add(task, form, n, 256, 16384, 4 * N, 64, [=](int grid) {
      CHECK(cudaMemsetAsync(out, 0, 256));
      kernel<<<grid, 256>>>(events, out, n);
    });
  };
  spectrum("spectrum", "given", given::spectrum, in);
  spectrum("spectrum", "optimised", optimised::spectrum, in);
  spectrum("spectrum", "lane by lane", variant::spectrum_lane_major, in);
  spectrum("spectrum_even", "given", given::spectrum, even);
  spectrum("spectrum_even", "optimised", optimised::spectrum, even);
  spectrum("count", "given", variant::count_shared, in);
  spectrum("count_even", "given", variant::count_shared, even);

  add("stage", "int", n, 256, 1024, 8 * N, N,
      [=](int grid) { documented::stage_int<<<grid, 256>>>(ints, to); });
  add("stage", "int4", n, 256, 1024, 8 * N, 0, [=](int grid) {  // swaps int4s, not ints
    documented::stage_int4<<<grid, 256>>>((const int4*)in, (int4*)out);
  });

  return list;
}

// The launches of the Reduce Tutorial: 10^8 ints, or fewer if only the pattern matters.
std::vector<Case> tutorial(int len) {
  std::vector<Case> list;
  auto reduce = [&](const char* form, int block, int per_block, auto kernel) {
    list.push_back({"tutorial", form, len, block, per_block, 4 * size_t(len), 1, [=](int grid) {
                      CHECK(cudaMemsetAsync(out, 0, 4));
                      kernel<<<grid, block>>>((const int*)in, (int*)out, len);
                    }});
  };
  reduce("int, 8 threads", 8, 8, documented::reduce_eliminate_divergence<8>);
  reduce("int, 32 threads", 32, 32, documented::reduce_eliminate_divergence<32>);
  reduce("int, 256 threads", 256, 256, documented::reduce_eliminate_divergence<256>);
  reduce("int4, 32 threads", 32, 128, documented::reduce_vectorized<32>);
  return list;
}

void launch(const Case& c) {
  c.launch(ceil_div(c.n, c.per_block));
  CHECK(cudaGetLastError());
}

// Runs once on poisoned output and compares it with the first form of the task.
bool verified(const Case& c, bool first) {
  if (!c.out_words) return true;
  CHECK(cudaMemset(out, 0xff, c.out_words * 4));
  launch(c);
  if (first) CHECK(cudaMemcpy(expected, out, c.out_words * 4, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemset(wrong, 0, sizeof(unsigned)));
  compare<<<1024, 256>>>(out, expected, c.out_words, wrong);
  unsigned count;
  CHECK(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
  if (count) fprintf(stderr, "%s, %s: %u words differ\n", c.task.c_str(), c.form.c_str(), count);
  return count == 0;
}

bool time_cases(const std::vector<Case>& list) {
  bool good = true;
  std::string task;
  for (const Case& c : list) {
    good &= verified(c, c.task != task);
    task = c.task;
    const timing::Time time = timing::measure(31, [&] { launch(c); });
    const timing::Time copy = timing::measure(
        31, [&] { CHECK(cudaMemcpyAsync(expected, in, c.useful / 2, cudaMemcpyDeviceToDevice)); });
    // The copy has overwritten the reference output of the next form.
    if (c.out_words) CHECK(cudaMemcpy(expected, out, c.out_words * 4, cudaMemcpyDeviceToDevice));
    printf("\"%s\",\"%s\",%d,%d,%.5f,%.5f,%zu,%.0f,%.5f,%.2f\n", c.task.c_str(), c.form.c_str(),
           c.n, c.block, time.median_ms, time.min_ms, c.useful, c.useful / time.median_ms / 1e6,
           copy.median_ms, time.median_ms / copy.median_ms);
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  std::string what = argc == 2 ? argv[1] : "";
  if (what != "time" && what != "counters") {
    fprintf(stderr, "usage: measure time|counters\n");
    return 2;
  }
  // The tutorial's 10^8 ints are in `in` in both modes; ncu saves and restores what a kernel may write.
  const size_t most = size_t{1} << 27, words = what == "time" ? most : size_t{1} << 20;
  using timing::allocate;
  in = (unsigned*)allocate(4 * most, 1), even = (unsigned*)allocate(4 * words, 2);
  out = (unsigned*)allocate(4 * words, 3), expected = (unsigned*)allocate(4 * words, 4);
  table = (int*)allocate(4 * 256 * 32, 5), column = (int*)allocate(words / 8, 6);
  ramp = (unsigned char*)allocate(words, 7), wrong = (unsigned*)allocate(256, 8);
  make_inputs<<<1024, 256>>>(ramp, column, in, words);
  make_even<<<1024, 256>>>(even, words);
  CHECK(cudaDeviceSynchronize());
  if (what == "time") {
    printf("task,form,n,block,median_ms,min_ms,useful_bytes,useful_gb_s,copy_ms,times_copy\n");
    bool good = time_cases(cases(1 << 24));
    good &= time_cases(cases(1 << 26));
    good &= time_cases(tutorial(100000000));
    return good ? 0 : 1;
  }

  // At sizes of the lab's limits, so that the simulator's counts can be compared. The launch
  // order is printed so that collect.py can label ncu's rows.
  int id = 0;
  CHECK(cudaProfilerStart());
  std::vector<Case> list = cases(1 << 18);
  for (int len : {1 << 20, 100000000}) {
    const std::vector<Case> others = tutorial(len);
    list.insert(list.end(), others.begin(), others.end());
  }
  for (const Case& c : list) {
    printf("launch,%d,\"%s\",\"%s\",%d,%d\n", id++, c.task.c_str(), c.form.c_str(), c.n, c.block);
    launch(c);
  }
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
  return 0;
}
