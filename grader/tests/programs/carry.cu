// Long numbers: 128-bit products and sums through the carry flag, on the device and by hand.
//! stdout| 100 products: 0 wrong, 64! ends in 0 bits: 63
#include <cstdint>
#include <cstdio>
#include <vector>

struct Wide {
  unsigned long long low, high;
};

__global__ void multiply(const unsigned long long* a, const unsigned long long* b, Wide* out) {
  const int i = threadIdx.x;
  const unsigned __int128 p = static_cast<unsigned __int128>(a[i]) * b[i];
  const unsigned __int128 q = p + a[i] + b[i];
  out[i] = {static_cast<unsigned long long>(q), static_cast<unsigned long long>(q >> 64)};
}

// 64! in 296 bits, a word a step.
__global__ void factorial(unsigned* words) {
  unsigned w[10] = {1};
  for (unsigned n = 2; n <= 64; ++n) {
    unsigned long long carry = 0;
    for (int i = 0; i < 10; ++i) {
      carry += static_cast<unsigned long long>(w[i]) * n;
      w[i] = static_cast<unsigned>(carry);
      carry >>= 32;
    }
  }
  for (int i = 0; i < 10; ++i) words[i] = w[i];
}

int main() {
  std::vector<unsigned long long> a(100), b(100);
  std::vector<Wide> got(100);
  uint64_t x = 88172645463325252ull;
  for (int i = 0; i < 100; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    a[i] = i == 0 ? ~0ull : x;
    b[i] = i < 2 ? ~0ull : x * 3;
  }
  unsigned long long *da, *db;
  Wide* out;
  unsigned *words, w[10];
  cudaMalloc(&da, 800);
  cudaMalloc(&db, 800);
  cudaMalloc(&out, 100 * sizeof(Wide));
  cudaMalloc(&words, sizeof w);
  cudaMemcpy(da, a.data(), 800, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), 800, cudaMemcpyHostToDevice);
  multiply<<<1, 100>>>(da, db, out);
  factorial<<<1, 1>>>(words);
  cudaMemcpy(got.data(), out, 100 * sizeof(Wide), cudaMemcpyDeviceToHost);
  cudaMemcpy(w, words, sizeof w, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 100; ++i) {
    const unsigned __int128 q = static_cast<unsigned __int128>(a[i]) * b[i] + a[i] + b[i];
    wrong += got[i].low != static_cast<uint64_t>(q) || got[i].high != static_cast<uint64_t>(q >> 64);
  }
  int zeros = 0;
  while (zeros < 320 && (w[zeros / 32] >> zeros % 32 & 1) == 0) ++zeros;
  std::printf("100 products: %d wrong, 64! ends in 0 bits: %d\n", wrong, zeros);
  return wrong;
}
