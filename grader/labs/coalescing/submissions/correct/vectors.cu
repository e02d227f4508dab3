// Sixteen bytes per lane wherever possible, with the tails that this requires.
__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  // The sectors seen so far, as a list.
  unsigned long long seen[32];
  int count = 0;
  for (unsigned rest = active; rest != 0; rest &= rest - 1) {
    unsigned long long sector = address[__ffs(rest) - 1] >> 5;
    int k = 0;
    while (k < count && seen[k] != sector) ++k;
    seen[k] = sector;
    if (k == count) ++count;
  }
  return count;
}

__device__ int requests(const unsigned long long address[32], int bytes, unsigned active) {
  return __popc(active) > 0 ? 1 : 0;
}

__global__ void scale(const float* in, float* out, float factor, int n) {
  for (int k = 0; k < 4; ++k) {
    int i = 4096 * blockIdx.x + 1024 * k + 4 * threadIdx.x;
    if (i + 4 <= n) {
      float4 v = *reinterpret_cast<const float4*>(in + i);
      v.x *= factor;
      v.y *= factor;
      v.z *= factor;
      v.w *= factor;
      *reinterpret_cast<float4*>(out + i) = v;
    } else {
      for (; i < n; ++i) out[i] = factor * in[i];
    }
  }
}

__device__ int slot(int field, int i, int n) { return field * ((n + 31) & ~31) + i; }

__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  __shared__ float4 tile[512];
  int first = 512 * blockIdx.x, end = min(512, 2 * n - first);
  for (int j = threadIdx.x; j < end; j += 256)
    tile[j] = reinterpret_cast<const float4*>(in)[first + j];
  __syncthreads();
  if (2 * threadIdx.x < end) {
    float4 low = tile[2 * threadIdx.x], high = tile[2 * threadIdx.x + 1];
    float a = dt * high.w / high.z;
    low.x += dt * low.w;
    low.y += dt * high.x;
    low.z += dt * high.y;
    low.w += a * ex;
    high.x += a * ey;
    high.y += a * ez;
    tile[2 * threadIdx.x] = low;
    tile[2 * threadIdx.x + 1] = high;
  }
  __syncthreads();
  for (int j = threadIdx.x; j < end; j += 256)
    reinterpret_cast<float4*>(out)[first + j] = tile[j];
}

// A row is 16 bytes: one lane takes a row, and one in four blocks takes them all.
__global__ void centre(const float* in, const float* mean, float* out, int n) {
  int row = 256 * blockIdx.x + threadIdx.x;
  if (blockIdx.y > 0 || row >= n) return;
  float4 v = reinterpret_cast<const float4*>(in)[row];
  v.x -= mean[0];
  v.y -= mean[1];
  v.z -= mean[2];
  v.w -= mean[3];
  reinterpret_cast<float4*>(out)[row] = v;
}
