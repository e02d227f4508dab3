// A ninth set of kernels as courses on CUDA have them, set apart like those of colloquium.cu and
// symposium.cu and written after these had been measured: they and their launches (set *apart* of
// data/measured/model/launches.csv, from 1367 on), and what the model said of them, were committed
// before any of them had been measured. The signature and the contents of the arrays are those of
// kernels.cu.
#include "course_kernel.h"

namespace {
__device__ const float4* quads(const float* from) { return reinterpret_cast<const float4*>(from); }
__device__ float warp_sum(float v) {  // for all lanes
  for (unsigned step = 16; step > 0; step /= 2) v += __shfl_xor_sync(~0u, v, step);
  return v;
}
}  // namespace

// ---- maps --------------------------------------------------------------------------------------
KERNEL(tones_mapped) {  // n points, three planes: to what a screen shows, by Reinhard's rule
  const unsigned i = first();
  if (i >= n) return;
  const float red = a[i], green = a[n + i], blue = a[2 * n + i];
  const float light = 0.2126f * red + 0.7152f * green + 0.0722f * blue;
  const float scale = (1 + light / 4) / (1 + light);
  c[i] = powf(red * scale, 1 / 2.2f);
  c[n + i] = powf(green * scale, 1 / 2.2f);
  c[2 * n + i] = powf(blue * scale, 1 / 2.2f);
}
KERNEL(halves_gated) {  // rows of 2 p words, n results in all: the left half by SiLU of the right
  const unsigned i = first(), width = p / 4;
  if (i >= n / 4) return;
  const unsigned at = i / width * 2 * width + i % width;
  const float4 x = quads(a)[at], gate = quads(a)[at + width];
  const auto open = [](float v) { return __fdividef(v, 1 + __expf(-v)); };
  reinterpret_cast<float4*>(c)[i] =
      make_float4(x.x * open(gate.x - 1.5f), x.y * open(gate.y - 1.5f), x.z * open(gate.z - 1.5f),
                  x.w * open(gate.w - 1.5f));
}
KERNEL(words_dropped) {  // n words, one in q left out by chance (Philox, key p), and b added
  const unsigned i = first(), limit = ~0u / q;
  if (i >= n / 4) return;
  uint4 x = make_uint4(i, 0, 0, 0);
#pragma unroll
  for (unsigned k = 0; k < 10; ++k)
    x = make_uint4(__umulhi(0xcd9e8d57u, x.z) ^ x.y ^ (p + k * 0x9e3779b9u), 0xcd9e8d57u * x.z,
                   __umulhi(0xd2511f53u, x.x) ^ x.w ^ k * 0xbb67ae85u, 0xd2511f53u * x.x);
  const float scale = static_cast<float>(q) / static_cast<float>(q - 1);
  const auto kept = [&](unsigned bits, float v) { return bits < limit ? 0 : scale * v; };
  const float4 u = quads(a)[i], v = quads(b)[i];
  reinterpret_cast<float4*>(c)[i] = make_float4(v.x + kept(x.x, u.x), v.y + kept(x.y, u.y),
                                                v.z + kept(x.z, u.z), v.w + kept(x.w, u.w));
}
KERNEL(positions_turned) {  // n words, p heads of 64 a position: in pairs, by b's cosines and sines
  const unsigned i = first(), k = i % 8, head = i / 8, position = head / p;
  if (i >= n / 8) return;
  const float4 u = quads(a)[head * 16 + k], v = quads(a)[head * 16 + 8 + k];
  const float4 cos = quads(b)[position * 16 + k], sin = quads(b)[position * 16 + 8 + k];
  float4* to = reinterpret_cast<float4*>(c) + head * 16 + k;
  to[0] = make_float4(u.x * cos.x - v.x * sin.x, u.y * cos.y - v.y * sin.y,
                      u.z * cos.z - v.z * sin.z, u.w * cos.w - v.w * sin.w);
  to[8] = make_float4(u.x * sin.x + v.x * cos.x, u.y * sin.y + v.y * cos.y,
                      u.z * sin.z + v.z * cos.z, u.w * sin.w + v.w * cos.w);
}
KERNEL(parities_of_disks) {  // q disks of n words: their sum and that by powers of two in GF(256)
  const unsigned i = first();
  if (i >= n) return;
  unsigned sum = 0, powers = 0;
  for (unsigned k = 0; k < q; ++k) {
    const unsigned here = word(a, k * n + i);
    sum ^= here;
    powers = (powers << 1 & 0xfefefefeu) ^ (powers >> 7 & 0x01010101u) * 0x1du ^ here;
  }
  words(c)[i] = sum, words(c)[n + i] = powers;
}
KERNEL(numbers_as_digits) {  // n words as lines of twelve letters, blanks first
  const unsigned i = first();
  if (i >= n) return;
  char* line = reinterpret_cast<char*>(c) + 12 * i;
  unsigned value = word(a, i);
  for (unsigned k = 11; k-- > 0; value /= 10)
    line[k] = static_cast<char>(value != 0 || k == 10 ? '0' + value % 10 : ' ');
  line[11] = '\n';
}

// ---- images, signals, bodies, matrices ---------------------------------------------------------
KERNEL(mosaic_undone) {  // p by q greys under red, green and blue in turn (Bayer): all three each
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= q) return;
  const unsigned left = x > 0 ? x - 1 : 1, right = x + 1 < p ? x + 1 : p - 2;
  const float *row = a + y * p, *up = a + (y > 0 ? y - 1 : 1) * p;
  const float* down = a + (y + 1 < q ? y + 1 : q - 2) * p;
  const float across = (row[left] + row[right]) / 2, along = (up[x] + down[x]) / 2;
  float own = row[x], other = (up[left] + up[right] + down[left] + down[right]) / 4;
  float green = (across + along) / 2;  // a red or blue point, or else a green one
  if ((x ^ y) & 1) green = own, own = across, other = along;
  c[y * p + x] = y & 1 ? other : own;
  c[(q + y) * p + x] = green;
  c[(2 * q + y) * p + x] = y & 1 ? own : other;
}
KERNEL(hills_lit) {  // p by q heights: how bright each is, by Horn's slopes
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= q) return;
  const unsigned left = max(x, 1u) - 1, right = min(x + 1, p - 1);
  const float *up = a + (max(y, 1u) - 1) * p, *row = a + y * p, *down = a + min(y + 1, q - 1) * p;
  const float west = up[left] + 2 * row[left] + down[left];
  const float dx = up[right] + 2 * row[right] + down[right] - west;
  const float dy = down[left] + 2 * down[x] + down[right] - up[left] - 2 * up[x] - up[right];
  c[y * p + x] = fmaxf((1 + 0.6f * dx - 0.4f * dy) * rsqrtf(1 + dx * dx + dy * dy), 0);
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
KERNEL(boxes_from_sums) {  // p by q: means of boxes, b says how wide, from a's sums to each point
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int width = p, height = q;
  if (x >= width || y >= height) return;
  const int radius = 1 + static_cast<int>(16 * (b[y * width + x] - 1));
  const int left = max(x - radius, 0), right = min(x + radius, width - 1);
  const int top = max(y - radius, 0), bottom = min(y + radius, height - 1);
  const float sum = a[bottom * width + right] - a[bottom * width + left] - a[top * width + right] +
                    a[top * width + left];
  c[y * width + x] = sum / static_cast<float>((right - left) * (bottom - top));
}
KERNEL(cubes_cut) {  // p by p by q: which corners of each cube are inside; how many cubes are cut
  const unsigned x = blockIdx.x * 32 + threadIdx.x, rows = p / 8;
  const unsigned y = blockIdx.y % rows * 8 + threadIdx.y, z = blockIdx.y / rows;
  unsigned corners = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned u = min(x + k % 2, p - 1), v = min(y + k / 2 % 2, p - 1);
    const unsigned w = min(z + k / 4, q - 1);
    corners |= (a[(w * p + v) * p + u] > 1.8f) << k;
  }
  reinterpret_cast<unsigned char*>(c)[(z * p + y) * p + x] = corners;
  const int cut = __syncthreads_count(corners != 0 && corners != 255);
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(words(c) + n / 4, cut);
}
KERNEL(regions_labelled) {  // p by q, two colours: a block of 16 by 16 joins what touches in it
  __shared__ unsigned label[18][18];
  const unsigned u = threadIdx.x + 1, v = threadIdx.y + 1, t = threadIdx.y * 16 + threadIdx.x;
  for (unsigned k = t; k < 324; k += 256) label[k / 18][k % 18] = ~0u;
  __syncthreads();
  const unsigned i = (blockIdx.y * 16 + threadIdx.y) * p + first();
  unsigned least = (a[i] > 1.4f ? 256 : 0) + t, before;
  do {
    label[v][u] = before = least;
    __syncthreads();
    const unsigned around[4] = {label[v][u - 1], label[v][u + 1], label[v - 1][u], label[v + 1][u]};
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      if (around[k] / 256 == before / 256) least = min(least, around[k]);
  } while (__syncthreads_or(least != before) != 0);
  words(c)[i] = (blockIdx.y * gridDim.x + blockIdx.x) * 512 + least;
}
KERNEL(lines_spread_out) {  // p lines of n words to gridDim.y of 2 n: four taps each, two apart
  const unsigned i = first(), line = blockIdx.y;
  if (i >= n) return;
  float even = 0, odd = 0;
  for (unsigned k = 0; k < p; ++k) {
    const float* from = a + k * n + i;
    const float4 tap = quads(b)[line * p + k];
    even += from[0] * tap.y + (i > 0 ? from[-1] : 0) * tap.w;
    odd += from[0] * tap.z + (i + 1 < n ? from[1] : 0) * tap.x;
  }
  reinterpret_cast<float2*>(c)[line * n + i] = make_float2(even, odd);
}
KERNEL(wavelets_of_lines) {  // of 1024 whole numbers, a block of 256 each: q times 5/3 by lifting
  __shared__ int lines[2][1024];
  const unsigned t = threadIdx.x, base = blockIdx.x * 1024;
  for (unsigned k = t; k < 1024; k += 256) lines[0][k] = static_cast<int>(word(a, base + k) & 255);
  for (unsigned level = 0; level < q; ++level) {
    const int* from = lines[level & 1];
    int* to = lines[(level + 1) & 1];
    const unsigned half = 512 >> level;
    __syncthreads();
    for (unsigned k = t; k < half; k += 256)
      words(c)[base + half + k] = to[half + k] =
          from[2 * k + 1] - ((from[2 * k] + from[2 * min(k + 1, half - 1)]) >> 1);
    __syncthreads();
    for (unsigned k = t; k < half; k += 256)
      to[k] = from[2 * k] + ((to[half + max(k, 1u) - 1] + to[half + k] + 2) >> 2);
  }
  for (unsigned k = t; k < 1024 >> q; k += 256) words(c)[base + k] = lines[q & 1][k];
}
KERNEL(biquads_over_channels) {  // q times n channels, one a thread: a filter of second order each
  const unsigned i = first();
  if (i >= n) return;
  const float by = b[i] - 1;
  float s = 0, t = 0;
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) {
    const float in = a[k * n + i], out = 0.2f * in + s;
    s = 0.4f * in + 1.2f * by * out + t;
    t = 0.2f * in - 0.5f * by * out;
    c[k * n + i] = out;
  }
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
KERNEL(distances_marched) {  // rows of p points, n in all: to a ring and balls, in q steps at most
  const unsigned i = (blockIdx.y * 16 + threadIdx.y) * p + first();
  const float scale = 2 / static_cast<float>(p), rows = static_cast<float>(n / p);
  const float dx = scale * (static_cast<float>(i % p) + a[i]) - 1;
  const float dy = scale * (static_cast<float>(i / p) + b[i] - rows / 2);
  const float by = rsqrtf(dx * dx + dy * dy + 2.25f);
  float far = 0;
  for (unsigned k = 0; k < q && far < 12; ++k) {
    const float u = far * by * dx, v = far * by * dy, w = far * by * 1.5f - 4;
    const float ring = sqrtf(u * u + w * w) - 1.5f, s = u - rintf(u), t = w - rintf(w);
    const float ball = sqrtf(s * s + (v + 1) * (v + 1) + t * t) - 0.3f;
    const float near = fminf(sqrtf(ring * ring + v * v) - 0.4f, ball);
    if (near < 0.001f) break;
    far += near;
  }
  c[i] = far;
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
KERNEL(orbits_by_steps) {  // n planets in doubles, shorter steps near the sun, q at most
  const unsigned i = first();
  if (i >= n) return;
  double x = a[i], y = 0, u = 0, v = b[i] - 0.6, time = 0;
  for (unsigned k = 0; k < q && time < 6; ++k) {
    const double square = x * x + y * y, far = sqrt(square), step = 0.1 * far;
    const double pull = step / (square * far);
    u -= pull * x, v -= pull * y;
    x += step * u, y += step * v, time += step;
  }
  reals(c)[i] = x, reals(c)[n + i] = y;
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
KERNEL(inverted_by_jordan) {  // a matrix of p by p (32 at most) a block of as many, in place
  __shared__ float m[32][33];
  const unsigned x = threadIdx.x, y = threadIdx.y, i = (blockIdx.x * p + y) * p + x;
  m[y][x] = a[i] + (x == y ? 64 : 0);
  for (unsigned k = 0; k < p; ++k) {
    __syncthreads();
    const float by = 1 / m[k][k], right = m[k][x] * by, left = m[y][k], old = m[y][x];
    __syncthreads();
    m[y][x] = x == k ? (y == k ? by : -left * by) : (y == k ? right : old - left * right);
  }
  c[i] = m[y][x];
}
KERNEL(products_of_long_numbers) {  // n pairs of 256 bits, word by word n apart, to 512 bits
  const unsigned i = first();
  if (i >= n) return;
  unsigned out[16] = {};
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    unsigned long long sum = 0;
#pragma unroll
    for (unsigned j = 0; j < 8; ++j, sum >>= 32) {
      sum += static_cast<unsigned long long>(word(a, k * n + i)) * word(b, j * n + i) + out[k + j];
      out[k + j] = static_cast<unsigned>(sum);
    }
    out[k + 8] = static_cast<unsigned>(sum);
  }
#pragma unroll
  for (unsigned k = 0; k < 16; ++k) words(c)[k * n + i] = out[k];
}

// ---- search, sorts, dynamic programming, bits --------------------------------------------------
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
KERNEL(cells_by_rule) {  // rings of 1024 cells, n words of bits, a warp a ring: q steps of rule p
  const unsigned i = first(), lane = threadIdx.x % 32;
  if (i >= n) return;
  unsigned cells = word(a, i);
  for (unsigned k = 0; k < q; ++k) {
    const unsigned left = __funnelshift_l(__shfl_sync(~0u, cells, lane + 31), cells, 1);
    const unsigned right = __funnelshift_r(cells, __shfl_sync(~0u, cells, lane + 1), 1);
    unsigned next = 0;
#pragma unroll
    for (unsigned j = 0; j < 8; ++j)
      if (p >> j & 1)
        next |= (j & 4 ? left : ~left) & (j & 2 ? cells : ~cells) & (j & 1 ? right : ~right);
    cells = next;
  }
  words(c)[i] = cells;
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
KERNEL(blocks_by_tables) {  // n blocks of 16 bytes, ten rounds like AES', by tables and keys of b
  __shared__ unsigned table[4][256];
  for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) table[k / 256][k % 256] = word(b, k);
  __syncthreads();
  if (first() >= n) return;
  uint4 x = reinterpret_cast<const uint4*>(a)[first()];
  const auto mix = [&](unsigned s, unsigned t, unsigned u, unsigned v) {
    return table[0][s & 255] ^ table[1][t >> 8 & 255] ^ table[2][u >> 16 & 255] ^ table[3][v >> 24];
  };
  for (unsigned k = 0; k < 10; ++k) {
    const uint4 key = reinterpret_cast<const uint4*>(b)[256 + k];
    x = make_uint4(mix(x.x, x.y, x.z, x.w) ^ key.x, mix(x.y, x.z, x.w, x.x) ^ key.y,
                   mix(x.z, x.w, x.x, x.y) ^ key.z, mix(x.w, x.x, x.y, x.z) ^ key.w);
  }
  reinterpret_cast<uint4*>(c)[first()] = x;
}
