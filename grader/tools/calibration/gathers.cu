// Words from anywhere and to anywhere: strides, tables, indices, searches, trees.
#include "kernel_kit.h"

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

KERNEL(gather_twice) {  // an index of an index
  const unsigned i = first();
  if (i < n) c[i] = a[word(b, word(b, i) & (q - 1)) & (p - 1)];
}

KERNEL(rows_looked_up) {  // rows of 64 words by index, sixteen threads a row
  const unsigned i = first(), row = i / 16;
  if (row >= n) return;
  reinterpret_cast<float4*>(c)[i] = reinterpret_cast<const float4*>(a)[word(b, row) * 16 + i % 16];
}

KERNEL(colours_from_cube) {  // a table of 32 by 32 by 32, eight entries a point
  const unsigned i = first();
  if (i >= n) return;
  const unsigned w = word(a, i);
  const unsigned x = w & 15, y = w >> 5 & 15, z = w >> 10 & 15;
  const float s = static_cast<float>(w >> 15 & 31) / 32, t = static_cast<float>(w >> 20 & 31) / 32;
  const float* at = b + (z * 32 + y) * 32 + x;
  const float low = (at[0] * (1 - s) + at[1] * s) * (1 - t) + (at[32] * (1 - s) + at[33] * s) * t;
  at += 1024;
  const float up = (at[0] * (1 - s) + at[1] * s) * (1 - t) + (at[32] * (1 - s) + at[33] * s) * t;
  c[i] = low + (up - low) * (s + t) * 0.5f;
}

KERNEL(mapped_by_table) {  // bytes, four a thread, by a table of 256 in shared memory
  __shared__ unsigned char table[256];
  table[threadIdx.x] = bytes(b)[threadIdx.x];
  __syncthreads();
  const unsigned i = first();
  if (4 * i >= n) return;
  uchar4 v = reinterpret_cast<const uchar4*>(a)[i];
  v.x = table[v.x], v.y = table[v.y], v.z = table[v.z], v.w = table[v.w];
  reinterpret_cast<uchar4*>(c)[i] = v;
}

KERNEL(interpolated) {  // a table of q words (a power of two) in shared memory
  extern __shared__ float table[];
  for (unsigned i = threadIdx.x; i < q; i += blockDim.x) table[i] = b[i];
  __syncthreads();
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x) {
    const float at = (a[i] - 1) * static_cast<float>(q - 2);
    const unsigned k = static_cast<unsigned>(at);
    const float part = at - static_cast<float>(k);
    c[i] = table[k] + part * (table[k + 1] - table[k]);
  }
}

KERNEL(dealt_out) {  // n words (a power of two), each to a place of its own, in no order
  const unsigned i = first();
  if (i >= n) return;
  unsigned to = i * 747796405u + 2891336453u;
  to ^= to >> 9 & (n - 1) >> 9, to = to * 277803737u;
  c[to & (n - 1)] = a[i];
}

KERNEL(order_of_bits_reversed) {  // n points, 32 - q bits
  const unsigned i = first();
  if (i < n) c[__brev(i) >> q] = a[i];
}

KERNEL(order_of_z) {  // p by p (a power of two): to where the bits of x and y in turn say
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const auto spread = [](unsigned v) {
    v = (v | v << 8) & 0x00ff00ffu, v = (v | v << 4) & 0x0f0f0f0fu;
    v = (v | v << 2) & 0x33333333u;
    return (v | v << 1) & 0x55555555u;
  };
  c[spread(x) | spread(y) << 1] = a[y * p + x];
}

KERNEL(lists_followed) {  // n lists through p nodes (a power of two), 32 long on average, q at most
  const unsigned i = first();
  if (i >= n) return;
  unsigned at = i & (p - 1);
  float sum = 0;
  for (unsigned k = 0; k < q; ++k) {
    const unsigned next = word(b, at);
    sum += a[at];
    if ((next >> 21 & 31) == 0) break;
    at = next & (p - 1);
  }
  c[i] = sum;
}

KERNEL(search_halves) {  // q words (a power of two), halved until one is left
  unsigned i = first();
  if (i >= n) return;
  const unsigned wanted = word(a, i);
  unsigned at = 0;
  for (unsigned half = q / 2; half > 0; half /= 2)
    if (word(b, at + half) <= wanted) at += half;
  reinterpret_cast<unsigned*>(c)[i] = at;
}

KERNEL(found_by_halving) {  // n words, each looked for in a sorted table of q (a power of two)
  const unsigned i = first();
  if (i >= n) return;
  const unsigned wanted = word(a, i);
  unsigned at = 0;
  for (unsigned step = q / 2; step > 0; step /= 2)
    if (static_cast<unsigned>(static_cast<uint64_t>(at + step) * (1u << 30) / q) <= wanted)
      at += step;
  c[i] = b[at];
}

KERNEL(keys_looked_up) {  // in p words (a power of two), a quarter empty, q steps at most
  const unsigned i = first();
  if (i >= n) return;
  const unsigned key = word(a, i);
  unsigned at = (key * 2654435761u >> 8) & (p - 1), where = ~0u;
  for (unsigned k = 0; k < q; ++k) {
    const unsigned there = word(b, at);
    if (there == key) where = at;
    if (there == key || (there & 3) == 0) break;
    at = (at + 1) & (p - 1);
  }
  words(c)[i] = where;
}

KERNEL(keys_through_wide_tree) {  // n keys, half a warp each: p levels of nodes of sixteen words
  const unsigned i = first() / 16, lane = threadIdx.x % 16, half = threadIdx.x % 32 / 16 * 16;
  if (i >= n) return;
  const unsigned key = word(b, i);
  unsigned node = 0;
  for (unsigned k = 0; k < p; ++k) {
    const unsigned less = __ballot_sync(~0u, word(a, node * 16 + lane) < key) >> half & 0xffff;
    node = node * 16 + min(__popc(less), 15) + 1;
  }
  if (lane == 0) words(c)[i] = node;
}

KERNEL(depths_by_jumps) {  // trees of 512 nodes, each one's parent among the eight before it
  __shared__ unsigned parent[512], depth[512];
  const unsigned t = threadIdx.x, back = word(a, first()) & 7;
  parent[t] = t > back ? t - 1 - back : 0;
  depth[t] = t > 0;
  __syncthreads();
  while (true) {
    const unsigned up = parent[t], next = parent[up], more = depth[up];
    if (__syncthreads_or(up != 0) == 0) break;
    parent[t] = next, depth[t] += more;
    __syncthreads();
  }
  words(c)[first()] = depth[t];
}

KERNEL(forests_asked) {  // n rows of 16 numbers, in columns: q trees of eight questions, b's
  __shared__ unsigned tree[512];
  const unsigned i = first(), t = threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < q; ++k) {
    for (unsigned j = t; j < 512; j += 128) tree[j] = word(b, k * 512 + j);
    __syncthreads();
    unsigned at = 0;
    for (unsigned level = 0; level < 8; ++level) {
      const unsigned node = tree[at];
      const float limit = 1 + static_cast<float>(node >> 4 & 0xffff) * (1.0f / 65536);
      at = 2 * at + (a[(node & 15) * n + i] < limit ? 1 : 2);
    }
    sum += static_cast<float>(tree[at] >> 20);
    __syncthreads();
  }
  c[i] = sum;
}

KERNEL(bags_of_rows) {  // n sums of q rows of 128 words each, of p (a power of two), a warp a sum
  const unsigned bag = first() / 32, lane = threadIdx.x % 32;
  if (bag >= n) return;
  float4 sum = {};
  for (unsigned k = 0; k < q; ++k) {
    const unsigned row = word(a, bag * q + k) & (p - 1);
    const float4 v = reinterpret_cast<const float4*>(b)[row * 32 + lane];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  reinterpret_cast<float4*>(c)[bag * 32 + lane] = sum;
}

KERNEL(vertices_skinned) {  // n vertices of four words, moved by four each of 64 bones (3 by 4)
  __shared__ float4 bone[192];
  const unsigned i = first(), t = threadIdx.x;
  if (t < 192) bone[t] = reinterpret_cast<const float4*>(b)[t];
  __syncthreads();
  if (i >= n) return;
  const float4 at = reinterpret_cast<const float4*>(a)[i];
  const unsigned which = word(b, 768 + i);
  float x = 0, y = 0, z = 0, weight = 0.4f;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k, weight -= 0.1f) {
    const float4* row = bone + 3 * (which >> (6 * k) & 63);
    const float4 u = row[0], v = row[1], w = row[2];
    x += weight * (u.x * at.x + u.y * at.y + u.z * at.z + u.w);
    y += weight * (v.x * at.x + v.y * at.y + v.z * at.z + v.w);
    z += weight * (w.x * at.x + w.y * at.y + w.z * at.z + w.w);
  }
  reinterpret_cast<float4*>(c)[i] = make_float4(x, y, z, at.w);
}

KERNEL(boxes_walked_by_rays) {  // n rays down a tree of p levels of cubes, left to right: the first
  const unsigned i = first();
  if (i >= n) return;
  const float by_x = 1 / (a[i] - 0.9f), by_y = 1 / (a[n + i] - 0.9f);  // from 0, by (x, y, 1)
  float nearest = 1e30f;
  unsigned node = 1;
  do {
    const unsigned level = 31 - __clz(static_cast<int>(node));
    const float4 at = quads(b)[node];
    const float half = exp2f(-0.32f * static_cast<float>(level)), x = at.x - 1, y = at.y - 1;
    const float from = fmaxf(fmaxf((x - half) * by_x, (y - half) * by_y), at.z - half);
    const float to = fminf(fminf((x + half) * by_x, (y + half) * by_y), at.z + half);
    const bool met = from <= to && from < nearest, deeper = met && level + 1 < p;
    if (met && !deeper) nearest = from;
    node = deeper ? 2 * node : (node + 1) >> (__ffs(static_cast<int>(node + 1)) - 1);
  } while (node != 1);
  c[i] = nearest;
}
