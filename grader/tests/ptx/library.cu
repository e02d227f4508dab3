// Libraries of the toolkit, whose PTX nobody wrote by hand: CUB and cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>

#include <cub/cub.cuh>

namespace cg = cooperative_groups;

void device_wide(void* scratch, size_t& bytes, int* in, int* out, int n) {
  cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
  cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, n);
}

__global__ void block_reduce(int* o) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage scratch;
  const int sum = Reduce(scratch).Sum(o[threadIdx.x]);
  if (threadIdx.x == 0) o[0] = sum;
}

__global__ void groups(int* o) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  int v = cg::reduce(tile, o[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) atomicAdd(o, v);
  block.sync();
  const auto active = cg::coalesced_threads();
  v = active.shfl(v, 0);
  o[active.thread_rank()] = v;
  o[3] = static_cast<int>(cg::this_grid().thread_rank());
}

__global__ void pipeline(float4* out, const float4* in) {
  __shared__ float4 tile[256];
  __pipeline_memcpy_async(tile + threadIdx.x, in + threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[255 - threadIdx.x];
}
