// Occupancy: how many warps a multiprocessor holds, what stops more, and how many are enough.
// The idea, the pictures and the measurements are in handouts/occupancy.md.
//
// The reference solution: the given kernels are those of labs/occupancy/occupancy.cu, which states
// each task in full.
#include "lab32.cuh"

// ---- A. Build the calculator --------------------------------------------------------------------
//
// The resources of one multiprocessor. The tests ask for three generations: see data/devices.
struct Multiprocessor {
  int threads;          // the most that reside at a time
  int blocks;           // the most that reside at a time
  int registers;        // 32-bit registers of all four quarters together
  int register_unit;    // a warp gets registers in multiples of this
  int shared;           // bytes, of all resident blocks together
  int shared_unit;      // a block gets shared memory in multiples of this
  int shared_reserved;  // bytes that the system takes for each block, beside the block's own
};

// The resources that one block of a kernel needs. At least one such block fits.
struct Usage {
  int threads;    // per block, 1 .. 1024
  int registers;  // per thread, as ptxas -v prints them
  int shared;     // bytes per block, static and dynamic
};

// A multiprocessor has four quarters, each with a scheduler and a fourth of the registers. A warp
// lives in one quarter, and all of its registers lie there.
constexpr int kQuarters = 4;

__device__ int round_up(int n, int unit) { return ceil_div(n, unit) * unit; }

// The blocks that each resource allows.
struct Allowed {
  int threads, blocks, registers, shared;
};

__device__ Allowed allowed(Multiprocessor sm, Usage usage) {
  Allowed most;
  // A partial warp takes the place of a whole one.
  int warps = ceil_div(usage.threads, kWarpSize);
  most.threads = sm.threads / kWarpSize / warps;
  most.blocks = sm.blocks;
  // Registers are given to a warp, in units; the remainder of a quarter stays unused.
  int of_warp = round_up(usage.registers * kWarpSize, sm.register_unit);
  most.registers = sm.registers / kQuarters / of_warp * kQuarters / warps;
  // Shared memory is given to a block, with the system's own part. Turing reserves none.
  int of_block = round_up(usage.shared + sm.shared_reserved, sm.shared_unit);
  most.shared = of_block > 0 ? sm.shared / of_block : sm.blocks + 1;
  return most;
}

// A1: the scarcest resource sets the limit.
__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  Allowed most = allowed(sm, usage);
  return min(min(most.threads, most.blocks), min(most.registers, most.shared));
}

// A2: several resources may set the same limit.
enum Limit { kThreads = 1, kBlocks = 2, kRegisters = 4, kShared = 8 };
__device__ int limits(Multiprocessor sm, Usage usage) {
  Allowed most = allowed(sm, usage);
  int blocks = resident_blocks(sm, usage);
  return (most.threads == blocks ? kThreads : 0) + (most.blocks == blocks ? kBlocks : 0) +
         (most.registers == blocks ? kRegisters : 0) + (most.shared == blocks ? kShared : 0);
}

// A3: a partial wave takes as long as a full one. The last wave has the remaining blocks.
__device__ int waves(int grid, int resident) { return ceil_div(grid, resident); }
__device__ float last_wave(int grid, int resident) {
  return static_cast<float>(grid - (waves(grid, resident) - 1) * resident) / resident;
}

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
// B1: a thread for each node, in blocks that fit: all 64 warps of a multiprocessor wait at once.
LAB32_LAUNCH(follow, .block = 256, .items_per_thread = 1);

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

// B2: eight loads of 16 bytes per thread are under way before the first store: 8 warps have as many
// bytes under way as 256 warps with one load of 4 bytes each.
__global__ void copy(const float* in, float* out, int n) {
  constexpr int kLoads = 8;
  const float4* from = reinterpret_cast<const float4*>(in);
  float4* to = reinterpret_cast<float4*>(out);
  int quads = n / 4, threads = gridDim.x * blockDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x, left = 4 * quads + i;
  for (; i + (kLoads - 1) * threads < quads; i += kLoads * threads) {
    float4 value[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) value[k] = from[i + k * threads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) to[i + k * threads] = value[k];
  }
  for (; i < quads; i += threads) to[i] = from[i];
  if (left < n) out[left] = in[left];
}

// B3: two blocks of 1024 threads have 65536 registers at 32 per thread, and ptxas manages with them.
constexpr int kSide = 64;  // the field has kSide * kSide * kSide cells
__global__ void __launch_bounds__(1024, 2) trace(const float4* field, const float* start, float* out, int n, int steps) {
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

// B4: out[i] = the mean of 5 pixels of in, from i - 64 to i + 64 in steps of 32. A tile of 256 * 4
// pixels has 16 KB and 2 KB of neighbours, an eighth more; 8 blocks of it still reside.
LAB32_LAUNCH(smooth, .block = 256, .items_per_thread = 4);

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

// B5: 40 registers let 6 blocks of 256 threads reside on an H200. Five of them for each
// multiprocessor, one wave; every thread strides on until n is done, so all end at about the same
// time.
LAB32_LAUNCH(orbits, .block = 256, .items_per_thread = 1, .blocks_per_sm = 5);

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

// B6: 64 warps have 64 * 16 KB of rows under way, four times what L1 has. With few enough of them
// the sectors are still in L1 when the next column needs them.
LAB32_LAUNCH(match, .block = 128, .items_per_thread = 1, .blocks_per_sm = 3);

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
// On an H200; the nearest of 1, 1.5, 3, 8 and 15.

// C1: the constant cache gives one word at a time: 32 words are 32 times its work. Loaded weights
// are a third stream beside the two that must be moved.
LAB32_ANSWER(constant_time, 15);
LAB32_ANSWER(window_time, 1.5);

// C2: each spilled value is an access to L1 whenever it is needed.
LAB32_ANSWER(spilled_time, 1.5);
