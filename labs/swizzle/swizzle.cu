// Swizzle: tiles without bank conflicts and without padding, by XOR.
// Read handouts/swizzle.md before, handouts/swizzle-notes.md afterwards.
//
// Submit this file. It holds device code only: the grader allocates, launches and checks. Functions
// and kernels keep their names and parameters; add any helpers you like. Tasks are marked TASK; the
// rest is given, and what is given must stay.
#include "lab32.cuh"

// ---- A. The XOR ---------------------------------------------------------------------------------
//
// Swizzle<B, M, S> maps an offset to another one. It takes B bits of it, called YYY, and XORs them
// onto B other bits, called ZZZ. All other bits stay, including YYY.
//   S >= 0: ZZZ are the bits from M on, and YYY those from M + S on.
//   S < 0:  YYY are the bits from M on, and ZZZ those from M - S on: now YYY lies below.
// In a table with 2^S columns of groups of 2^M elements, ZZZ is in the column and YYY in the row.

// TASK A1, A2: write it. A1 asks for <3, 0, 3>, the table in the handout; A2 for all that are
// instantiated below, on every offset below 4096 and on large ones.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  return offset;
}

// Given: one offset per thread.
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

// TASK A3: in the table of <3, 0, 3> no column holds a value twice. In that of <2, 0, 3> (8 rows of
// 8 columns, offset 8 * row + column) it does: name two rows, 0 to 7, that keep their column 0 in
// the same column. -1 means "not answered yet".
LAB32_ANSWER(alike_row_1, -1);
LAB32_ANSWER(alike_row_2, -1);

// ---- B. Elements and chunks ---------------------------------------------------------------------
//
// Vector accesses and ldmatrix move 16 bytes at once, so 16 bytes, a chunk, have to stay together:
// the chunks change places, not the elements. A tile has rows of nx elements of type T, one after
// the other; 8 chunks fill all 32 banks, a line of 128 bytes.

struct Chunk {
  int i16;               // number of the chunk, counted from the tile's first
  int y16, x16;          // line and column where the chunk would lie: 8 columns per line
  int swz_y16, swz_x16;  // line and column where it lies: by the XOR of line and column
};

struct Place {
  int y, x;  // row and column, counted in elements
};

// TASK B1: the chunk of element (y, x), and where the document's formulas put the element. Checked
// with rows of 128 bytes and 16 rows, for T of 1, 2, 4 and 8 bytes. The pattern of the XOR repeats
// every 8 lines.
template <class T>
__device__ Chunk chunk_of(int y, int x, int nx) {
  return {};
}

// swz_y = swz_y16; swz_x = swz_x16 * (elements per chunk) % nx + (place in its chunk).
template <class T>
__device__ Place documented_place(int y, int x, int nx) {
  return {};
}

// TASK B2: for rows of another width the document's formulas break. Take rows of 16 ints (64
// bytes), 16 rows, and name two elements that collide there: (y_1, x_1) and (y_2, x_2).
LAB32_ANSWER(collision_y_1, -1);
LAB32_ANSWER(collision_x_1, -1);
LAB32_ANSWER(collision_y_2, -1);
LAB32_ANSWER(collision_x_2, -1);

// TASK B3: a mapping for rows of any multiple of 16 bytes, where the tile's size is a multiple of
// 128 bytes: the element whose place element (y, x) takes, counted from the tile's first element.
// - No two elements share a place, and all stay inside the tile.
// - Chunks stay whole and in order.
// - For rows of 128 bytes it is the document's mapping.
// - For rows of 16, 32, 64 and 128 bytes: take 8 rows, the first a multiple of 8, and a column.
//   Their 8 chunks lie in 8 different columns of the lines, so that no bank is used twice.
template <class T>
__device__ int general_place(int y, int x, int nx) {
  return y * nx + x;
}

// Given: one element per thread.
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
//
// A tile has 64 rows of 64 elements of 2 bytes: 64 x 8 chunks. Block b takes tile b. Its 8 warps
// all read the whole tile, as in a matrix product, by ldmatrix: one instruction, 32 lanes, 4
// matrices of 8 x 8 elements. Lanes 0-7 hold the addresses of the rows of the first matrix, 16
// bytes each, lanes 8-15 those of the second, and so on. Matrices are served one after the other.
// Each warp weights the tile's four strips of 16 rows: out = the sum of weight[4 * warp + s] *
// strip s. An element is below 256 and a weight below 64, so that two elements can be weighted in
// one unsigned.
//
// In every launch of part C
// - a block has 256 x 1 x 1 threads, the grid as many blocks as there are tiles,
// - pointers are aligned to 256 bytes, as cudaMalloc's are; buffers never overlap,
// - there are 1 and 5 tiles where the result is checked, and 16 where wavefronts are counted. These
//   earn points only if the result is right, too,
// - the shared memory that a block may declare (static) is limited, as each task says.

constexpr int kRows = 64, kChunks = 8, kWarps = 8;

// Given: ldmatrix.x4. `row`: the chunk in shared memory that holds this lane's row. With kTranspose
// each matrix is transposed after it was read (.trans); the addresses are the same.
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

// Given, to look at: the tile as it is.
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

// TASK C1: how many wavefronts does one instruction of weigh_plain take: the store to `tile` (32
// lanes of 16 bytes), and ldmatrix.x4? Predict; the grader has launched it.
LAB32_ANSWER(plain_store_wavefronts, -1);
LAB32_ANSWER(plain_load_wavefronts, -1);

// TASK C2: the same without bank conflicts, by padding. The counter that must improve: wavefronts.
// Shared memory: at most 9216 bytes, 1 KB more than the tile.
template <bool kTranspose>
__global__ void weigh_padded(const uint4* in, const unsigned* weight, uint4* out) {
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
template __global__ void weigh_padded<false>(const uint4*, const unsigned*, uint4*);
template __global__ void weigh_padded<true>(const uint4*, const unsigned*, uint4*);

// TASK C3: the same without bank conflicts and without padding. Shared memory: at most 8192 bytes,
// the tile and not a byte more.
template <bool kTranspose>
__global__ void weigh_swizzled(const uint4* in, const unsigned* weight, uint4* out) {
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
template __global__ void weigh_swizzled<false>(const uint4*, const unsigned*, uint4*);
template __global__ void weigh_swizzled<true>(const uint4*, const unsigned*, uint4*);

// ---- D. The copy engine's swizzles --------------------------------------------------------------
//
// Since Hopper one thread can ask the copy engine for a whole box of a tensor (TMA, cp.async.bulk.
// tensor). A tensor map gives the swizzle: the 128-, 64- or 32-byte mode. The engine's real mapping
// was dumped on an H200; your function is compared with that, element by element.
// - A row of the box takes `mode` bytes of shared memory, even if it has fewer elements.
// - The engine XORs bits of the *address*, not of the offset in the box. In each mode YYY begins at
//   bit 7, for a line has 128 bytes, and ZZZ at bit 4, for chunks stay whole. The modes differ in
//   how many bits that are: chunks change places within `mode` bytes.

// TASK D1 (mode 128), D2 (modes 64 and 32): the byte address where element (y, x) of the box
// begins. The box begins at the address `base`, a multiple of 128.
__device__ int landing(int mode, int base, int y, int x, int element_bytes) {
  return base + y * mode + x * element_bytes;
}

// Given: one element per thread.
__global__ void land_all(int mode, int base, int rows, int columns, int element_bytes, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) out[i] = landing(mode, base, i / columns, i % columns, element_bytes);
}
