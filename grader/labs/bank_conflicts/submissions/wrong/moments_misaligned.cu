// verdict: B4 row_moments: result | failed | "misaligned"
// verdict: B4 row_moments: wavefronts | failed | "counts once the result is right"
// One word of padding, as for ints.
__global__ void row_moments(const uchar4* in, int* out, int n) {
  constexpr int kPitch = 33;
  __shared__ alignas(16) int tile[kBlock * kPitch];
  int first = kBlock * blockIdx.x;
  int quads = 8 * min(kBlock, n - first);
  for (int j = threadIdx.x; j < quads; j += kBlock) {
    uchar4 p = in[8 * first + j];
    *reinterpret_cast<int4*>(tile + j / 8 * kPitch + j % 8 * 4) = make_int4(p.x, p.y, p.z, p.w);
  }
  __syncthreads();
  if (8 * threadIdx.x < quads) {
    int sum = 0;
    for (int q = 0; q < 8; ++q) {
      int4 v = *reinterpret_cast<int4*>(tile + threadIdx.x * kPitch + 4 * q);
      sum += (4 * q + 1) * v.x + (4 * q + 2) * v.y + (4 * q + 3) * v.z + (4 * q + 4) * v.w;
    }
    out[first + threadIdx.x] = sum;
  }
}
