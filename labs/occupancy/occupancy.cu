// Occupancy: how many warps a multiprocessor holds, what stops more, and how many are enough.
// The idea, the pictures and the measurements are in handouts/occupancy.md.
//
// Submit this file. It holds kernels and launch shapes only: the grader allocates, launches and
// checks. Kernels keep their names and parameters; add any helpers you like. Tasks are marked TASK;
// the rest is given, and the grader launches its own copy of what is given.
//
// Shapes are stated as data: LAB32_LAUNCH (lab32.cuh) says the threads of a block, the items of a
// thread and, if you want a limit, the blocks for each multiprocessor. All kernels below stride
// over n by the threads of the grid, so any shape gives the right result; what differs is the time.
#include "lab32.cuh"

// ---- A. Build the calculator --------------------------------------------------------------------
//
// What one multiprocessor has. Three generations are asked for (`lab32 devices` lists them), and
// GPUs whose limits are drawn.
struct Multiprocessor {
  int threads;          // the most that reside at a time
  int blocks;           // likewise
  int registers;        // 32-bit ones, of all four quarters together
  int register_unit;    // a warp gets registers in multiples of this
  int shared;           // bytes, of all resident blocks together
  int shared_unit;      // a block gets shared memory in multiples of this
  int shared_reserved;  // bytes that the system takes for each block, beside the block's own
};

// What one block of a kernel asks for. At least one such block fits.
struct Usage {
  int threads;    // per block, 1 .. 1024
  int registers;  // per thread, as ptxas -v prints them
  int shared;     // bytes per block, static and dynamic
};

// A multiprocessor has four quarters, each with a scheduler and a fourth of the registers. A warp
// lives in one quarter, and all of its registers lie there.
constexpr int kQuarters = 4;

// TASK A1: the blocks that reside on a multiprocessor at a time.
__device__ int resident_blocks(Multiprocessor sm, Usage usage) { return 0; }

// TASK A2: what stops one more block: the sum of all that bind at that number of blocks.
enum Limit { kThreads = 1, kBlocks = 2, kRegisters = 4, kShared = 8 };
__device__ int limits(Multiprocessor sm, Usage usage) { return 0; }

// TASK A3: a grid of `grid` blocks where the GPU holds `resident` blocks at a time, all of its
// multiprocessors together, and all blocks take equally long. How many waves are there (the last
// counts, however small)? Which share of its places does the last wave fill, above 0 and at most 1?
__device__ int waves(int grid, int resident) { return 0; }
__device__ float last_wave(int grid, int resident) { return 0; }

// Given: case c is sm[c], usage[c], grid[c], resident[c]. One thread each.
__global__ void calculator(const Multiprocessor* sm, const Usage* usage, const int* grid,
                           const int* resident, int* out_blocks, int* out_limits, int* out_waves,
                           float* out_last, int cases) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cases) return;
  out_blocks[c] = resident_blocks(sm[c], usage[c]);
  out_limits[c] = limits(sm[c], usage[c]);
  out_waves[c] = waves(grid[c], resident[c]);
  out_last[c] = last_wave(grid[c], resident[c]);
}

// ---- B. Pick the shape --------------------------------------------------------------------------
//
// Each shape below runs, and loses time. Credit is the best time of a sweep over shapes, divided by
// yours, both modelled for the same GPU. Change the shape (B1, B4, B5, B6) or the kernel (B2, B3).

// TASK B1: follow `steps` links from each of n nodes. Every load waits for the one before, so a warp
// mostly waits. How many warps does this shape give a multiprocessor, and how many could it hold?
// (Free: block, items_per_thread, blocks_per_sm.)
LAB32_LAUNCH(follow, .block = 32, .items_per_thread = 8);

__global__ void follow(const int* next, int* out, int n, int steps) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    int at = i;
    for (int k = 0; k < steps; ++k) at = next[at];
    out[i] = at;
  }
}

// Given: a copy by single floats. It is launched with all the warps that a multiprocessor holds.
__global__ void copy_floats(const float* in, float* out, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = in[i];
}

// TASK B2: the same, launched with 1 block of 256 threads for each multiprocessor: 8 warps, an eighth
// of what an H200 holds. Make it as fast as copy_floats is with all 64: bytes must be in flight, not
// warps. n need not be a multiple of 4; read and write nothing past n. Pointers are aligned to 256
// bytes. Only the loads and stores of lanes earn points here, not the copy engine (cp.async.bulk).
__global__ void copy(const float* in, float* out, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = in[i];
}

// TASK B3: particles in a field. The launch has blocks of 1024 threads, two for each
// multiprocessor; but two do not fit an H200. What does one register per thread more than 32 cost?
// Tell the compiler what must fit (not by keeping values in memory: registers must not spill).
constexpr int kSide = 64;  // the field has kSide * kSide * kSide cells
__global__ void trace(const float4* field, const float* start, float* out, int n, int steps) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    float x = start[i], y = start[n + i], z = start[2 * n + i];
    float length = 0, low = 1e30f, high = -1e30f, sum = 0, squares = 0;
    float mean_x = 0, mean_y = 0, mean_z = 0, moment_x = 0, moment_y = 0, moment_z = 0;
    for (int k = 0; k < steps; ++k) {
      int cell = int(x) % kSide + kSide * (int(y) % kSide + kSide * (int(z) % kSide));
      float4 f = field[cell];
      x += f.x, y += f.y, z += f.z;
      length += f.x + f.y + f.z;
      low = fminf(low, f.w), high = fmaxf(high, f.w);
      sum += f.w, squares += f.w * f.w;
      mean_x += x, mean_y += y, mean_z += z;
      moment_x += x * f.w, moment_y += y * f.w, moment_z += z * f.w;
    }
    float found[] = {x,      y,      z,        length,   low,     high, sum, squares,
                     mean_x, mean_y, mean_z, moment_x, moment_y, moment_z};
    for (int k = 0; k < 14; ++k) out[k * n + i] = found[k];
  }
}

// TASK B4: out[i] = the mean of 5 pixels of in, from i - 64 to i + 64 in steps of 32. A block has a
// tile of block * items_per_thread pixels in shared memory, and 64 more on either side, which its
// neighbours load, too. A pixel has 16 bytes. How large should the tile be? (Free: block,
// items_per_thread.)
LAB32_LAUNCH(smooth, .block = 512, .items_per_thread = 24);

constexpr int kReach = 64;
__global__ void smooth(const float4* in, float4* out, int n) {
  extern __shared__ float4 tile[];
  int width = ceil_div(n, gridDim.x * blockDim.x) * blockDim.x;
  int first = blockIdx.x * width;
  for (int j = threadIdx.x; j < width + 2 * kReach; j += blockDim.x) {
    int i = first + j - kReach;
    tile[j] = i >= 0 && i < n ? in[i] : float4{};
  }
  __syncthreads();
  for (int j = threadIdx.x; j < width && first + j < n; j += blockDim.x) {
    float4 sum = {};
    for (int k = 0; k <= 2 * kReach; k += 32) {
      float4 p = tile[j + k];
      sum.x += p.x, sum.y += p.y, sum.z += p.z, sum.w += p.w;
    }
    out[first + j] = {sum.x / 5, sum.y / 5, sum.z / 5, sum.w / 5};
  }
}

// TASK B5: eight orbits of z = z * z + c for each item. With this shape there are 1.05 times as
// many blocks as an H200 holds at a time. Who works at the end, and who waits? (Free: block,
// items_per_thread, blocks_per_sm.)
LAB32_LAUNCH(orbits, .block = 1024, .items_per_thread = 4);

__global__ void orbits(float* out, int n, int steps) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    float x[8], y[8], a[8], b[8];
#pragma unroll
    for (int p = 0; p < 8; ++p) {
      x[p] = a[p] = i * 1e-7f - p * 0.03125f;
      y[p] = b[p] = p * 0.03125f - i * 1e-7f;
    }
    for (int k = 0; k < steps; ++k) {
#pragma unroll
      for (int p = 0; p < 8; ++p) {
        float real = x[p] * x[p] - y[p] * y[p] + a[p];
        y[p] = 2 * x[p] * y[p] + b[p];
        x[p] = real;
      }
    }
    float sum = 0;
    for (int p = 0; p < 8; ++p) sum += x[p] * y[p];
    out[i] = sum;
  }
}

// TASK B6: each thread multiplies rows of 32 floats, one column after the other. A warp's rows are
// 4 KB of each array, and it comes back to each sector seven times. The shape fills the
// multiprocessor. Is that best? (Free: block, items_per_thread, blocks_per_sm.)
LAB32_LAUNCH(match, .block = 128, .items_per_thread = 1);

constexpr int kColumns = 32;
__global__ void match(const float* a, const float* b, const float* c, const float* d, float* out,
                      int n) {
  int threads = gridDim.x * blockDim.x;
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < n; row += threads) {
    float sum = 0;
#pragma unroll 1
    for (int k = kColumns * row; k < kColumns * (row + 1); ++k) sum += a[k] * b[k] + c[k] * d[k];
    out[row] = sum;
  }
}

// ---- C. Kinds of memory, and what occupancy may cost --------------------------------------------
//
// Predict, then look it up in the handout. Write a number; -1 means "not answered yet". Times are
// of an H200; answer the nearest of 1, 1.5, 3, 8 and 15.

// TASK C1: a warp reads a table of 1 KB in constant memory, all lanes one word or each lane another
// one. How many times longer do 32 words take? And a window over a signal of 2^26 floats, 0.5 - 0.5
// * cos(i * step): how many times longer does it take to load the weights than to compute them?
LAB32_ANSWER(constant_time, -1);
LAB32_ANSWER(window_time, -1);

// TASK C2: trace with __maxnreg__(24): all 64 warps reside, as with 32 registers; and values that
// do not fit go to local memory. How many times longer does it take than with 32?
LAB32_ANSWER(spilled_time, -1);
