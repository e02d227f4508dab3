// Kernels as courses on CUDA have them. The time model is tested with them and never fitted on: they,
// their launches (set *course* of data/measured/model/launches.csv) and what the model said of them
// were committed before any of them had been measured. The signature and the contents of the arrays
// are those of kernels.cu.
#include "course_kernel.h"

namespace {

__device__ unsigned next_random(unsigned& state) {
  state ^= state << 13, state ^= state >> 17, state ^= state << 5;
  return state;
}
__device__ float warp_sum(float v) {
  for (unsigned d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}
__device__ float warp_max(float v) {
  for (unsigned d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
  return v;
}

}  // namespace

// ---- stencils ----------------------------------------------------------------------------------
KERNEL(heat_volume) {  // p by p by p: a thread goes up a column of q planes
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= p) return;
  const unsigned plane = p * p;
  unsigned at = y * p + x;
  float below = a[at], here = a[at + plane];
  for (unsigned z = 1; z + 1 < q; ++z) {
    at += plane;
    const float above = a[at + plane];
    c[at] = 0.4f * here + 0.1f * (below + above + a[at - 1] + a[at + 1] + a[at - p] + a[at + p]);
    below = here, here = above;
  }
}
KERNEL(line_in_shared) {  // nine points of a line, with both ends of the block's part
  __shared__ float tile[256 + 8];
  const unsigned i = first(), t = threadIdx.x;
  tile[t + 4] = i < n ? a[i] : 0;
  if (t < 4) {
    tile[t] = i >= 4 ? a[i - 4] : 0;
    tile[t + blockDim.x + 4] = i + blockDim.x < n ? a[i + blockDim.x] : 0;
  }
  __syncthreads();
  float s = 0;
  for (unsigned k = 0; k < 9; ++k) s += b[k] * tile[t + k];
  if (i < n) c[i] = s;
}
KERNEL(game_of_life) {  // rows of p cells, q rows
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= p || y >= q) return;
  unsigned alive = 0;
  for (int v = -1; v <= 1; ++v)
    for (int u = -1; u <= 1; ++u) {
      const unsigned column = (x + p + u) % p, row = (y + q + v) % q;
      if (u != 0 || v != 0) alive += word(a, row * p + column) & 1;
    }
  words(c)[y * p + x] = alive == 3 || (alive == 2 && (word(a, y * p + x) & 1));
}
KERNEL(edges) {  // rows of p words, q rows: Sobel's gradient
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  const float* at = a + y * p + x;
  const int r = static_cast<int>(p);
  const float u = at[-r + 1] + 2 * at[1] + at[r + 1] - at[-r - 1] - 2 * at[-1] - at[r - 1];
  const float v = at[r - 1] + 2 * at[r] + at[r + 1] - at[-r - 1] - 2 * at[-r] - at[-r + 1];
  c[y * p + x] = sqrtf(u * u + v * v);
}
KERNEL(heat_steps) {  // q steps of a rod, a block's part of it in shared memory
  __shared__ float rod[2][256];
  const unsigned t = threadIdx.x;
  rod[0][t] = a[first()];
  __syncthreads();
  unsigned now = 0;
  for (unsigned k = 0; k < q; ++k) {
    const float left = t > 0 ? rod[now][t - 1] : 0, right = t + 1 < blockDim.x ? rod[now][t + 1] : 0;
    rod[1 - now][t] = 0.5f * rod[now][t] + 0.25f * (left + right);
    now = 1 - now;
    __syncthreads();
  }
  c[first()] = rod[now][t];
}
KERNEL(filter_taps) {  // p taps of b over a line
  const unsigned i = first();
  if (i >= n) return;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += b[k] * a[i + k];
  c[i] = s;
}

// ---- matrices ----------------------------------------------------------------------------------
KERNEL(product_tall_tile) {  // c = a b, p by p: 32 by 32 a block of 32 by 8, four rows a thread
  __shared__ float left[32][32], right[32][33];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * 32, column = blockIdx.x * 32;
  float sum[4] = {};
  for (unsigned t = 0; t < p; t += 32) {
    for (unsigned k = 0; k < 32; k += 8) {
      left[y + k][x] = a[(row + y + k) * p + t + x];
      right[y + k][x] = b[(t + y + k) * p + column + x];
    }
    __syncthreads();
#pragma unroll 8
    for (unsigned k = 0; k < 32; ++k)
      for (unsigned j = 0; j < 4; ++j) sum[j] += left[y + 8 * j][k] * right[k][x];
    __syncthreads();
  }
  for (unsigned j = 0; j < 4; ++j) c[(row + y + 8 * j) * p + column + x] = sum[j];
}
KERNEL(product_by_rows) {  // c = a b, p by p: a thread an element, each row of threads a row of c
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += a[y * p + k] * b[k * p + x];
  c[y * p + x] = s;
}
KERNEL(matrix_times_vector) {  // rows of p words, a warp a row, four words a lane
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n / p) return;
  const float4* from = reinterpret_cast<const float4*>(a + row * p);
  const float4* with = reinterpret_cast<const float4*>(b);
  float s = 0;
  for (unsigned k = lane; k < p / 4; k += 32) {
    const float4 u = from[k], v = with[k];
    s += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  s = warp_sum(s);
  if (lane == 0) c[row] = s;
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

// ---- scans, sums, counts, sorts ----------------------------------------------------------------
KERNEL(scan_by_doubling) {  // a block's part, in shared memory twice
  extern __shared__ float parts[];
  const unsigned t = threadIdx.x, width = blockDim.x;
  float *from = parts, *to = parts + width;
  from[t] = a[first()];
  __syncthreads();
  for (unsigned d = 1; d < width; d *= 2) {
    to[t] = from[t] + (t >= d ? from[t - d] : 0);
    __syncthreads();
    float* const swapped = from;
    from = to, to = swapped;
  }
  c[first()] = from[t];
}
KERNEL(scan_by_warps) {  // shuffles in the warps, then over their sums
  __shared__ float sums[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = a[first()];
  for (unsigned d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += other;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    float s = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (unsigned d = 1; d < 32; d *= 2) {
      const float other = __shfl_up_sync(0xffffffff, s, d);
      if (lane >= d) s += other;
    }
    sums[lane] = s;
  }
  __syncthreads();
  c[first()] = v + (warp > 0 ? sums[warp - 1] : 0);
}
KERNEL(dot_of_doubles) {  // floats, multiplied and summed in double precision
  __shared__ double part[256];
  double s = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x)
    s += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  part[threadIdx.x] = s;
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  }
  if (threadIdx.x == 0) c[blockIdx.x] = static_cast<float>(part[0]);
}
KERNEL(histogram_of_warps) {  // 64 counters for each of eight warps, summed at the end
  __shared__ unsigned counts[8][64];
  const unsigned warp = threadIdx.x / 32;
  for (unsigned i = threadIdx.x; i < 512; i += blockDim.x) counts[i / 64][i % 64] = 0;
  __syncthreads();
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[warp][word(a, i) % 64], 1u);
  __syncthreads();
  if (threadIdx.x < 64) {
    unsigned s = 0;
    for (unsigned w = 0; w < 8; ++w) s += counts[w][threadIdx.x];
    atomicAdd(words(c) + threadIdx.x, s);
  }
}
KERNEL(histogram_in_memory) {  // q counters in device memory
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x)
    atomicAdd(words(c) + word(a, i) % q, 1u);
}
KERNEL(largest_by_key) {  // q keys: the largest word of each, by an atomic maximum
  const unsigned i = first();
  if (i < n) atomicMax(words(c) + word(b, i) % q, word(a, i));
}
KERNEL(sort_in_shared) {  // bitonic, a block's words
  extern __shared__ unsigned keys[];
  const unsigned t = threadIdx.x;
  keys[t] = word(a, first());
  for (unsigned size = 2; size <= blockDim.x; size *= 2)
    for (unsigned d = size / 2; d > 0; d /= 2) {
      __syncthreads();
      const unsigned other = t ^ d;
      if (other > t && (keys[t] > keys[other]) == ((t & size) == 0)) {
        const unsigned swapped = keys[t];
        keys[t] = keys[other], keys[other] = swapped;
      }
    }
  __syncthreads();
  words(c)[first()] = keys[t];
}
KERNEL(sort_step) {  // one step of a bitonic sort of n words, in device memory
  const unsigned t = first(), low = t / p * 2 * p + t % p, high = low + p;
  if (high >= n) return;
  const unsigned u = word(a, low), v = word(a, high);
  const bool up = (low & q) == 0;
  words(c)[low] = (u > v) == up ? v : u;
  words(c)[high] = (u > v) == up ? u : v;
}
KERNEL(digits_counted) {  // 16 digits, by votes of the warp; a block's counts
  __shared__ unsigned counts[16];
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  __syncthreads();
  const unsigned digit = word(a, first()) >> p & 15, lane = threadIdx.x % 32;
  for (unsigned d = 0; d < 16; ++d) {
    const unsigned votes = __ballot_sync(0xffffffff, digit == d);
    if (lane == d) atomicAdd(counts + d, __popc(votes));
  }
  __syncthreads();
  if (threadIdx.x < 16) words(c)[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

// ---- rows --------------------------------------------------------------------------------------
KERNEL(softmax_of_rows) {  // a block a row of p words
  __shared__ float part[32];
  const float* from = a + size_t{blockIdx.x} * p;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  float most = 0;
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x) most = fmaxf(most, from[x]);
  most = warp_max(most);
  if (lane == 0) part[warp] = most;
  __syncthreads();
  most = warp_max(lane < warps ? part[lane] : 0);
  __syncthreads();
  float s = 0;
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x) s += expf(from[x] - most);
  s = warp_sum(s);
  if (lane == 0) part[warp] = s;
  __syncthreads();
  s = warp_sum(lane < warps ? part[lane] : 0);
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x)
    c[size_t{blockIdx.x} * p + x] = expf(from[x] - most) / s;
}
KERNEL(rows_to_unit) {  // layer norm, a warp a row of p words: mean and variance in one pass
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n / p) return;
  const float* from = a + size_t{row} * p;
  float s = 0, squares = 0;
  for (unsigned x = lane; x < p; x += 32) {
    const float v = from[x];
    s += v, squares += v * v;
  }
  const float mean = warp_sum(s) / static_cast<float>(p);
  const float scale = rsqrtf(warp_sum(squares) / static_cast<float>(p) - mean * mean + 1e-5f);
  for (unsigned x = lane; x < p; x += 32)
    c[size_t{row} * p + x] = (from[x] - mean) * scale * b[x] + 0.5f;
}
KERNEL(sparse_by_threads) {  // n rows of one to p values, each thread one; q columns (a power of two)
  const unsigned row = first();
  if (row >= n) return;
  const unsigned length = 1 + word(b, row) % p;
  float s = 0;
  for (unsigned k = 0; k < length; ++k) {
    const unsigned at = row * p + k;
    s += a[at] * b[(at * 2654435761u >> 8) & (q - 1)];
  }
  c[row] = s;
}
KERNEL(sparse_by_warps) {  // the same, each warp one
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const unsigned length = 1 + word(b, row) % p;
  float s = 0;
  for (unsigned k = lane; k < length; k += 32) {
    const unsigned at = row * p + k;
    s += a[at] * b[(at * 2654435761u >> 8) & (q - 1)];
  }
  s = warp_sum(s);
  if (lane == 0) c[row] = s;
}
KERNEL(gather_twice) {  // an index of an index
  const unsigned i = first();
  if (i < n) c[i] = a[word(b, word(b, i) & (q - 1)) & (p - 1)];
}

// ---- arithmetic --------------------------------------------------------------------------------
KERNEL(bodies_in_memory) {  // n bodies of four floats, all from device memory
  const unsigned i = first();
  if (i >= n) return;
  const float4* all = reinterpret_cast<const float4*>(a);
  const float4 mine = all[i];
  float x = 0, y = 0, z = 0;
  for (unsigned k = 0; k < n; ++k) {
    const float4 other = all[k];
    const float u = other.x - mine.x, v = other.y - mine.y, w = other.z - mine.z;
    const float square = u * u + v * v + w * w + 0.01f;
    const float f = other.w / (square * sqrtf(square));
    x += u * f, y += v * f, z += w * f;
  }
  reinterpret_cast<float4*>(c)[i] = make_float4(x, y, z, 0);
}
KERNEL(julia_set) {  // rows of p points, n in all, q rounds at most, blocks of squares
  const unsigned u = blockIdx.x * blockDim.x + threadIdx.x, v = blockIdx.y * blockDim.y + threadIdx.y;
  if (u >= p || v * p + u >= n) return;
  float x = 3.0f * static_cast<float>(u) / static_cast<float>(p) - 1.5f;
  float y = 3.0f * static_cast<float>(v) / static_cast<float>(p) - 1.5f;
  unsigned k = 0;
  for (; k < q && x * x + y * y < 4; ++k) {
    const float next = x * x - y * y - 0.8f;
    y = 2 * x * y + 0.156f;
    x = next;
  }
  c[v * p + u] = static_cast<float>(k);
}
KERNEL(darts) {  // Monte Carlo: q darts a thread, hits summed over the warp
  unsigned state = word(a, first() & (n - 1)) | 1, hits = 0;
  for (unsigned k = 0; k < q; ++k) {
    const float x = static_cast<float>(next_random(state) >> 8) * 5.9604645e-8f;
    const float y = static_cast<float>(next_random(state) >> 8) * 5.9604645e-8f;
    hits += x * x + y * y < 1;
  }
  for (unsigned d = 16; d > 0; d /= 2) hits += __shfl_down_sync(0xffffffff, hits, d);
  if (threadIdx.x % 32 == 0) atomicAdd(words(c), hits);
}
KERNEL(price_paths) {  // Monte Carlo: a path of q steps, normal numbers after Box and Muller
  unsigned state = word(a, first() & (n - 1)) | 1;
  float price = 100;
  for (unsigned k = 0; k < q; ++k) {
    const float u = static_cast<float>((next_random(state) >> 8) + 1) * 5.9604645e-8f;
    const float v = static_cast<float>(next_random(state) >> 8) * 5.9604645e-8f;
    price *= __expf(0.01f * sqrtf(-2 * __logf(u)) * __cosf(6.2831853f * v));
  }
  c[first()] = fmaxf(price - 100, 0);
}
KERNEL(collatz_steps) {  // until one, or q steps
  const unsigned i = first();
  if (i >= n) return;
  unsigned at = i + p, k = 0;
  for (; at > 1 && k < q; ++k) at = at % 2 == 0 ? at / 2 : 3 * at + 1;
  words(c)[i] = k;
}
KERNEL(divisors_tried) {  // prime or not, by trial
  const unsigned i = first();
  if (i >= n) return;
  const unsigned number = 2 * i + p;
  unsigned d = 3;
  while (d < q && number % d != 0) d += 2;
  words(c)[i] = d;
}
KERNEL(nearest_point) {  // of q points in b, in tiles of blockDim.x, two floats each
  __shared__ float2 tile[256];
  const unsigned i = first();
  const float2 mine = reinterpret_cast<const float2*>(a)[i];
  float best = 1e30f;
  unsigned which = 0;
  for (unsigned t = 0; t < q; t += blockDim.x) {
    tile[threadIdx.x] = reinterpret_cast<const float2*>(b)[t + threadIdx.x];
    __syncthreads();
    for (unsigned k = 0; k < blockDim.x; ++k) {
      const float u = tile[k].x - mine.x, v = tile[k].y - mine.y, d = u * u + v * v;
      if (d < best) best = d, which = t + k;
    }
    __syncthreads();
  }
  words(c)[i] = which;
}
KERNEL(series_in_double) {  // Horner's rule, q terms in double precision
  const unsigned i = first();
  if (i >= n) return;
  const double x = static_cast<double>(a[i]) - 1.5;
  double s = 1;
  for (unsigned k = q; k > 0; --k) s = s * x + 0.125;
  c[i] = static_cast<float>(s);
}

// ---- strings -----------------------------------------------------------------------------------
KERNEL(find_pattern) {  // q bytes of b in n bytes of a, whose bytes are taken by two bits
  const unsigned i = first();
  if (i + q > n) return;
  unsigned k = 0;
  while (k < q && ((bytes(a)[i + k] ^ bytes(b)[k]) & 3) == 0) ++k;
  if (k == q) atomicAdd(words(c), 1u);
}
KERNEL(words_counted) {  // beginnings of words in n bytes, a byte in eight parts them; p bytes a thread
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const unsigned begin = first() * p;
  unsigned found = 0;
  bool before = begin == 0 || (bytes(a)[begin - 1] & 7) == 0;
  for (unsigned i = begin; i < begin + p && i < n; ++i) {
    const bool parts = (bytes(a)[i] & 7) == 0;
    found += before && !parts;
    before = parts;
  }
  atomicAdd(&count, found);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(words(c), count);
}
KERNEL(edit_distance) {  // of two strings of eight letters, each a word's half-bytes
  const unsigned i = first();
  if (i >= n) return;
  const unsigned left = word(a, i), right = word(b, i);
  unsigned row[9];
#pragma unroll
  for (unsigned x = 0; x <= 8; ++x) row[x] = x;
#pragma unroll
  for (unsigned y = 1; y <= 8; ++y) {
    unsigned corner = row[0];
    row[0] = y;
#pragma unroll
    for (unsigned x = 1; x <= 8; ++x) {
      const bool same = (left >> 4 * (y - 1) & 15) == (right >> 4 * (x - 1) & 15);
      const unsigned changed = corner + !same;
      corner = row[x];
      row[x] = min(changed, min(row[x], row[x - 1]) + 1);
    }
  }
  words(c)[i] = row[8];
}
