// Sorts and merges.
#include "kernel_kit.h"

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

KERNEL(sort_by_exchange) {  // odd-even transposition of a block's words
  __shared__ unsigned keys[256];
  const unsigned t = threadIdx.x;
  keys[t] = word(a, first());
  __syncthreads();
  for (unsigned k = 0; k < blockDim.x; ++k) {
    const unsigned low = 2 * t + (k & 1);
    if (low + 1 < blockDim.x && keys[low] > keys[low + 1]) {
      const unsigned swapped = keys[low];
      keys[low] = keys[low + 1], keys[low + 1] = swapped;
    }
    __syncthreads();
  }
  words(c)[first()] = keys[t];
}

KERNEL(rank_by_counting) {  // a block's words, each with all
  __shared__ unsigned keys[512];
  const unsigned t = threadIdx.x, mine = word(a, first());
  keys[t] = mine;
  __syncthreads();
  unsigned rank = 0;
  for (unsigned k = 0; k < blockDim.x; ++k) rank += keys[k] < mine || (keys[k] == mine && k < t);
  words(c)[blockIdx.x * blockDim.x + rank] = mine;
}

KERNEL(merged_by_rank) {  // two sorted halves of a block's words, each ranked in the other
  __shared__ unsigned keys[512];
  const unsigned t = threadIdx.x, half = blockDim.x / 2;
  keys[t] = (t % half) * 1000 + word(a, first()) % 1000;
  __syncthreads();
  const unsigned mine = keys[t], base = t < half ? half : 0;
  unsigned low = 0, high = half;
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (keys[base + middle] < mine)
      low = middle + 1;
    else
      high = middle;
  }
  words(c)[blockIdx.x * blockDim.x + (t % half + low) % blockDim.x] = mine;
}

KERNEL(buckets_of_keys) {  // of 64, by halving in shared memory
  __shared__ unsigned from[64];
  if (threadIdx.x < 64) from[threadIdx.x] = threadIdx.x << 24;
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  const unsigned key = word(a, i);
  unsigned low = 0;
#pragma unroll
  for (unsigned step = 32; step > 0; step /= 2)
    if (from[low + step] <= key) low += step;
  words(c)[i] = low;
}

KERNEL(warps_sorted) {  // 32 words each, by exchanges between lanes
  const unsigned i = first(), lane = threadIdx.x % 32;
  float v = a[i];
#pragma unroll
  for (unsigned size = 2; size <= 32; size *= 2)
#pragma unroll
    for (unsigned d = size / 2; d > 0; d /= 2) {
      const float other = __shfl_xor_sync(0xffffffff, v, d);
      const bool small = ((lane & d) == 0) == ((lane & size) == 0);
      v = small ? fminf(v, other) : fmaxf(v, other);
    }
  c[i] = v;
}

KERNEL(ranks_by_digit) {  // blocks of 256: a word's place among those of its block with its digit
  __shared__ unsigned count[8][16];
  const unsigned i = first(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 128) count[threadIdx.x / 16][threadIdx.x % 16] = 0;
  __syncthreads();
  const unsigned digit = word(a, i) >> p & 15;
  unsigned same = ~0u;
#pragma unroll
  for (unsigned bit = 0; bit < 4; ++bit) {
    const unsigned set = __ballot_sync(~0u, digit >> bit & 1);
    same &= digit >> bit & 1 ? set : ~set;
  }
  const unsigned before = __popc(same & ((1u << lane) - 1));
  if (before == 0) count[warp][digit] = __popc(same);
  __syncthreads();
  unsigned rank = before;
  for (unsigned k = 0; k < warp; ++k) rank += count[k][digit];
  words(c)[i] = digit << 16 | rank;
}

KERNEL(sorted_by_bitonic) {  // blocks of 512 threads, 1024 words in shared memory
  __shared__ float key[1024];
  const unsigned t = threadIdx.x, base = blockIdx.x * 1024;
  key[t] = a[base + t], key[t + 512] = a[base + t + 512];
  for (unsigned size = 2; size <= 1024; size *= 2)
    for (unsigned step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const unsigned i = 2 * t - (t & (step - 1)), j = i + step;
      const float u = key[i], v = key[j];
      if ((u > v) == ((i & size) == 0)) key[i] = v, key[j] = u;
    }
  __syncthreads();
  c[base + t] = key[t], c[base + t + 512] = key[t + 512];
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

KERNEL(keys_dealt_by_digit) {  // n keys to 16 parts by four bits, in blocks of 256, by matches
  __shared__ unsigned count[8][16];
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t < 128) count[t / 16][t % 16] = 0;
  __syncthreads();
  const unsigned key = word(a, first()), digit = key >> q & 15;
  const unsigned alike = __match_any_sync(~0u, digit);
  unsigned rank = __popc(alike & ((1u << lane) - 1));
  if (rank == 0) count[warp][digit] = __popc(alike);
  __syncthreads();
  for (unsigned k = 0; k < warp; ++k) rank += count[k][digit];
  words(c)[digit * (n / 16) + (blockIdx.x * 16 + rank) % (n / 16)] = key;
}

KERNEL(bytes_sorted) {  // 2048 words below 256 a block of 256: counted, summed and dealt out
  __shared__ unsigned place[256], sums[8], out[2048];
  const unsigned t = threadIdx.x, lane = t % 32, base = blockIdx.x * 2048;
  place[t] = 0;
  __syncthreads();
  unsigned key[8];
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    key[k] = word(a, base + k * 256 + t) & 255;
    atomicAdd(place + key[k], 1);
  }
  __syncthreads();
  const unsigned own = place[t];
  unsigned sum = own;
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) sums[t / 32] = sum;
  __syncthreads();
  for (unsigned k = 0; k < t / 32; ++k) sum += sums[k];
  place[t] = sum - own;
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) out[atomicAdd(place + key[k], 1)] = key[k];
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) words(c)[base + k * 256 + t] = out[k * 256 + t];
}

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

KERNEL(sixteens_sorted) {  // n rows of sixteen words, word by word n apart: odd-even, in registers
  const unsigned i = first();
  if (i >= n) return;
  unsigned key[16];
#pragma unroll
  for (unsigned k = 0; k < 16; ++k) key[k] = word(a, k * n + i);
#pragma unroll
  for (unsigned round = 0; round < 16; ++round)
#pragma unroll
    for (unsigned k = round % 2; k < 15; k += 2) {
      const unsigned low = min(key[k], key[k + 1]);
      key[k + 1] = max(key[k], key[k + 1]), key[k] = low;
    }
#pragma unroll
  for (unsigned k = 0; k < 16; ++k) words(c)[k * n + i] = key[k];
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
