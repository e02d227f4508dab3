// Heat in a rod: two buffers swapped by the host, a halo in shared memory, many launches.
//! stdout| after 100 steps the middle is 0.056, the sum 1.000
#include <cstdio>
#include <utility>
#include <vector>

__global__ void step(const float* in, float* out, int n) {
  __shared__ float s[66];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t + 1] = in[i];
  if (t == 0) s[0] = i > 0 ? in[i - 1] : in[i];
  if (t == 63) s[65] = i + 1 < n ? in[i + 1] : in[i];
  __syncthreads();
  out[i] = 0.25f * s[t] + 0.5f * s[t + 1] + 0.25f * s[t + 2];
}

int main() {
  const int n = 256;
  std::vector<float> rod(n, 0.0f);
  rod[n / 2] = 1;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemcpy(a, rod.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int i = 0; i < 100; ++i) {
    step<<<n / 64, 64>>>(a, b, n);
    std::swap(a, b);
  }
  cudaMemcpy(rod.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float f : rod) sum += f;
  std::printf("after 100 steps the middle is %.3f, the sum %.3f\n", rod[n / 2], sum);
  return 0;
}
