// The lesson of a sum in three steps: one atomic an element, a tree in shared memory, shuffles. All
// three must give the same, exactly.
//! stdout| atomic 500000, tree 500000, shuffle 500000
//! metric: sum_atomic l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 31250
//! metric: sum_tree l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 125000
//! metric: sum_shuffle l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 125000
#include <cstdio>
#include <vector>

__global__ void sum_atomic(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

__global__ void sum_tree(const int* in, int* out, int n) {
  __shared__ int s[256];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) s[t] += s[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, s[0]);
}

__global__ void sum_shuffle(const int* in, int* out, int n) {
  __shared__ int warps[8];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (t % 32 == 0) warps[t / 32] = v;
  __syncthreads();
  if (t >= 32) return;
  v = t < 8 ? warps[t] : 0;
  for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (t == 0) atomicAdd(out, v);
}

int main() {
  const int n = 1000000;
  std::vector<int> v(n);
  for (int i = 0; i < n; ++i) v[i] = i % 2;
  int *in, *out, result[3];
  cudaMalloc(&in, n * sizeof(int));
  cudaMalloc(&out, 3 * sizeof(int));
  cudaMemcpy(in, v.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 3 * sizeof(int));
  const int blocks = (n + 255) / 256;
  sum_atomic<<<blocks, 256>>>(in, out, n);
  sum_tree<<<blocks, 256>>>(in, out + 1, n);
  sum_shuffle<<<blocks, 256>>>(in, out + 2, n);
  cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("atomic %d, tree %d, shuffle %d\n", result[0], result[1], result[2]);
  cudaFree(in);
  cudaFree(out);
  return 0;
}
