// Scans: running sums, and what is packed by them.
#include "kernel_kit.h"

KERNEL(scan_blocks) {  // Hillis and Steele
  extern __shared__ float sums[];
  float v = first() < n ? a[first()] : 0;
  sums[threadIdx.x] = v;
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    const float other = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
    __syncthreads();
    v += other;
    sums[threadIdx.x] = v;
    __syncthreads();
  }
  if (first() < n) c[first()] = v;
}

KERNEL(scan_warps) {
  float v = first() < n ? a[first()] : 0;
  for (unsigned d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 >= d) v += other;
  }
  if (first() < n) c[first()] = v;
}

KERNEL(scan_tree) {  // Blelloch's, 2 words a thread, no padding
  extern __shared__ float tree[];
  const unsigned t = threadIdx.x, size = 2 * blockDim.x, base = blockIdx.x * size;
  tree[2 * t] = a[base + 2 * t];
  tree[2 * t + 1] = a[base + 2 * t + 1];
  unsigned stride = 1;
  for (unsigned d = size / 2; d > 0; d /= 2, stride *= 2) {
    __syncthreads();
    if (t < d) tree[stride * (2 * t + 2) - 1] += tree[stride * (2 * t + 1) - 1];
  }
  if (t == 0) tree[size - 1] = 0;
  for (unsigned d = 1; d < size; d *= 2) {
    stride /= 2;
    __syncthreads();
    if (t < d) {
      const unsigned low = stride * (2 * t + 1) - 1, high = stride * (2 * t + 2) - 1;
      const float below = tree[low];
      tree[low] = tree[high];
      tree[high] += below;
    }
  }
  __syncthreads();
  c[base + 2 * t] = tree[2 * t];
  c[base + 2 * t + 1] = tree[2 * t + 1];
}

KERNEL(scan_by_doubling) {  // a block's part, in shared memory twice
  extern __shared__ float parts[];
  const unsigned t = threadIdx.x, width = blockDim.x;
  float *from = parts, *to = parts + width;
  from[t] = a[first()];
  __syncthreads();
  for (unsigned d = 1; d < width; d *= 2) {
    to[t] = from[t] + (t >= d ? from[t - d] : 0);
    __syncthreads();
    float* const swapped = from;
    from = to, to = swapped;
  }
  c[first()] = from[t];
}

KERNEL(scan_by_warps) {  // shuffles in the warps, then over their sums
  __shared__ float sums[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = a[first()];
  for (unsigned d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += other;
  }
  if (lane == 31) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    float s = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (unsigned d = 1; d < 32; d *= 2) {
      const float other = __shfl_up_sync(0xffffffff, s, d);
      if (lane >= d) s += other;
    }
    sums[lane] = s;
  }
  __syncthreads();
  c[first()] = v + (warp > 0 ? sums[warp - 1] : 0);
}

KERNEL(scan_up_and_down) {  // a block's words in shared memory, up the tree and down again
  extern __shared__ float tree[];
  const unsigned t = threadIdx.x;
  tree[t] = a[first()];
  __syncthreads();
  for (unsigned d = 1; d < blockDim.x; d *= 2) {
    const unsigned at = (t + 1) * 2 * d - 1;
    if (at < blockDim.x) tree[at] += tree[at - d];
    __syncthreads();
  }
  for (unsigned d = blockDim.x / 4; d > 0; d /= 2) {
    const unsigned at = (t + 1) * 2 * d - 1;
    if (at + d < blockDim.x) tree[at + d] += tree[at];
    __syncthreads();
  }
  c[first()] = tree[t];
}

KERNEL(running_sums) {  // of a block's words: by shuffles, then of its warps
  __shared__ float part[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float v = a[first()];
#pragma unroll
  for (unsigned d = 1; d < 32; d *= 2) {
    const float before = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += before;
  }
  if (lane == 31) part[warp] = v;
  __syncthreads();
  float all = 0;
  for (unsigned k = 0; k < warp; ++k) all += part[k];
  c[first()] = v + all;
}

KERNEL(scan_of_segments) {  // blocks of 256: sums start anew where a word's last three bits are 0
  __shared__ float sum[2][256];
  __shared__ unsigned begun[2][256];
  const unsigned i = first(), t = threadIdx.x;
  sum[0][t] = a[i], begun[0][t] = (word(a, i) & 7) == 0;
  __syncthreads();
  unsigned from = 0;
  for (unsigned step = 1; step < 256; step *= 2, from ^= 1) {
    float s = sum[from][t];
    unsigned f = begun[from][t];
    if (t >= step) {
      if (!f) s += sum[from][t - step];
      f |= begun[from][t - step];
    }
    sum[from ^ 1][t] = s, begun[from ^ 1][t] = f;
    __syncthreads();
  }
  c[i] = sum[from][t];
}

KERNEL(scan_in_registers) {  // blocks of 128, eight words a thread
  __shared__ float part[4];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float4* from = reinterpret_cast<const float4*>(a) + 2 * first();
  const float4 u = from[0], v = from[1];
  float s[8] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
#pragma unroll
  for (int k = 1; k < 8; ++k) s[k] += s[k - 1];
  float up = s[7];
  for (unsigned step = 1; step < 32; step *= 2) {
    const float other = __shfl_up_sync(~0u, up, step);
    if (lane >= step) up += other;
  }
  if (lane == 31) part[warp] = up;
  __syncthreads();
  float before = up - s[7];
  for (unsigned k = 0; k < warp; ++k) before += part[k];
  float4* to = reinterpret_cast<float4*>(c) + 2 * first();
  to[0] = make_float4(before + s[0], before + s[1], before + s[2], before + s[3]);
  to[1] = make_float4(before + s[4], before + s[5], before + s[6], before + s[7]);
}

KERNEL(keep_some) {  // one in q words, in any order: a place for each warp's
  const bool mine = first() < n && word(a, first()) % q == 0;
  const unsigned all = __ballot_sync(0xffffffffu, mine), lane = threadIdx.x % 32;
  unsigned at = 0;
  if (lane == 0 && all != 0) at = atomicAdd(reinterpret_cast<unsigned*>(c), __popc(all));
  at = __shfl_sync(0xffffffffu, at, 0) + __popc(all & ((1u << lane) - 1));
  if (mine) c[32 + at % n] = a[first()];  // launches in a row go on counting
}

KERNEL(kept_by_votes) {  // a word in two, a warp's places dealt out by one atomic
  const unsigned i = first();
  if (i >= n) return;
  const unsigned v = word(a, i);
  const bool keep = (v & 1) != 0;
  const unsigned votes = __ballot_sync(0xffffffff, keep), lane = threadIdx.x % 32;
  unsigned place = 0;
  if (lane == 0) place = atomicAdd(words(c), __popc(votes));
  place = __shfl_sync(0xffffffff, place, 0) + __popc(votes & ((1u << lane) - 1));
  if (keep) words(c)[32 + place] = v;
}

KERNEL(kept_in_blocks) {  // a word in two, packed at the front of each block's part
  __shared__ unsigned before[8];
  const unsigned i = first(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned v = word(a, i);
  const bool keep = (v >> 7 & 1) != 0;
  const unsigned votes = __ballot_sync(0xffffffff, keep);
  if (lane == 0) before[warp] = __popc(votes);
  __syncthreads();
  unsigned place = __popc(votes & ((1u << lane) - 1));
  for (unsigned w = 0; w < warp; ++w) place += before[w];
  if (keep) words(c)[blockIdx.x * 256 + place] = v;
}

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
