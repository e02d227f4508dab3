// A small program with two kernels that affect the tested metrics. The output of `lab32 profile --csv` is
// compared with that of `ncu --csv` for this program.
#include <cstdio>

template <class T>
__global__ void strided_copy(const T* in, T* out, unsigned n, int stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}

__global__ void histogram(const unsigned* in, unsigned* bins, unsigned* total, int n) {
  __shared__ unsigned local[64];
  __shared__ unsigned columns[32][32];
  const int t = threadIdx.x;
  if (t < 64) local[t] = 0;
  columns[t % 32][t / 32] = t;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + t;
  if (i < n) atomicAdd(&local[in[i] % 64 ^ (columns[t % 32][t / 32] & 1)], 2u);
  __syncthreads();
  if (t < 64) atomicAdd(&bins[t], local[t]);
  if (t % 32 == 0) {
    const unsigned before = atomicAdd(&total[t / 32], 3u);
    if (before == 0xffffffffu) bins[0] = 0;
  }
}

int main() {
  const unsigned n = 100000;
  unsigned *in, *bins, *total;
  float *from, *to;
  cudaMalloc(&in, n * sizeof(unsigned));
  cudaMalloc(&bins, 64 * sizeof(unsigned));
  cudaMalloc(&total, 32 * sizeof(unsigned));
  cudaMalloc(&from, 4 * n * sizeof(float));
  cudaMalloc(&to, n * sizeof(float));
  static unsigned host[n];
  for (unsigned i = 0; i < n; ++i) host[i] = i * 2654435761u >> 7;
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, 64 * sizeof(unsigned));
  cudaMemset(total, 0, 32 * sizeof(unsigned));
  cudaMemset(from, 0, 4 * n * sizeof(float));
  strided_copy<<<(n + 255) / 256, 256>>>(from, to, n, 4);
  histogram<<<100, dim3(1000)>>>(in, bins, total, n);
  const cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) std::fprintf(stderr, "sample: %s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
