// Staging by libcu++: cuda::memcpy_async and a cuda::barrier. These leave no room for padding, so
// rows are permuted by XOR.
#include <cuda/barrier>
#include <cuda/std/array>

__global__ void row_scan(const int* in, int* out, int n) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ cuda::std::array<int, 32> tile[kBlock];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier staged;
  if (threadIdx.x == 0) init(&staged, blockDim.x);
  __syncthreads();
  int first = kBlock * blockIdx.x, rows = min(kBlock, n - first);
  for (int r = threadIdx.x / 32; r < rows; r += kBlock / 32)
    cuda::memcpy_async(&tile[r][(threadIdx.x ^ r) % 32], in + 32 * (first + r) + threadIdx.x % 32,
                       cuda::aligned_size_t<4>(4), staged);
  staged.arrive_and_wait();
  if (int(threadIdx.x) < rows) {
    int sum = 0;
#pragma unroll 1
    for (int c = 0; c < 32; ++c) {
      int& x = tile[threadIdx.x][(c ^ threadIdx.x) % 32];
      x = sum += x;
    }
  }
  __syncthreads();
  for (int r = threadIdx.x / 32; r < rows; r += kBlock / 32)
    out[32 * (first + r) + threadIdx.x % 32] = tile[r][(threadIdx.x ^ r) % 32];
}
