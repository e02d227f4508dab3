// verdict: B4 centre: sectors | failed | "cost 16 sectors where 4 would do"
// verdict: B1 scale: sectors | failed | "touch 32 sectors where 4 would do"
// Loads by atomics that change nothing, and by asynchronous copies: whatever their names, they
// fetch.
__global__ void centre(const float* in, const float* mean, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y;
  if (row >= n) return;
  const unsigned* at = reinterpret_cast<const unsigned*>(in) + 4 * row + column;
  unsigned bits = atomicOr(const_cast<unsigned*>(at), 0);
  out[4 * row + column] = __uint_as_float(bits) - mean[column];
}

__global__ void scale(const float* in, float* out, float factor, int n) {
  __shared__ float tile[256];
  unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
  int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = first; i < min(first + 16, n); ++i) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(own), "l"(in + i) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __stcs(out + i, factor * tile[threadIdx.x]);
  }
}
