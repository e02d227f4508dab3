// The kernels that the time model is fitted on and tested with. All have one signature, so that a
// table (launches.csv) can launch them, on a GPU as on the simulator:
//
//   a, b   read only; word i holds a hash of i below 2^30: as a float in [0, 2), as an index any
//   c      written
//   n      elements of the task, p and q what the kernel says
//
// None has a name in common with a lab's: these are not solutions.
#include <cstdint>

#define KERNEL(name)                                                                        \
  extern "C" __global__ void name(const float* __restrict__ a, const float* __restrict__ b, \
                                  float* __restrict__ c, unsigned n, unsigned p, unsigned q)

namespace {

__device__ unsigned first() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned step() { return gridDim.x * blockDim.x; }
__device__ unsigned word(const float* from, unsigned i) {
  return reinterpret_cast<const unsigned*>(from)[i];
}
__device__ const float4* quads(const float* from) { return reinterpret_cast<const float4*>(from); }
__device__ float sum4(float4 v) { return v.x + v.y + v.z + v.w; }
__device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
// Sum over a block of whole warps, for thread 0.
__device__ float block_sum(float v) {
  __shared__ float part[32];
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  return warp_sum(threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : 0);
}

}  // namespace

// ---- launching -------------------------------------------------------------------------------
KERNEL(nothing) {
  if (n == 1 && p == 2) c[0] = a[0] + b[q];
}
KERNEL(barriers) {  // q barriers and nothing else
  for (unsigned k = 0; k < q; ++k) __syncthreads();
  if (n == 1 && p == 2) c[0] = a[0] + b[0];
}

// ---- streams ---------------------------------------------------------------------------------
KERNEL(copy_one) {
  unsigned i = first();
  if (i < n) c[i] = a[i];
}
KERNEL(copy_quad) {
  unsigned i = first();
  if (i < n / 4) reinterpret_cast<float4*>(c)[i] = quads(a)[i];
}
KERNEL(copy_walk) {
  for (unsigned i = first(); i < n; i += step()) c[i] = a[i];
}
KERNEL(copy_walk_quad) {
  for (unsigned i = first(); i < n / 4; i += step()) {
    reinterpret_cast<float4*>(c)[i] = quads(a)[i];
  }
}
KERNEL(copy_four) {  // four loads of a thread in flight at once
  unsigned i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  float v[4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) v[k] = i + k * blockDim.x < n ? a[i + k * blockDim.x] : 0;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k)
    if (i + k * blockDim.x < n) c[i + k * blockDim.x] = v[k];
}
KERNEL(copy_bytes) {
  unsigned i = first();
  if (i < n) {
    reinterpret_cast<unsigned char*>(c)[i] = reinterpret_cast<const unsigned char*>(a)[i];
  }
}
KERNEL(copy_shifted) {  // p words off the line
  unsigned i = first();
  if (i < n - p) c[i] = a[i + p];
}
KERNEL(triad) {
  unsigned i = first();
  if (i < n) c[i] = a[i] + 3.0f * b[i];
}
KERNEL(triad_quad) {
  unsigned i = first();
  if (i >= n / 4) return;
  float4 x = quads(a)[i], y = quads(b)[i];
  reinterpret_cast<float4*>(c)[i] =
      make_float4(x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w);
}
KERNEL(fill_one) {
  unsigned i = first();
  if (i < n) c[i] = 1.5f;
}
KERNEL(fill_walk_quad) {
  for (unsigned i = first(); i < n / 4; i += step()) {
    reinterpret_cast<float4*>(c)[i] = make_float4(1, 2, 3, 4);
  }
}
KERNEL(sum_walk) {
  float s = 0;
  for (unsigned i = first(); i < n; i += step()) s += a[i];
  s = block_sum(s);
  if (threadIdx.x == 0) c[blockIdx.x] = s;
}
KERNEL(sum_walk_quad) {
  float s = 0;
  for (unsigned i = first(); i < n / 4; i += step()) s += sum4(quads(a)[i]);
  s = block_sum(s);
  if (threadIdx.x == 0) c[blockIdx.x] = s;
}
KERNEL(sum_again) {  // the same n words q times, by the whole grid: L2
  float s = 0;
  for (unsigned k = 0; k < q; ++k)
    for (unsigned i = first(); i < n / 4; i += step()) s += sum4(__ldcg(quads(a) + i));
  if (s == 1) c[0] = s;
}
KERNEL(sum_own_again) {  // each block its own p words, q times: L1
  float s = 0;
  const float4* own = quads(a) + size_t{blockIdx.x} * (p / 4);
  for (unsigned k = 0; k < q; ++k)
    for (unsigned i = threadIdx.x; i < p / 4; i += blockDim.x) s += sum4(own[i]);
  if (s == 1) c[0] = s + n;
}

// ---- strides, gathers, scatters ----------------------------------------------------------------
KERNEL(strided_read) {  // stride p, in q words (a power of two)
  unsigned i = first();
  if (i < n) c[i] = a[i * p & (q - 1)];
}
KERNEL(strided_write) {
  unsigned i = first();
  if (i < n) c[i * p & (q - 1)] = a[i];
}
KERNEL(gather) {  // from q words (a power of two)
  unsigned i = first();
  if (i < n) c[i] = b[word(a, i) & (q - 1)];
}
KERNEL(gather_four) {
  unsigned i = first();
  if (i >= n / 4) return;
  uint4 at = reinterpret_cast<const uint4*>(a)[i];
  c[i] = b[at.x & (q - 1)] + b[at.y & (q - 1)] + b[at.z & (q - 1)] + b[at.w & (q - 1)];
}
KERNEL(scatter) {
  unsigned i = first();
  if (i < n) c[word(a, i) & (q - 1)] = b[i];
}
KERNEL(scatter_words) {  // one word here and there in q (a power of two), none twice
  unsigned i = first();
  if (i < n) c[i * 2654435761u & (q - 1)] = 1.5f;
}
KERNEL(scatter_sectors) {  // whole sectors
  unsigned i = first();
  if (i < n) c[(i / 8 * 2654435761u & (q / 8 - 1)) * 8 + i % 8] = 1.5f;
}
KERNEL(gather_sectors) {
  unsigned i = first();
  if (i < n && a[(i / 8 * 2654435761u & (q / 8 - 1)) * 8 + i % 8] == 5) c[0] = 1;
}
KERNEL(gather_near) {  // anywhere in the block's own p words
  unsigned i = first();
  if (i < n) c[i] = b[blockIdx.x * blockDim.x + (word(a, i) & (p - 1))];
}
KERNEL(chase) {  // one load after the other, q times, in n words (a power of two)
  unsigned at = first() * 97;
  for (unsigned k = 0; k < q; ++k) at = word(a, (at + k) & (n - 1));
  c[first()] = static_cast<float>(at + p);
}
KERNEL(row_sums) {  // a thread a row of p words
  unsigned row = first();
  if (row >= n / p) return;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += a[size_t{row} * p + k];
  c[row] = s;
}

// ---- stencils, matrices ------------------------------------------------------------------------
KERNEL(stencil_line) {  // radius q
  unsigned i = first();
  if (i < q || i + q >= n) return;
  float s = 0;
  for (unsigned k = i - q; k <= i + q; ++k) s += a[k];
  c[i] = s;
}
KERNEL(stencil_five) {  // rows of p words
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned rows = n / p;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= rows) return;
  unsigned i = y * p + x;
  c[i] = a[i] + 0.25f * (a[i - 1] + a[i + 1] + a[i - p] + a[i + p]);
}
KERNEL(stencil_nine) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned rows = n / p;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= rows) return;
  float s = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx) s += a[(y + dy) * p + x + dx];
  c[y * p + x] = s;
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
KERNEL(product_plain) {  // c = a b, p by p
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += a[y * p + k] * b[k * p + x];
  c[y * p + x] = s;
}
KERNEL(product_tile) {  // blocks of 32 by 32
  __shared__ float left[32][32], right[32][32];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float s = 0;
  for (unsigned t = 0; t < p; t += 32) {
    left[threadIdx.y][threadIdx.x] = a[y * p + t + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * p + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) s += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[y * p + x] = s;
}

// ---- rows, sums, atomics -----------------------------------------------------------------------
KERNEL(rows_normalised) {  // a block a row of p words: softmax without the maximum
  const float* row = a + size_t{blockIdx.x} * p;
  __shared__ float total;
  float s = 0;
  for (unsigned i = threadIdx.x; i < p; i += blockDim.x) s += __expf(row[i]);
  s = block_sum(s);
  if (threadIdx.x == 0) total = s;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < p; i += blockDim.x)
    c[size_t{blockIdx.x} * p + i] = __expf(row[i]) / total;
}
KERNEL(tree_near) {  // neighbours first: lanes idle, warps diverge
  extern __shared__ float tree[];
  tree[threadIdx.x] = first() < n ? a[first()] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    if (threadIdx.x % (2 * d) == 0) tree[threadIdx.x] += tree[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) c[blockIdx.x] = tree[0];
}
KERNEL(tree_conflicts) {
  extern __shared__ float tree[];
  tree[threadIdx.x] = first() < n ? a[first()] : 0;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    unsigned i = threadIdx.x * 2 * d;
    if (i < blockDim.x) tree[i] += tree[i + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) c[blockIdx.x] = tree[0];
}
KERNEL(tree_far) {
  extern __shared__ float tree[];
  tree[threadIdx.x] = first() < n ? a[first()] : 0;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) tree[threadIdx.x] += tree[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) c[blockIdx.x] = tree[0];
}
KERNEL(sum_shuffles) {
  float s = block_sum(first() < n ? a[first()] : 0);
  if (threadIdx.x == 0) c[blockIdx.x] = s;
}
KERNEL(sum_small_blocks) {  // any block size up to 32: one atomic per block
  __shared__ float part[32];
  part[threadIdx.x] = first() < n ? a[first()] : 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    float s = 0;
    for (unsigned k = 0; k < blockDim.x; ++k) s += part[k];
    atomicAdd(c, s);
  }
}
KERNEL(sum_shuffles_atomic) {
  float s = block_sum(first() < n ? a[first()] : 0);
  if (threadIdx.x == 0) atomicAdd(c, s);
}
KERNEL(add_to_one) {  // every lane to one float
  if (first() < n) atomicAdd(c, a[first()]);
}
KERNEL(add_to_one_int) {  // ptxas sums the warp first
  if (first() < n) atomicAdd(reinterpret_cast<unsigned*>(c), word(a, first()));
}
KERNEL(add_per_warp) {  // one lane per warp to one float
  float s = warp_sum(first() < n ? a[first()] : 0);
  if (threadIdx.x % 32 == 0) atomicAdd(c, s);
}
KERNEL(count_into) {  // q counters (a power of two)
  if (first() < n) atomicAdd(reinterpret_cast<unsigned*>(c) + (word(a, first()) & (q - 1)), 1u);
}
KERNEL(add_in_order) {  // neighbours to neighbours
  if (first() < n) atomicAdd(c + first(), a[first()]);
}
KERNEL(count_shared) {  // q <= 1024 counters per block
  __shared__ unsigned counts[1024];
  for (unsigned i = threadIdx.x; i < q; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (unsigned i = first(); i < n; i += step()) atomicAdd(counts + (word(a, i) & (q - 1)), p);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < q; i += blockDim.x)
    if (counts[i]) atomicAdd(reinterpret_cast<unsigned*>(c) + i, counts[i]);
}
KERNEL(tickets) {  // an atomic with a result, one per warp
  unsigned mine = 0;
  if (threadIdx.x % 32 == 0) mine = atomicAdd(reinterpret_cast<unsigned*>(c), 1u);
  mine = __shfl_sync(0xffffffffu, mine, 0);
  if (first() < n) c[32 + first()] = a[first()] + static_cast<float>(mine & 1);
}

// ---- shared memory -----------------------------------------------------------------------------
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
KERNEL(shared_turns) {  // stores and loads in turn, a barrier between
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

// ---- arithmetic --------------------------------------------------------------------------------
KERNEL(fma_one) {  // one chain
  float x = a[threadIdx.x], y = b[threadIdx.x];
#pragma unroll 16
  for (unsigned k = 0; k < q; ++k) x = x * y + 0.5f;
  if (x == 1) c[0] = x + n + p;
}
KERNEL(fma_four) {
  float x[4], y = b[threadIdx.x];
  for (int j = 0; j < 4; ++j) x[j] = a[threadIdx.x + 32 * j];
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k)
#pragma unroll
    for (int j = 0; j < 4; ++j) x[j] = x[j] * y + 0.5f;
  if (x[0] + x[1] + x[2] + x[3] == 1) c[0] = x[0] + n + p;
}
KERNEL(mix_bits) {
  unsigned x = word(a, threadIdx.x), y = word(b, threadIdx.x);
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    y ^= y << 13, y ^= y >> 17, y ^= y << 5;
  }
  if (x + y == 1) c[0] = static_cast<float>(x + n + p);
}
KERNEL(multiply_integers) {
  unsigned x = word(a, threadIdx.x), y = word(b, threadIdx.x), z = x ^ y;
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) x = x * y + 3, z = z * y + 7;
  if (x + z == 1) c[0] = static_cast<float>(x + n + p);
}
KERNEL(waves) {  // sines and exponentials of the special unit
  float x = a[threadIdx.x], y = b[threadIdx.x];
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) x = __sinf(x), y = __expf(y) * 0.25f;
  if (x + y == 1) c[0] = x + n + p;
}
KERNEL(roots) {
  float x = a[threadIdx.x] + 1, y = b[threadIdx.x] + 1;
#pragma unroll 4
  for (unsigned k = 0; k < q; ++k) x = rsqrtf(x + 1), y = sqrtf(y + 1);
  if (x + y == 1) c[0] = x + n + p;
}
KERNEL(doubles) {
  double x = a[threadIdx.x], y = b[threadIdx.x], z = x + y;
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) x = x * y + 0.5, z = z * y + 0.25;
  if (x + z == 1) c[0] = static_cast<float>(x + n + p);
}
KERNEL(quotients) {
  float x = a[threadIdx.x] + 1, y = b[threadIdx.x] + 1;
  for (unsigned k = 0; k < q; ++k) x = (x + 2) / (y + 1), y = (y + 3) / (x + 1);
  if (x + y == 1) c[0] = x + n + p;
}
KERNEL(parting) {  // lanes of a warp go p ways
  float x = a[threadIdx.x], y = b[threadIdx.x];
  for (unsigned k = 0; k < q; ++k) {
    unsigned way = (threadIdx.x + k) % p;
    if (way == 0)
      x = x * y + 0.5f;
    else if (way == 1)
      x = x * x + y, y = y * 0.5f;
    else if (way == 2)
      y = y * y + x;
    else
      x = x + y, y = x * 0.25f;
  }
  if (x + y == 1) c[0] = x + n;
}
KERNEL(powers_then_store) {  // q steps of arithmetic on each word of a stream
  unsigned i = first();
  if (i >= n) return;
  float x = a[i], y = x + 1;
#pragma unroll 4
  for (unsigned k = 0; k < q; ++k) x = x * y + 0.5f, y = y * 0.5f + x;
  c[i] = x + p;
}
