// Rows and columns of a matrix: products with a vector, norms, softmax, attention.
#include "kernel_kit.h"

KERNEL(rows_normalised) {  // a block a row of p words: softmax without the maximum
  const float* row = a + size_t{blockIdx.x} * p;
  __shared__ float total;
  float s = 0;
  for (unsigned i = threadIdx.x; i < p; i += blockDim.x) s += __expf(row[i]);
  s = block_sum_for_thread_0(s);
  if (threadIdx.x == 0) total = s;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < p; i += blockDim.x)
    c[size_t{blockIdx.x} * p + i] = __expf(row[i]) / total;
}

KERNEL(warp_rows) {  // a warp a row of p words: divided by its length
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n / p) return;
  float s = 0;
  for (unsigned x = lane; x < p; x += 32) s += a[row * p + x] * a[row * p + x];
  s = rsqrtf(warp_sum(s) + 1);
  for (unsigned x = lane; x < p; x += 32) c[row * p + x] = a[row * p + x] * s;
}

KERNEL(block_rows) {  // a block a row of p words: less its maximum, over its sum
  __shared__ float part[32];
  const float* row = a + size_t{blockIdx.x} * p;
  float most = 0, s = 0;
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x) most = fmaxf(most, row[x]);
  most = warp_max(most);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
  most = warp_max(part[threadIdx.x % (blockDim.x / 32)]);
  __syncthreads();
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x) s += __expf(row[x] - most);
  s = warp_sum(s);
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
  s = warp_sum(s);
  if (lane == 0) c[row] = s;
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

KERNEL(vector_times_matrix) {  // c = a b, b of q rows of p words: a thread a column
  const unsigned x = first();
  if (x >= p) return;
  float s = 0;
  for (unsigned k = 0; k < q; ++k) s += a[k] * b[k * p + x];
  c[x] = s;
}

KERNEL(softmax_by_warps) {  // a warp a row of 128 words, four in registers
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row * 128 >= n) return;
  float v[4], most = -1e30f, s = 0;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) v[k] = a[row * 128 + k * 32 + lane], most = fmaxf(most, v[k]);
  for (unsigned d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, d));
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) v[k] = __expf(v[k] - most), s += v[k];
  for (unsigned d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffff, s, d);
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) c[row * 128 + k * 32 + lane] = v[k] / s;
}

KERNEL(norm_of_rows) {  // a block a row of p words: divided by the root of its squares' sum
  __shared__ float part[256];
  const float* from = a + size_t{blockIdx.x} * p;
  float s = 0;
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x) s += from[x] * from[x];
  part[threadIdx.x] = s;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  const float scale = rsqrtf(part[0]);
  for (unsigned x = threadIdx.x; x < p; x += blockDim.x)
    c[size_t{blockIdx.x} * p + x] = from[x] * scale;
}

KERNEL(largest_of_columns) {  // q rows of p words, a thread a column of a quarter of them
  const unsigned x = first(), from = blockIdx.y * (q / 4);
  if (x >= p) return;
  float most = -1e30f;
  for (unsigned y = from; y < from + q / 4; ++y) most = fmaxf(most, a[y * p + x]);
  c[blockIdx.y * p + x] = most;
}

KERNEL(doubles_times_vector) {  // n rows of p doubles, a warp a row
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  double sum = 0;
  for (unsigned k = lane; k < p; k += 32) sum += real(a, row * p + k) * real(b, k);
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (lane == 0) reals(c)[row] = sum;
}

KERNEL(spread_of_rows) {  // a block a row of p words: mean and variance, read twice
  __shared__ float part[8];
  const float* row = a + blockIdx.x * p;
  const auto whole = [&](float s) {
    for (unsigned step = 16; step > 0; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    s = 0;
    for (unsigned k = 0; k < 8; ++k) s += part[k];
    return s;
  };
  float sum = 0, squares = 0;
  for (unsigned k = threadIdx.x; k < p; k += 256) sum += row[k];
  const float mean = whole(sum) / static_cast<float>(p);
  for (unsigned k = threadIdx.x; k < p; k += 256) squares += (row[k] - mean) * (row[k] - mean);
  const float spread = whole(squares) / static_cast<float>(p);
  if (threadIdx.x == 0) c[2 * blockIdx.x] = mean, c[2 * blockIdx.x + 1] = spread;
}

KERNEL(best_two_of_rows) {  // a warp a row of p words: the largest two, and where the first lies
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float best = -1, second = -1;
  unsigned where = 0;
  for (unsigned k = lane; k < p; k += 32) {
    const float v = a[row * p + k];
    if (v > best)
      second = best, best = v, where = k;
    else if (v > second)
      second = v;
  }
  for (unsigned step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(~0u, best, step), next = __shfl_xor_sync(~0u, second, step);
    const unsigned there = __shfl_xor_sync(~0u, where, step);
    second = fmaxf(fminf(best, other), fmaxf(second, next));
    if (other > best || (other == best && there < where)) best = other, where = there;
  }
  if (lane == 0) c[3 * row] = best, c[3 * row + 1] = second, words(c)[3 * row + 2] = where;
}

KERNEL(rows_quantised) {  // n rows of p words to bytes and a scale, a warp a row
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const float4* from = reinterpret_cast<const float4*>(a) + row * (p / 4);
  float most = 0;
  for (unsigned k = lane; k < p / 4; k += 32) {
    const float4 v = from[k];
    most = fmaxf(most, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  for (unsigned step = 16; step > 0; step /= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
  const float inverse = 127 / most;
  if (lane == 0) c[row] = most / 127;
  for (unsigned k = lane; k < p / 4; k += 32) {
    const float4 v = from[k];
    words(c)[n + row * (p / 4) + k] =
        __float2int_rn(v.x * inverse) | __float2int_rn(v.y * inverse) << 8 |
        __float2int_rn(v.z * inverse) << 16 | __float2int_rn(v.w * inverse) << 24;
  }
}

KERNEL(attention_in_one_pass) {  // a thread a query of 32 numbers, against the p keys of its head
  __shared__ float4 tile[32][16];
  const unsigned begin = blockIdx.y * p, i = begin + first();
  const float4* from = reinterpret_cast<const float4*>(a) + i * 8;
  float4 query[8], sum[8] = {};
#pragma unroll
  for (unsigned d = 0; d < 8; ++d) query[d] = from[d];
  float most = -1e30f, total = 0;
  for (unsigned k = 0; k < p; k += 32) {
    for (unsigned j = threadIdx.x; j < 512; j += 128)
      tile[j / 16][j % 16] = reinterpret_cast<const float4*>(b)[(begin + k) * 16 + j];
    __syncthreads();
    for (unsigned j = 0; j < 32; ++j) {
      float score = 0;
#pragma unroll
      for (unsigned d = 0; d < 8; ++d) {
        const float4 u = query[d], v = tile[j][d];
        score += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
      }
      score *= 0.17677670f;
      const float next = fmaxf(most, score);
      const float shrunk = __expf(most - next), weight = __expf(score - next);
      total = total * shrunk + weight, most = next;
#pragma unroll
      for (unsigned d = 0; d < 8; ++d) {
        const float4 v = tile[j][8 + d];
        sum[d].x = sum[d].x * shrunk + weight * v.x, sum[d].y = sum[d].y * shrunk + weight * v.y;
        sum[d].z = sum[d].z * shrunk + weight * v.z, sum[d].w = sum[d].w * shrunk + weight * v.w;
      }
    }
    __syncthreads();
  }
  const float by = 1 / total;
#pragma unroll
  for (unsigned d = 0; d < 8; ++d)
    reinterpret_cast<float4*>(c)[i * 8 + d] =
        make_float4(sum[d].x * by, sum[d].y * by, sum[d].z * by, sum[d].w * by);
}

KERNEL(eight_largest) {  // of n rows of 512 words, a warp a row, sixteen words a lane in registers
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float v[16];
#pragma unroll
  for (unsigned k = 0; k < 16; ++k) v[k] = a[row * 512 + k * 32 + lane];
  for (unsigned round = 0; round < 8; ++round) {
    float own = v[0];
#pragma unroll
    for (unsigned k = 1; k < 16; ++k) own = fmaxf(own, v[k]);
    float best = own;
    for (unsigned step = 16; step > 0; step /= 2)
      best = fmaxf(best, __shfl_xor_sync(~0u, best, step));
    const int who = __ffs(static_cast<int>(__ballot_sync(~0u, own == best))) - 1;
    if (lane == static_cast<unsigned>(who)) {
      c[row * 8 + round] = best;
      bool gone = false;
#pragma unroll
      for (unsigned k = 0; k < 16; ++k)
        if (!gone && v[k] == best) v[k] = 0, gone = true;
    }
  }
}

KERNEL(losses_of_rows) {  // a block of 256 a row of p words: its softmax's logarithm in one pass
  __shared__ float most_of[8], sum_of[8];
  const unsigned t = threadIdx.x, row = blockIdx.x;
  float most = -1e30f, sum = 0;
  for (unsigned k = t; k < p; k += 256) {
    const float v = 8 * a[row * p + k], next = fmaxf(most, v);
    sum = sum * __expf(most - next) + __expf(v - next), most = next;
  }
  const auto join = [&](float other, float more) {
    const float next = fmaxf(most, other);
    sum = sum * __expf(most - next) + more * __expf(other - next), most = next;
  };
  for (unsigned step = 16; step > 0; step /= 2) {
    const float other = __shfl_down_sync(~0u, most, step);
    join(other, __shfl_down_sync(~0u, sum, step));
  }
  if (t % 32 == 0) most_of[t / 32] = most, sum_of[t / 32] = sum;
  __syncthreads();
  if (t != 0) return;
  for (unsigned k = 1; k < 8; ++k) join(most_of[k], sum_of[k]);
  c[row] = __logf(sum) + most - 8 * a[row * p + (word(b, row) & (p - 1))];
}

KERNEL(channels_normalised) {  // q pictures of gridDim.x channels of p points, a block a channel
  __shared__ float part[2][8], means[2];
  const unsigned t = threadIdx.x, channels = gridDim.x;
  float sum = 0, squares = 0;
  for (unsigned k = 0; k < q; ++k)
    for (unsigned i = t; i < p; i += 256) {
      const float v = a[(k * channels + blockIdx.x) * p + i];
      sum += v, squares += v * v;
    }
  for (unsigned step = 16; step > 0; step /= 2) {
    sum += __shfl_down_sync(~0u, sum, step);
    squares += __shfl_down_sync(~0u, squares, step);
  }
  if (t % 32 == 0) part[0][t / 32] = sum, part[1][t / 32] = squares;
  __syncthreads();
  if (t == 0) {
    for (unsigned k = 1; k < 8; ++k) sum += part[0][k], squares += part[1][k];
    const float mean = sum / static_cast<float>(p * q);
    means[0] = mean;
    means[1] = rsqrtf(squares / static_cast<float>(p * q) - mean * mean + 1e-5f);
  }
  __syncthreads();
  const float mean = means[0], by = means[1];
  for (unsigned k = 0; k < q; ++k)
    for (unsigned i = t; i < p; i += 256) {
      const unsigned at = (k * channels + blockIdx.x) * p + i;
      c[at] = (a[at] - mean) * by;
    }
}

KERNEL(packed_weights_times_vector) {  // n rows of p weights of four bits, by b, then its scales
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (unsigned k = lane; k < p / 8; k += 32) {
    const unsigned eight = word(a, row * (p / 8) + k);
#pragma unroll
    for (unsigned j = 0; j < 8; ++j)
      sum += b[8 * k + j] * static_cast<float>(static_cast<int>(eight >> (4 * j) & 15) - 8);
  }
  sum = warp_sum(sum);
  if (lane == 0) c[row] = sum * b[p + row];
}

KERNEL(query_against_cache) {  // n parts of p keys of 64 numbers, a warp each: what one query gets
  const unsigned part = first() / 32, lane = threadIdx.x % 32, base = part * p * 32 + lane;
  if (part >= n) return;
  const float2* keys = reinterpret_cast<const float2*>(a);
  const float2 query = keys[n * p * 32 + lane];
  float most = -1e30f, sum = 0, x = 0, y = 0;
  for (unsigned k = base; k < base + p * 32; k += 32) {
    const float2 key = keys[k], value = reinterpret_cast<const float2*>(b)[k];
    const float score = 0.125f * warp_sum(key.x * query.x + key.y * query.y);
    const float more = fmaxf(most, score), keep = __expf(most - more), by = __expf(score - more);
    sum = sum * keep + by, x = x * keep + by * value.x, y = y * keep + by * value.y, most = more;
  }
  reinterpret_cast<float2*>(c)[part * 33 + lane] = make_float2(x / sum, y / sum);
  if (lane == 0) reinterpret_cast<float2*>(c)[part * 33 + 32] = make_float2(most, sum);
}

KERNEL(scores_of_queries) {  // 16 numbers a query, in registers, against q keys of a tile of 64
  __shared__ float4 key[64][4];
  const unsigned i = first();
  float4 mine[4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) mine[k] = reinterpret_cast<const float4*>(a)[(i % n) * 4 + k];
  float most = -1e30f, sum = 0;
  for (unsigned k0 = 0; k0 < q; k0 += 64) {
    for (unsigned k = threadIdx.x; k < 256; k += blockDim.x)
      key[k / 4][k % 4] = reinterpret_cast<const float4*>(b)[k0 * 4 + k];
    __syncthreads();
    for (unsigned k = 0; k < 64; ++k) {
      float s = 0;
#pragma unroll
      for (unsigned d = 0; d < 4; ++d) {
        const float4 v = key[k][d];
        s += mine[d].x * v.x + mine[d].y * v.y + mine[d].z * v.z + mine[d].w * v.w;
      }
      const float larger = fmaxf(most, s);
      sum = sum * __expf(most - larger) + __expf(s - larger), most = larger;
    }
    __syncthreads();
  }
  c[i] = most + __logf(sum);
}
