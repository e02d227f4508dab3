// No padding: rows are permuted by XOR, by words and by int4s.
__device__ int turned(int row, int c) { return 32 * row + (c ^ row % 32); }

__global__ void row_scan(const int* in, int* out, int n) {
  __shared__ int tile[kBlock * 32];
  int first = kBlock * blockIdx.x;
  int words = 32 * min(kBlock, n - first);
  for (int j = threadIdx.x; j < words; j += kBlock) {
    tile[turned(j / 32, j % 32)] = in[32 * first + j];
  }
  __syncthreads();
  if (32 * threadIdx.x < words) {
    int sum = 0;
    for (int c = 0; c < 32; ++c) {
      sum += tile[turned(threadIdx.x, c)];
      tile[turned(threadIdx.x, c)] = sum;
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < words; j += kBlock) {
    out[32 * first + j] = tile[turned(j / 32, j % 32)];
  }
}

__device__ int entry(int row, int column) { return turned(row, column); }

__global__ void row_moments(const uchar4* in, int* out, int n) {
  __shared__ int4 tile[kBlock * 8];
  int first = kBlock * blockIdx.x;
  int quads = 8 * min(kBlock, n - first);
  for (int j = threadIdx.x; j < quads; j += kBlock) {
    uchar4 p = in[8 * first + j];
    tile[j ^ (j / 8 & 7)] = make_int4(p.x, p.y, p.z, p.w);
  }
  __syncthreads();
  int t = threadIdx.x;
  if (8 * t < quads) {
    int sum = 0;
    for (int q = 0; q < 8; ++q) {
      int4 v = tile[8 * t + (q ^ (t & 7))];
      sum += (4 * q + 1) * v.x + (4 * q + 2) * v.y + (4 * q + 3) * v.z + (4 * q + 4) * v.w;
    }
    out[first + t] = sum;
  }
}
