// Macros: one body for both kernels, parameters for place and tile, and two strips at a time.
#define PLACE_PADDED(row, chunk) tile[row][chunk]
#define PLACE_XORED(row, chunk) tile[row][(chunk) ^ ((row)&7)]
#define WEIGH(width, PLACE)                                                                    \
  __shared__ uint4 tile[kRows][width];                                                         \
  const int t = threadIdx.x, warp = t >> 5, lane = t & 31;                                     \
  const uint4* from = in + (size_t)blockIdx.x * 512;                                           \
  PLACE(t >> 3, t & 7) = from[t];                                                              \
  PLACE((t >> 3) + 32, t & 7) = from[t + 256];                                                 \
  __syncthreads();                                                                             \
  for (int k = 0; k < 4; ++k) {                                                                \
    uint4 even = {}, odd = {};                                                                 \
    for (int s = 0; s < 4; s += 2) {                                                           \
      const int row = 16 * s + (lane & 15), chunk = 2 * k + (lane >> 4);                       \
      add_weighted(even, weight[4 * warp + s], load_matrices<kTranspose>(&PLACE(row, chunk))); \
      add_weighted(odd, weight[4 * warp + s + 1],                                              \
                   load_matrices<kTranspose>(&PLACE(row + 16, chunk)));                        \
    }                                                                                          \
    even = {even.x + odd.x, even.y + odd.y, even.z + odd.z, even.w + odd.w};                   \
    out[(size_t)blockIdx.x * 1024 + warp * 128 + k * 32 + lane] = even;                        \
  }

template <bool kTranspose>
__global__ void weigh_padded(const uint4* in, const unsigned* weight, uint4* out) {
  WEIGH(9, PLACE_PADDED)
}

template <bool kTranspose>
__global__ void weigh_swizzled(const uint4* in, const unsigned* weight,
                               uint4* out){WEIGH(8, PLACE_XORED)}

LAB32_ANSWER(alike_row_1, 2 + 4);
LAB32_ANSWER(alike_row_2, 0x2);
