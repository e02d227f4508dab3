// Shared memory: its banks, its latency, additions in it, barriers, and tiles that are transposed in
// it.
#include "kernel_kit.h"

KERNEL(barriers) {  // q barriers and nothing else
  for (unsigned k = 0; k < q; ++k) __syncthreads();
  if (n == 1 && p == 2) c[0] = a[0] + b[0];
}

KERNEL(shared_stride) {  // q loads with stride p words
  __shared__ float words[4096];
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) words[i] = a[i];
  __syncthreads();
  float s = 0;
  unsigned at = threadIdx.x * p;
  for (unsigned k = 0; k < q; ++k) s += words[(at + k * 32) & 4095];
  if (s == 1) c[0] = s + n;
}

KERNEL(shared_quads) {
  __shared__ float4 words[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = quads(a)[i];
  __syncthreads();
  float s = 0;
  for (unsigned k = 0; k < q; ++k) s += sum4(words[(threadIdx.x + k * p) & 1023]);
  if (s == 1) c[0] = s + n;
}

KERNEL(shared_chase) {  // latency
  __shared__ unsigned words[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = (i * p + 1) & 1023;
  __syncthreads();
  unsigned at = threadIdx.x;
  for (unsigned k = 0; k < q; ++k) at = words[at];
  c[first()] = static_cast<float>(at + n);
}

KERNEL(shared_walk) {  // each thread its own row of p words: the next load waits for the last store
  extern __shared__ float rows[];
  float* row = rows + threadIdx.x * p;
  for (unsigned k = 0; k < p; ++k) row[k] = a[k];
  float s = 0;
#pragma unroll 1
  for (unsigned k = 0; k < q; ++k) {
    s += row[k & 31];
    row[k & 31] = s;
  }
  if (s == 1) c[0] = s + n;
}

// q additions to shared memory, p lanes to a word, or to words p apart.
template <class T>
__device__ void add_shared(unsigned at, T value, T step, unsigned q, float* c) {
  __shared__ T words[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = 0;
  __syncthreads();
#pragma unroll 4
  for (unsigned k = 0; k < q; ++k) atomicAdd(words + at, value), value += step;
  __syncthreads();
  if (words[threadIdx.x % 1024] == T(1)) c[0] = 1;
}

KERNEL(shared_add) { add_shared(threadIdx.x % 32 / p, word(a, threadIdx.x), n, q, c); }

KERNEL(shared_add_apart) { add_shared(threadIdx.x % 32 * p, word(a, threadIdx.x), n, q, c); }

KERNEL(shared_add_float) { add_shared(threadIdx.x % 32 / p, a[threadIdx.x], float(n), q, c); }

KERNEL(shared_count) {
  __shared__ unsigned words[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = 0;
  __syncthreads();
#pragma unroll 4
  for (unsigned k = 0; k < q; ++k) atomicAdd(words + threadIdx.x % 32 / p, 1u);
  __syncthreads();
  if (words[threadIdx.x % 1024] == n) c[0] = 1;
}

KERNEL(shared_turns) {  // alternating stores and loads, with a barrier between
  __shared__ float words[1024];
  float s = a[threadIdx.x];
  for (unsigned k = 0; k < q; ++k) {
    words[threadIdx.x] = s;
    __syncthreads();
    s += words[(threadIdx.x + p) % blockDim.x];
    __syncthreads();
  }
  if (s == 1) c[0] = s + n;
}

KERNEL(turn_plain) {  // p by p words; blocks of 32 by 8 or 32 by 32
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < p && y < p) c[size_t{x} * p + y] = a[size_t{y} * p + x];
}

template <int kPitch>
__device__ void turn_tile(const float* a, float* c, unsigned p) {
  __shared__ float tile[32][kPitch];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += blockDim.y)
    tile[threadIdx.y + k][threadIdx.x] = a[size_t{y + k} * p + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += blockDim.y)
    c[size_t{y + k} * p + x] = tile[threadIdx.x][threadIdx.y + k];
}

KERNEL(turn_tile_32) { turn_tile<32>(a, c, p); }

KERNEL(turn_tile_33) { turn_tile<33>(a, c, p); }

template <int kPitch>
__device__ void flip(const float* a, float* c, unsigned p) {
  __shared__ float tile[32][kPitch];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += blockDim.y)
    tile[threadIdx.y + k][threadIdx.x] = 2 * a[size_t{y + k} * p + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += blockDim.y)
    c[size_t{y + k} * p + x] = tile[threadIdx.x][threadIdx.y + k];
}

KERNEL(flip_conflicts) { flip<32>(a, c, p); }

KERNEL(flip_padded) { flip<33>(a, c, p); }

KERNEL(flip_swizzled) {  // blocks of 32 by 8
  __shared__ float tile[32][32];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = threadIdx.y; k < 32; k += 8)
    tile[k][threadIdx.x ^ k] = a[size_t{y + k - threadIdx.y} * p + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned k = threadIdx.y; k < 32; k += 8)
    c[size_t{y + k - threadIdx.y} * p + x] = tile[threadIdx.x][k ^ threadIdx.x];
}

KERNEL(turn_by_elements) {  // p by p, transposed, blocks of 16 by 16
  const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < p && y < p) c[x * p + y] = a[y * p + x];
}

KERNEL(turn_in_tiles) {  // p by p, transposed: 32 by 32 a block of 32 by 8
  __shared__ float tile[32][33];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = a[(y + k) * p + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (unsigned k = 0; k < 32; k += 8) c[(y + k) * p + x] = tile[threadIdx.x][threadIdx.y + k];
}

KERNEL(turn_with_padding) {  // p by p, transposed: 16 by 16
  __shared__ float tile[16][17];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = a[(blockIdx.y * 16 + y) * p + blockIdx.x * 16 + x];
  __syncthreads();
  c[(blockIdx.x * 16 + y) * p + blockIdx.y * 16 + x] = tile[x][y];
}

KERNEL(volume_turned) {  // p cubed, x and z swapped: tiles of 32 by 32, blocks of 32 by 8
  __shared__ float tile[32][33];
  const unsigned x0 = blockIdx.x % (p / 32) * 32, z0 = blockIdx.x / (p / 32) * 32, y = blockIdx.y;
  for (unsigned k = threadIdx.y; k < 32; k += 8)
    tile[k][threadIdx.x] = a[((z0 + k) * p + y) * p + x0 + threadIdx.x];
  __syncthreads();
  for (unsigned k = threadIdx.y; k < 32; k += 8)
    c[((x0 + k) * p + y) * p + z0 + threadIdx.x] = tile[threadIdx.x][k];
}

KERNEL(channels_last) {  // p planes of n / p points: the p values of a point become neighbours
  const unsigned i = first();
  if (i >= n) return;
  const unsigned points = n / p, plane = i / points, point = i % points;
  c[point * p + plane] = a[i] * 0.5f;
}

KERNEL(turned_by_quads) {  // p by p, tiles of 32 by 32, blocks of 8 by 32: four words a thread
  __shared__ float tile[32][33];
  const unsigned x = 4 * threadIdx.x, y = threadIdx.y;
  const float4 v =
      reinterpret_cast<const float4*>(a)[((blockIdx.y * 32 + y) * p + blockIdx.x * 32 + x) / 4];
  tile[y][x] = v.x, tile[y][x + 1] = v.y, tile[y][x + 2] = v.z, tile[y][x + 3] = v.w;
  __syncthreads();
  reinterpret_cast<float4*>(c)[((blockIdx.x * 32 + y) * p + blockIdx.y * 32 + x) / 4] =
      make_float4(tile[x][y], tile[x + 1][y], tile[x + 2][y], tile[x + 3][y]);
}

KERNEL(turned_rectangle) {  // q rows of p words, any numbers of them: tiles of 32 by 32
  __shared__ float tile[32][33];
  const unsigned u = threadIdx.x;
  for (unsigned v = threadIdx.y; v < 32; v += 8) {
    const unsigned x = blockIdx.x * 32 + u, y = blockIdx.y * 32 + v;
    if (x < p && y < q) tile[v][u] = a[y * p + x];
  }
  __syncthreads();
  for (unsigned v = threadIdx.y; v < 32; v += 8) {
    const unsigned x = blockIdx.y * 32 + u, y = blockIdx.x * 32 + v;
    if (x < q && y < p) c[y * q + x] = tile[u][v];
  }
}

KERNEL(turned_in_place) {  // p by p, in c itself: a tile of 32 by 32 and its mirror image a block
  __shared__ float upper[32][33], lower[32][33];
  if (blockIdx.x > blockIdx.y) return;
  const unsigned u = threadIdx.x, x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (unsigned v = threadIdx.y; v < 32; v += 8) {
    lower[v][u] = c[(y + v) * p + x + u];
    upper[v][u] = c[(x + v) * p + y + u];
  }
  __syncthreads();
  for (unsigned v = threadIdx.y; v < 32; v += 8) {
    c[(y + v) * p + x + u] = upper[u][v];
    c[(x + v) * p + y + u] = lower[u][v];
  }
}

KERNEL(bits_turned) {  // each 32 words of a warp as a matrix of bits
  const unsigned i = first(), lane = threadIdx.x % 32;
  unsigned x = word(a, i), mask = 0xffffu;
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) {
    const unsigned other = __shfl_xor_sync(~0u, x, step);
    x = lane & step ? (x & ~mask) | (other >> step & mask) : (x & mask) | (other & mask) << step;
    mask ^= mask << (step / 2);
  }
  words(c)[i] = x;
}
