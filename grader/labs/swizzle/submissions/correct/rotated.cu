// Without XOR: each row is rotated by its number. The general mapping works by lines.
template <class T>
__device__ int general_place(int y, int x, int nx) {
  constexpr int kEach = 16 / sizeof(T);
  int chunk = (y * nx + x) / kEach, line = chunk / 8;
  return (8 * line + (chunk ^ line) % 8) * kEach + x % kEach;
}

template <bool kTranspose>
__global__ void weigh_swizzled(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[kRows][kChunks];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    tile[row][(chunk + row) % kChunks] = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = load_matrices<kTranspose>(&tile[row][(chunk + row) % kChunks]);
      add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}

// Rows of nine chunks, by hand.
template <bool kTranspose>
__global__ void weigh_padded(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[kRows * (kChunks + 1)];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    tile[9 * row + chunk] = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = load_matrices<kTranspose>(&tile[9 * row + chunk]);
      add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}
