// Reductions: one result from many words.
#include "kernel_kit.h"

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
  float s = block_sum_for_thread_0(first() < n ? a[first()] : 0);
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
  float s = block_sum_for_thread_0(first() < n ? a[first()] : 0);
  if (threadIdx.x == 0) atomicAdd(c, s);
}

KERNEL(dot) {
  __shared__ float part[32];
  float s = 0;
  for (unsigned i = first(); i < n; i += step()) s += a[i] * b[i];
  s = warp_sum(s);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  s = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
  if (threadIdx.x == 0) atomicAdd(c, s);
}

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
  const float v = warp_max(first() < n ? a[first()] : 0);
  if (threadIdx.x % 32 == 0) c[first() / 32] = v;
}

// -----------------------------------------------------------------
KERNEL(sum_coarse) {  // p words a thread, a block's apart by its width
  __shared__ float part[256];
  const float* from = a + blockIdx.x * blockDim.x * p;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += from[k * blockDim.x + threadIdx.x];
  part[threadIdx.x] = s;
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
  }
  if (threadIdx.x == 0) atomicAdd(c, part[0]);
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

KERNEL(sum_by_halves) {  // a block's words in shared memory, half of the threads each time
  __shared__ float part[512];
  const unsigned t = threadIdx.x;
  part[t] = a[first()];
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0) c[blockIdx.x] = part[0];
}

KERNEL(sum_of_squares) {  // a grid-wide loop, shuffles, one atomic a warp
  float s = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x) s += a[i] * a[i];
  for (unsigned d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
  if (threadIdx.x % 32 == 0) atomicAdd(c, s);
}

KERNEL(extremes) {  // the least and the largest of a block's p words a thread
  __shared__ float low[256], high[256];
  float u = 1e30f, v = -1e30f;
  for (unsigned k = 0; k < p; ++k) {
    const float w = a[(blockIdx.x * p + k) * blockDim.x + threadIdx.x];
    u = fminf(u, w), v = fmaxf(v, w);
  }
  low[threadIdx.x] = u, high[threadIdx.x] = v;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) {
      low[threadIdx.x] = fminf(low[threadIdx.x], low[threadIdx.x + d]);
      high[threadIdx.x] = fmaxf(high[threadIdx.x], high[threadIdx.x + d]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) c[2 * blockIdx.x] = low[0], c[2 * blockIdx.x + 1] = high[0];
}

KERNEL(dot_in_blocks) {  // four words a thread at a time, a block's sum by shuffles, stored
  __shared__ float part[32];
  float s = 0;
  for (unsigned i = first(); i < n / 4; i += gridDim.x * blockDim.x) {
    const float4 u = reinterpret_cast<const float4*>(a)[i],
                 v = reinterpret_cast<const float4*>(b)[i];
    s += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  for (unsigned d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffff, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (unsigned d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffff, s, d);
    if (threadIdx.x == 0) c[blockIdx.x] = s;
  }
}

KERNEL(sum_with_remainder) {  // by Kahan, n words, all threads walk; a sum a warp
  float sum = 0, lost = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x) {
    const float v = a[i] - lost, next = sum + v;
    lost = (next - sum) - v;
    sum = next;
  }
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(c, sum);
}

KERNEL(dot_of_complex) {  // n pairs, four a thread
  __shared__ float part[256];
  float sum = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x) {
    const float2 u = reinterpret_cast<const float2*>(a)[i],
                 v = reinterpret_cast<const float2*>(b)[i];
    sum += u.x * v.x + u.y * v.y;
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) c[blockIdx.x] = part[0];
}

KERNEL(sum_by_last_block) {  // n words; the block that ends last adds what the others have stored
  __shared__ float part[8];
  __shared__ bool last;
  const unsigned t = threadIdx.x;
  const auto whole = [&](float s) {
    for (unsigned step = 16; step > 0; step /= 2) s += __shfl_down_sync(~0u, s, step);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    s = 0;
    if (t == 0)
      for (unsigned k = 0; k < 8; ++k) s += part[k];
    return s;
  };
  float sum = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * 256) sum += a[i];
  sum = whole(sum);
  if (t == 0) {
    c[2 + blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(words(c) + 1, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (unsigned k = t; k < gridDim.x; k += 256) sum += static_cast<volatile float*>(c)[2 + k];
  sum = whole(sum);
  if (t == 0) c[0] = sum;
}

KERNEL(largest_with_place) {  // of n words: word and place in one of 64 bits, a maximum a block
  __shared__ unsigned long long part[8];
  const unsigned t = threadIdx.x;
  unsigned long long best = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * 256) {
    const unsigned long long here = static_cast<unsigned long long>(word(a, i)) << 32 | i;
    best = max(best, here);
  }
  for (unsigned step = 16; step > 0; step /= 2) best = max(best, __shfl_down_sync(~0u, best, step));
  if (t % 32 == 0) part[t / 32] = best;
  __syncthreads();
  if (t != 0) return;
  for (unsigned k = 1; k < 8; ++k) best = max(best, part[k]);
  atomicMax(reinterpret_cast<unsigned long long*>(c), best);
}

KERNEL(moments_joined) {  // of n words a mean and its squares, by Welford's rule and then by Chan's
  __shared__ double part[8][3];
  const unsigned t = threadIdx.x;
  double count = 0, mean = 0, squares = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * 256) {
    const double x = a[i], apart = x - mean;
    count += 1;
    mean += apart / count;
    squares += apart * (x - mean);
  }
  const auto join = [&](double others, double middle, double more) {
    const double all = count + others, apart = middle - mean;
    mean += apart * others / all;
    squares += more + apart * apart * count * others / all;
    count = all;
  };
  for (unsigned step = 16; step > 0; step /= 2) {
    const double others = __shfl_down_sync(~0u, count, step);
    const double middle = __shfl_down_sync(~0u, mean, step);
    join(others, middle, __shfl_down_sync(~0u, squares, step));
  }
  if (t % 32 == 0) part[t / 32][0] = count, part[t / 32][1] = mean, part[t / 32][2] = squares;
  __syncthreads();
  if (t != 0) return;
  for (unsigned k = 1; k < 8; ++k) join(part[k][0], part[k][1], part[k][2]);
  double* out = reals(c) + blockIdx.x * 3;
  out[0] = count, out[1] = mean, out[2] = squares;
}

KERNEL(medians_by_halving) {  // a block of 256 a row of 2048 words below 2^30, bit by bit
  __shared__ unsigned below[30];
  const unsigned t = threadIdx.x;
  unsigned key[8];
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) key[k] = word(a, blockIdx.x * 2048 + k * 256 + t);
  if (t < 30) below[t] = 0;
  __syncthreads();
  unsigned median = 0;
  for (unsigned bit = 30; bit-- > 0;) {
    const unsigned middle = median | 1u << bit;
    unsigned count = 0;
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) count += key[k] < middle;
    count = __reduce_add_sync(~0u, count);
    if (t % 32 == 0) atomicAdd(below + bit, count);
    __syncthreads();
    if (below[bit] <= 1024) median = middle;
  }
  if (t == 0) words(c)[blockIdx.x] = median;
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

KERNEL(row_sums) {  // a thread a row of p words
  unsigned row = first();
  if (row >= n / p) return;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += a[size_t{row} * p + k];
  c[row] = s;
}

KERNEL(add_by_columns) {  // p by p: neighbouring threads have neighbouring rows
  const unsigned y = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned x = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < p && y < p) c[y * p + x] = a[y * p + x] + b[y * p + x];
}
