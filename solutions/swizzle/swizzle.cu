// Reference solution of labs/swizzle/swizzle.cu, which states each task in full.
#include "lab32.cuh"

// ---- A. The XOR ---------------------------------------------------------------------------------

template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  constexpr unsigned kY = ((1u << B) - 1) << (M + (S > 0 ? S : 0));
  unsigned y = offset & kY;
  if constexpr (S >= 0) {
    return offset ^ (y >> S);
  } else {
    return offset ^ (y << -S);
  }
}

template <int B, int M, int S>
__global__ void swizzle_all(const unsigned* in, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = swizzle<B, M, S>(in[i]);
}
template __global__ void swizzle_all<3, 0, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<1, 0, 1>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<2, 0, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<5, 0, 5>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<2, 1, 4>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<3, 3, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<3, 4, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<2, 4, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<1, 4, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<0, 4, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<2, 0, -3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<3, 2, -4>(const unsigned*, unsigned*, int);

// Column c of row r is offset 8 r + c. Two row bits are folded in, so row 4 looks like row 0.
LAB32_ANSWER(alike_row_1, 0);
LAB32_ANSWER(alike_row_2, 4);

// ---- B. Elements and chunks ---------------------------------------------------------------------

struct Chunk {
  int i16;
  int y16, x16;
  int swz_y16, swz_x16;
};

struct Place {
  int y, x;
};

template <class T>
__device__ Chunk chunk_of(int y, int x, int nx) {
  Chunk c;
  c.i16 = (y * nx + x) * int(sizeof(T)) / 16;
  c.y16 = c.i16 / 8;
  c.x16 = c.i16 % 8;
  c.swz_y16 = c.y16;
  c.swz_x16 = c.y16 % 8 ^ c.x16;
  return c;
}

template <class T>
__device__ Place documented_place(int y, int x, int nx) {
  constexpr int kEach = 16 / sizeof(T);
  Chunk c = chunk_of<T>(y, x, nx);
  return {c.swz_y16, c.swz_x16 * kEach % nx + x % kEach};
}

// 64-byte rows: y16 is 0 for rows 0 and 1, and the column is taken modulo nx.
LAB32_ANSWER(collision_y_1, 0);
LAB32_ANSWER(collision_x_1, 0);
LAB32_ANSWER(collision_y_2, 1);
LAB32_ANSWER(collision_x_2, 0);

template <class T>
__device__ int general_place(int y, int x, int nx) {
  return swizzle<3, 4, 3>((y * nx + x) * int(sizeof(T))) / sizeof(T);
}

template <class T>
__global__ void place_all(int ny, int nx, Chunk* chunk, Place* documented, int* general) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= ny * nx) return;
  chunk[i] = chunk_of<T>(i / nx, i % nx, nx);
  documented[i] = documented_place<T>(i / nx, i % nx, nx);
  general[i] = general_place<T>(i / nx, i % nx, nx);
}
template __global__ void place_all<char>(int, int, Chunk*, Place*, int*);
template __global__ void place_all<short>(int, int, Chunk*, Place*, int*);
template __global__ void place_all<int>(int, int, Chunk*, Place*, int*);
template __global__ void place_all<double>(int, int, Chunk*, Place*, int*);

// ---- C. A tile for ldmatrix ---------------------------------------------------------------------

constexpr int kRows = 64, kChunks = 8, kWarps = 8;

template <bool kTranspose>
__device__ uint4 load_matrices(const uint4* row) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  uint4 m;
  if constexpr (kTranspose) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
                 : "r"(address)
                 : "memory");
  }
  return m;
}

__device__ void add_weighted(uint4& sum, unsigned weight, uint4 m) {
  sum.x += weight * m.x;
  sum.y += weight * m.y;
  sum.z += weight * m.z;
  sum.w += weight * m.w;
}

template <bool kTranspose>
__global__ void weigh_plain(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[kRows][kChunks];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    tile[row][chunk] = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = load_matrices<kTranspose>(&tile[row][chunk]);
      add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}
template __global__ void weigh_plain<false>(const uint4*, const unsigned*, uint4*);
template __global__ void weigh_plain<true>(const uint4*, const unsigned*, uint4*);

// The store: each quarter-warp has a whole row, all banks. The load: the 8 rows of a matrix begin
// 128 bytes apart, in the same 4 banks: 8 wavefronts for each of 4 matrices.
LAB32_ANSWER(plain_store_wavefronts, 4);
LAB32_ANSWER(plain_load_wavefronts, 32);

// One chunk of padding: each row begins 4 banks further, and 8 rows use all 32.
template <bool kTranspose>
__global__ void weigh_padded(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[kRows][kChunks + 1];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    tile[row][chunk] = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = load_matrices<kTranspose>(&tile[row][chunk]);
      add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}
template __global__ void weigh_padded<false>(const uint4*, const unsigned*, uint4*);
template __global__ void weigh_padded<true>(const uint4*, const unsigned*, uint4*);

// Swizzle<3, 0, 3> on the chunks: 8 neighbouring rows keep a chunk in 8 different columns.
template <bool kTranspose>
__global__ void weigh_swizzled(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[kRows][kChunks];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    tile[row][chunk ^ row % 8] = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = load_matrices<kTranspose>(&tile[row][chunk ^ row % 8]);
      add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}
template __global__ void weigh_swizzled<false>(const uint4*, const unsigned*, uint4*);
template __global__ void weigh_swizzled<true>(const uint4*, const unsigned*, uint4*);

// ---- D. The copy engine's swizzles --------------------------------------------------------------

__device__ int landing(int mode, int base, int y, int x, int element_bytes) {
  unsigned address = base + y * mode + x * element_bytes;
  if (mode == 128) return swizzle<3, 4, 3>(address);
  if (mode == 64) return swizzle<2, 4, 3>(address);
  return swizzle<1, 4, 3>(address);
}

__global__ void land_all(int mode, int base, int rows, int columns, int element_bytes, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) out[i] = landing(mode, base, i / columns, i % columns, element_bytes);
}
