// Part C uses the function of part A: the tile is one array with swizzled offsets. Halves in rows
// of 72 are padded like chunks in rows of nine.
__device__ int slot(int row, int chunk) { return swizzle<3, 0, 3>(8 * row + chunk); }

template <bool kTranspose>
__global__ void weigh_swizzled(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[kRows * kChunks];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    tile[slot(row, chunk)] = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll 1
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = load_matrices<kTranspose>(&tile[slot(row, chunk)]);
      add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}

template <bool kTranspose>
__global__ void weigh_padded(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ __align__(16) unsigned short tile[kRows][8 * kChunks + 8];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    reinterpret_cast<uint4&>(tile[row][8 * chunk]) = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = load_matrices<kTranspose>(reinterpret_cast<const uint4*>(&tile[row][8 * chunk]));
      add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}

// A row number from a shift, and chunks instead of bytes.
template <class T>
__device__ int general_place(int y, int x, int nx) {
  constexpr int kEach = 16 / sizeof(T);
  int i = y * nx + x;
  return swizzle<3, 0, 3>(i / kEach) * kEach + i % kEach;
}

__device__ int landing(int mode, int base, int y, int x, int element_bytes) {
  int address = base + mode * y + x * element_bytes;
  int line = address / 128, chunk = address / 16 % 8;
  return 128 * line + 16 * (chunk ^ line % (mode / 16)) + address % 16;
}
