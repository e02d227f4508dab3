// Arithmetic: long chains of instructions on few bytes, divergence, numbers, hashes, ciphers.
#include "kernel_kit.h"

KERNEL(fma_one) {  // one chain
  float x = a[threadIdx.x], y = b[threadIdx.x];
#pragma unroll 16
  for (unsigned k = 0; k < q; ++k) x = x * y + 0.5f;
  if (x == 1) c[0] = x + n + p;
}

KERNEL(fma_four) {
  float x[4], y = b[threadIdx.x];
  for (int j = 0; j < 4; ++j) x[j] = a[threadIdx.x + 32 * j];
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k)
#pragma unroll
    for (int j = 0; j < 4; ++j) x[j] = x[j] * y + 0.5f;
  if (x[0] + x[1] + x[2] + x[3] == 1) c[0] = x[0] + n + p;
}

KERNEL(mix_bits) {
  unsigned x = word(a, threadIdx.x), y = word(b, threadIdx.x);
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    y ^= y << 13, y ^= y >> 17, y ^= y << 5;
  }
  if (x + y == 1) c[0] = static_cast<float>(x + n + p);
}

KERNEL(multiply_integers) {
  unsigned x = word(a, threadIdx.x), y = word(b, threadIdx.x), z = x ^ y;
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) x = x * y + 3, z = z * y + 7;
  if (x + z == 1) c[0] = static_cast<float>(x + n + p);
}

KERNEL(waves) {  // sines and exponentials of the special unit
  float x = a[threadIdx.x], y = b[threadIdx.x];
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) x = __sinf(x), y = __expf(y) * 0.25f;
  if (x + y == 1) c[0] = x + n + p;
}

KERNEL(roots) {
  float x = a[threadIdx.x] + 1, y = b[threadIdx.x] + 1;
#pragma unroll 4
  for (unsigned k = 0; k < q; ++k) x = rsqrtf(x + 1), y = sqrtf(y + 1);
  if (x + y == 1) c[0] = x + n + p;
}

KERNEL(doubles) {
  double x = a[threadIdx.x], y = b[threadIdx.x], z = x + y;
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) x = x * y + 0.5, z = z * y + 0.25;
  if (x + z == 1) c[0] = static_cast<float>(x + n + p);
}

KERNEL(quotients) {
  float x = a[threadIdx.x] + 1, y = b[threadIdx.x] + 1;
  for (unsigned k = 0; k < q; ++k) x = (x + 2) / (y + 1), y = (y + 3) / (x + 1);
  if (x + y == 1) c[0] = x + n + p;
}

KERNEL(parting) {  // lanes of a warp go p ways
  float x = a[threadIdx.x], y = b[threadIdx.x];
  for (unsigned k = 0; k < q; ++k) {
    unsigned way = (threadIdx.x + k) % p;
    if (way == 0)
      x = x * y + 0.5f;
    else if (way == 1)
      x = x * x + y, y = y * 0.5f;
    else if (way == 2)
      y = y * y + x;
    else
      x = x + y, y = x * 0.25f;
  }
  if (x + y == 1) c[0] = x + n;
}

KERNEL(polynomial) {  // of degree q
  unsigned i = first();
  if (i >= n) return;
  const float x = a[i];
  float y = 1;
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) y = y * x + 0.25f;
  c[i] = y;
}

KERNEL(hash_words) {  // q rounds
  unsigned i = first();
  if (i >= n) return;
  unsigned h = word(a, i);
  for (unsigned k = 0; k < q; ++k) h ^= h >> 15, h *= 2246822519u, h ^= h >> 13;
  reinterpret_cast<unsigned*>(c)[i] = h;
}

KERNEL(waves_of_words) {
  unsigned i = first();
  if (i < n) c[i] = __sinf(a[i]) * __expf(-a[i]) + sqrtf(a[i]);
}

KERNEL(branch_by_word) {  // lanes go four ways, q times
  unsigned i = first();
  if (i >= n) return;
  float x = a[i], y = 1;
  for (unsigned k = 0; k < q; ++k) {
    switch (word(a, i) + i >> k & 3) {
      case 0:
        y = y * x + 0.5f;
        break;
      case 1:
        y = sqrtf(y + x);
        break;
      case 2:
        y = y - x * x;
        break;
      default:
        x = x + 0.25f * y;
    }
  }
  c[i] = x + y;
}

KERNEL(rounds_by_word) {  // each lane its own number of rounds, below q (a power of two)
  unsigned i = first();
  if (i >= n) return;
  float y = 1;
  const float x = a[i];
  const unsigned rounds = word(a, i) >> 3 & (q - 1);
#pragma unroll 1
  for (unsigned k = 0; k < rounds; ++k) y = y * x + 0.5f;
  c[i] = y;
}

KERNEL(odd_and_even) {  // odd and even lanes apart
  unsigned i = first();
  if (i >= n) return;
  float x = a[i];
  if (i % 2 == 0) {
    for (unsigned k = 0; k < q; ++k) x = x * 0.5f + 1;
  } else {
    for (unsigned k = 0; k < q; ++k) x = sqrtf(x) + 2;
  }
  c[i] = x;
}

KERNEL(collatz_steps) {  // until one, or q steps
  const unsigned i = first();
  if (i >= n) return;
  unsigned at = i + p, k = 0;
  for (; at > 1 && k < q; ++k) at = at % 2 == 0 ? at / 2 : 3 * at + 1;
  words(c)[i] = k;
}

KERNEL(divisors_tried) {  // prime or not, by trial
  const unsigned i = first();
  if (i >= n) return;
  const unsigned number = 2 * i + p;
  unsigned d = 3;
  while (d < q && number % d != 0) d += 2;
  words(c)[i] = d;
}

KERNEL(series_in_double) {  // Horner's rule, q terms in double precision
  const unsigned i = first();
  if (i >= n) return;
  const double x = static_cast<double>(a[i]) - 1.5;
  double s = 1;
  for (unsigned k = q; k > 0; --k) s = s * x + 0.125;
  c[i] = static_cast<float>(s);
}

KERNEL(roots_by_newton) {  // of doubles, q rounds
  const unsigned i = first();
  if (i >= n) return;
  const double wanted = static_cast<double>(a[i]);
  double x = 1;
  for (unsigned k = 0; k < q; ++k) x = 0.5 * (x + wanted / x);
  c[i] = static_cast<float>(x);
}

KERNEL(common_divisors) {  // Euclid's
  const unsigned i = first();
  if (i >= n) return;
  unsigned u = word(a, i) | 1, v = word(b, i) | 1;
  while (v != 0) {
    const unsigned rest = u % v;
    u = v, v = rest;
  }
  words(c)[i] = u;
}

KERNEL(words_mixed) {  // a hash of q rounds
  const unsigned i = first();
  if (i >= n) return;
  unsigned h = word(a, i);
  for (unsigned k = 0; k < q; ++k) h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u;
  words(c)[i] = h;
}

KERNEL(polynomials) {  // of degree q, coefficients in shared memory, by Horner's rule
  __shared__ float factor[64];
  if (threadIdx.x < 64) factor[threadIdx.x] = b[threadIdx.x];
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  const float x = a[i] - 1;
  float s = 0;
  for (unsigned k = 0; k < q; ++k) s = s * x + factor[k & 63];
  c[i] = s;
}

KERNEL(powers_by_squaring) {  // modulo a prime, exponents of 20 bits
  const unsigned i = first();
  if (i >= n) return;
  uint64_t base = word(a, i) % 65521, power = 1;
  for (unsigned e = word(b, i) & 0xfffff; e != 0; e >>= 1) {
    if ((e & 1) != 0) power = power * base % 65521;
    base = base * base % 65521;
  }
  words(c)[i] = static_cast<unsigned>(power);
}

KERNEL(streams_ciphered) {  // twenty rounds of ChaCha's quarter on four words, q blocks a thread
  const unsigned i = first();
  if (i >= n) return;
  unsigned w = word(a, i), x = i, y = 0x61707865, z = p;
  const auto turn = [](unsigned v, unsigned by) { return v << by | v >> (32 - by); };
  for (unsigned k = 0; k < q; ++k)
#pragma unroll
    for (unsigned round = 0; round < 20; ++round) {
      w += x, z = turn(z ^ w, 16), y += z, x = turn(x ^ y, 12);
      w += x, z = turn(z ^ w, 8), y += z, x = turn(x ^ y, 7);
    }
  words(c)[i] = w ^ x ^ y ^ z;
}

KERNEL(exponentials_of_doubles) {  // by q terms of the series
  const unsigned i = first();
  if (i >= n) return;
  const double x = static_cast<double>(a[i]) - 1.5;
  double s = 1;
  for (unsigned k = q; k > 0; --k) s = 1 + s * x * (1.0 / 64) * static_cast<double>(k & 63);
  c[i] = static_cast<float>(s);
}

KERNEL(sums_of_digits) {  // of numbers of 64 bits
  const unsigned i = first();
  if (i >= n) return;
  uint64_t v = static_cast<uint64_t>(word(a, i)) * 0x9e3779b97f4a7c15ull + i;
  unsigned s = 0;
  for (; v != 0; v /= 10) s += static_cast<unsigned>(v % 10);
  words(c)[i] = s;
}

KERNEL(checks_of_lines) {  // CRC of q words each, by a table in shared memory
  __shared__ unsigned table[256];
  unsigned t = threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) t = (t & 1) != 0 ? t >> 1 ^ 0xedb88320u : t >> 1;
  table[threadIdx.x] = t;
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  unsigned crc = 0xffffffffu;
  for (unsigned k = 0; k < q; ++k) {
    const unsigned v = word(a, k * n + i);
#pragma unroll
    for (unsigned d = 0; d < 32; d += 8) crc = table[(crc ^ v >> d) & 255] ^ crc >> 8;
  }
  words(c)[i] = ~crc;
}

KERNEL(primes_sieved) {  // blocks of 256, 4096 numbers in shared memory, primes below 256
  __shared__ unsigned char crossed[4096];
  const unsigned low = blockIdx.x * 4096;
  for (unsigned k = threadIdx.x; k < 1024; k += 256) reinterpret_cast<unsigned*>(crossed)[k] = 0;
  __syncthreads();
  const unsigned d = threadIdx.x;
  if (d >= 2 && (d == 2 || d % 2 != 0))
    for (unsigned m = max(d * d, (low + d - 1) / d * d); m < low + 4096; m += d)
      crossed[m - low] = 1;
  __syncthreads();
  unsigned left = 0;
  for (unsigned k = threadIdx.x; k < 4096; k += 256) left += crossed[k] == 0;
  for (unsigned step = 16; step > 0; step /= 2) left += __shfl_down_sync(~0u, left, step);
  if (threadIdx.x % 32 == 0) words(c)[first() / 32] = left;
}

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
