// An asynchronous copy is complete when its thread has waited for it. A barrier does not help.
//! case prior_1
//! check: race 1
//! case prior_0
//! stdout| 381
//! case no_wait
//! check: race 1
//! case own_data
//! check: race 1
//! case overwritten
//! check: race 1
//! case two_stages
//! stdout| 381
//! case whole_group
//! stdout| 381
//! case whole_group_prior_1
//! check: race 1
//! case mbarrier_waited
//! stdout| 381
//! case mbarrier_not_waited
//! check: race 1
//! case mbarrier_own_data
//! check: race 1
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>

#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;

constexpr int kThreads = 64, kRounds = 3;

// Each round copies 64 numbers; thread t adds the one that thread 63 - t has copied.
template <int prior, bool waits, bool own>
__global__ void sum(const int* a, int* out) {
  __shared__ int s[kThreads];
  int t = threadIdx.x, x = 0;
  s[t] = -1;
  __syncthreads();
  for (int r = 0; r < kRounds; r++) {
    __pipeline_memcpy_async(&s[t], &a[r * kThreads + t], 4);
    __pipeline_commit();
    if (waits) __pipeline_wait_prior(prior);
    __syncthreads();
    x += s[own ? t : 63 - t];
    __syncthreads();
  }
  out[t] = x;
}

__global__ void overwrite(const int* a, int* out) {
  __shared__ int s[kThreads];
  __pipeline_memcpy_async(&s[threadIdx.x], &a[threadIdx.x], 4);
  __pipeline_commit();
  s[threadIdx.x] = 5;
  __pipeline_wait_prior(0);
  out[threadIdx.x] = s[threadIdx.x];
}

__global__ void two_stages(const int* a, int* out) {
  __shared__ int s[2][kThreads];
  int t = threadIdx.x, x = 0;
  for (int r = 0; r <= kRounds; r++) {
    if (r < kRounds) __pipeline_memcpy_async(&s[r % 2][t], &a[r * kThreads + t], 4);
    __pipeline_commit();
    if (r > 0) {
      __pipeline_wait_prior(1);
      __syncthreads();
      x += s[(r - 1) % 2][63 - t];
      __syncthreads();
    }
  }
  out[t] = x;
}

template <int prior>
__global__ void whole_group(const int* a, int* out) {
  __shared__ int s[kThreads];
  cg::thread_block block = cg::this_thread_block();
  int t = threadIdx.x, x = 0;
  for (int r = 0; r < kRounds; r++) {
    cg::memcpy_async(block, s, a + r * kThreads, sizeof s);
    cg::wait_prior<prior>(block);
    x += s[63 - t];
    block.sync();
  }
  out[t] = x;
}

// An mbarrier counts the copies, so they are complete for a thread that has waited for it.
template <bool waits, bool own>
__global__ void counted_copies(const int* a, int* out) {
  __shared__ int s[kThreads];
  __shared__ __mbarrier_t ready;
  int t = threadIdx.x, x = 0;
  if (t == 0) __mbarrier_init(&ready, kThreads);
  __syncthreads();
  for (int r = 0; r < kRounds; r++) {
    __pipeline_memcpy_async(&s[t], &a[r * kThreads + t], 4);
    __pipeline_arrive_on(&ready);
    __mbarrier_token_t token = __mbarrier_arrive(&ready);
    if (waits)
      while (!__mbarrier_test_wait(&ready, token)) {}
    else if (!own)
      __syncthreads();
    x += s[own ? t : 63 - t];
    __syncthreads();
  }
  out[t] = x;
}

struct Case {
  const char* name;
  void (*kernel)(const int*, int*);
  bool defined;
};

const Case kCases[] = {
    {"prior_1", sum<1, true, false>, false},   {"prior_0", sum<0, true, false>, true},
    {"no_wait", sum<0, false, false>, false},  {"own_data", sum<1, true, true>, false},
    {"overwritten", overwrite, false},         {"two_stages", two_stages, true},
    {"whole_group", whole_group<0>, true},     {"whole_group_prior_1", whole_group<1>, false},
    {"mbarrier_waited", counted_copies<true, false>, true},
    {"mbarrier_not_waited", counted_copies<false, false>, false},
    {"mbarrier_own_data", counted_copies<false, true>, false},
};

int main(int, char** argv) {
  static int h[kRounds * kThreads];
  for (int i = 0; i < kRounds * kThreads; i++) h[i] = i;
  int *a, *o;
  cudaMalloc(&a, sizeof h);
  cudaMalloc(&o, kThreads * sizeof(int));
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  for (const Case& one : kCases) {
    if (std::strcmp(one.name, argv[1]) != 0) continue;
    one.kernel<<<1, kThreads>>>(a, o);
    int first = 0;
    cudaMemcpy(&first, o, sizeof first, cudaMemcpyDeviceToHost);
    if (one.defined) std::printf("%d\n", first);
  }
  return 0;
}
