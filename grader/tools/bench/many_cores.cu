// Measures how a launch scales with host threads (many_cores.sh): prints seconds per launch, the best of
// five.
//   lab32 run many_cores.cu -- product|saxpy|in_place
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    as[y][x] = a[row * n + k + x];
    bs[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void saxpy(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + 3 * b[i];
}

__global__ void in_place(float* a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 2 * a[i] + 1;
}

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "product";
  const int side = 1024, n = which == "product" ? side * side : 32 << 20;
  float *a, *b, *c;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&c, n * sizeof(float));
  cudaMemset(a, 0, n * sizeof(float));
  cudaMemset(b, 0, n * sizeof(float));
  cudaMemset(c, 0, n * sizeof(float));
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    cudaMemset(a, i,
               n * sizeof(float));  // new values each time, because equal launches are replayed
    cudaDeviceSynchronize();
    const auto start = std::chrono::steady_clock::now();
    if (which == "product")
      product<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(a, b, c, side);
    else if (which == "saxpy")
      saxpy<<<n / 256, 256>>>(a, b, c, n);
    else
      in_place<<<n / 256, 256>>>(a, n);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  std::printf("%.4f\n", best);
}
