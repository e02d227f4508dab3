// Bank conflicts: how the 32 lanes of a warp share the 32 banks of shared memory.
// Read handouts/bank_conflicts.md before, handouts/bank_conflicts-notes.md afterwards.
//
// Submit this file. It holds kernels only: the grader allocates, launches and checks. Kernels keep
// their names and parameters; add any helpers you like. Tasks are marked TASK; the rest is given.
//
// In every launch of part B
// - a block has 256 x 1 x 1 threads,
// - the grid covers n as the task says, with one block for n = 0,
// - pointers are aligned to 256 bytes, as cudaMalloc's are; buffers never overlap,
// - n is 0, 1, 31, 32, 33, 1000 and 40003 where the result is checked, and a multiple of a block's
//   share where wavefronts are counted. These earn points only if the result is right, too,
// - the shared memory that a block may declare (static) is limited, as each task says.
#include "lab32.cuh"

// ---- A. Build the arbiter -----------------------------------------------------------------------
//
// Shared memory has 32 banks, each 4 bytes wide: the word at byte address a is word a / 4, in bank
// (a / 4) % 32. In one wavefront each bank can serve one word, to all lanes that need it
// (broadcast).
//
// The functions get one instruction of one warp: 32 byte addresses in shared memory, the bytes that
// each lane accesses (the same for all) and the active lanes (bit l of `active`: lane l). Addresses
// are multiples of `bytes`, as the hardware requires. The address of an inactive lane is arbitrary.
// With no lane active nothing is issued: 0 wavefronts.

// TASK A1-A3: the number of wavefronts that a *store* takes.
// A1: bytes is 4.
// A2: bytes is 1 or 2, too: several lanes may touch different bytes of one word.
// A3: bytes is 8 or 16, too: 32 lanes need more than the 128 bytes that the banks have together, so
//     the warp is served in phases: half-warps (lanes 0-15, 16-31) for 8 bytes, quarter-warps (0-7,
//     8-15, ...) for 16. Phases are served one after the other; one without active lanes costs
//     nothing.
__device__ int wavefronts(const unsigned address[32], int bytes, unsigned active) {
  return 0;
}

// TASK A4: the same for a *load*. It differs from a store for 8 and 16 bytes only: neighbouring
// phases merge pairwise (two half-warps to one phase, four quarter-warps to two) if for each active
// lane l lane l ^ 1 is inactive or has the same address, or if this holds for each lane l ^ 2.
__device__ int load_wavefronts(const unsigned address[32], int bytes, unsigned active) {
  return wavefronts(address, bytes, active);
}

// Given: pattern p is addresses[32 * p .. 32 * p + 31], bytes[p], active[p]. One thread each.
__global__ void arbiter(const unsigned* addresses, const int* bytes, const unsigned* active,
                        int* out_store, int* out_load, int patterns) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= patterns) return;
  out_store[p] = wavefronts(addresses + 32 * p, bytes[p], active[p]);
  out_load[p] = load_wavefronts(addresses + 32 * p, bytes[p], active[p]);
}

// Given, to look at in the profiler's table: one warp stores and loads every stride-th element.
// With a stride of 1 that is a row of a tile; with the tile's width it is a column: 32 for
// [32][32], 33 for [32][33]. A5 calls your functions with the addresses of these launches.
template <class T>
__global__ void touch(const T* in, T* out, int stride) {
  __shared__ T data[33 * 32];
  int lane = threadIdx.x;
  data[stride * lane] = in[lane];
  __syncthreads();
  out[lane] = data[stride * (lane ^ 31)];  // another lane's, or nvcc would keep it in a register
}
template __global__ void touch<char>(const char*, char*, int);
template __global__ void touch<short>(const short*, short*, int);
template __global__ void touch<int>(const int*, int*, int);
template __global__ void touch<double>(const double*, double*, int);
template __global__ void touch<int4>(const int4*, int4*, int);

// ---- B. Optimise the pattern --------------------------------------------------------------------
//
// Each kernel gives the right result already. Keep it right, with fewer wavefronts.
constexpr int kBlock = 256;

// TASK B1: running sums along the rows of a matrix with n rows of 32 ints:
// out[row][c] = in[row][0] + ... + in[row][c]. A thread walks down one row of the tile while its
// neighbours walk down theirs: at each step the warp touches a column.
// Grid: ceil(n / 256). Shared memory: at most 33792 bytes, 1 KB more than the tile.
__global__ void row_scan(const int* in, int* out, int n) {
  __shared__ int tile[kBlock * 32];
  int first = kBlock * blockIdx.x;
  int words = 32 * min(kBlock, n - first);  // the last block has fewer rows

  for (int j = threadIdx.x; j < words; j += kBlock) tile[j] = in[32 * first + j];
  __syncthreads();
  if (32 * threadIdx.x < words) {
    int sum = 0;
#pragma unroll 1  // one column at a time, as a walk whose length is not known would be
    for (int c = 0; c < 32; ++c) {
      sum += tile[32 * threadIdx.x + c];
      tile[32 * threadIdx.x + c] = sum;
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < words; j += kBlock) out[32 * first + j] = tile[j];
}

// TASK B2: look-up in a table of 256 rows and 32 columns (the curves of 32 sensors): out[i] =
// table[row[i]][column[i / 32]]. All lanes of a warp read the same column, the hot one, and
// neighbours mostly read neighbouring rows: sensors see ramps. Grid: ceil(n / 16384). Shared
// memory: at most 32768 bytes, the table as it is, no word more.
__global__ void look_up(const int* table, const unsigned char* row, const int* column, int* out,
                        int n) {
  __shared__ int entries[256 * 32];
  for (int j = threadIdx.x; j < 256 * 32; j += kBlock) entries[j] = table[j];
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) out[i] = entries[32 * row[i] + column[i / 32]];
  }
}

// TASK B3: out[b] is the sum of the 256 elements of block b. The interleaved steps add neighbours,
// then neighbours' neighbours: the active threads' elements lie further and further apart. Grid:
// ceil(n / 256). Shared memory: at most 1024 bytes, one word per thread.
__global__ void block_sums(const int* in, int* out, int n) {
  __shared__ int sum[kBlock];
  int t = threadIdx.x;
  int i = kBlock * blockIdx.x + t;
  sum[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = 1; step < kBlock; step *= 2) {
    int at = 2 * step * t;
    if (at < kBlock) sum[at] += sum[at + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sum[0];
}

// TASK B4: moments of the rows of an 8-bit image that is 32 pixels wide:
// out[row] = 1 * in[row][0] + 2 * in[row][1] + ... + 32 * in[row][31]. Four pixels come with one
// load, are widened to int and staged with one int4 store; each thread then reads its row, an int4
// at a time. n rows. Grid: ceil(n / 256).
// Shared memory: at most 36864 bytes, 4 KB more than the tile.
__global__ void row_moments(const uchar4* in, int* out, int n) {
  __shared__ int4 tile[kBlock * 8];
  int first = kBlock * blockIdx.x;
  int quads = 8 * min(kBlock, n - first);

  for (int j = threadIdx.x; j < quads; j += kBlock) {
    uchar4 pixels = in[8 * first + j];
    tile[j] = make_int4(pixels.x, pixels.y, pixels.z, pixels.w);
  }
  __syncthreads();
  if (8 * threadIdx.x < quads) {
    int sum = 0;
    for (int q = 0; q < 8; ++q) {
      int4 v = tile[8 * threadIdx.x + q];
      sum += (4 * q + 1) * v.x + (4 * q + 2) * v.y + (4 * q + 3) * v.z + (4 * q + 4) * v.w;
    }
    out[first + threadIdx.x] = sum;
  }
}

// TASK B5: a weighted histogram. An event holds its channel (the low 6 bits) and its energy (the
// rest): total[channel] += energy, for n events; total is 0 before the launch. Most events are of
// one channel. Grid: ceil(n / 16384).
// Shared memory: at most 8192 bytes, 32 words per channel.
constexpr int kChannels = 64;
__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kChannels];
  if (threadIdx.x < kChannels) energy[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) atomicAdd(&energy[events[i] % kChannels], events[i] / kChannels);
  }
  __syncthreads();
  if (threadIdx.x < kChannels) atomicAdd(&total[threadIdx.x], energy[threadIdx.x]);
}

// ---- C. What staging costs ----------------------------------------------------------------------
//
// Predict; afterwards the notes have the story. Write a number; -1 means "not answered yet".

// TASK C1: a warp stages 128 ints in shared memory, once with four instructions (lane l stores int
// l, then int l + 32, ...), once with one (lane l stores the int4 number l).
// How many wavefronts does each way take in all, and how many of these are conflicts, that is more
// than the data needs?
LAB32_ANSWER(int_wavefronts, -1);
LAB32_ANSWER(int4_wavefronts, -1);
LAB32_ANSWER(int_conflicts, -1);
LAB32_ANSWER(int4_conflicts, -1);
