// CUB compiled into a program: a reduction of the device, and a block's scan.
//! stdout| sum 499500, workspace wanted: 1
//! stdout| scan 0 1 3 6 ... 8128
#include <cstdio>
#include <cub/cub.cuh>
#include <vector>

__global__ void scan(const int* in, int* out) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int prefix;
  Scan(storage).InclusiveSum(in[threadIdx.x], prefix);
  out[threadIdx.x] = prefix;
}

int main() {
  std::vector<int> v(1000);
  for (int i = 0; i < 1000; ++i) v[i] = i;
  int *in, *out, sum = 0, prefix[128];
  cudaMalloc(&in, 1000 * sizeof(int));
  cudaMalloc(&out, 128 * sizeof(int));
  cudaMemcpy(in, v.data(), 1000 * sizeof(int), cudaMemcpyHostToDevice);
  void* workspace = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(workspace, bytes, in, out, 1000);
  const bool wanted = bytes > 0;
  cudaMalloc(&workspace, bytes);
  cub::DeviceReduce::Sum(workspace, bytes, in, out, 1000);
  cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("sum %d, workspace wanted: %d\n", sum, wanted);
  scan<<<1, 128>>>(in, out);
  cudaMemcpy(prefix, out, sizeof prefix, cudaMemcpyDeviceToHost);
  std::printf("scan %d %d %d %d ... %d\n", prefix[0], prefix[1], prefix[2], prefix[3], prefix[127]);
  return 0;
}
