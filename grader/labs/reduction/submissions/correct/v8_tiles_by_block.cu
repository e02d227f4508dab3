// A loop whose condition is uniform in the block: whole tiles in turn, and the last block takes the
// remainder. All threads of a block without a tile skip the loop.
template <class T>
__device__ T tile_sums[kBestBlocks];
__device__ unsigned tiles_done;

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  int t = threadIdx.x, tiles = n / (4 * kTile);
  T sum = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Four<T>* fours = reinterpret_cast<const Four<T>*>(in + size_t(tile) * 4 * kTile) + t;
    Four<T> a = fours[0], b = fours[kBestThreads], c = fours[2 * kBestThreads],
            d = fours[3 * kBestThreads];
    sum += (a.sum() + b.sum()) + (c.sum() + d.sum());
  }
  if (blockIdx.x == gridDim.x - 1)
    for (int i = tiles * 4 * kTile + t; i < n; i += kBestThreads) sum += in[i];
  sum = fast_block_sum(sum);
  __shared__ bool last;
  if (t == 0) {
    tile_sums<T>[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&tiles_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (int b = t; b < int(gridDim.x); b += kBestThreads) sum += tile_sums<T>[b];
  sum = fast_block_sum(sum);
  if (t == 0) *out = sum;
}
