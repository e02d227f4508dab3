// The first CUDA program: copy in, add, copy out; a tail that the guard has to catch.
//! case
//! stdout| 1000 elements: 0 wrong, last 2997.0
//! metric: add l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 64
//! metric: add l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 250
//! metric: add l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 125
//! case 33
//! stdout| 33 elements: 0 wrong, last 96.0
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) a[i] = static_cast<float>(i), b[i] = 2.0f * i;
  float *da, *db, *dc;
  cudaMalloc(&da, n * sizeof(float));
  cudaMalloc(&db, n * sizeof(float));
  cudaMalloc(&dc, n * sizeof(float));
  cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
  cudaMemcpy(c.data(), dc, n * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != 3.0f * i;
  std::printf("%d elements: %d wrong, last %.1f\n", n, wrong, c[n - 1]);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  return wrong != 0;
}
