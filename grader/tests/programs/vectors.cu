// Vector types: one request of 16 bytes a lane in place of four; cache hints; an array of structures
// against a structure of arrays.
//! stdout| scalar and vector copies agree: 1, streamed: 1, points: 1
//! metric: copy_scalar l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 128
//! metric: copy_vector l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 32
//! metric: copy_vector l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 512
//! metric: points_apart l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 1024
//! metric: points_together l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 128
#include <cstdio>
#include <cstring>
#include <vector>

struct Point {
  float x, y, z, mass, u, v, w, id;
};

__global__ void copy_scalar(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
__global__ void copy_vector(const float4* in, float4* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}
__global__ void copy_streamed(const float4* in, float4* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __stcs(&out[i], __ldcs(&in[i]));
}
__global__ void points_apart(const Point* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * in[i].mass;
}
__global__ void points_together(const float* mass, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 2 * mass[i];
}

int main() {
  const int n = 4096, points = 1024;
  std::vector<float> v(2 * n), got(n);
  for (int i = 0; i < 2 * n; ++i) v[i] = 0.25f * i;
  float *in, *out;
  cudaMalloc(&in, 2 * n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(in, v.data(), 2 * n * sizeof(float), cudaMemcpyHostToDevice);
  auto agrees = [&] {
    cudaMemcpy(got.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemset(out, 0, n * sizeof(float));
    return std::memcmp(got.data(), v.data(), n * sizeof(float)) == 0;
  };
  copy_scalar<<<n / 256, 256>>>(in, out);
  bool same = agrees();
  copy_vector<<<n / 4 / 256, 256>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(out));
  same &= agrees();
  copy_streamed<<<n / 4 / 256, 256>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(out));
  const bool streamed = agrees();
  bool right = true;
  points_apart<<<points / 256, 256>>>(reinterpret_cast<Point*>(in), out);
  cudaMemcpy(got.data(), out, points * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < points; ++i) right &= got[i] == 2 * v[8 * i + 3];
  points_together<<<points / 256, 256>>>(in, out);
  cudaMemcpy(got.data(), out, points * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < points; ++i) right &= got[i] == 2 * v[i];
  std::printf("scalar and vector copies agree: %d, streamed: %d, points: %d\n", same, streamed,
              right);
  return !(same && streamed && right);
}
