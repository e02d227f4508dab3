// Strings, and dynamic programming over them.
#include "kernel_kit.h"

KERNEL(find_pattern) {  // q bytes of b in n bytes of a, whose bytes are taken by two bits
  const unsigned i = first();
  if (i + q > n) return;
  unsigned k = 0;
  while (k < q && ((bytes(a)[i + k] ^ bytes(b)[k]) & 3) == 0) ++k;
  if (k == q) atomicAdd(words(c), 1u);
}

KERNEL(words_counted) {  // beginnings of words in n bytes, a byte in eight parts them; p bytes a
                         // thread
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

KERNEL(
    equal_runs) {  // how far the bytes of a and b are alike (by three bits), from i on, q at most
  const unsigned i = first();
  if (i + q > n) return;
  unsigned k = 0;
  for (; k < q; ++k)
    if (((bytes(a)[i + k] ^ bytes(b)[i + k]) & 7) != 0) break;
  words(c)[i] = k;
}

KERNEL(hashes_of_words) {  // of q bytes each
  const unsigned i = first();
  if (i >= n) return;
  unsigned h = 2166136261u;
  for (unsigned k = 0; k < q; ++k) h = (h ^ bytes(a)[i * q + k]) * 16777619u;
  words(c)[i] = h;
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

KERNEL(runs_found) {  // n letters of two bits, a word each; each block of 256 packs its runs
  __shared__ unsigned heads[8];
  const unsigned t = threadIdx.x, i = first(), lane = t % 32, warp = t / 32;
  const unsigned letter = word(a, i) >> 4 & 3;
  const bool head = t == 0 || (word(a, i - 1) >> 4 & 3) != letter;
  const unsigned votes = __ballot_sync(~0u, head);
  if (lane == 0) heads[warp] = __popc(votes);
  __syncthreads();
  unsigned at = __popc(votes & ((1u << lane) - 1));
  for (unsigned k = 0; k < warp; ++k) at += heads[k];
  if (head) words(c)[blockIdx.x * 257 + 1 + at] = t << 2 | letter;
  if (t == 255) words(c)[blockIdx.x * 257] = at + head;
}

KERNEL(windows_hashed) {  // of q bytes (32 at most), eight a thread of 256: Rabin's and Karp's rule
  __shared__ unsigned text[520];
  const unsigned t = threadIdx.x;
  for (unsigned k = t; k < 520; k += 256) text[k] = word(a, blockIdx.x * 512 + k);
  __syncthreads();
  const unsigned char* from = reinterpret_cast<const unsigned char*>(text) + t * 8;
  unsigned hash = 0, power = 1, found = 0;
  for (unsigned k = 0; k < q; ++k) hash = hash * 257 + from[k], power *= 257;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    found += (hash >> 12 & 1023) == p;
    hash = hash * 257 + from[k + q] - power * from[k];
  }
  words(c)[first()] = found;
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

KERNEL(nearest_in_bits) {  // n rows of 256 bits, each against q others, 64 a tile
  __shared__ uint4 tile[64][2];
  const unsigned i = first(), t = threadIdx.x;
  const uint4 low = reinterpret_cast<const uint4*>(a)[2 * i];
  const uint4 high = reinterpret_cast<const uint4*>(a)[2 * i + 1];
  unsigned best = ~0u;
  for (unsigned k = 0; k < q; k += 64) {
    tile[t / 2][t % 2] = reinterpret_cast<const uint4*>(b)[2 * k + t];
    __syncthreads();
    for (unsigned j = 0; j < 64; ++j) {
      const uint4 u = tile[j][0], v = tile[j][1];
      const unsigned apart = __popc(u.x ^ low.x) + __popc(u.y ^ low.y) + __popc(u.z ^ low.z) +
                             __popc(u.w ^ low.w) + __popc(v.x ^ high.x) + __popc(v.y ^ high.y) +
                             __popc(v.z ^ high.z) + __popc(v.w ^ high.w);
      best = min(best, apart << 16 | (k + j));
    }
    __syncthreads();
  }
  words(c)[i] = best;
}

KERNEL(cheapest_paths) {  // down q rows of p words from b: blocks of 256, 256 - 2 q columns each
  __shared__ float cost[2][256];
  const int t = threadIdx.x, steps = q, width = p;
  const int x = static_cast<int>(blockIdx.x) * (256 - 2 * steps) + t - steps;
  const bool inside = x >= 0 && x < width;
  float here = inside ? b[x] : 1e30f;
  cost[0][t] = here;
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    const auto& from = cost[k & 1];
    if (inside && t > k && t < 255 - k)
      here = a[k * width + x] + fminf(fminf(from[t - 1], from[t]), from[t + 1]);
    cost[(k + 1) & 1][t] = here;
    __syncthreads();
  }
  if (inside && t >= steps && t < 256 - steps) c[x] = here;
}

KERNEL(likeliest_states) {  // Viterbi: 32 states, a lane each, a warp n's p observations
  const unsigned line = first() / 32, lane = threadIdx.x % 32;
  if (line >= n) return;
  float change[32];
#pragma unroll
  for (unsigned k = 0; k < 32; ++k) change[k] = b[k * 32 + lane];
  float score = b[lane];
  for (unsigned k = 0; k < p; ++k) {
    float best = -1e30f;
    unsigned from = 0;
#pragma unroll
    for (unsigned j = 0; j < 32; ++j) {
      const float way = __shfl_sync(~0u, score, j) + change[j];
      if (way > best) best = way, from = j;
    }
    score = best + b[1024 + (word(a, line * p + k) & 15) * 32 + lane] - 3;
    reinterpret_cast<unsigned char*>(c)[(line * p + k) * 32 + lane] = from;
  }
}

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

KERNEL(tours_tried) {  // round trips through p towns (16 at most), one a thread: a warp's shortest
  unsigned number = first(), here = 0;
  unsigned long long open = 0xfedcba987654321ull;  // the towns to come, four bits each
  float length = 0;
  for (unsigned k = p - 1; k > 0; --k) {
    const unsigned at = 4 * (number % k), next = static_cast<unsigned>(open >> at) & 15;
    const unsigned long long below = (1ull << at) - 1;
    open = (open & below) | (open >> 4 & ~below);
    length += a[16 * here + next], here = next, number /= k;
  }
  const unsigned least = __reduce_min_sync(~0u, __float_as_uint(length + a[16 * here]));
  if (threadIdx.x % 32 == 0) words(c)[first() / 32] = least;
}

KERNEL(chains_bracketed) {  // a block of 64 a product of p matrices (64 at most): in what order?
  __shared__ float cost[64][65], size[65];
  const unsigned t = threadIdx.x;
  for (unsigned k = t; k <= p; k += 64) size[k] = a[blockIdx.x * (p + 1) + k];
  cost[t][t] = 0;
  for (unsigned end = t + 1, k = 1; k < p; ++k, ++end) {
    __syncthreads();
    if (end >= p) continue;
    float least = 1e30f;
    for (unsigned j = t; j < end; ++j)
      least = fminf(least, cost[t][j] + cost[j + 1][end] + size[t] * size[j + 1] * size[end + 1]);
    cost[t][end] = least;
  }
  if (t == 0) c[blockIdx.x] = cost[0][p - 1];
}
