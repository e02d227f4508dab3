// Whole kernels that move data by other means than the lanes' loads and stores, each launched once, to measure
// their counters, caches and device memory.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

constexpr int kWide = 1024, kHigh = 1024, kCount = kWide * kHigh, kTile = 32;

#define CHECK(call)                                                            \
  do {                                                                         \
    if (const cudaError_t e = (call); e != cudaSuccess) {                      \
      std::fprintf(stderr, "kernels: %s: %s\n", #call, cudaGetErrorString(e)); \
      std::exit(2);                                                            \
    }                                                                          \
  } while (0)

__global__ void fetch_copy(cudaTextureObject_t in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = tex1Dfetch<float>(in, i);
}
__global__ void fetch_reversed(cudaTextureObject_t in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(in, n - 1 - i);
}
__global__ void array_copy(cudaTextureObject_t in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * kWide + x] = tex2D<float>(in, x + 0.5f, y + 0.5f);
}
__global__ void array_transpose(cudaTextureObject_t in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * kWide + x] = tex2D<float>(in, y + 0.5f, x + 0.5f);
}
__global__ void blur(cudaTextureObject_t in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += tex2D<float>(in, x + dx + 0.5f, y + dy + 0.5f);
  out[y * kWide + x] = sum / 9;
}
__global__ void box_filter(cudaTextureObject_t in, float* out, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) sum += tex2D<float>(in, x + dx + 0.5f, y + dy + 0.5f);
  out[y * kWide + x] = sum;
}
__global__ void zoom(cudaTextureObject_t in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * kWide + x] = tex2D<float>(in, 0.7f * x + 100, 0.7f * y + 100);
}
__global__ void surface_copy(cudaSurfaceObject_t in, cudaSurfaceObject_t out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  surf2Dwrite(surf2Dread<float>(in, 4 * x, y), out, 4 * x, y);
}

__device__ uint32_t here(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }
__device__ void wait_for(uint32_t barrier, int phase) {
  int done = 0;
  while (done == 0)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(barrier), "r"(phase) : "memory");
}
__device__ void ready(uint32_t barrier) {
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  __syncthreads();
}

// Rows of 4096 floats are copied in and out.
__global__ void bulk_copy(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[4096];
  __shared__ uint64_t arrived;
  ready(here(&arrived));
  if (threadIdx.x != 0) return;
  int phase = 0;
  for (int first = 4096 * blockIdx.x; first < n; first += 4096 * gridDim.x, phase ^= 1) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(here(&arrived)), "r"(16384) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(here(tile)), "l"(in + first), "r"(16384), "r"(here(&arrived)) : "memory");
    wait_for(here(&arrived), phase);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + first),
                 "r"(here(tile)), "r"(16384) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

// Boxes of 32 x 32 are copied in; the lanes store their transposes.
__global__ void box_transpose(const __grid_constant__ CUtensorMap in, float* out) {
  __shared__ alignas(1024) float tile[kTile][kTile];
  __shared__ uint64_t arrived;
  ready(here(&arrived));
  const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(here(&arrived)), "r"(4096) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4}], [%2];"
                 ::"r"(here(tile)), "l"(&in), "r"(here(&arrived)), "r"(x), "r"(y) : "memory");
  }
  wait_for(here(&arrived), 0);
  for (int i = threadIdx.x / 32; i < kTile; i += blockDim.x / 32)
    out[(x + i) * kHigh + y + threadIdx.x % 32] = tile[threadIdx.x % 32][i];
}

// Each block of a cluster of four holds a quarter of a histogram.
__global__ void __cluster_dims__(4) histogram(const int* in, int* out, int n) {
  __shared__ int counts[64];
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x < 64) counts[threadIdx.x] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int bin = in[i];
    atomicAdd(cluster.map_shared_rank(counts, bin / 64) + bin % 64, 1);
  }
  cluster.sync();
  if (threadIdx.x < 64) atomicAdd(out + cluster.block_rank() * 64 + threadIdx.x, counts[threadIdx.x]);
}

// Each block reads its tile's halo from its neighbours in the cluster.
__global__ void __cluster_dims__(4) exchange(const float* in, float* out) {
  __shared__ float tile[256];
  cg::cluster_group cluster = cg::this_cluster();
  const int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x] = in[i];
  cluster.sync();
  const float* next = cluster.map_shared_rank(tile, (cluster.block_rank() + 1) % 4);
  float sum = 0;
  for (int k = 1; k <= 8; ++k) sum += threadIdx.x + k < 256 ? tile[threadIdx.x + k] : next[threadIdx.x + k - 256];
  out[i] = sum;
  cluster.sync();
}

int main() {
  float *in, *out;
  int *bins, *counts;
  CHECK(cudaMalloc(&in, kCount * sizeof(float)));
  CHECK(cudaMalloc(&out, kCount * sizeof(float)));
  CHECK(cudaMalloc(&bins, kCount * sizeof(int)));
  CHECK(cudaMalloc(&counts, 256 * sizeof(int)));
  std::vector<int> values(kCount);
  uint32_t seed = 1;
  for (int& v : values) v = int((seed = seed * 1664525u + 1013904223u) >> 24);
  CHECK(cudaMemcpy(bins, values.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(in, 0, kCount * sizeof(float)));
  CHECK(cudaMemset(out, 0, kCount * sizeof(float)));
  CHECK(cudaMemset(counts, 0, 256 * sizeof(int)));
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaResourceDesc linear{}, array{}, other{};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear = {in, format, kCount * sizeof(float)};
  array.resType = other.resType = cudaResourceTypeArray;
  for (cudaResourceDesc* r : {&array, &other}) {
    CHECK(cudaMallocArray(&r->res.array.array, &format, kWide, kHigh, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(r->res.array.array, 0, 0, values.data(), kWide * 4, kWide * 4, kHigh,
                              cudaMemcpyHostToDevice));
  }
  cudaTextureDesc plain{}, filtered{};
  for (cudaTextureDesc* d : {&plain, &filtered})
    for (auto& mode : d->addressMode) mode = cudaAddressModeClamp;
  filtered.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t fetched, points, smooth;
  cudaSurfaceObject_t from, to;
  CHECK(cudaCreateTextureObject(&fetched, &linear, &plain, nullptr));
  CHECK(cudaCreateTextureObject(&points, &array, &plain, nullptr));
  CHECK(cudaCreateTextureObject(&smooth, &array, &filtered, nullptr));
  CHECK(cudaCreateSurfaceObject(&from, &array));
  CHECK(cudaCreateSurfaceObject(&to, &other));
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found;
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
  CUtensorMap map;
  const cuuint64_t size[] = {kWide, kHigh}, stride[] = {kWide * 4};
  const cuuint32_t box[] = {kTile, kTile}, step[] = {1, 1};
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(f)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);

  const dim3 block(32, 8), grid(kWide / 32, kHigh / 8);
  fetch_copy<<<528, 256>>>(fetched, out, kCount - 5);
  fetch_reversed<<<kCount / 256, 256>>>(fetched, out, kCount - 5);
  array_copy<<<grid, block>>>(points, out);
  array_transpose<<<grid, block>>>(points, out);
  blur<<<grid, block>>>(points, out);
  box_filter<<<grid, block>>>(points, out, 2);
  zoom<<<grid, block>>>(smooth, out);
  surface_copy<<<grid, block>>>(from, to);
  bulk_copy<<<132, 32>>>(in, out, kCount);
  box_transpose<<<dim3(kWide / kTile, kHigh / kTile), 256>>>(map, out);
  histogram<<<128, 256>>>(bins, counts, kCount);
  exchange<<<kCount / 256, 256>>>(in, out);
  CHECK(cudaDeviceSynchronize());
  return 0;
}
