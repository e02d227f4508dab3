// The other half of the seventh set (thesis.cu): strings, sorts, sums, tables, chance, bits and
// dynamic programming. The signature and the contents of the arrays are those of kernels.cu.
#include "course_kernel.h"

// ---- dynamic programming -----------------------------------------------------------------------
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
KERNEL(options_by_trees) {  // an option a block of 256, a tree of q steps (255 at most)
  __shared__ float value[257];
  const unsigned t = threadIdx.x;
  const float price = 20 * a[blockIdx.x], strike = 20 * b[blockIdx.x];
  const float move = 0.3f * rsqrtf(static_cast<float>(q));
  const float up = 0.5f + 0.1f * move, down = 1 - up, rate = 0.9998f;
  value[t] = fmaxf(
      price * __expf(move * (2 * static_cast<float>(t) - static_cast<float>(q))) - strike, 0.0f);
  __syncthreads();
  for (unsigned step = q; step > 0; --step) {
    float next = 0;
    if (t < step) next = rate * (up * value[t + 1] + down * value[t]);
    __syncthreads();
    if (t < step) value[t] = next;
    __syncthreads();
  }
  if (t == 0) c[blockIdx.x] = value[0];
}

// ---- strings and bits --------------------------------------------------------------------------
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
KERNEL(life_by_bits) {  // q rows of p words, a bit a cell, one step
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x >= p || y >= q) return;
  unsigned one = 0, two = 0, four = 0;  // digits of the number of neighbours
  const auto count = [&](unsigned bits) {
    const unsigned carry = one & bits;
    one ^= bits;
    four |= two & carry;
    two ^= carry;
  };
  unsigned alive = 0;
#pragma unroll
  for (int v = -1; v <= 1; ++v) {
    if (y + v >= q) continue;
    const unsigned at = (y + v) * p + x, here = word(a, at);
    const unsigned left = x > 0 ? word(a, at - 1) : 0, right = x + 1 < p ? word(a, at + 1) : 0;
    count(__funnelshift_l(left, here, 1));
    count(__funnelshift_r(here, right, 1));
    if (v == 0)
      alive = here;
    else
      count(here);
  }
  words(c)[y * p + x] = two & ~four & (one | alive);
}
KERNEL(bits_turned) {  // each 32 words of a warp as a matrix of bits
  const unsigned i = first(), lane = threadIdx.x % 32;
  unsigned x = word(a, i), mask = 0xffffu;
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) {
    const unsigned other = __shfl_xor_sync(~0u, x, step);
    x = lane & step ? (x & ~mask) | (other >> step & mask) : (x & mask) | (other & mask) << step;
    mask ^= mask << (step / 2);
  }
  words(c)[i] = x;
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

// ---- sums --------------------------------------------------------------------------------------
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

// ---- sorts -------------------------------------------------------------------------------------
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

// ---- chance and queues -------------------------------------------------------------------------
KERNEL(
    photons_scattered) {  // in a slab, q a thread, until they leave or fade: what each depth takes
  __shared__ float taken[64];
  const unsigned t = threadIdx.x;
  if (t < 64) taken[t] = 0;
  __syncthreads();
  unsigned state = first() * 2654435769u + 12345;
  const auto next = [&state] {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return (static_cast<float>(state >> 8) + 0.5f) * (1.0f / (1 << 24));
  };
  for (unsigned k = 0; k < q; ++k) {
    float deep = 0, along = 1, weight = 1;
    for (;;) {
      deep -= along * __logf(next());
      if (deep < 0 || deep >= 4) break;
      atomicAdd(taken + static_cast<unsigned>(deep * 16), 0.2f * weight);
      weight *= 0.8f;
      along = 2 * next() - 1;
      if (weight < 0.1f) {
        if (next() > 0.1f) break;
        weight *= 10;
      }
    }
  }
  __syncthreads();
  if (t < 64) atomicAdd(c + t, taken[t]);
}
KERNEL(integrated_from_queue) {  // a piece a block of 128: halved in a queue until it is smooth
  __shared__ float2 queue[1024];
  __shared__ unsigned head, tail;
  __shared__ float total;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    const float from = static_cast<float>(blockIdx.x % q);
    queue[0] = make_float2(from, from + 1);
    head = 0, tail = 1, total = 0;
  }
  const auto value = [](float x) { return __sinf(40 / (0.2f + x)) * x; };
  float sum = 0;
  for (;;) {
    __syncthreads();
    const unsigned from = head, to = tail;
    __syncthreads();
    if (from == to) break;
    if (t == 0) head = to;
    for (unsigned i = from + t; i < to; i += 128) {
      const float2 part = queue[i & 1023];
      const float mid = 0.5f * (part.x + part.y), width = part.y - part.x;
      const float low = value(part.x), high = value(part.y), centre = value(mid);
      const float once = width / 6 * (low + 4 * centre + high);
      const float twice = width / 12 *
                          (low + 4 * value(0.5f * (part.x + mid)) + 2 * centre +
                           4 * value(0.5f * (mid + part.y)) + high);
      if (fabsf(once - twice) > 1e-6f && width > 0.003f) {
        const unsigned at = atomicAdd(&tail, 2);
        queue[at & 1023] = make_float2(part.x, mid);
        queue[(at + 1) & 1023] = make_float2(mid, part.y);
      } else {
        sum += twice;
      }
    }
  }
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (t % 32 == 0) atomicAdd(&total, sum);
  __syncthreads();
  if (t == 0) c[blockIdx.x] = total;
}
