// Bank conflicts: how the 32 lanes of a warp share the 32 banks of shared memory.
// Read handouts/bank_conflicts.md before, handouts/bank_conflicts-notes.md afterwards.
//
// The reference solution: the given kernels are those of labs/bank_conflicts/bank_conflicts.cu,
// which states each task in full. In every launch of part B
// - blocks are one-dimensional and have 256 threads,
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

// The lanes [first, first + lanes) that are active, as a phase: the largest number of distinct
// words in one bank. A word counts for the lowest lane that touches it, so lanes on one word share
// it.
__device__ int phase(const unsigned address[32], int bytes, unsigned active, int first, int lanes) {
  unsigned words = bytes <= 4 ? 1 : bytes / 4;  // of a lane; a part of a word is that word
  int fullest = 0;
  for (unsigned bank = 0; bank < 32; ++bank) {
    int distinct = 0;
    for (int lane = first; lane < first + lanes; ++lane) {
      if (!(active >> lane & 1)) continue;
      // Wide accesses are aligned, so a lane has at most one word in this bank.
      unsigned own = address[lane] / 4;
      unsigned offset = (bank - own) % 32;
      if (offset >= words) continue;
      bool fresh = true;
      for (int lower = first; lower < lane; ++lower) {
        if ((active >> lower & 1) && address[lower] / 4 == own) fresh = false;
      }
      distinct += fresh;
    }
    fullest = max(fullest, distinct);
  }
  return fullest;
}

__device__ int phases(const unsigned address[32], int bytes, unsigned active, int lanes) {
  int sum = 0;
  for (int first = 0; first < kWarpSize; first += lanes) {
    sum += phase(address, bytes, active, first, lanes);
  }
  return sum;
}

// The banks give 128 bytes per wavefront, so a phase has as many lanes as 128 bytes can serve.
__device__ int lanes_of_phase(int bytes) { return bytes <= 4 ? 32 : 128 / bytes; }

__device__ int wavefronts(const unsigned address[32], int bytes, unsigned active) {
  return phases(address, bytes, active, lanes_of_phase(bytes));
}

// Is each active lane's neighbour inactive, or does it have the same address?
__device__ bool pairs_agree(const unsigned address[32], unsigned active, int distance) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    int other = lane ^ distance;
    if ((active >> lane & 1) && (active >> other & 1) && address[lane] != address[other]) {
      return false;
    }
  }
  return true;
}

__device__ int load_wavefronts(const unsigned address[32], int bytes, unsigned active) {
  bool merge = bytes > 4 && (pairs_agree(address, active, 1) || pairs_agree(address, active, 2));
  return phases(address, bytes, active, lanes_of_phase(bytes) * (merge ? 2 : 1));
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

// B1: a word of padding after each row: row r begins in bank r % 32, so a column lies in all 32
// banks and not in one.
__global__ void row_scan(const int* in, int* out, int n) {
  constexpr int kPitch = 33;
  __shared__ int tile[kBlock * kPitch];
  int first = kBlock * blockIdx.x;
  int words = 32 * min(kBlock, n - first);  // the last block has fewer rows

  for (int j = threadIdx.x; j < words; j += kBlock) {
    tile[j / 32 * kPitch + j % 32] = in[32 * first + j];
  }
  __syncthreads();
  if (32 * threadIdx.x < words) {
    int sum = 0;
#pragma unroll 1  // one column at a time, as a walk whose length is not known would be
    for (int c = 0; c < 32; ++c) {
      sum += tile[kPitch * threadIdx.x + c];
      tile[kPitch * threadIdx.x + c] = sum;
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < words; j += kBlock) {
    out[32 * first + j] = tile[j / 32 * kPitch + j % 32];
  }
}

// B2: each row is rotated by its number. Neighbouring rows have a column in neighbouring banks, and
// a row, which is how the table is stored, still fills all banks. Storing the table by columns
// would only move the conflict there.
__device__ int entry(int row, int column) { return 32 * row + (column + row) % 32; }

__global__ void look_up(const int* table, const unsigned char* row, const int* column, int* out,
                        int n) {
  __shared__ int entries[256 * 32];
  for (int j = threadIdx.x; j < 256 * 32; j += kBlock) entries[entry(j / 32, j % 32)] = table[j];
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) out[i] = entries[entry(row[i], column[i / 32])];
  }
}

// B3: sequential steps: the active threads are neighbours, and so are their elements.
__global__ void block_sums(const int* in, int* out, int n) {
  __shared__ int sum[kBlock];
  int t = threadIdx.x;
  int i = kBlock * blockIdx.x + t;
  sum[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = kBlock / 2; step > 0; step /= 2) {
    if (t < step) sum[t] += sum[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sum[0];
}

// B4: padding by what a lane accesses, an int4: the 8 lanes of a phase, in 8 rows, begin in banks
// 0, 4, ..., 28. A pad of one word would be enough for ints; an int4 would no longer be aligned.
__global__ void row_moments(const uchar4* in, int* out, int n) {
  constexpr int kPitch = 9;
  __shared__ int4 tile[kBlock * kPitch];
  int first = kBlock * blockIdx.x;
  int quads = 8 * min(kBlock, n - first);

  for (int j = threadIdx.x; j < quads; j += kBlock) {
    uchar4 pixels = in[8 * first + j];
    tile[j / 8 * kPitch + j % 8] = make_int4(pixels.x, pixels.y, pixels.z, pixels.w);
  }
  __syncthreads();
  if (8 * threadIdx.x < quads) {
    int sum = 0;
    for (int q = 0; q < 8; ++q) {
      int4 v = tile[kPitch * threadIdx.x + q];
      sum += (4 * q + 1) * v.x + (4 * q + 2) * v.y + (4 * q + 3) * v.z + (4 * q + 4) * v.w;
    }
    out[first + threadIdx.x] = sum;
  }
}

// B5: a histogram for each lane, all lanes' words of a channel side by side: lane l has bank l,
// whatever the events are. The eight warps share it, so the atomic stays. At the end each thread
// sums a channel, from its own bank on: if all began with lane 0's word, all would use bank 0.
constexpr int kChannels = 64;
__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kChannels * kWarpSize];
  int lane = threadIdx.x % kWarpSize;
  for (int j = threadIdx.x; j < kChannels * kWarpSize; j += kBlock) energy[j] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) {
      atomicAdd(&energy[events[i] % kChannels * kWarpSize + lane], events[i] / kChannels);
    }
  }
  __syncthreads();
  if (threadIdx.x < kChannels) {
    unsigned sum = 0;
    for (int k = 0; k < kWarpSize; ++k) {
      sum += energy[kWarpSize * threadIdx.x + (lane + k) % kWarpSize];
    }
    atomicAdd(&total[threadIdx.x], sum);
  }
}

// ---- C. What staging costs ----------------------------------------------------------------------

// C1: 512 bytes are four times what the banks give in a wavefront, in either way. The int4 saves
// three instructions, not a wavefront; neither way has a conflict.
LAB32_ANSWER(int_wavefronts, 4);
LAB32_ANSWER(int4_wavefronts, 4);
LAB32_ANSWER(int_conflicts, 0);
LAB32_ANSWER(int4_conflicts, 0);
