// Transpose: both sides of a copy coalesced, through shared memory and its banks.
// Read handouts/transpose.md before, handouts/transpose-notes.md afterwards.
//
// Submit this file. It holds kernels only: the grader allocates, launches and checks. Kernels keep
// their names and parameters; add any helpers you like. Tasks are marked TASK; the rest is given.
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
//
// Predict; the grader launches the given kernels and compares. -1 means "not answered yet".

// TASK A1: how many sectors does one request of transpose_naive touch, when n and m are multiples
// of 32? Its load and its store, with doubles (8 bytes) and with shorts (2).
LAB32_ANSWER(double_load_sectors, -1);
LAB32_ANSWER(double_store_sectors, -1);
LAB32_ANSWER(short_load_sectors, -1);
LAB32_ANSWER(short_store_sectors, -1);

// TASK A2: how many wavefronts does one request of turn_tile's load from `tile` take? A pitch of 16
// and of 17 words with a tile 16 wide, of 32 and of 33 words with a tile 32 wide.
LAB32_ANSWER(pitch_16_wavefronts, -1);
LAB32_ANSWER(pitch_17_wavefronts, -1);
LAB32_ANSWER(pitch_32_wavefronts, -1);
LAB32_ANSWER(pitch_33_wavefronts, -1);

// ---- B. One idea per version --------------------------------------------------------------------
//
// Each kernel gives the right result already. Keep it right, for every n x m and T.

// TASK B1: both sides coalesced. The idea: a tile of 32 x 32 elements in shared memory, written
// along its rows and read down its columns. The counter that must improve: sectors of the stores.
template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) out[x * n + y] = in[y * m + x];
}

// TASK B2: no bank conflicts, by padding. Begin with your transpose_tiled. The idea: rows of the
// tile that are longer than necessary. The counter that must improve: wavefronts of the loads from
// shared memory. A tile of floats may take 4224 bytes, 128 more than it needs.
template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) out[x * n + y] = in[y * m + x];
}

// TASK B3: no bank conflicts, and no more memory than the tile: 4096 bytes for floats. The idea:
// each row keeps its elements in an order of its own, by one XOR. That counter must improve.
template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) out[x * n + y] = in[y * m + x];
}

// TASK B4: as fast as you can. You choose tile and threads: the grid covers the matrix with tiles
// of .rows x .columns elements of `in`, blocks have .threads x 1 x 1 threads, for all types. The
// idea: four elements per thread and more, moved 16 bytes at a time, so that more bytes are in
// flight. The counter that must improve: requests, to a quarter, with no sector and no wavefront
// more. Mind matrices whose rows are no multiples of 16 bytes; they need only be right.
LAB32_TILE(transpose_best, .rows = 32, .columns = 32, .threads = 1024);

template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.x % kTile;
  int y = blockIdx.y * kTile + threadIdx.x / kTile;
  if (x < m && y < n) out[x * n + y] = in[y * m + x];
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
