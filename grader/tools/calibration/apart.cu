// More kernels that the time model is fitted on. They were set apart once, and committed before
// they were measured; since then they have been looked at (data/measured/model/README.md). The
// signature and the contents of the arrays are those of kernels.cu.
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
__device__ float warp_most(float v) {
  for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
__device__ float warp_total(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

}  // namespace

// ---- streams ---------------------------------------------------------------------------------
KERNEL(reverse_words) {
  unsigned i = first();
  if (i < n) c[i] = a[n - 1 - i];
}
KERNEL(copy_pairs) {
  unsigned i = first();
  if (i < n / 2) reinterpret_cast<float2*>(c)[i] = reinterpret_cast<const float2*>(a)[i];
}
KERNEL(average_pairs) {
  unsigned i = first();
  if (i >= n / 2) return;
  const float2 v = reinterpret_cast<const float2*>(a)[i];
  c[i] = 0.5f * (v.x + v.y);
}
KERNEL(differences) {
  unsigned i = first();
  if (i + 1 < n) c[i] = a[i + 1] - a[i];
}
KERNEL(interleave) {
  unsigned i = first();
  if (i < n / 2) c[2 * i] = a[i], c[2 * i + 1] = b[i];
}
KERNEL(scale_rows) {  // rows of p words, blocks of 32 by 8
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < p && y < n / p) c[y * p + x] = a[y * p + x] * b[y];
}
KERNEL(fill_pairs) {
  unsigned i = first();
  if (i < n / 2) reinterpret_cast<float2*>(c)[i] = make_float2(1, 2);
}
KERNEL(blend_doubles) {
  unsigned i = first();
  if (i >= n / 2) return;
  reinterpret_cast<double*>(c)[i] =
      0.25 * reinterpret_cast<const double*>(a)[i] + 0.75 * reinterpret_cast<const double*>(b)[i];
}
KERNEL(few_blocks_scale) {
  for (unsigned i = first(); i < n; i += step()) c[i] = 2 * a[i] + b[i];
}
KERNEL(dot) {
  __shared__ float part[32];
  float s = 0;
  for (unsigned i = first(); i < n; i += step()) s += a[i] * b[i];
  s = warp_total(s);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  s = warp_total(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
  if (threadIdx.x == 0) atomicAdd(c, s);
}

// ---- strides, gathers --------------------------------------------------------------------------
KERNEL(pick_strided) {  // stride p, in q words (a power of two)
  unsigned i = first();
  if (i < n) c[i] = 1 + a[i * p & (q - 1)];
}
KERNEL(put_strided) {
  unsigned i = first();
  if (i < n) c[i * p & (q - 1)] = 1 + a[i];
}
KERNEL(look_in_table) {  // q words (a power of two)
  unsigned i = first();
  if (i < n) c[i] = b[word(a, i) & (q - 1)] + 1;
}
KERNEL(gather_rows) {  // rows of p words, in any order; a power of two of them
  unsigned row = first() / p, x = first() % p;
  if (first() < n) c[first()] = a[(row * 2654435761u & (n / p - 1)) * p + x];
}
KERNEL(column_sums) {  // a thread a column of an n / p by p matrix
  unsigned x = first();
  if (x >= p) return;
  float s = 0;
  for (unsigned y = 0; y < n / p; ++y) s += a[y * p + x];
  c[x] = s;
}
KERNEL(thread_rows) {  // a thread a row of p words
  unsigned y = first();
  if (y >= n / p) return;
  float s = 0;
  for (unsigned x = 0; x < p; ++x) s = fmaxf(s, a[y * p + x]);
  c[y] = s;
}

// ---- tiles -------------------------------------------------------------------------------------
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
KERNEL(product_16) {  // c = a b, p by p, blocks of 16 by 16
  __shared__ float left[16][16], right[16][17];
  unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (unsigned t = 0; t < p; t += 16) {
    left[threadIdx.y][threadIdx.x] = a[y * p + t + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * p + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) s += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[y * p + x] = s;
}
KERNEL(smooth_line) {  // radius 8, blocks of 256
  __shared__ float line[256 + 16];
  unsigned i = first();
  line[threadIdx.x + 8] = i < n ? a[i] : 0;
  if (threadIdx.x < 8) line[threadIdx.x] = i >= 8 ? a[i - 8] : 0;
  if (threadIdx.x >= 248) line[threadIdx.x + 16] = i + 8 < n ? a[i + 8] : 0;
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int k = 0; k <= 16; ++k) s += line[threadIdx.x + k];
  if (i < n) c[i] = s;
}
KERNEL(smooth_square) {  // rows of p words, blocks of 16 by 16, radius 1
  __shared__ float tile[18][18];
  int x = static_cast<int>(blockIdx.x * 16 + threadIdx.x), width = static_cast<int>(p);
  int y = static_cast<int>(blockIdx.y * 16 + threadIdx.y), height = static_cast<int>(n / p);
  for (int k = static_cast<int>(threadIdx.y * 16 + threadIdx.x); k < 18 * 18; k += 256) {
    int u = static_cast<int>(blockIdx.x * 16) + k % 18 - 1;
    int v = static_cast<int>(blockIdx.y * 16) + k / 18 - 1;
    tile[k / 18][k % 18] = u >= 0 && v >= 0 && u < width && v < height ? a[v * width + u] : 0;
  }
  __syncthreads();
  float s = 0;
#pragma unroll
  for (unsigned dy = 0; dy < 3; ++dy)
#pragma unroll
    for (unsigned dx = 0; dx < 3; ++dx) s += tile[threadIdx.y + dy][threadIdx.x + dx];
  if (x < width && y < height) c[y * width + x] = s;
}
KERNEL(stencil_seven) {  // p by p by n / p / p
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned depth = n / p / p;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= p) return;
  for (unsigned z = 1; z + 1 < depth; ++z) {
    unsigned i = (z * p + y) * p + x;
    c[i] = a[i - 1] + a[i + 1] + a[i - p] + a[i + p] + a[i - p * p] + a[i + p * p] - 6 * a[i];
  }
}

// ---- sums, scans, sorts ------------------------------------------------------------------------
KERNEL(block_maximum) {
  extern __shared__ float most[];
  most[threadIdx.x] = first() < n ? a[first()] : 0;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) most[threadIdx.x] = fmaxf(most[threadIdx.x], most[threadIdx.x + d]);
    __syncthreads();
  }
  if (threadIdx.x == 0) c[blockIdx.x] = most[0];
}
KERNEL(warp_maximum) {
  const float v = warp_most(first() < n ? a[first()] : 0);
  if (threadIdx.x % 32 == 0) c[first() / 32] = v;
}
KERNEL(scan_blocks) {  // Hillis and Steele
  extern __shared__ float sums[];
  float v = first() < n ? a[first()] : 0;
  sums[threadIdx.x] = v;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    const float other = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
    __syncthreads();
    v += other;
    sums[threadIdx.x] = v;
    __syncthreads();
  }
  if (first() < n) c[first()] = v;
}
KERNEL(scan_warps) {
  float v = first() < n ? a[first()] : 0;
  for (unsigned d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 >= d) v += other;
  }
  if (first() < n) c[first()] = v;
}
KERNEL(sort_blocks) {  // bitonic, 512 words a block of 256
  __shared__ float keys[512];
  const unsigned base = blockIdx.x * 512;
  keys[threadIdx.x] = a[base + threadIdx.x];
  keys[threadIdx.x + 256] = a[base + threadIdx.x + 256];
  for (unsigned size = 2; size <= 512; size *= 2)
    for (unsigned d = size / 2; d > 0; d /= 2) {
      __syncthreads();
      const unsigned at = 2 * threadIdx.x - (threadIdx.x & (d - 1));
      const bool down = (at & size) != 0;
      const float x = keys[at], y = keys[at + d];
      if ((x > y) != down) keys[at] = y, keys[at + d] = x;
    }
  __syncthreads();
  c[base + threadIdx.x] = keys[threadIdx.x];
  c[base + threadIdx.x + 256] = keys[threadIdx.x + 256];
}
KERNEL(warp_rows) {  // a warp a row of p words: divided by its length
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n / p) return;
  float s = 0;
  for (unsigned x = lane; x < p; x += 32) s += a[row * p + x] * a[row * p + x];
  s = rsqrtf(warp_total(s) + 1);
  for (unsigned x = lane; x < p; x += 32) c[row * p + x] = a[row * p + x] * s;
}
KERNEL(block_rows) {  // a block a row of p words: less its maximum, over its sum
  __shared__ float part[32];
  const float* row = a + size_t{blockIdx.x} * p;
  float most = 0, s = 0;
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x) most = fmaxf(most, row[x]);
  most = warp_most(most);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  most = warp_most(part[threadIdx.x % (blockDim.x / 32)]);
  __syncthreads();
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x) s += __expf(row[x] - most);
  s = warp_total(s);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0;
  for (unsigned k = 0; k < blockDim.x / 32; ++k) s += part[k];
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x)
    c[size_t{blockIdx.x} * p + x] = __expf(row[x] - most) / s;
}
KERNEL(matrix_vector) {  // a warp a row of p words, times b
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n / p) return;
  float s = 0;
  for (unsigned x = lane; x < p; x += 32) s += a[size_t{row} * p + x] * b[x];
  s = warp_total(s);
  if (lane == 0) c[row] = s;
}

// ---- atomics -----------------------------------------------------------------------------------
KERNEL(tally_words) {  // q counters (a power of two)
  if (first() < n)
    atomicAdd(reinterpret_cast<unsigned*>(c) + (word(a, first()) % 1021 & (q - 1)), 1u);
}
KERNEL(tally_in_turn) {  // neighbours to neighbours, q words (a power of two)
  if (first() < n) atomicAdd(c + (first() & (q - 1)), a[first()]);
}
KERNEL(tally_blocks) {  // q <= 256 counters per block, then into device memory
  __shared__ unsigned counts[256];
  for (unsigned i = threadIdx.x; i < q; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (unsigned i = first(); i < n; i += step()) atomicAdd(counts + (word(a, i) & (q - 1)), 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < q; i += blockDim.x)
    atomicAdd(reinterpret_cast<unsigned*>(c) + i, counts[i]);
}
KERNEL(keep_some) {  // one in q words, in any order: a place for each warp's
  const bool mine = first() < n && word(a, first()) % q == 0;
  const unsigned all = __ballot_sync(0xffffffffu, mine), lane = threadIdx.x % 32;
  unsigned at = 0;
  if (lane == 0 && all != 0) at = atomicAdd(reinterpret_cast<unsigned*>(c), __popc(all));
  at = __shfl_sync(0xffffffffu, at, 0) + __popc(all & ((1u << lane) - 1));
  if (mine) c[32 + at % n] = a[first()];  // launches in a row go on counting
}

// ---- arithmetic, divergence --------------------------------------------------------------------
KERNEL(polynomial) {  // of degree q
  unsigned i = first();
  if (i >= n) return;
  const float x = a[i];
  float y = 1;
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) y = y * x + 0.25f;
  c[i] = y;
}
KERNEL(hash_words) {  // q rounds
  unsigned i = first();
  if (i >= n) return;
  unsigned h = word(a, i);
  for (unsigned k = 0; k < q; ++k) h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
  reinterpret_cast<unsigned*>(c)[i] = h;
}
KERNEL(waves_of_words) {
  unsigned i = first();
  if (i < n) c[i] = __sinf(a[i]) * __expf(-a[i]) + sqrtf(a[i]);
}
KERNEL(branch_by_word) {  // lanes go four ways, q times
  unsigned i = first();
  if (i >= n) return;
  float x = a[i], y = 1;
  for (unsigned k = 0; k < q; ++k) {
    switch (word(a, i) + i >> k & 3) {
      case 0:
        y = y * x + 0.5f;
        break;
      case 1:
        y = sqrtf(y + x);
        break;
      case 2:
        y = y - x * x;
        break;
      default:
        x = x + 0.25f * y;
    }
  }
  c[i] = x + y;
}
KERNEL(rounds_by_word) {  // each lane its own number of rounds, below q (a power of two)
  unsigned i = first();
  if (i >= n) return;
  float y = 1;
  const float x = a[i];
  const unsigned rounds = word(a, i) >> 3 & (q - 1);
#pragma unroll 1
  for (unsigned k = 0; k < rounds; ++k) y = y * x + 0.5f;
  c[i] = y;
}
KERNEL(odd_and_even) {  // odd and even lanes apart
  unsigned i = first();
  if (i >= n) return;
  float x = a[i];
  if (i % 2 == 0) {
    for (unsigned k = 0; k < q; ++k) x = x * 0.5f + 1;
  } else {
    for (unsigned k = 0; k < q; ++k) x = sqrtf(x) + 2;
  }
  c[i] = x;
}
