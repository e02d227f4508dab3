// What the launches of sample_records.cpp say they ran.
template <class T>
__global__ void strided_copy(const T* in, T* out, unsigned n, int stride) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}

namespace tile {
template <int N>
__global__ void transpose(const float* in, float* out) {
  __shared__ float tile[N][N];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * N, row = blockIdx.y * N;
  for (int k = y; k < N; k += blockDim.y) tile[k][x] = in[(row + k) * gridDim.x * N + column + x];
  __syncthreads();
  for (int k = y; k < N; k += blockDim.y) out[(column + k) * gridDim.y * N + row + x] = tile[x][k];
}
}  // namespace tile

__global__ void shift(float* out, int n) {
	__shared__ float kept[64];
  kept[threadIdx.x] = out[threadIdx.x];
  if (threadIdx.x <= n) out[threadIdx.x] = kept[63 - threadIdx.x];
}
