// Coalescing: how the 32 addresses of a warp become sectors, and what that costs.
// Read handouts/coalescing.md before, handouts/coalescing-notes.md afterwards.
//
// The reference solution: the given kernels are those of labs/coalescing/coalescing.cu, which
// states each task in full. In every launch
// - blocks are one-dimensional and have 256 threads,
// - the grid covers n as the task says, with one block for n = 0,
// - pointers are aligned to 256 bytes, as cudaMalloc's are; buffers never overlap,
// - n is 0, 1, 31, 32, 33, 1000 and 2^17 + 3 where the result is checked, and 2^20 (B4: 2^18 rows)
//   and at one that is drawn where requests and sectors are counted, if the result is right, too.
#include "lab32.cuh"

// ---- A. Build the coalescer ---------------------------------------------------------------------
//
// The memory unit gets one instruction of one warp: 32 addresses, the width of the access (1, 2, 4,
// 8 or 16 bytes, the same for all lanes) and the active lanes (bit l of `active`: lane l).
// Addresses are multiples of the width, as the hardware requires. The address of an inactive lane
// is arbitrary.

// One instruction is one request, however scattered and however wide; with no lane active it is not
// issued to the memory unit at all.
__device__ int requests(const unsigned long long address[32], int bytes, unsigned active) {
  return active != 0;
}

// A naturally aligned access of at most 16 bytes never crosses a sector, so each lane touches
// exactly one. A sector counts for the lowest lane that touches it.
__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  int count = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(active >> lane & 1)) continue;
    bool first = true;
    for (int lower = 0; lower < lane; ++lower) {
      if ((active >> lower & 1) && address[lower] / 32 == address[lane] / 32) first = false;
    }
    count += first;
  }
  return count;
}

// Given: pattern p is addresses[32 * p .. 32 * p + 31], bytes[p], active[p]. One thread each.
__global__ void coalescer(const unsigned long long* addresses, const int* bytes,
                          const unsigned* active, int* out_requests, int* out_sectors,
                          int patterns) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= patterns) return;
  out_requests[p] = requests(addresses + 32 * p, bytes[p], active[p]);
  out_sectors[p] = sectors(addresses + 32 * p, bytes[p], active[p]);
}

// Given, to look at in the profiler's table: five ways to add two arrays. A3 calls your requests()
// and sectors() with the addresses of these kernels. They are launched with whole warps and with
// arrays that are large enough, so they check no bounds.

__global__ void add1(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = x[i] + y[i];
}

__global__ void add2(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  z[i] = x[i] + y[i];
}

__global__ void add3(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + (threadIdx.x ^ 1);
  z[i] = x[i] + y[i];
}

__global__ void add4(const float* x, const float* y, float* z) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
  z[i] = x[i] + y[i];
}

__global__ void add5(const float* x, const float* y, float* z) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  z[i] = x[i] + y[i];
}

__global__ void copy_strided(const float* in, float* out, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride];
}

// ---- B. Optimise the pattern --------------------------------------------------------------------
//
// B1: the 16 elements of a thread lie a block apart, so that neighbouring lanes have neighbouring
// elements: 4 sectors per request instead of 32. All loads come before the first store: out could
// overlap in for all the compiler knows, so it would wait for each load before the next.
__global__ void scale(const float* in, float* out, float factor, int n) {
  int first = 16 * blockDim.x * blockIdx.x + threadIdx.x;
  float value[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    int i = first + k * blockDim.x;
    if (i < n) value[k] = in[i];
  }
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    int i = first + k * blockDim.x;
    if (i < n) out[i] = factor * value[k];
  }
}

// A particle is 8 floats, 32 bytes: one sector.
struct Particle {
  float x, y, z;
  float vx, vy, vz;
  float mass, charge;
};
constexpr int kFields = sizeof(Particle) / sizeof(float);

// B2: a structure of arrays. Each field starts at a 128-byte line, so that no warp straddles two.
__device__ int slot(int field, int i, int n) {
  return field * ceil_div(n, kWarpSize) * kWarpSize + i;
}

// Given: stores field `field` of all particles. Grid: ceil(n / 256).
__global__ void pack(const float* values, float* particles, int field, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) particles[slot(field, i, n)] = values[i];
}

// Given; this is where the sectors are counted. Grid: ceil(n / 256).
__global__ void scale_field(const float* particles, float* out, int field, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * particles[slot(field, i, n)];
}

// B3: through shared memory. Global memory sees only contiguous warps of floats. The accesses with
// a stride of a structure are in the tile, where the pitch of 9 instead of 8 words sends the 32
// lanes to 32 banks.
__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  constexpr int kBlock = 256, kPitch = kFields + 1;
  __shared__ float tile[kBlock * kPitch];
  int first = blockIdx.x * kBlock;
  int floats = kFields * min(kBlock, n - first);  // the last block has fewer particles
  const float* from = reinterpret_cast<const float*>(in + first);
  float* to = reinterpret_cast<float*>(out + first);
  // Float j lies in the tile at j / 8 * 9 + j % 8; a block further on, 256 / 8 * 9 further on.
  int at = threadIdx.x / kFields * kPitch + threadIdx.x % kFields;
  constexpr int kStep = kBlock / kFields * kPitch;

#pragma unroll
  for (int k = 0; k < kFields; ++k) {
    int j = threadIdx.x + k * kBlock;
    if (j < floats) tile[at + k * kStep] = from[j];
  }
  __syncthreads();
  if (kFields * threadIdx.x < floats) {
    float* p = tile + threadIdx.x * kPitch;
    float a = dt * p[7] / p[6];
    for (int axis = 0; axis < 3; ++axis) p[axis] += dt * p[3 + axis];
    p[3] += a * ex;
    p[4] += a * ey;
    p[5] += a * ez;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kFields; ++k) {
    int j = threadIdx.x + k * kBlock;
    if (j < floats) to[j] = tile[at + k * kStep];
  }
}

// B4: the elements are taken in memory order, and the column follows from the element: neighbouring
// lanes have neighbouring columns. The four blocks of 256 rows have a contiguous quarter each.
__global__ void centre(const float* in, const float* mean, float* out, int n) {
  int i = (4 * blockIdx.x + blockIdx.y) * blockDim.x + threadIdx.x;
  if (i < 4 * n) out[i] = in[i] - mean[i % 4];
}

// B5: a quarter of the requests. The thread at the end processes the last elements, up to three,
// one by one.
__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 <= n) {
    float4 from = *reinterpret_cast<const float4*>(x + i);
    float4* at = reinterpret_cast<float4*>(y + i);
    float4 to = *at;
    to.x += a * from.x;
    to.y += a * from.y;
    to.z += a * from.z;
    to.w += a * from.w;
    *at = to;
  } else {
    for (; i < n; ++i) y[i] += a * x[i];
  }
}

// ---- C. Sectors and time ------------------------------------------------------------------------

// C1: 128 bytes from byte 4 of a line on touch 5 sectors. The fifth is the first of the next warp,
// which finds it in L1 or L2: DRAM moves the same bytes, and the time is the same.
LAB32_ANSWER(add2_sectors, 5);
LAB32_ANSWER(add2_time, 1);

// C2: 32 lanes, 12 bytes apart, lie in 384 bytes: 12 sectors, three times those of a dense array.
// The three loads share them, and the second and third find them in L1.
struct Point {
  float x, y, z;
};

__global__ void length_aos(const Point* p, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sqrtf(p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z);
}

__global__ void length_soa(const float* x, const float* y, const float* z, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sqrtf(x[i] * x[i] + y[i] * y[i] + z[i] * z[i]);
}
LAB32_ANSWER(length_aos_sectors, 12);
LAB32_ANSWER(length_soa_sectors, 4);
LAB32_ANSWER(length_time, 1);
