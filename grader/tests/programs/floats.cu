// Floating point: IEEE operations bit for bit against the host, rounding modes, conversions,
// comparisons with NaN.
//! stdout| single: 0 wrong, double: 0 wrong
//! stdout| 1/3 rounded down, to nearest, up: 3eaaaaaa 3eaaaaab 3eaaaaab
//! stdout| fma keeps what a product rounds away: 1
//! stdout| conversions: -3 -2 -3 -2 3000000000 2147483647 0
//! stdout| nan: 0 0 1, minimum 1.0
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

template <class T>
__host__ __device__ T operation(int op, T a, T b) {
  switch (op) {
    case 0: return a + b;
    case 1: return a - b;
    case 2: return a * b;
    case 3: return a / b;
    case 4: return sqrt(a < 0 ? -a : a);
    default: return fma(a, b, a);
  }
}

template <class T>
__global__ void all(const T* v, int n, T* out) {
  for (int op = 0; op < 6; ++op)
    for (int j = 0; j < n; ++j)
      out[(op * n + threadIdx.x) * n + j] = operation(op, v[threadIdx.x], v[j]);
}

template <class T>
int wrong(const std::vector<T>& v) {
  const int n = static_cast<int>(v.size());
  T *in, *out;
  std::vector<T> got(6 * n * n);
  cudaMalloc(&in, n * sizeof(T));
  cudaMalloc(&out, got.size() * sizeof(T));
  cudaMemcpy(in, v.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  all<<<1, n>>>(in, n, out);
  cudaMemcpy(got.data(), out, got.size() * sizeof(T), cudaMemcpyDeviceToHost);
  int count = 0;
  for (int op = 0; op < 6; ++op)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const T want = operation(op, v[i], v[j]), have = got[(op * n + i) * n + j];
        count += std::isnan(want) ? !std::isnan(have) : std::memcmp(&want, &have, sizeof want) != 0;
      }
  return count;
}

__global__ void special(float one, float three, float nan, uint32_t* bits, long long* numbers) {
  const float third[3] = {__fdiv_rd(one, three), __fdiv_rn(one, three), __fdiv_ru(one, three)};
  for (int i = 0; i < 3; ++i) bits[i] = __float_as_uint(third[i]);
  const float e = 1.0f / 4096;
  bits[3] = fmaf(one + e, one - e, -one) == -e * e;
  numbers[0] = __float2int_rd(-2.5f * one);
  numbers[1] = __float2int_rn(-2.5f * one);
  numbers[2] = static_cast<int>(floorf(-2.1f * one));
  numbers[3] = __float2int_rz(-2.9f * one);
  numbers[4] = __float2uint_rn(3e9f * one);
  numbers[5] = __float2int_rn(3e9f * one);
  numbers[6] = __float2int_rn(nan);
  numbers[7] = nan < one;
  numbers[8] = nan == nan;
  numbers[9] = nan != nan;
  numbers[10] = static_cast<long long>(fminf(nan, one));
}

int main() {
  const std::vector<float> f = {0.0f,   -0.0f, 1.0f, -1.5f,    0.1f,     3.0f,      1e-40f, 1e38f,
                                -1e38f, 1e-30f, 16777217.0f, INFINITY, -INFINITY, NAN, 0.333f, 7e-46f};
  std::vector<double> d(f.begin(), f.end());
  d.push_back(1e300);
  d.push_back(1e-310);
  const int single = wrong(f), twice = wrong(d);
  std::printf("single: %d wrong, double: %d wrong\n", single, twice);
  uint32_t *bits, b[4];
  long long *numbers, m[11];
  cudaMalloc(&bits, sizeof b);
  cudaMalloc(&numbers, sizeof m);
  special<<<1, 1>>>(1.0f, 3.0f, NAN, bits, numbers);
  cudaMemcpy(b, bits, sizeof b, cudaMemcpyDeviceToHost);
  cudaMemcpy(m, numbers, sizeof m, cudaMemcpyDeviceToHost);
  std::printf("1/3 rounded down, to nearest, up: %08x %08x %08x\n", b[0], b[1], b[2]);
  std::printf("fma keeps what a product rounds away: %u\n", b[3]);
  std::printf("conversions: %lld %lld %lld %lld %lld %lld %lld\n", m[0], m[1], m[2], m[3], m[4],
              m[5], m[6]);
  std::printf("nan: %lld %lld %lld, minimum %lld.0\n", m[7], m[8], m[9], m[10]);
  return single + twice;
}
