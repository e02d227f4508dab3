// Transpose: both sides of a copy coalesced, through shared memory and its banks.
// Read handouts/transpose.md before, handouts/transpose-notes.md afterwards.
//
// The reference solution: the given kernels are those of labs/transpose/transpose.cu, which states
// each task in full.
//
// `in` has n rows of m columns, row by row; out[x * n + y] = in[y * m + x]. In every launch
// - blocks and grid are as the task says, one block at least, also for a matrix of no elements,
// - pointers are aligned to 256 bytes, as cudaMalloc's are; buffers never overlap,
// - T is int, float or short; n x m is 64 x 96, 0 x 0, 1 x 1, 31 x 33, 250 x 503, 20000 x 3,
//   3 x 20000, 1024 x 512 and two that are drawn where the result is checked. Sectors, wavefronts,
//   requests are counted with floats, 1024 x 1024 and 1000 x 2003, ints and shorts in drawn shapes.
#include "lab32.cuh"

constexpr int kTile = 32;

// ---- Given --------------------------------------------------------------------------------------

// Blocks of 32 x 32 threads, grid ceil(m / 32) x ceil(n / 32), here and in B1 to B3.
template <class T>
__global__ void transpose_naive(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) out[x * n + y] = in[y * m + x];
}

// For A2: one block of kWide x kWide threads transposes one tile in shared memory. Row y of the
// tile begins at word kPitch * y.
template <int kWide, int kPitch>
__global__ void turn_tile(const float* in, float* out) {
  __shared__ float tile[kWide * kPitch];
  int tx = threadIdx.x, ty = threadIdx.y;
  tile[kPitch * ty + tx] = in[kWide * ty + tx];
  __syncthreads();
  out[kWide * ty + tx] = tile[kPitch * tx + ty];
}

// ---- A. Count first -----------------------------------------------------------------------------

// A1: along a row, 32 neighbouring elements are 32 * sizeof(T) bytes. Down a column each element
// lies in another row, so in another sector.
LAB32_ANSWER(double_load_sectors, 8);
LAB32_ANSWER(double_store_sectors, 32);
LAB32_ANSWER(short_load_sectors, 2);
LAB32_ANSWER(short_store_sectors, 32);

// A2: a warp of a block 16 wide is two rows of 16 threads. With a pitch of 16 words, rows two apart
// share a bank, so that a column has two banks; two neighbouring columns have four, 8 words in
// each. With 17, each column uses 16 banks, but the two have one bank in common.
LAB32_ANSWER(pitch_16_wavefronts, 8);
LAB32_ANSWER(pitch_17_wavefronts, 2);
LAB32_ANSWER(pitch_32_wavefronts, 32);
LAB32_ANSWER(pitch_33_wavefronts, 1);

// ---- B. One idea per version --------------------------------------------------------------------

// B1: the warp reads a row of `in` and writes a row of `out`; the tile is transposed in between, in
// shared memory. A thread does not write what it has read, so the block waits in between.
template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

// B2: a row is an odd number of words, so that 32 neighbouring rows begin in 32 different banks.
// For 2-byte elements that takes two more.
template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile + 4 / sizeof(T)];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

// B3: no more memory than the tile's own. Element (row, column) lies at column ^ row: a permutation
// of each row, another one in each, so that a column uses every bank.
template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}

// B4: squares of 4 x 4 elements, two per thread, four elements at a time. The squares are
// transposed in registers, by renaming; the tile exchanges squares, and its rows of vectors are
// swizzled as B3's of elements. Shared memory serves 8 lanes of 16 bytes (16 of 8) at a time, so
// the vectors have to lie in different banks.
constexpr int kBestRows = 128, kBestColumns = 64, kBestThreads = 256;
LAB32_TILE(transpose_best, .rows = kBestRows, .columns = kBestColumns, .threads = kBestThreads);

constexpr int kDown = kBestRows / 4, kAcross = kBestColumns / 4;  // squares of the tile
constexpr int kSquares = kDown * kAcross / kBestThreads;          // of a thread

template <class T>
struct alignas(4 * sizeof(T)) Four {
  T v[4];
};

// Where the block's tile begins. Blocks begin in the order of their numbers: those that run at a
// time take the tiles of a column, one below the other, and so write whole rows of `out`. On an
// H200 that is worth more than to read whole rows of `in` (handouts/transpose.md).
__device__ int2 corner() {
  int block = blockIdx.y * gridDim.x + blockIdx.x, high = gridDim.y;
  return {block / high * kBestColumns, block % high * kBestRows};
}

template <class T>
__device__ void turn_by_vectors(Four<T> (*tile)[kDown], const T* in, T* out, int n, int m,
                                int2 first) {
  Four<T> row[kSquares][4];  // all loads are in flight before the first vector is needed
  for (int s = 0; s < kSquares; ++s) {
    int square = threadIdx.x + s * kBestThreads, i = square % kAcross, j = square / kAcross;
    int x = first.x + 4 * i, y = first.y + 4 * j;
    if (x < m && y < n)  // and with them x + 3 and y + 3: m and n are multiples of 4
      for (int k = 0; k < 4; ++k)
        row[s][k] = *reinterpret_cast<const Four<T>*>(in + (y + k) * m + x);
  }
  for (int s = 0; s < kSquares; ++s) {
    int square = threadIdx.x + s * kBestThreads, i = square % kAcross, j = square / kAcross;
    const Four<T>* r = row[s];
    if (first.x + 4 * i < m && first.y + 4 * j < n)
      for (int k = 0; k < 4; ++k)
        tile[4 * i + k][j ^ i] = {r[0].v[k], r[1].v[k], r[2].v[k], r[3].v[k]};
  }
  __syncthreads();
  for (int s = 0; s < kSquares; ++s) {
    int square = threadIdx.x + s * kBestThreads, i = square % kDown, j = square / kDown;
    int x = first.y + 4 * i, y = first.x + 4 * j;
    if (x < n && y < m)
      for (int k = 0; k < 4; ++k)
        *reinterpret_cast<Four<T>*>(out + (y + k) * n + x) = tile[4 * j + k][i ^ j];
  }
}

// Rows that are no multiples of 4 elements do not begin at a vector: these go element by element.
template <class T>
__device__ void turn_by_elements(T* tile, const T* in, T* out, int n, int m, int2 first) {
  constexpr int kWord = 4 / sizeof(T);  // elements of a bank's word, which stay together
#pragma unroll 16
  for (int s = 0; s < 16 * kSquares; ++s) {
    int at = threadIdx.x + s * kBestThreads, i = at % kBestColumns, j = at / kBestColumns;
    int x = first.x + i, y = first.y + j;
    if (x < m && y < n) tile[j * kBestColumns + (i ^ j * kWord % kBestColumns)] = in[y * m + x];
  }
  __syncthreads();
#pragma unroll 16
  for (int s = 0; s < 16 * kSquares; ++s) {
    int at = threadIdx.x + s * kBestThreads, i = at % kBestRows, j = at / kBestRows;
    int x = first.y + i, y = first.x + j;
    if (x < n && y < m) out[y * n + x] = tile[i * kBestColumns + (j ^ i * kWord % kBestColumns)];
  }
}

template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ Four<T> tile[kBestColumns][kDown];
  if (n % 4 == 0 && m % 4 == 0)
    turn_by_vectors(tile, in, out, n, m, corner());
  else
    turn_by_elements(tile[0][0].v, in, out, n, m, corner());
}

// ---- Given: what the grader launches ------------------------------------------------------------

template __global__ void transpose_naive(const double*, double*, int, int);
template __global__ void transpose_naive(const float*, float*, int, int);
template __global__ void transpose_naive(const short*, short*, int, int);
template __global__ void turn_tile<16, 16>(const float*, float*);
template __global__ void turn_tile<16, 17>(const float*, float*);
template __global__ void turn_tile<32, 32>(const float*, float*);
template __global__ void turn_tile<32, 33>(const float*, float*);
template __global__ void transpose_tiled(const int*, int*, int, int);
template __global__ void transpose_tiled(const float*, float*, int, int);
template __global__ void transpose_tiled(const short*, short*, int, int);
template __global__ void transpose_padded(const int*, int*, int, int);
template __global__ void transpose_padded(const float*, float*, int, int);
template __global__ void transpose_padded(const short*, short*, int, int);
template __global__ void transpose_swizzled(const int*, int*, int, int);
template __global__ void transpose_swizzled(const float*, float*, int, int);
template __global__ void transpose_swizzled(const short*, short*, int, int);
template __global__ void transpose_best(const int*, int*, int, int);
template __global__ void transpose_best(const float*, float*, int, int);
template __global__ void transpose_best(const short*, short*, int, int);
