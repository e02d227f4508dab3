// The other half of the sixth set (exercise.cu): graphs, sparse matrices, tables, strings, sorts,
// neural networks and chance. The signature and the contents of the arrays are those of kernels.cu.
#include "course_kernel.h"

// ---- graphs and sparse matrices ----------------------------------------------------------------
KERNEL(frontier_pulled) {  // n vertices (a power of two) of p edges: who is next to one of level q
  const unsigned i = first();
  if (i >= n || word(b, i) <= q) return;  // reached already
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
KERNEL(ranks_pushed) {  // n vertices (a power of two), p edges each: to each end its share
  const unsigned i = first();
  if (i >= n) return;
  const float share = 0.85f * b[i] / static_cast<float>(p);
  for (unsigned k = 0; k < p; ++k) atomicAdd(c + (word(a, k * n + i) & (n - 1)), share);
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

// ---- tables, lists and strings -----------------------------------------------------------------
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
KERNEL(states_by_automaton) {  // 64 states, four letters; p words of fifteen letters a thread
                               // of 256
  __shared__ unsigned table[256];
  table[threadIdx.x] = word(b, threadIdx.x) & 63;
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  unsigned state = 0, found = 0;
  for (unsigned k = 0; k < p; ++k) {
    unsigned letters = word(a, i * p + k);
    for (unsigned j = 0; j < 15; ++j, letters >>= 2) {
      state = table[state * 4 + (letters & 3)];
      found += state == 63;
    }
  }
  words(c)[i] = found;
}
KERNEL(strings_aligned) {  // 128 letters with p (512 at most), by Smith and Waterman's rule
  __shared__ int score[2][129];
  __shared__ unsigned char text[512];
  const unsigned t = threadIdx.x;
  const unsigned char letter = bytes(a)[blockIdx.x * 128 + t] & 3;
  for (unsigned k = t; k < p; k += 128) text[k] = bytes(b)[blockIdx.x * p + k] & 3;
  score[0][t] = 0, score[1][t] = 0;
  __syncthreads();
  int up = 0, corner = 0, best = 0;
  for (unsigned step = 0; step < p + 127; ++step) {
    const unsigned row = step - t, from = step & 1;
    if (row < p) {  // a diagonal at a time
      const int left = score[from][t], both = corner + (text[row] == letter ? 2 : -1);
      up = max(max(both, 0), max(up, left) - 1);
      corner = left;
      best = max(best, up);
      score[from ^ 1][t + 1] = up;
    }
    __syncthreads();
  }
  best = __reduce_max_sync(~0u, best);
  if (t % 32 == 0) words(c)[first() / 32] = best;
}
KERNEL(ways_through_one) {  // p by p: is the way through vertex q shorter (Floyd and Warshall)?
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= p) return;
  c[y * p + x] = fminf(a[y * p + x], a[y * p + q] + a[q * p + x] - 1.5f);
}

// ---- sorts and merges --------------------------------------------------------------------------
KERNEL(split_by_bits) {  // a block's 256 words, sorted by their last q bits, one bit at a time
  __shared__ unsigned keys[256], zeros[8];
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned key = word(a, first());
  for (unsigned bit = 0; bit < q; ++bit) {
    const bool set = key >> bit & 1;
    const unsigned votes = __ballot_sync(~0u, !set);
    if (lane == 0) zeros[warp] = __popc(votes);
    __syncthreads();
    unsigned before = __popc(votes & ((1u << lane) - 1)), all = 0;
    for (unsigned k = 0; k < 8; ++k) {
      all += zeros[k];
      if (k < warp) before += zeros[k];
    }
    keys[set ? all + t - before : before] = key;
    __syncthreads();
    key = keys[t];
  }
  words(c)[first()] = key;
}
KERNEL(merged_by_paths) {  // two sorted rows of n / 2 keys, p of the merged ones a thread
  const unsigned half = n / 2, from = first() * p;
  if (from >= n) return;
  const auto left = [&](unsigned i) { return 64 * i + (word(a, i) & 63); };
  const auto right = [&](unsigned i) { return 64 * i + (word(b, i) & 63); };
  unsigned low = from > half ? from - half : 0, high = min(from, half);
  while (low < high) {
    const unsigned mid = (low + high) / 2;
    if (left(mid) <= right(from - 1 - mid))
      low = mid + 1;
    else
      high = mid;
  }
  unsigned i = low, j = from - low;
  for (unsigned k = 0; k < p; ++k) {
    const bool take = j >= half || (i < half && left(i) <= right(j));
    words(c)[from + k] = take ? left(i) : right(j);
    if (take)
      ++i;
    else
      ++j;
  }
}

// ---- neural networks ---------------------------------------------------------------------------
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

// ---- arithmetic and chance ---------------------------------------------------------------------
KERNEL(molecules_in_cells) {  // p cubed cells of eight, edges joined: forces within a cell's width
  const unsigned i = first();
  if (i >= n) return;
  const float4* at = reinterpret_cast<const float4*>(a);
  const unsigned cell = i / 8, x = cell % p, y = cell / p % p, z = cell / (p * p);
  const float4 here = at[i];
  float3 force = {};
  for (unsigned k = 0; k < 27; ++k) {
    const unsigned u = k % 3, v = k / 3 % 3, w = k / 9;
    const unsigned other =
        ((z + w + p - 1) % p * p + (y + v + p - 1) % p) * p + (x + u + p - 1) % p;
    for (unsigned j = 0; j < 8; ++j) {
      const float4 there = at[other * 8 + j];
      const float dx = there.x - here.x + static_cast<float>(u) - 1;
      const float dy = there.y - here.y + static_cast<float>(v) - 1;
      const float dz = there.z - here.z + static_cast<float>(w) - 1;
      const float r = dx * dx + dy * dy + dz * dz;
      if (r < 1 && r > 0) {
        const float near = 0.1f / (r + 0.01f), six = near * near * near;
        const float by = near * six * (0.5f - six);
        force.x += by * dx, force.y += by * dy, force.z += by * dz;
      }
    }
  }
  reinterpret_cast<float4*>(c)[i] = make_float4(force.x, force.y, force.z, 0);
}
KERNEL(normals_by_rejection) {  // q pairs a thread, summed, by Marsaglia's polar method
  const unsigned i = first();
  if (i >= n) return;
  unsigned state = i * 2654435769u + 97;
  const auto next = [&state] {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return static_cast<float>(state >> 8) * (2.0f / (1 << 24)) - 1;
  };
  float sum = 0;
  for (unsigned k = 0; k < q; ++k) {
    float x, y, s;
    do {
      x = next(), y = next();
      s = x * x + y * y;
    } while (s >= 1 || s == 0);
    sum += (x + y) * sqrtf(-2 * __logf(s) / s);
  }
  c[i] = sum;
}
KERNEL(transforms_by_primes) {  // of 1024 numbers modulo a prime, a block of 512 in shared memory
  __shared__ unsigned value[1024];
  const unsigned prime = 998244353, t = threadIdx.x, base = blockIdx.x * 1024;
  value[t] = word(a, base + t) % prime, value[t + 512] = word(a, base + t + 512) % prime;
  for (unsigned half = 512; half > 0; half /= 2) {
    __syncthreads();
    const unsigned j = t & (half - 1), i = 2 * t - j;
    const unsigned u = value[i], v = value[i + half], root = word(b, half + j);
    const unsigned long long apart = u + prime - v;
    value[i] = u + v >= prime ? u + v - prime : u + v;
    value[i + half] = static_cast<unsigned>(apart * root % prime);
  }
  __syncthreads();
  words(c)[base + t] = value[t], words(c)[base + t + 512] = value[t + 512];
}
