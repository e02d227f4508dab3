// Sums on the device what it reads; says how it was called; ends as the last argument tells.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

__global__ void add(const int* in, int n, int* out) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(out, in[i]);
}

int main(int argc, char** argv) {
  std::vector<int> numbers;
  for (int x; std::scanf("%d", &x) == 1;) numbers.push_back(x);
  int *in, *out;
  cudaMallocManaged(&in, (numbers.size() + 1) * sizeof(int));
  cudaMallocManaged(&out, sizeof(int));
  for (size_t i = 0; i < numbers.size(); ++i) in[i] = numbers[i];
  add<<<1, 64>>>(in, static_cast<int>(numbers.size()), out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 99;
  std::printf("sum %d\n", *out);
  const char* name = std::strrchr(argv[0], '/');
  std::fprintf(stderr, "%s", name ? name + 1 : argv[0]);
  for (int i = 1; i < argc; ++i) std::fprintf(stderr, " <%s>", argv[i]);
  std::fprintf(stderr, "\n");
  const char* last = argc > 1 ? argv[argc - 1] : "";
  if (std::strcmp(last, "kill") == 0) {
    std::fflush(stdout);
    std::raise(SIGTERM);
  }
  if (std::strcmp(last, "touch") == 0) {
    int* device;
    cudaMalloc(&device, 4);
    std::fflush(stdout);
    *device = 1;  // the host cannot: a segmentation fault, as with a GPU
  }
  return std::atoi(last);
}
