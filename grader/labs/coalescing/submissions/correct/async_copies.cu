// Asynchronous copies of 16 bytes stage all data, even where registers would suffice. Copies of 4
// bytes move the last elements of an array.
#include <cuda_pipeline.h>

// `count` floats from `from`, which is aligned, to `to`, by the whole block.
__device__ void stage(float* to, const float* from, int count) {
  for (int j = 4 * threadIdx.x; j < count; j += 4 * blockDim.x) {
    if (j + 4 <= count) {
      __pipeline_memcpy_async(to + j, from + j, 16);
    } else {
      for (int k = j; k < count; ++k) __pipeline_memcpy_async(to + k, from + k, 4);
    }
  }
  __pipeline_commit();
}

__global__ void scale(const float* in, float* out, float factor, int n) {
  __shared__ alignas(16) float tile[4096];
  const int first = 4096 * blockIdx.x, count = min(4096, n - first);
  stage(tile, in + first, count);
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int j = threadIdx.x; j < count; j += blockDim.x) out[first + j] = factor * tile[j];
}

__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  __shared__ alignas(16) float tile[kFields * 256];
  const int first = 256 * blockIdx.x, floats = kFields * min(256, n - first);
  stage(tile, &in[first].x, floats);
  __pipeline_wait_prior(0);
  __syncthreads();
  if (kFields * threadIdx.x < floats) {
    Particle& p = reinterpret_cast<Particle*>(tile)[threadIdx.x];
    const float a = dt * p.charge / p.mass;
    p.x += dt * p.vx;
    p.y += dt * p.vy;
    p.z += dt * p.vz;
    p.vx += a * ex;
    p.vy += a * ey;
    p.vz += a * ez;
  }
  __syncthreads();
  float4* to = reinterpret_cast<float4*>(out + first);
  for (int j = threadIdx.x; 4 * j < floats; j += 256) to[j] = reinterpret_cast<float4*>(tile)[j];
}

__global__ void centre(const float* in, const float* mean, float* out, int n) {
  __shared__ alignas(16) float tile[256];
  __shared__ float means[4];
  const int first = 256 * (gridDim.x * blockIdx.y + blockIdx.x), count = min(256, 4 * n - first);
  if (count <= 0) return;
  stage(tile, in + first, count);
  if (threadIdx.x < 4) means[threadIdx.x] = __ldg(mean + threadIdx.x);
  __pipeline_wait_prior(0);
  __syncthreads();
  if (threadIdx.x < count) out[first + threadIdx.x] = tile[threadIdx.x] - means[threadIdx.x % 4];
}
