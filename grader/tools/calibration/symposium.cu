// The other half of the eighth set (colloquium.cu): sums, sorts, graphs, tables, strings, dynamic
// programming and bits. The signature and the contents of the arrays are those of kernels.cu.
#include "course_kernel.h"

// ---- sums and transforms -----------------------------------------------------------------------
KERNEL(walsh_transformed) {  // lines of 1024 words, a block of 128 each, eight words a thread
  __shared__ float line[1024];
  const unsigned t = threadIdx.x, lane = t % 32, base = blockIdx.x * 1024;
  float v[8];
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) v[k] = a[base + k * 128 + t];
#pragma unroll
  for (unsigned step = 1; step < 8; step *= 2)
#pragma unroll
    for (unsigned k = 0; k < 8; ++k)
      if ((k & step) == 0) {
        const float sum = v[k] + v[k + step];
        v[k + step] = v[k] - v[k + step], v[k] = sum;
      }
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2)
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const float other = __shfl_xor_sync(~0u, v[k], step);
      v[k] = lane & step ? other - v[k] : v[k] + other;
    }
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) line[k * 128 + t] = v[k];
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {  // the warps' two bits
    const unsigned at = (k * 4 + t / 32) * 128 + lane;
    const float u0 = line[at], u1 = line[at + 32], u2 = line[at + 64], u3 = line[at + 96];
    c[base + at] = u0 + u1 + (u2 + u3);
    c[base + at + 32] = u0 - u1 + (u2 - u3);
    c[base + at + 64] = u0 + u1 - (u2 + u3);
    c[base + at + 96] = u0 - u1 - (u2 - u3);
  }
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
KERNEL(recurrences_scanned) {  // x' = u x + v along 1024 words, a block of 256 each
  __shared__ float factor_of[8], sum_of[8];
  const unsigned i = first(), t = threadIdx.x, lane = t % 32, warp = t / 32;
  float4 u = reinterpret_cast<const float4*>(a)[i];
  const float4 v = reinterpret_cast<const float4*>(b)[i];
  u.x -= 1, u.y -= 1, u.z -= 1, u.w -= 1;
  float factor = u.x * u.y * u.z * u.w, sum = ((v.x * u.y + v.y) * u.z + v.z) * u.w + v.w;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const float by = __shfl_up_sync(~0u, factor, step), other = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += factor * other, factor *= by;
  }
  if (lane == 31) factor_of[warp] = factor, sum_of[warp] = sum;
  factor = __shfl_up_sync(~0u, factor, 1), sum = __shfl_up_sync(~0u, sum, 1);
  if (lane == 0) factor = 1, sum = 0;
  __syncthreads();
  float x = 0;
  for (unsigned k = 0; k < warp; ++k) x = factor_of[k] * x + sum_of[k];
  x = factor * x + sum;
  float4 out;
  out.x = x = u.x * x + v.x;
  out.y = x = u.y * x + v.y;
  out.z = x = u.z * x + v.z;
  out.w = u.w * x + v.w;
  reinterpret_cast<float4*>(c)[i] = out;
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

// ---- sorts, trees and graphs -------------------------------------------------------------------
KERNEL(sorted_by_shells) {  // n rows of 32 words, one a thread of 128, in its column of the tile
  __shared__ unsigned key[32][128];
  const unsigned i = first(), t = threadIdx.x;
  if (i >= n) return;
  for (unsigned k = 0; k < 32; ++k) key[k][t] = word(a, k * n + i);
  for (unsigned gap = 13; gap > 0; gap /= 3)  // 13, 4 and 1
    for (unsigned k = gap; k < 32; ++k) {
      const unsigned here = key[k][t];
      unsigned j = k;
      for (; j >= gap && key[j - gap][t] > here; j -= gap) key[j][t] = key[j - gap][t];
      key[j][t] = here;
    }
  for (unsigned k = 0; k < 32; ++k) words(c)[k * n + i] = key[k][t];
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

// ---- sets and strings --------------------------------------------------------------------------
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
KERNEL(letters_packed_by_code) {  // n bytes, 1024 a block of 256: two to nine bits each
  __shared__ unsigned code[256], sums[8], out[292];
  const unsigned t = threadIdx.x, lane = t % 32, letters = word(a, first());
  const unsigned own = word(b, t), bits_of_own = 2 + (own & 7);
  code[t] = bits_of_own << 16 | (own >> 8 & ((1u << bits_of_own) - 1));
  out[t] = 0;
  if (t < 36) out[256 + t] = 0;
  __syncthreads();
  unsigned long long bits = 0;
  unsigned count = 0;
#pragma unroll
  for (unsigned k = 0; k < 32; k += 8) {
    const unsigned entry = code[letters >> k & 255];
    bits |= static_cast<unsigned long long>(entry & 0xffff) << count;
    count += entry >> 16;
  }
  unsigned sum = count;
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) sums[t / 32] = sum;
  __syncthreads();
  unsigned all = 0;
  for (unsigned k = 0; k < 8; ++k) {
    if (k == t / 32) sum += all;
    all += sums[k];
  }
  const unsigned from = sum - count, at = from / 32, by = from % 32;
  const unsigned long long low = bits << by;
  const unsigned high = static_cast<unsigned>(bits >> 32 >> (32 - by));
  atomicOr(out + at, static_cast<unsigned>(low));
  atomicOr(out + at + 1, static_cast<unsigned>(low >> 32));
  if (high != 0) atomicOr(out + at + 2, high);
  __syncthreads();
  unsigned* to = words(c) + blockIdx.x * 292;
  if (t == 0) to[0] = all;
  for (unsigned k = t; k * 32 < all; k += 256) to[1 + k] = out[k];
}
KERNEL(patterns_by_skips) {  // q letters of 32 (32 at most) in n, p places a thread, by Horspool
  __shared__ unsigned char pattern[32];
  __shared__ unsigned skip[32];
  const unsigned t = threadIdx.x;
  if (t < 32) skip[t] = q, pattern[t] = bytes(b)[t] & 31;
  __syncthreads();
  if (t == 0)
    for (unsigned k = 0; k + 1 < q; ++k) skip[pattern[k]] = q - 1 - k;
  __syncthreads();
  const unsigned end = min((first() + 1) * p, n + 1 - q);
  unsigned found = 0;
  for (unsigned at = first() * p; at < end;) {
    const unsigned char* text = bytes(a) + at;
    unsigned k = q;
    while (k > 0 && (text[k - 1] & 31) == pattern[k - 1]) --k;
    found += k == 0;
    at += skip[text[q - 1] & 31];
  }
  words(c)[first()] = found;
}

// ---- dynamic programming and search ------------------------------------------------------------
KERNEL(knapsacks_filled) {  // a block of 256 each: p sizes (1024 at most), q things (64 at most)
  __shared__ float best[2][1024], value[64];
  __shared__ unsigned weight[64];
  const unsigned t = threadIdx.x;
  if (t < q) weight[t] = 1 + (word(a, blockIdx.x * q + t) & 63), value[t] = b[blockIdx.x * q + t];
  for (unsigned x = t; x < p; x += 256) best[0][x] = 0;
  __syncthreads();
  for (unsigned k = 0; k < q; ++k) {
    const float* from = best[k & 1];
    float* to = best[(k + 1) & 1];
    for (unsigned x = t; x < p; x += 256) {
      float most = from[x];
      if (x >= weight[k]) most = fmaxf(most, from[x - weight[k]] + value[k]);
      to[x] = most;
    }
    __syncthreads();
  }
  if (t == 0) c[blockIdx.x] = best[q & 1][p - 1];
}
KERNEL(common_by_bits) {  // n pairs of 64 letters of four and p words of them: how many in common
  const unsigned i = first();
  if (i >= n) return;
  const uint4 all = reinterpret_cast<const uint4*>(a)[i];
  const unsigned part[4] = {all.x, all.y, all.z, all.w};
  unsigned long long low = 0, high = 0;  // the letters' two bits
#pragma unroll
  for (unsigned k = 0; k < 64; ++k) {
    const unsigned letter = part[k / 16] >> (k % 16 * 2);
    low |= static_cast<unsigned long long>(letter & 1) << k;
    high |= static_cast<unsigned long long>(letter >> 1 & 1) << k;
  }
  unsigned long long row = ~0ull;
  for (unsigned k = 0; k < p; ++k) {
    unsigned letters = word(b, k * n + i);
    for (unsigned j = 0; j < 16; ++j, letters >>= 2) {
      const unsigned long long same = (letters & 1 ? low : ~low) & (letters & 2 ? high : ~high);
      row = (row + (row & same)) | (row & ~same);
    }
  }
  words(c)[i] = __popcll(~row);
}
KERNEL(queens_placed) {  // on p by p (15 at most), three by the thread's number, 64 a block
  __shared__ uint4 stack[12][64];
  const unsigned t = threadIdx.x, all = (1u << p) - 1;
  unsigned columns = 0, left = 0, right = 0, found = 0, number = first();
  bool fits = number < p * p * p;
  const auto place = [&](unsigned bit) {
    columns |= bit, left = (left | bit) << 1, right = (right | bit) >> 1;
  };
  for (unsigned k = 0; k < 3; ++k, number /= p) {
    const unsigned bit = 1u << number % p;
    fits = fits && ((columns | left | right) & bit) == 0;
    place(bit);
  }
  unsigned open = fits ? all & ~(columns | left | right) : 0, deep = 0;
  while (true) {
    if (open == 0) {
      if (deep == 0) break;
      const uint4 last = stack[--deep][t];
      open = last.x, columns = last.y, left = last.z, right = last.w;
      continue;
    }
    const unsigned bit = open & (~open + 1);
    open ^= bit;
    if ((columns | bit) == all) {
      ++found;
      continue;
    }
    stack[deep++][t] = make_uint4(open, columns, left, right);
    place(bit);
    open = all & ~(columns | left | right);
  }
  found = __reduce_add_sync(~0u, found);
  if (t % 32 == 0) atomicAdd(words(c), found);
}

// ---- bits --------------------------------------------------------------------------------------
KERNEL(long_numbers_added) {  // of 1024 bits, n words of them, a warp a number
  const unsigned i = first(), lane = threadIdx.x % 32;
  if (i >= n) return;
  const unsigned left = word(a, i), sum = left + word(b, i);
  const unsigned carry = __ballot_sync(~0u, sum < left), full = __ballot_sync(~0u, sum == ~0u);
  const unsigned in = ((carry << 1) + full) ^ full;
  words(c)[i] = sum + (in >> lane & 1);
}
KERNEL(digests_by_sha) {  // SHA-256 of n blocks of 64 bytes, one a thread, all from the first state
  constexpr unsigned kRounds[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};
  constexpr unsigned kStart[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  const unsigned i = first();
  if (i >= n) return;
  const auto turn = [](unsigned x, unsigned by) { return __funnelshift_r(x, x, by); };
  unsigned w[16], s[8];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const uint4 four = reinterpret_cast<const uint4*>(a)[i * 4 + k];
    w[4 * k] = __byte_perm(four.x, 0, 0x0123), w[4 * k + 1] = __byte_perm(four.y, 0, 0x0123);
    w[4 * k + 2] = __byte_perm(four.z, 0, 0x0123), w[4 * k + 3] = __byte_perm(four.w, 0, 0x0123);
  }
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) s[k] = kStart[k];
#pragma unroll
  for (unsigned k = 0; k < 64; ++k) {
    if (k >= 16) {
      const unsigned u = w[(k + 1) & 15], v = w[(k + 14) & 15];
      w[k & 15] += w[(k + 9) & 15] + (turn(u, 7) ^ turn(u, 18) ^ u >> 3) +
                   (turn(v, 17) ^ turn(v, 19) ^ v >> 10);
    }
    const unsigned chosen = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const unsigned most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    const unsigned one =
        s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + chosen + kRounds[k] + w[k & 15];
    const unsigned two = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + most;
#pragma unroll
    for (unsigned j = 7; j > 0; --j) s[j] = s[j - 1];
    s[4] += one;
    s[0] = one + two;
  }
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) s[k] += kStart[k];
  uint4* out = reinterpret_cast<uint4*>(c) + i * 2;
  out[0] = make_uint4(s[0], s[1], s[2], s[3]);
  out[1] = make_uint4(s[4], s[5], s[6], s[7]);
}
