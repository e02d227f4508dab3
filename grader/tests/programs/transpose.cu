// Three transposes: columns across the bus, through a tile with bank conflicts, through a padded one.
//! stdout| naive 0 tile 0 padded 0
//! metric: naive l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 16384
//! metric: tile l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 2048
//! metric: tile memory_l1_wavefronts_shared 16896
//! metric: padded memory_l1_wavefronts_shared 1024
#include <cstdio>
#include <vector>

constexpr int kSide = 128, kTile = 32;

__global__ void naive(const int* in, int* out) {
  const int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile;
  for (int r = threadIdx.y; r < kTile; r += blockDim.y) out[x * kSide + y + r] = in[(y + r) * kSide + x];
}

template <int kWidth>
__device__ void through(int (*s)[kWidth], const int* in, int* out) {
  const int bx = blockIdx.x * kTile, by = blockIdx.y * kTile, t = threadIdx.x;
  for (int r = threadIdx.y; r < kTile; r += blockDim.y) s[r][t] = in[(by + r) * kSide + bx + t];
  __syncthreads();
  for (int r = threadIdx.y; r < kTile; r += blockDim.y) out[(bx + r) * kSide + by + t] = s[t][r];
}

__global__ void tile(const int* in, int* out) {
  __shared__ int s[kTile][kTile];
  through(s, in, out);
}
__global__ void padded(const int* in, int* out) {
  __shared__ int s[kTile][kTile + 1];
  through(s, in, out);
}

int main() {
  std::vector<int> v(kSide * kSide), got(kSide * kSide);
  for (int i = 0; i < kSide * kSide; ++i) v[i] = i;
  int *in, *out;
  cudaMalloc(&in, v.size() * sizeof(int));
  cudaMalloc(&out, v.size() * sizeof(int));
  cudaMemcpy(in, v.data(), v.size() * sizeof(int), cudaMemcpyHostToDevice);
  auto wrong = [&] {
    cudaMemcpy(got.data(), out, v.size() * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemset(out, 0, v.size() * sizeof(int));
    int n = 0;
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) n += got[x * kSide + y] != v[y * kSide + x];
    return n;
  };
  const dim3 grid(kSide / kTile, kSide / kTile), block(kTile, 8);
  naive<<<grid, block>>>(in, out);
  std::printf("naive %d", wrong());
  tile<<<grid, block>>>(in, out);
  std::printf(" tile %d", wrong());
  padded<<<grid, block>>>(in, out);
  std::printf(" padded %d\n", wrong());
  return 0;
}
