// Kernels that stress other parts than arithmetic.

// The reduction of the Reduce Tutorial with 8 threads per block, which mostly starts and ends blocks.
__global__ void sum_by_8(const int* in, int* out) {
  __shared__ int sums[8];
  const unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * 8 + t];
  __syncthreads();
  for (unsigned step = 4; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}

// Each word is read by one thread and written by one; x and y may be the same allocation.
__global__ void add_one(const int* x, int* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] + 1;
}

__global__ void saxpy(float a, const float* x, float* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}

// c = a * b for squares of n = 32 * gridDim.x rows; blocks have 32 x 32 threads in a line of 1024.
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float as[32][32], bs[32][32];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const int row = blockIdx.x / (n / 32) * 32 + y, column = blockIdx.x % (n / 32) * 32 + x;
  float sum = 0;
  for (int k = 0; k < n; k += 32) {
    as[y][x] = a[row * n + k + x];
    bs[y][x] = b[(k + y) * n + column];
    __syncthreads();
    for (int i = 0; i < 32; ++i) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const int row = blockIdx.x / (n / 32) * 32, column = blockIdx.x % (n / 32) * 32;
  for (int i = y; i < 32; i += 8) tile[i][x] = in[(row + i) * n + column + x];
  __syncthreads();
  for (int i = y; i < 32; i += 8) out[(column + i) * n + row + x] = tile[x][i];
}

// No two blocks access shared memory in the same pattern.
__global__ void histogram(const unsigned* in, unsigned* out) {
  __shared__ unsigned bins[256];
  const unsigned t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * 256 + t] % 256], 1u);
  __syncthreads();
  atomicAdd(&out[t], bins[t]);
}
