// Sparse matrices and graphs.
#include "kernel_kit.h"

KERNEL(sparse_rows) {  // n rows of p values, column by column; q columns (a power of two)
  const unsigned row = first();
  if (row >= n) return;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) {
    const unsigned at = k * n + row;
    s += a[at] * b[(row + (at * 2654435761u >> 22)) & (q - 1)];
  }
  c[row] = s;
}

KERNEL(
    sparse_by_threads) {  // n rows of one to p values, each thread one; q columns (a power of two)
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

KERNEL(sparse_by_warps) {  // like sparse_by_threads, with a warp per row
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

KERNEL(band_times_vector) {  // n rows, p diagonals
  const unsigned i = first();
  if (i >= n) return;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += a[k * n + i] * b[i + k];
  c[i] = s;
}

KERNEL(sparse_in_columns) {  // n rows of 16 entries, entry by entry; p columns (a power of two)
  const unsigned row = first();
  if (row >= n) return;
  float sum = 0;
#pragma unroll 4
  for (unsigned k = 0; k < 16; ++k) {
    const unsigned w = word(a, k * n + row);
    sum += static_cast<float>(w & 255) * b[w >> 8 & (p - 1)];
  }
  c[row] = sum;
}

KERNEL(sparse_by_entries) {  // n entries anywhere in p rows and q columns (powers of two)
  const unsigned i = first();
  if (i >= n) return;
  const unsigned w = word(a, i);
  atomicAdd(c + (w * 2654435761u >> 7 & (p - 1)), b[w & (q - 1)] * 0.5f);
}

KERNEL(entries_summed_by_row) {  // n entries row by row, p each; q columns (a power of two)
  const unsigned i = first(), lane = threadIdx.x % 32, row = i / p, w = word(a, i);
  float sum = static_cast<float>(w >> 20) * b[w & (q - 1)];
  for (unsigned step = 1; step < 32; step *= 2) {
    const float other = __shfl_down_sync(~0u, sum, step);
    const unsigned there = __shfl_down_sync(~0u, row, step);
    if (lane + step < 32 && there == row) sum += other;
  }
  const unsigned before = __shfl_up_sync(~0u, row, 1);
  if (lane == 0 || before != row) atomicAdd(c + row, sum);
}

KERNEL(sums_of_segments) {  // a warp a segment, between 0 and q words long
  const unsigned segment = first() / 32, lane = threadIdx.x % 32;
  if (segment >= n) return;
  const unsigned long_ = word(b, segment) % q;
  float s = 0;
  for (unsigned k = lane; k < long_; k += 32) s += a[segment * q + k];
  for (unsigned d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
  if (lane == 0) c[segment] = s;
}

KERNEL(blocks_times_vector) {  // n rows of p blocks of 4 by 4 (even), a warp each; q numbers of b
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (unsigned k = lane / 16; k < p; k += 2) {
    const unsigned at = (row * p + k) * 16, column = word(a, at) & (q / 4 - 1);
    sum += a[at + lane % 16] * b[column * 4 + lane % 4];
  }
  sum += __shfl_xor_sync(~0u, sum, 16);
  sum += __shfl_xor_sync(~0u, sum, 1);
  sum += __shfl_xor_sync(~0u, sum, 2);
  if (lane < 16 && lane % 4 == 0) c[row * 4 + lane / 4] = sum;
}

KERNEL(sparse_times_dense) {  // n rows of one to p entries, times q rows (a power of two)
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  const unsigned entries = 1 + (word(a, row * p) >> 5) % p;
  float sum = 0;
  for (unsigned k = 0; k < entries; ++k) {
    const unsigned w = word(a, row * p + k);
    sum += static_cast<float>(w >> 20) * b[(w & (q - 1)) * 32 + lane];
  }
  c[row * 32 + lane] = sum;
}

KERNEL(rows_of_lists) {  // n lists of one to p words, summed, an index each
  const unsigned i = first();
  if (i >= n) return;
  const unsigned begin = word(b, i) % q, length = 1 + word(b, i) % p;
  float s = 0;
  for (unsigned k = 0; k < length; ++k) s += a[begin + k];
  c[i] = s;
}

KERNEL(neighbours_summed) {  // a graph's vertices, p edges each, any to any
  const unsigned i = first();
  if (i >= n) return;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += a[word(b, i * p + k) & (q - 1)];
  c[i] = s / static_cast<float>(p);
}

KERNEL(ranks_pulled) {  // a warp a vertex of p edges, to any of q (a power of two)
  const unsigned vertex = first() / 32, lane = threadIdx.x % 32;
  if (vertex >= n) return;
  float s = 0;
  for (unsigned k = lane; k < p; k += 32) s += a[word(b, vertex * p + k) & (q - 1)];
  for (unsigned d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
  if (lane == 0) c[vertex] = 0.15f + 0.85f * s;
}

KERNEL(ranks_pushed) {  // n vertices (a power of two), p edges each: to each end its share
  const unsigned i = first();
  if (i >= n) return;
  const float share = 0.85f * b[i] / static_cast<float>(p);
  for (unsigned k = 0; k < p; ++k) atomicAdd(c + (word(a, k * n + i) & (n - 1)), share);
}

KERNEL(frontier_pulled) {  // n vertices (a power of two) of p edges: which neighbour one of level q
  const unsigned i = first();
  if (i >= n || word(b, i) <= q) return;  // already reached
  unsigned parent = ~0u;
  for (unsigned k = 0; k < p; ++k) {
    const unsigned other = word(a, i * p + k) & (n - 1);
    if (word(b, other) == q) {
      parent = other;
      break;
    }
  }
  words(c)[i] = parent;
}

KERNEL(
    nearest_through_edges) {  // n edges between p nodes (a power of two): the shortest way so far
  const unsigned i = first();
  if (i >= n) return;
  const unsigned w = word(a, i), from = w & (p - 1), to = w * 2654435761u >> 5 & (p - 1);
  atomicMax(words(c) + to, word(b, from) + (w >> 24));
}

KERNEL(neighbours_in_common) {  // of n pairs of p vertices (a power of two), q each, in order
  const unsigned i = first();
  if (i >= n) return;
  const unsigned pair = word(b, i), one = pair & (p - 1), other = pair >> 14 & (p - 1);
  const auto neighbour = [&](unsigned vertex, unsigned k) {
    return 16 * k + (word(a, vertex * q + k) & 15);
  };
  unsigned j = 0, k = 0, found = 0;
  while (j < q && k < q) {
    const unsigned left = neighbour(one, j), right = neighbour(other, k);
    found += left == right;
    j += left <= right;
    k += right <= left;
  }
  words(c)[i] = found;
}

KERNEL(products_of_edges) {  // n edges, half a warp each, of p nodes (a power of two) of 64 words
  const unsigned edge = first() / 16, lane = threadIdx.x % 16;
  if (edge >= n) return;
  const uint2 ends = reinterpret_cast<const uint2*>(b)[edge];
  const float4 u = reinterpret_cast<const float4*>(a)[(ends.x & (p - 1)) * 16 + lane];
  const float4 v = reinterpret_cast<const float4*>(a)[(ends.y & (p - 1)) * 16 + lane];
  float sum = u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
#pragma unroll
  for (unsigned step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) c[edge] = sum;
}
