// Barriers that are objects: cuda::barrier with arrive and wait apart, a cuda::pipeline of two
// stages with producers and consumers, memcpy_async of a group.
//! stdout| arrive and wait: 0 wrong
//! stdout| pipeline: sum 130816 of 512, wrong 0
//! stdout| group copy: 0 wrong
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

#pragma nv_diag_suppress static_var_with_dynamic_init

__global__ void apart(int* out) {
  __shared__ Barrier barrier;
  __shared__ int s[2][128];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int v = t;
  for (int round = 0; round < 5; ++round) {
    s[round % 2][t] = v;
    auto token = barrier.arrive();
    v = 2 * t;  // work that needs nobody else
    barrier.wait(std::move(token));
    v += s[round % 2][127 - t];
  }
  out[t] = v;
}

__global__ void through_pipeline(const int* in, int n, int* out) {
  constexpr int kBatch = 64;
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int stage[2][kBatch];
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int batches = n / kBatch;
  int sum = 0;
  for (int compute = 0, fetch = 0; compute < batches; ++compute) {
    for (; fetch < batches && fetch < compute + 2; ++fetch) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, stage[fetch % 2], in + fetch * kBatch, sizeof(int) * kBatch,
                         pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += stage[compute % 2][kBatch - 1 - block.thread_rank()];
    pipeline.consumer_release();
  }
  out[block.thread_rank()] = sum;
}

__global__ void group_copy(const int* in, int* out) {
  __shared__ int s[256];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, in, sizeof s);
  cg::wait(block);
  out[block.thread_rank()] = s[255 - block.thread_rank()];
}

int main() {
  std::vector<int> v(512), got(512);
  for (int i = 0; i < 512; ++i) v[i] = i;
  int *in, *out, wrong = 0, sum = 0;
  cudaMalloc(&in, 2048);
  cudaMalloc(&out, 2048);
  cudaMemcpy(in, v.data(), 2048, cudaMemcpyHostToDevice);

  apart<<<1, 128>>>(out);
  cudaMemcpy(got.data(), out, 512, cudaMemcpyDeviceToHost);
  std::vector<int> now(128), next(128);
  for (int t = 0; t < 128; ++t) now[t] = t;
  for (int round = 0; round < 5; ++round, now = next)
    for (int t = 0; t < 128; ++t) next[t] = 2 * t + now[127 - t];
  for (int t = 0; t < 128; ++t) wrong += got[t] != now[t];
  std::printf("arrive and wait: %d wrong\n", wrong);

  through_pipeline<<<1, 64>>>(in, 512, out);
  cudaMemcpy(got.data(), out, 256, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 64; ++t) {
    int want = 0;
    for (int b = 0; b < 8; ++b) want += v[64 * b + 63 - t];
    wrong += got[t] != want;
    sum += got[t];
  }
  std::printf("pipeline: sum %d of 512, wrong %d\n", sum, wrong);

  group_copy<<<1, 256>>>(in, out);
  cudaMemcpy(got.data(), out, 1024, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 256; ++t) wrong += got[t] != v[255 - t];
  std::printf("group copy: %d wrong\n", wrong);
  return wrong;
}
