// Streams: kernels that read and write neighbouring words once, from plain copies to maps of one
// element to another.
#include "kernel_kit.h"

KERNEL(nothing) {
  if (n == 1 && p == 2) c[0] = a[0] + b[q];
}

KERNEL(copy_one) {
  unsigned i = first();
  if (i < n) c[i] = a[i];
}

KERNEL(copy_quad) {
  unsigned i = first();
  if (i < n / 4) reinterpret_cast<float4*>(c)[i] = quads(a)[i];
}

KERNEL(copy_walk) {
  for (unsigned i = first(); i < n; i += step()) c[i] = a[i];
}

KERNEL(copy_walk_quad) {
  for (unsigned i = first(); i < n / 4; i += step()) {
    reinterpret_cast<float4*>(c)[i] = quads(a)[i];
  }
}

KERNEL(copy_four) {  // four loads of a thread in flight at once
  unsigned i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  float v[4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) v[k] = i + k * blockDim.x < n ? a[i + k * blockDim.x] : 0;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k)
    if (i + k * blockDim.x < n) c[i + k * blockDim.x] = v[k];
}

KERNEL(copy_bytes) {
  unsigned i = first();
  if (i < n) {
    reinterpret_cast<unsigned char*>(c)[i] = reinterpret_cast<const unsigned char*>(a)[i];
  }
}

KERNEL(copy_shifted) {  // p words off the line
  unsigned i = first();
  if (i < n - p) c[i] = a[i + p];
}

KERNEL(triad) {
  unsigned i = first();
  if (i < n) c[i] = a[i] + 3.0f * b[i];
}

KERNEL(triad_quad) {
  unsigned i = first();
  if (i >= n / 4) return;
  float4 x = quads(a)[i], y = quads(b)[i];
  reinterpret_cast<float4*>(c)[i] =
      make_float4(x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w);
}

KERNEL(fill_one) {
  unsigned i = first();
  if (i < n) c[i] = 1.5f;
}

KERNEL(fill_walk_quad) {
  for (unsigned i = first(); i < n / 4; i += step()) {
    reinterpret_cast<float4*>(c)[i] = make_float4(1, 2, 3, 4);
  }
}

KERNEL(sum_walk) {
  float s = 0;
  for (unsigned i = first(); i < n; i += step()) s += a[i];
  s = block_sum_for_thread_0(s);
  if (threadIdx.x == 0) c[blockIdx.x] = s;
}

KERNEL(sum_walk_quad) {
  float s = 0;
  for (unsigned i = first(); i < n / 4; i += step()) s += sum4(quads(a)[i]);
  s = block_sum_for_thread_0(s);
  if (threadIdx.x == 0) c[blockIdx.x] = s;
}

KERNEL(sum_again) {  // the same n words q times, by the whole grid: L2
  float s = 0;
  for (unsigned k = 0; k < q; ++k)
    for (unsigned i = first(); i < n / 4; i += step()) s += sum4(__ldcg(quads(a) + i));
  if (s == 1) c[0] = s;
}

KERNEL(sum_own_again) {  // each block its own p words, q times: L1
  float s = 0;
  const float4* own = quads(a) + size_t{blockIdx.x} * (p / 4);
  for (unsigned k = 0; k < q; ++k)
    for (unsigned i = threadIdx.x; i < p / 4; i += blockDim.x) s += sum4(own[i]);
  if (s == 1) c[0] = s + n;
}

KERNEL(reverse_words) {
  unsigned i = first();
  if (i < n) c[i] = a[n - 1 - i];
}

KERNEL(copy_pairs) {
  unsigned i = first();
  if (i < n / 2) reinterpret_cast<float2*>(c)[i] = reinterpret_cast<const float2*>(a)[i];
}

KERNEL(average_pairs) {
  unsigned i = first();
  if (i >= n / 2) return;
  const float2 v = reinterpret_cast<const float2*>(a)[i];
  c[i] = 0.5f * (v.x + v.y);
}

KERNEL(differences) {
  unsigned i = first();
  if (i + 1 < n) c[i] = a[i + 1] - a[i];
}

KERNEL(interleave) {
  unsigned i = first();
  if (i < n / 2) c[2 * i] = a[i], c[2 * i + 1] = b[i];
}

KERNEL(scale_rows) {  // rows of p words, blocks of 32 by 8
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < p && y < n / p) c[y * p + x] = a[y * p + x] * b[y];
}

KERNEL(fill_pairs) {
  unsigned i = first();
  if (i < n / 2) reinterpret_cast<float2*>(c)[i] = make_float2(1, 2);
}

KERNEL(blend_doubles) {
  unsigned i = first();
  if (i >= n / 2) return;
  reinterpret_cast<double*>(c)[i] =
      0.25 * reinterpret_cast<const double*>(a)[i] + 0.75 * reinterpret_cast<const double*>(b)[i];
}

KERNEL(few_blocks_scale) {
  for (unsigned i = first(); i < n; i += step()) c[i] = 2 * a[i] + b[i];
}

KERNEL(powers_then_store) {  // q steps of arithmetic on each word of a stream
  unsigned i = first();
  if (i >= n) return;
  float x = a[i], y = x + 1;
#pragma unroll 4
  for (unsigned k = 0; k < q; ++k) x = x * y + 0.5f, y = y * 0.5f + x;
  c[i] = x + p;
}

// --------------------------------------------------------------------------------------
KERNEL(grey_pixels) {  // three floats a pixel
  unsigned i = first();
  if (i < n) c[i] = 0.3f * a[3 * i] + 0.59f * a[3 * i + 1] + 0.11f * a[3 * i + 2];
}

KERNEL(layer_forward) {  // rows of p words: a bias a column, then what is below zero cut
  const unsigned i = first();
  if (i < n) c[i] = fmaxf(0.0f, a[i] - b[i % p]);
}

KERNEL(outer_product) {  // rows of p words
  const unsigned x = first(), y = blockIdx.y;
  if (x < p) c[y * p + x] = a[y] * b[x];
}

KERNEL(matrix_updated) {  // c = a + u v', p columns: four columns a thread
  const unsigned x = blockIdx.x * 1024 + threadIdx.x * 4, y = blockIdx.y;
  const float4 m = reinterpret_cast<const float4*>(a)[(y * p + x) / 4];
  const float4 v = reinterpret_cast<const float4*>(b)[x / 4];
  const float u = b[p + y];
  reinterpret_cast<float4*>(c)[(y * p + x) / 4] =
      make_float4(m.x + u * v.x, m.y + u * v.y, m.z + u * v.z, m.w + u * v.w);
}

KERNEL(rotated_by_few) {  // two rows of n doubles, turned in their plane by a few blocks
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x) {
    const double x = real(a, i), y = real(b, i);
    reals(c)[i] = 0.8 * x + 0.6 * y;
    reals(c)[n + i] = 0.8 * y - 0.6 * x;
  }
}

KERNEL(planes_of_colours) {  // four bytes a point, to four planes of n bytes
  const unsigned i = first();
  if (4 * i >= n) return;
  const uint4 v = reinterpret_cast<const uint4*>(a)[i];
  const unsigned low = __byte_perm(v.x, v.y, 0x5140), high = __byte_perm(v.z, v.w, 0x5140);
  const unsigned up = __byte_perm(v.x, v.y, 0x7362), over = __byte_perm(v.z, v.w, 0x7362);
  words(c)[i] = __byte_perm(low, high, 0x5410);
  words(c)[n / 4 + i] = __byte_perm(low, high, 0x7632);
  words(c)[n / 2 + i] = __byte_perm(up, over, 0x5410);
  words(c)[n / 2 + n / 4 + i] = __byte_perm(up, over, 0x7632);
}

KERNEL(pictures_blended) {  // n points of four bytes, four a thread: a over b, by a's last byte
  const unsigned i = first();
  if (4 * i >= n) return;
  const uint4 over = reinterpret_cast<const uint4*>(a)[i];
  const uint4 under = reinterpret_cast<const uint4*>(b)[i];
  const auto blend = [](unsigned u, unsigned v) {
    const unsigned by = u >> 24, rest = 255 - by;
    const unsigned even = (u & 0xff00ffu) * by + (v & 0xff00ffu) * rest;
    const unsigned odd = (u >> 8 & 0xff00ffu) * by + (v >> 8 & 0xff00ffu) * rest;
    return (even >> 8 & 0xff00ffu) | (odd & 0xff00ff00u);
  };
  reinterpret_cast<uint4*>(c)[i] = make_uint4(blend(over.x, under.x), blend(over.y, under.y),
                                              blend(over.z, under.z), blend(over.w, under.w));
}

KERNEL(weights_by_adam) {  // n weights; behind them their slopes' means, and those of the squares
  const unsigned i = first();
  if (i >= n) return;
  const float slope = a[i];
  const float mean = 0.9f * c[n + i] + 0.1f * slope;
  const float square = 0.999f * c[2 * n + i] + 0.001f * slope * slope;
  c[n + i] = mean, c[2 * n + i] = square;
  c[i] -= 0.001f * mean / (sqrtf(square) + 1e-8f);
}

KERNEL(bytes_as_letters) {  // base64 of n times twelve bytes, a thread each
  __shared__ unsigned char letter[64];
  const unsigned t = threadIdx.x;
  if (t < 64)
    letter[t] = t < 26    ? 'A' + t
                : t < 52  ? 'a' + t - 26
                : t < 62  ? '0' + t - 52
                : t == 62 ? '+'
                          : '/';
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  unsigned in[3], out[4];
#pragma unroll
  for (unsigned k = 0; k < 3; ++k) in[k] = word(a, 3 * i + k);
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned bits = 24 * k;  // three bytes, the first of them above
    const unsigned low = in[bits / 32], high = bits / 32 < 2 ? in[bits / 32 + 1] : 0;
    const unsigned three = __byte_perm(__funnelshift_r(low, high, bits % 32), 0, 0x4012);
    out[k] = letter[three >> 18 & 63] | letter[three >> 12 & 63] << 8 |
             letter[three >> 6 & 63] << 16 | letter[three & 63] << 24;
  }
  reinterpret_cast<uint4*>(c)[i] = make_uint4(out[0], out[1], out[2], out[3]);
}

KERNEL(luma_and_chroma) {  // p by q colours of four bytes: a grey byte each, two more for each four
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (2 * x >= p || 2 * y >= q) return;
  unsigned char *grey = reinterpret_cast<unsigned char*>(c), *blue = grey + p * q;
  unsigned char* red = blue + p * q / 4;
  int r = 0, g = 0, b4 = 0;
#pragma unroll
  for (unsigned v = 0; v < 2; ++v) {
    const uint2 two = reinterpret_cast<const uint2*>(a)[((2 * y + v) * p + 2 * x) / 2];
    unsigned char light[2];
#pragma unroll
    for (unsigned u = 0; u < 2; ++u) {
      const unsigned w = u == 0 ? two.x : two.y;
      const int s = w & 255, t = w >> 8 & 255, z = w >> 16 & 255;
      light[u] = static_cast<unsigned char>((66 * s + 129 * t + 25 * z + 4224) >> 8);
      r += s, g += t, b4 += z;
    }
    reinterpret_cast<uchar2*>(grey)[((2 * y + v) * p + 2 * x) / 2] =
        make_uchar2(light[0], light[1]);
  }
  const unsigned i = y * (p / 2) + x;
  blue[i] = static_cast<unsigned char>((-38 * r - 74 * g + 112 * b4 + 131584) >> 10);
  red[i] = static_cast<unsigned char>((112 * r - 94 * g - 18 * b4 + 131584) >> 10);
}

KERNEL(hues_of_colours) {  // n points of four bytes: hue, saturation and value, a byte each
  const unsigned i = first();
  if (i >= n) return;
  const unsigned point = word(a, i);
  const int red = point & 255, green = point >> 8 & 255, blue = point >> 16 & 255;
  const int most = max(red, max(green, blue)), least = min(red, min(green, blue));
  float hue = 0, full = 0;
  if (most > least) {
    const float range = static_cast<float>(most - least);
    if (most == red)
      hue = static_cast<float>(green - blue) / range;
    else if (most == green)
      hue = 2 + static_cast<float>(blue - red) / range;
    else
      hue = 4 + static_cast<float>(red - green) / range;
    if (hue < 0) hue += 6;
    full = range / static_cast<float>(most);
  }
  words(c)[i] = static_cast<unsigned>(42.5f * hue) | static_cast<unsigned>(255 * full) << 8 |
                static_cast<unsigned>(most) << 16;
}

KERNEL(gates_of_memory) {  // n cells of an LSTM: four planes of gates in a, the states in b
  const unsigned i = first();
  if (i >= n) return;
  const auto open = [](float x) { return 1 / (1 + __expf(1.5f - x)); };
  const float in = open(a[i]), keep = open(a[n + i]), out = open(a[2 * n + i]);
  const float state = keep * b[i] + in * tanhf(a[3 * n + i] - 1.5f);
  c[i] = state;
  c[n + i] = out * tanhf(state);
}

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

KERNEL(capitals) {  // n bytes, four a thread
  const unsigned i = first();
  if (4 * i >= n) return;
  uchar4 four = reinterpret_cast<const uchar4*>(a)[i];
  const auto up = [](unsigned char v) -> unsigned char {
    return v >= 'a' && v <= 'z' ? v - 32 : v;
  };
  four.x = up(four.x), four.y = up(four.y), four.z = up(four.z), four.w = up(four.w);
  reinterpret_cast<uchar4*>(c)[i] = four;
}

KERNEL(records_taken_apart) {  // n records of eight words, to eight arrays
  const unsigned i = first();
  if (i >= n) return;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) c[k * n + i] = a[8 * i + k] + 1;
}
