// Dynamic shared memory, cut into an array of floats and one of ints behind it.
//! case 8
//! stdout| 8: 7.5 6.5 ... 0.5, 7
//! case 96
//! stdout| 96: 95.5 94.5 ... 0.5, 95
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void reverse(float* out, int* index) {
  extern __shared__ char room[];
  const int n = blockDim.x, t = threadIdx.x;
  auto* values = reinterpret_cast<float*>(room);
  auto* from = reinterpret_cast<int*>(values + n);
  values[t] = t + 0.5f;
  from[n - 1 - t] = t;
  __syncthreads();
  out[t] = values[from[t]];
  index[t] = from[t];
}

int main(int, char** argv) {
  const int n = std::atoi(argv[1]);
  float* out;
  int* index;
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&index, n * sizeof(int));
  reverse<<<1, n, n * (sizeof(float) + sizeof(int))>>>(out, index);
  std::vector<float> v(n);
  std::vector<int> i(n);
  cudaMemcpy(v.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(i.data(), index, n * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d: %.1f %.1f ... %.1f, %d\n", n, v[0], v[1], v[n - 1], i[0]);
  return 0;
}
