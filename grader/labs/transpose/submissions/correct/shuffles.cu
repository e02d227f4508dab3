// No shared memory: the first warp of a block transposes 32 x 32 elements in its registers, by
// exchanging halves of the square, then of its quarters, and so on; the other warps are idle.
template <class T>
__device__ void turn_square(const T* in, T* out, int n, int m, int first_x, int first_y) {
  int lane = threadIdx.x % 32;
  T v[32];
#pragma unroll
  for (int k = 0; k < 32; ++k)
    v[k] = first_x + lane < m && first_y + k < n ? in[(first_y + k) * m + first_x + lane] : T(0);
#pragma unroll
  for (int half = 16; half > 0; half /= 2) {
#pragma unroll
    for (int k = 0; k < 32; ++k) {
      if (k & half) continue;
      // Rows k and k + half exchange the lanes whose bit `half` differs.
      T low = v[k], high = v[k + half];
      T sent = lane & half ? low : high;
      T got = __shfl_xor_sync(0xffffffff, sent, half);
      v[k] = lane & half ? got : low;
      v[k + half] = lane & half ? high : got;
    }
  }
#pragma unroll
  for (int k = 0; k < 32; ++k)
    if (first_y + lane < n && first_x + k < m) out[(first_x + k) * n + first_y + lane] = v[k];
}

template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  if (threadIdx.y == 0) turn_square(in, out, n, m, blockIdx.x * kTile, blockIdx.y * kTile);
}
