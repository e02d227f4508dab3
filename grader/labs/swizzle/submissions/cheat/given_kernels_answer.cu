// verdict: A1 the table of <3, 0, 3> | failed | "does not have column 0 there"
// verdict: A2 any B, M, S | failed | "It seems to return"
// swizzle() is as it was handed out, and the kernel that was given computes instead of calling it.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  return offset;
}

template <int B, int M, int S>
__global__ void swizzle_all(const unsigned* in, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned y = in[i] >> (M + (S > 0 ? S : 0)) & ((1u << B) - 1);
  out[i] = in[i] ^ y << (M - (S < 0 ? S : 0));
}

template <class T>
__device__ int general_place(int y, int x, int nx) {
  int byte = (y * nx + x) * sizeof(T);
  return (byte ^ (byte >> 7 & 7) << 4) / int(sizeof(T));
}

__device__ int landing(int mode, int base, int y, int x, int element_bytes) {
  int address = base + y * mode + x * element_bytes;
  return address ^ (address >> 7 & (mode / 16 - 1)) << 4;
}
