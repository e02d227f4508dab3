// A complete program, handed in by mistake: host code, a constructor that runs before main, helpers
// for host and device, and macros.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#define CHECK(call)                                            \
  do {                                                         \
    cudaError_t error = (call);                                \
    if (error != cudaSuccess) {                                \
      std::fprintf(stderr, "%s\n", cudaGetErrorString(error)); \
      std::exit(1);                                            \
    }                                                          \
  } while (0);
#define FOR_EACH_OF(i, begin, end, step) for (int i = (begin); i < (end); i += (step))

struct Greeting {
  std::string text = "lab32";
  Greeting() { std::puts(text.c_str()); }
} greeting;

__host__ __device__ inline int whole_blocks(int n, int each) { return n / each + (n % each > 0); }

__global__ void scale(const float* in, float* out, float factor, int n) {
  const int begin = 4096 * blockIdx.x;
  FOR_EACH_OF(i, begin + threadIdx.x, min(begin + 4096, n), 256) { out[i] = factor * in[i]; }
}

int main(int argc, char** argv) {
  __global__ void scale(const float* in, float* out, float factor, int n);
  const int n = argc > 1 ? std::atoi(argv[1]) : 10000;
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  float *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(float)));
  CHECK(cudaMalloc(&out, n * sizeof(float)));
  CHECK(cudaMemcpy(in, values.data(), n * sizeof(float), cudaMemcpyDefault));
  scale<<<whole_blocks(n, 4096), 256>>>(in, out, 2.0f, n);
  CHECK(cudaMemcpy(values.data(), out, n * sizeof(float), cudaMemcpyDefault));
  std::printf("%g\n", *std::max_element(values.begin(), values.end()));
  return 0;
}
