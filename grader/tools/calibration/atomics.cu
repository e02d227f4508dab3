// Atomics: additions to few and to many addresses, histograms, sets.
#include "kernel_kit.h"

KERNEL(add_to_one) {  // every lane to one float
  if (first() < n) atomicAdd(c, a[first()]);
}

KERNEL(add_to_one_int) {  // ptxas sums the warp first
  if (first() < n) atomicAdd(reinterpret_cast<unsigned*>(c), word(a, first()));
}

KERNEL(add_per_warp) {  // one lane per warp to one float
  float s = warp_sum_for_lane_0(first() < n ? a[first()] : 0);
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

KERNEL(count_bytes) {  // 256 counters a block, four bytes a word
  __shared__ unsigned counts[256];
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x) {
    const unsigned four = word(a, i);
    for (unsigned k = 0; k < 32; k += 8) atomicAdd(counts + (four >> k & 255), 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    atomicAdd(reinterpret_cast<unsigned*>(c) + i, counts[i]);
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

KERNEL(histogram_of_blocks) {  // q counters a block (1024 at most)
  __shared__ unsigned counts[1024];
  for (unsigned i = threadIdx.x; i < q; i += blockDim.x) counts[i] = 0;
  __syncthreads();
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&counts[word(a, i) % q], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < q; i += blockDim.x) atomicAdd(words(c) + i, counts[i]);
}

KERNEL(letters_counted) {  // 26 counters in device memory, a byte a thread
  const unsigned i = first();
  if (i < n) atomicAdd(words(c) + bytes(a)[i] % 26, 1u);
}

KERNEL(pairs_counted) {  // of neighbouring grey values, 64 by 64 counters
  const unsigned i = first();
  if (i + 1 >= n) return;
  const unsigned u = word(a, i) >> 8 & 63, v = word(a, i + 1) >> 8 & 63;
  atomicAdd(words(c) + u * 64 + v, 1u);
}

KERNEL(small_histograms) {  // 64 counters a warp in shared memory, sixteen words a thread
  __shared__ unsigned count[8][64];
  for (unsigned k = threadIdx.x; k < 512; k += 256) count[k / 64][k % 64] = 0;
  __syncthreads();
#pragma unroll 4
  for (unsigned k = 0; k < 16; ++k) {
    const unsigned i = (blockIdx.x * 16 + k) * 256 + threadIdx.x;
    atomicAdd(&count[threadIdx.x / 32][word(a, i) >> 4 & 63], 1u);
  }
  __syncthreads();
  if (threadIdx.x >= 64) return;
  unsigned sum = 0;
  for (unsigned k = 0; k < 8; ++k) sum += count[k][threadIdx.x];
  atomicAdd(words(c) + threadIdx.x, sum);
}

KERNEL(keys_made_unique) {  // of 1024 keys below p a block: how many, by a table in shared memory
  __shared__ unsigned table[2048], found;
  const unsigned t = threadIdx.x;
  for (unsigned k = t; k < 2048; k += 256) table[k] = ~0u;
  if (t == 0) found = 0;
  __syncthreads();
  unsigned fresh = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned key = word(a, blockIdx.x * 1024 + k * 256 + t) % p;
    unsigned at = key * 2654435761u >> 21;
    for (;;) {
      const unsigned old = atomicCAS(table + at, ~0u, key);
      fresh += old == ~0u;
      if (old == ~0u || old == key) break;
      at = (at + 1) & 2047;
    }
  }
  atomicAdd(&found, fresh);
  __syncthreads();
  if (t == 0) words(c)[blockIdx.x] = found;
}

KERNEL(colours_counted) {  // n points of four bytes, four at a time: 256 counters for each of three
  __shared__ unsigned counts[768];
  const unsigned t = threadIdx.x;
  for (unsigned k = t; k < 768; k += 256) counts[k] = 0;
  __syncthreads();
  for (unsigned i = first(); i < n / 4; i += gridDim.x * 256) {
    const uint4 four = reinterpret_cast<const uint4*>(a)[i];
    const unsigned point[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      atomicAdd(counts + (point[k] & 255), 1);
      atomicAdd(counts + 256 + (point[k] >> 8 & 255), 1);
      atomicAdd(counts + 512 + (point[k] >> 16 & 255), 1);
    }
  }
  __syncthreads();
  for (unsigned k = t; k < 768; k += 256) atomicAdd(words(c) + k, counts[k]);
}

KERNEL(centres_moved) {  // n points of four words, each to the sum of one of p centres (64 at most)
  __shared__ float sums[64][5];
  const unsigned t = threadIdx.x;
  for (unsigned k = t; k < 320; k += 256) sums[k / 5][k % 5] = 0;
  __syncthreads();
  for (unsigned i = first(); i < n; i += gridDim.x * 256) {
    const float4 at = reinterpret_cast<const float4*>(a)[i];
    float* to = sums[word(b, i) & (p - 1)];
    atomicAdd(to, at.x), atomicAdd(to + 1, at.y), atomicAdd(to + 2, at.z);
    atomicAdd(to + 3, at.w), atomicAdd(to + 4, 1.0f);
  }
  __syncthreads();
  for (unsigned k = t; k < 5 * p; k += 256) atomicAdd(c + k, sums[k / 5][k % 5]);
}

KERNEL(bits_of_bloom_set) {  // n keys, q bits each of p (a power of two)
  const unsigned i = first();
  if (i >= n) return;
  const unsigned key = word(a, i);
  unsigned hash = key * 2654435761u;
  const unsigned step = (key ^ key >> 15) * 2246822519u | 1;
  for (unsigned k = 0; k < q; ++k, hash += step) {
    const unsigned bit = hash >> 4 & (p - 1);
    atomicOr(words(c) + bit / 32, 1u << bit % 32);
  }
}

KERNEL(distinct_estimated) {  // of n words, by runs of zeros in 1024 parts (HyperLogLog)
  __shared__ unsigned longest[1024];
  const unsigned t = threadIdx.x;
  for (unsigned k = t; k < 1024; k += 256) longest[k] = 0;
  __syncthreads();
  for (unsigned i = first(); i < n; i += gridDim.x * 256) {
    unsigned hash = word(a, i) * 2654435761u;
    hash = (hash ^ hash >> 15) * 2246822519u, hash ^= hash >> 13;
    atomicMax(longest + (hash & 1023), static_cast<unsigned>(__clz(static_cast<int>(hash))) + 1);
  }
  __syncthreads();
  for (unsigned k = t; k < 1024; k += 256) atomicMax(words(c) + k, longest[k]);
}

KERNEL(kmers_counted) {  // n words of sixteen letters: each q (16 at most) or their mirror image
  const unsigned i = first();
  if (i >= n) return;
  const unsigned low = word(a, i), high = word(a, i + 1), unused = 32 - 2 * q;
#pragma unroll 4
  for (unsigned k = 0; k < 32; k += 2) {
    const unsigned here = __funnelshift_r(low, high, k) << unused >> unused;
    unsigned mirror = __brev(~here);
    mirror = (mirror >> 1 & 0x55555555u) | (mirror & 0x55555555u) << 1;
    atomicAdd(words(c) + min(here, mirror >> unused), 1);
  }
}

KERNEL(charges_onto_grid) {  // n particles anywhere on p by p (a power of two): to four points each
  const unsigned i = first();
  if (i >= n) return;
  const float2 at = reinterpret_cast<const float2*>(a)[i];
  const float x = (at.x - 1) * static_cast<float>(p), y = (at.y - 1) * static_cast<float>(p);
  const unsigned u = static_cast<unsigned>(x), v = static_cast<unsigned>(y);
  const float s = x - static_cast<float>(u), t = y - static_cast<float>(v), charge = b[i];
  const unsigned right = (u + 1) & (p - 1), below = (v + 1) & (p - 1);
  atomicAdd(c + v * p + u, charge * (1 - s) * (1 - t));
  atomicAdd(c + v * p + right, charge * s * (1 - t));
  atomicAdd(c + below * p + u, charge * (1 - s) * t);
  atomicAdd(c + below * p + right, charge * s * t);
}

KERNEL(bonds_stretched) {  // n bonds between two of p atoms (a power of two) each: forces, added up
  const unsigned i = first();
  if (i >= n) return;
  const unsigned one = word(b, i) & (p - 1), other = (one + 1 + (word(b, i) >> 20 & 63)) & (p - 1);
  const float4 u = quads(a)[one], v = quads(a)[other];
  const float x = v.x - u.x, y = v.y - u.y, z = v.z - u.z;
  const float pull = 0.001f * (1 - 0.5f * rsqrtf(x * x + y * y + z * z + 1e-4f));
  const auto push = [&](unsigned atom, float by) {
    atomicAdd(c + 4 * atom, by * x), atomicAdd(c + 4 * atom + 1, by * y);
    atomicAdd(c + 4 * atom + 2, by * z);
  };
  push(one, pull), push(other, -pull);
}
