// Copies to the host of memory that nothing has written.
//! case tail
//! gpu: undefined
//! check: initialisation 1
//! case rows
//! gpu: undefined
//! check: initialisation 1
//! case pinned
//! gpu: undefined
//! check: initialisation 1
//! case whole
//! stdout| sum 1000
//! case padding
//! stdout| 100 of 100, 3
//! case within
//! stdout| sum 1000
#include <cstdio>
#include <numeric>
#include <string>

struct Body {
  double mass;
  int number;  // four bytes of padding follow
};

__global__ void ones(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}

// The last column stays as it is.
__global__ void inner(int* out, int width, int height) {
  for (int y = 0; y < height; ++y)
    if (threadIdx.x < width - 1) out[y * width + threadIdx.x] = 1;
}

__global__ void bodies(Body* all) {
  all[threadIdx.x].mass = 1;
  all[threadIdx.x].number = 3;
}

int main(int, char** argv) {
  const std::string what = argv[1];
  constexpr int n = 1000;
  static int host[n];
  int *out, *pinned, *other;
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&other, sizeof host);
  cudaMallocHost(&pinned, sizeof host);
  if (what == "padding") {
    Body *all, copies[100];
    cudaMalloc(&all, sizeof copies);
    bodies<<<1, 100>>>(all);
    cudaMemcpy(copies, all, sizeof copies, cudaMemcpyDeviceToHost);
    double mass = 0;
    for (const Body& body : copies) mass += body.mass;
    std::printf("%g of 100, %d\n", mass, copies[99].number);
    return 0;
  }
  if (what == "rows")
    inner<<<1, 100>>>(out, 100, 10);
  else
    ones<<<what == "tail" || what == "pinned" ? n / 256 : n / 256 + 1, 256>>>(out, n);
  if (what == "pinned") {
    cudaMemcpy(pinned, out, sizeof host, cudaMemcpyDefault);
    std::printf("sum %d\n", std::accumulate(pinned, pinned + n, 0));
    return 0;
  }
  // A copy within the device only moves what is unwritten.
  if (what == "within") cudaMemcpy(out, other, 4, cudaMemcpyDeviceToDevice), ones<<<1, 1>>>(out, 1);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("sum %d\n", std::accumulate(host, host + n, 0));
  return 0;
}
