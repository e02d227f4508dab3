// Coalescing: how the 32 addresses of a warp become sectors, and what that costs.
// Read handouts/coalescing.md before, handouts/coalescing-notes.md afterwards.
//
// Submit this file. It holds kernels only: the grader allocates, launches and checks. Kernels keep
// their names and parameters; add any helpers you like. Tasks are marked TASK; the rest is given.
//
// In every launch
// - a block has 256 x 1 x 1 threads,
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

// TASK A1: the number of requests the instruction makes.
__device__ int requests(const unsigned long long address[32], int bytes, unsigned active) {
  return 0;
}

// TASK A2: the number of 32-byte sectors the instruction touches.
__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  return 0;
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
// Each kernel gives the right result already. Keep it right, and touch fewer sectors. Only the loads
// and stores of lanes earn points here, not the copy engine (cp.async.bulk, which is also what
// cuda::memcpy_async becomes with cuda::aligned_size_t).

// TASK B1: out[i] = factor * in[i]. A block scales the 4096 elements from 4096 * blockIdx.x on, so
// that each of its 256 threads has 16 of them; which 16 is up to you.
// Grid: ceil(n / 4096).
__global__ void scale(const float* in, float* out, float factor, int n) {
  int first = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < 16; ++k) {
    int i = first + k;
    if (i < n) out[i] = factor * in[i];
  }
}

// A particle is 8 floats, 32 bytes: one sector.
struct Particle {
  float x, y, z;
  float vx, vy, vz;
  float mass, charge;
};
constexpr int kFields = sizeof(Particle) / sizeof(float);

// TASK B2: where field `field` (0 .. 7) of particle i lies in an array of n particles, counted in
// floats. You choose the layout: the grader stores particles with pack() and reads single fields
// with scale_field(), and both call slot(). Now it is an array of structures. Every (field, i)
// needs a slot of its own, below 8 * (n rounded up to a multiple of 32): so each field may start at
// a 128-byte line.
__device__ int slot(int field, int i, int n) { return kFields * i + field; }

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

// TASK B3: the same particles in an array of structures that others use as well: its layout must
// stay. All fields are needed here, so no byte is wasted, yet each access touches 32 sectors. Let
// the block copy its 256 particles (8 KB) to shared memory as one contiguous stretch, work there,
// and write them back the same way. Declare the shared memory yourself (static).
// Grid: ceil(n / 256); block b has the particles from 256 * b on.
__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle p = in[i];
  float a = dt * p.charge / p.mass;
  p.x += dt * p.vx;
  p.y += dt * p.vy;
  p.z += dt * p.vz;
  p.vx += a * ex;
  p.vy += a * ey;
  p.vz += a * ez;
  out[i] = p;
}

// TASK B4: a table of n rows with 4 columns, row by row; subtract from each element its column's
// mean: out[row][column] = in[row][column] - mean[column]. As given, blockIdx.y is the column, so
// four blocks that run at different times fetch the same sectors.
// Grid: ceil(n / 256) x 4 blocks; together they have 1024 threads for 256 rows.
__global__ void centre(const float* in, const float* mean, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int column = blockIdx.y;
  if (row < n) out[4 * row + column] = in[4 * row + column] - mean[column];
}

// TASK B5: y[i] = a * x[i] + y[i]. The sectors are fine; the requests are four times too many. Move
// 16 bytes per lane, and mind the tail: n need not be a multiple of 4; read and write nothing past
// n. Grid: ceil(n / 1024), so each thread has 4 elements.
__global__ void axpy(float a, const float* x, float* y, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) y[i] = a * x[i] + y[i];
}

// ---- C. Sectors and time ------------------------------------------------------------------------
//
// Predict; afterwards the notes have the story. Write a number; -1 means "not answered yet".
// Times are of an H200 on arrays of 2^26 elements; answer the nearest of 1, 1.25, 3 and 8.

// TASK C1: add2 reads and writes one element off the 128-byte line.
// How many sectors does one of its requests touch? How many times longer than add1 does it take?
LAB32_ANSWER(add2_sectors, -1);
LAB32_ANSWER(add2_time, -1);

// TASK C2: points of three floats, read field by field, against three arrays of floats.
// How many sectors does one load request of length_aos touch, how many one of length_soa? How many
// times longer than length_soa does length_aos take?
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
LAB32_ANSWER(length_aos_sectors, -1);
LAB32_ANSWER(length_soa_sectors, -1);
LAB32_ANSWER(length_time, -1);
