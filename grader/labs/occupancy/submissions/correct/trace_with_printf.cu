// A printf that never prints: its arguments are in local memory, but no thread writes them.
#include <cstdio>

struct Three { float x, y, z; };
__device__ Three operator+(Three a, Three b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ Three operator*(Three a, float b) { return {a.x * b, a.y * b, a.z * b}; }
struct Trail {
  Three at, means{}, moments{};
  float length = 0, low = 1e30f, high = -1e30f, sum = 0, squares = 0;
  __device__ int cell() const { return (int(at.x) & kSide - 1) + kSide * ((int(at.y) & kSide - 1) + kSide * (int(at.z) & kSide - 1)); }
  __device__ void operator()(float4 f) {
    Three step{f.x, f.y, f.z};
    at = at + step;
    length += step.x + step.y + step.z;
    low = min(low, f.w), high = max(high, f.w), sum += f.w, squares = fmaf(f.w, f.w, squares);
    means = means + at, moments = moments + at * f.w;
  }
};
constexpr int kMost = 1024;
__global__ void __launch_bounds__(kMost, 2 * kMost / kMost) trace(const float4* __restrict__ field, const float* __restrict__ start, float* __restrict__ out, int n, int steps) {
  if (n < 0) printf("n is %d\n", n);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Trail t{{start[i], start[n + i], start[2 * n + i]}};
    for (int k = steps; k-- > 0;) t(__ldg(field + t.cell()));
    float* o = out + i;
    for (float v : {t.at.x, t.at.y, t.at.z, t.length, t.low, t.high, t.sum, t.squares, t.means.x, t.means.y, t.means.z, t.moments.x, t.moments.y, t.moments.z})
      *o = v, o += n;
  }
}
