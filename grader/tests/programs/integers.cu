// Integer instructions against the host's arithmetic, on numbers that reach every corner.
//! stdout| 4096 pairs: 0 of 26 operations wrong
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kOps = 26;

struct Results {
  int64_t r[kOps];
};

__host__ __device__ inline int64_t host_or_device(int op, int32_t a, int32_t b) {
  const uint32_t u = static_cast<uint32_t>(a), v = static_cast<uint32_t>(b);
  const int64_t wide = static_cast<int64_t>(a) << 20 ^ b;
  switch (op) {
    case 0: return static_cast<int32_t>(u + v);
    case 1: return static_cast<int32_t>(u - v);
    case 2: return static_cast<int32_t>(u * v);
    case 3: return b == 0 || (a == INT32_MIN && b == -1) ? 0 : a / b;
    case 4: return b == 0 || (a == INT32_MIN && b == -1) ? 0 : a % b;
    case 5: return v == 0 ? 0 : u / v;
    case 6: return v == 0 ? 0 : u % v;
    case 7: return wide / (b == 0 ? 7 : b);
    case 8: return static_cast<int64_t>(static_cast<uint64_t>(wide) % (u | 1u));
    case 9: return a & b;
    case 10: return a | ~b;
    case 11: return a ^ b;
    case 12: return static_cast<int32_t>(u << (v & 31));
    case 13: return a >> (v & 31);
    case 14: return u >> (v & 31);
    case 15: return wide >> (v & 63);
    case 16: return a < b ? a : b;
    case 17: return u > v ? u : v;
    case 18: return static_cast<int16_t>(u) * static_cast<int16_t>(v);
    case 19: return static_cast<uint8_t>(u) + static_cast<int8_t>(v);
    case 20: return static_cast<int64_t>(a) * b;
    case 21: return a < 0 ? -static_cast<int64_t>(a) : a;
    default: return 0;
  }
}

// Those that have an intrinsic on one side only.
__device__ int64_t intrinsic(int op, int32_t a, int32_t b) {
  switch (op) {
    case 22: return __popc(a) + 100 * __clz(b);
    case 23: return static_cast<int32_t>(__brev(a));
    case 24: return __mulhi(a, b);
    default: return static_cast<int32_t>(__funnelshift_l(a, b, 5));
  }
}
int64_t by_hand(int op, int32_t a, int32_t b) {
  const uint32_t u = static_cast<uint32_t>(a), v = static_cast<uint32_t>(b);
  switch (op) {
    case 22: return __builtin_popcount(u) + 100 * (v == 0 ? 32 : __builtin_clz(v));
    case 23: {
      uint32_t r = 0;
      for (int i = 0; i < 32; ++i) r |= (u >> i & 1) << (31 - i);
      return static_cast<int32_t>(r);
    }
    case 24: return static_cast<int32_t>((static_cast<int64_t>(a) * b) >> 32);
    default: return static_cast<int32_t>(v << 5 | u >> 27);
  }
}

__global__ void all(const int32_t* a, const int32_t* b, Results* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int op = 0; op < kOps; ++op)
    out[i].r[op] = op < 22 ? host_or_device(op, a[i], b[i]) : intrinsic(op, a[i], b[i]);
}

int main() {
  const int n = 4096;
  std::vector<int32_t> values = {0, 1, -1, 2, 7, -8, 31, 32, 255, 65536, INT32_MAX, INT32_MIN};
  uint32_t x = 12345;
  while (values.size() < 64) values.push_back(static_cast<int32_t>(x = x * 1664525u + 1013904223u));
  std::vector<int32_t> a(n), b(n);
  for (int i = 0; i < n; ++i) a[i] = values[i / 64], b[i] = values[i % 64];
  int32_t *da, *db;
  Results* out;
  cudaMalloc(&da, n * sizeof(int32_t));
  cudaMalloc(&db, n * sizeof(int32_t));
  cudaMalloc(&out, n * sizeof(Results));
  cudaMemcpy(da, a.data(), n * sizeof(int32_t), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * sizeof(int32_t), cudaMemcpyHostToDevice);
  all<<<n / 128, 128>>>(da, db, out);
  std::vector<Results> results(n);
  cudaMemcpy(results.data(), out, n * sizeof(Results), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int op = 0; op < kOps; ++op) {
    bool right = true;
    for (int i = 0; i < n; ++i)
      right &= results[i].r[op] ==
               (op < 22 ? host_or_device(op, a[i], b[i]) : by_hand(op, a[i], b[i]));
    if (!right) std::printf("operation %d is wrong\n", op), ++wrong;
  }
  std::printf("%d pairs: %d of %d operations wrong\n", n, wrong, kOps);
  return wrong;
}
