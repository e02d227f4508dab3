// Five ways to add two arrays that differ only in which lane takes which element.
//! stdout| neighbours 0, swapped 0, shifted 0, far apart 0, backwards 0
//! metric: neighbours l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 8192
//! metric: swapped l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 8192
//! metric: shifted l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 10240
//! metric: far_apart l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 65536
//! metric: backwards l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 8192
#include <cstdio>
#include <vector>

__global__ void neighbours(const float* a, const float* b, float* c, int) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[i] + b[i];
}
__global__ void swapped(const float* a, const float* b, float* c, int) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) ^ 1;
  c[i] = a[i] + b[i];
}
__global__ void shifted(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  if (i < n) c[i] = a[i] + b[i];
  if (i == n) c[0] = a[0] + b[0];
}
__global__ void far_apart(const float* a, const float* b, float* c, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = t % 64 * (n / 64) + t / 64;
  c[i] = a[i] + b[i];
}
__global__ void backwards(const float* a, const float* b, float* c, int n) {
  const int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
  c[i] = a[i] + b[i];
}

int main() {
  const int n = 32768;
  std::vector<float> v(n), got(n);
  for (int i = 0; i < n; ++i) v[i] = 0.5f * i;
  float *a, *b, *c;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMalloc(&c, n * sizeof(float));
  cudaMemcpy(a, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  auto wrong = [&](void (*kernel)(const float*, const float*, float*, int)) {
    cudaMemset(c, 0xff, n * sizeof(float));
    kernel<<<n / 256, 256>>>(a, b, c, n);
    cudaMemcpy(got.data(), c, n * sizeof(float), cudaMemcpyDeviceToHost);
    int count = 0;
    for (int i = 0; i < n; ++i) count += got[i] != static_cast<float>(i);
    return count;
  };
  std::printf("neighbours %d, swapped %d, shifted %d, far apart %d, backwards %d\n",
              wrong(neighbours), wrong(swapped), wrong(shifted), wrong(far_apart),
              wrong(backwards));
  return 0;
}
