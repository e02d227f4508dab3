// ldmatrix by hand, two matrices and one at a time, on 32-bit addresses that begin swizzled and are
// stepped by an XOR; the bits of the swizzle by bfe and lop3.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  if constexpr (B == 0) return offset;
  unsigned y, moved;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(y) : "r"(offset), "n"(M + (S > 0 ? S : 0)), "n"(B));
  asm("shl.b32 %0, %1, %2;" : "=r"(moved) : "r"(y), "n"(M - (S < 0 ? S : 0)));
  asm("lop3.b32 %0, %1, %2, 0, 0x3c;" : "=r"(y) : "r"(offset), "r"(moved));  // a ^ b
  return y;
}

template <bool kTranspose>
__device__ __forceinline__ uint2 two_matrices(unsigned address) {
  uint2 m;
  if constexpr (kTranspose) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(m.x)
                 : "r"(__shfl_sync(~0u, address, threadIdx.x % 8))
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(m.y)
                 : "r"(__shfl_sync(~0u, address, threadIdx.x % 8 + 8))
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(m.x), "=r"(m.y)
                 : "r"(address)
                 : "memory");
  }
  return m;
}

template <bool kTranspose>
__global__ void weigh_swizzled(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ alignas(1024) uint4 tile[kRows * kChunks];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  for (unsigned j = threadIdx.x; j < kRows * kChunks; j += 256) {
    const uint4 v = in[kRows * kChunks * blockIdx.x + j];
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(swizzle<3, 4, 3>(base + 16 * j)),
                 "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
                 : "memory");
  }
  __syncthreads();
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  // Row lane % 16 of the first strip; 16 rows further on the swizzle is the same.
  const unsigned first = swizzle<3, 4, 3>(base + 128 * (lane % 16));
  out += (kWarps * blockIdx.x + warp) * 128 + lane;
#pragma unroll 1
  for (unsigned k = 0; k < 4; ++k, out += 32) {
    uint4 sum = {};
    for (unsigned s = 0; s < 4; ++s) {
      const unsigned strip = first + 2048 * s;
      const uint2 left = two_matrices<kTranspose>(strip ^ 32 * k);
      const uint2 right = two_matrices<kTranspose>(strip ^ 32 * k + 16);
      add_weighted(sum, weight[4 * warp + s], {left.x, left.y, right.x, right.y});
    }
    *out = sum;
  }
}
