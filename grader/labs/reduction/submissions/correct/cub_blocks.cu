// v7 and v8 by CUB: BlockReduce for a block's sum, cub::ThreadLoad for the sums of the blocks.
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/thread/thread_load.cuh>

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  using Reduce = cub::BlockReduce<T, kThreads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  __shared__ typename Reduce::TempStorage temp;
  T sum = 0;
  int step = gridDim.x * kThreads;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += step) sum += in[i];
  sum = Reduce(temp).Sum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

constexpr int kPerThread = 16, kOfBlock = 256 * kPerThread;
LAB32_LAUNCH(reduce_v8, .block = 256, .items_per_thread = kPerThread, .blocks_per_sm = 8);

template <class T>
__device__ T cub_sums[4096];
__device__ unsigned cub_tickets;

template <class T>
__global__ void __launch_bounds__(256) reduce_v8(const T* in, T* out, int n) {
  using Reduce = cub::BlockReduce<T, 256>;
  using Load = cub::BlockLoad<T, 256, kPerThread, cub::BLOCK_LOAD_DIRECT>;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    typename Load::TempStorage load;
  } temp;
  __shared__ bool last;
  T sum = 0;
  int tiles = n / kOfBlock;
  if (blockIdx.x == gridDim.x - 1) {  // the rest, guarded
    T got[kPerThread];
    Load(temp.load).Load(in + size_t(tiles) * kOfBlock, got, n - tiles * kOfBlock, T(0));
#pragma unroll
    for (T x : got) sum += x;
  }
  // Whole tiles as vectors, a thread's 16 elements in four loads a tile's quarter apart.
  int end = tiles * (kOfBlock / 4);
  const Four<T>* fours = reinterpret_cast<const Four<T>*>(in);
  for (int i = blockIdx.x * (kOfBlock / 4) + threadIdx.x; i < end;
       i += gridDim.x * (kOfBlock / 4)) {
    T got[kPerThread];
#pragma unroll
    for (int k = 0; k < kPerThread / 4; ++k) {
      Four<T> four = fours[i + 256 * k];
      got[4 * k] = four.x, got[4 * k + 1] = four.y, got[4 * k + 2] = four.z,
              got[4 * k + 3] = four.w;
    }
    sum += cub::ThreadReduce(got, [](T a, T b) { return a + b; });
  }
  __syncthreads();
  sum = Reduce(temp.reduce).Sum(sum);
  if (threadIdx.x == 0) {
    cub_sums<T>[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&cub_tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += 256)
    sum += cub::ThreadLoad<cub::LOAD_CG>(cub_sums<T> + b);
  sum = Reduce(temp.reduce).Sum(sum);
  if (threadIdx.x == 0) *out = sum;
}
