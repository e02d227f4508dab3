// C style: pointers that are incremented, size_t and ptrdiff_t, early returns, loops with the
// stride of the whole grid, __restrict__ and __ldg.
__device__ int sectors(const unsigned long long* address, int bytes, unsigned active) {
  // Marks each lane that an earlier one has met: 32 * 31 / 2 comparisons, no branch.
  unsigned met = ~active;
  for (const unsigned long long* a = address; a != address + 32; ++a) {
    unsigned self = 1u << (a - address);
    unsigned dead = -((met & self) != 0);
    for (const unsigned long long* b = a + 1; b < address + 32; ++b)
      met |= ~dead & (unsigned)(*a >> 5 == *b >> 5) << (b - address);
  }
  return __popc(~met);
}

// Elements of the whole grid in turn: a thread has as many as the blocks that there are leave it.
__global__ void scale(const float* __restrict__ in, float* __restrict__ out, float factor, int n) {
  const size_t step = (size_t)gridDim.x * blockDim.x;
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (size_t)n) return;
  const float *from = in + i, *end = in + n;
  for (float* to = out + i; from < end; from += step, to += step) *to = factor * __ldg(from);
}

// The fields from the last to the first, each at a line of its own.
__device__ int slot(int field, int i, int n) {
  ptrdiff_t lines = ((ptrdiff_t)n + 31) >> 5;
  return (int)((kFields - 1 - field) * lines * 32 + i);
}

__global__ void __launch_bounds__(256, 4)
    push(const Particle* __restrict__ in, Particle* __restrict__ out, float ex, float ey, float ez,
         float dt, int n) {
  __shared__ float4 tile[2 * 256 + 1];
  const ptrdiff_t first = (ptrdiff_t)blockIdx.x * blockDim.x;
  const ptrdiff_t count = n - first < 256 ? n - first : 256;
  if (count <= 0) return;
  const float4* from = (const float4*)(in + first);
  for (float4 *to = tile + threadIdx.x, *end = tile + 2 * count; to < end; to += blockDim.x)
    *to = __ldg(from + (to - tile));
  __syncthreads();
  if (threadIdx.x < count) {
    float* p = (float*)(tile + 2 * threadIdx.x);
    const float a = dt * p[7] / p[6], e[3] = {ex, ey, ez};
    for (float *x = p, *v = p + 3; x < p + 3; ++x, ++v) {
      *x += dt * *v;
      *v += a * e[x - p];
    }
  }
  __syncthreads();
  float4* to = (float4*)(out + first);
  for (ptrdiff_t j = threadIdx.x; j < 2 * count; j += blockDim.x) to[j] = tile[j];
}

// One of the two axes of the grid walks faster than in the task's own numbering.
__global__ void centre(const float* in, const float* mean, float* out, int n) {
  const size_t all = 4 * (size_t)n, step = (size_t)gridDim.x * gridDim.y * blockDim.x;
  size_t i = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  const float own = __ldg(mean + (i & 3));  // every step is a multiple of 4
  for (; i < all; i += step) out[i] = in[i] - own;
}

// The tail by the threads whose number is left over.
__global__ void axpy(float a, const float* __restrict__ x, float* __restrict__ y, int n) {
  const ptrdiff_t t = (ptrdiff_t)blockIdx.x * blockDim.x + threadIdx.x;
  const ptrdiff_t whole = (ptrdiff_t)n & ~(ptrdiff_t)3;
  if (whole + t < n) y[whole + t] += a * __ldg(x + whole + t);
  if (4 * t >= whole) return;
  const float4 from = __ldg((const float4*)x + t);
  float4* to = (float4*)y + t;
  *to = make_float4(to->x + a * from.x, to->y + a * from.y, to->z + a * from.z, to->w + a * from.w);
}
