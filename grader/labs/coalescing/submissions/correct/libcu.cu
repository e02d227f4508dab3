// libcu++: a pipeline per thread with cuda::memcpy_async, cuda::std::array, and an atomic_ref for
// the elements of the tail.
#include <cuda/atomic>
#include <cuda/pipeline>
#include <cuda/std/array>

__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  cuda::std::array<unsigned long long, 32> sector{};
  for (int lane = 0; lane < 32; ++lane) sector[lane] = address[lane] / 32;
  int count = 0;
  for (int lane = 0; lane < 32; ++lane) {
    bool counts = active >> lane & 1;
    int other = 0;
    for (; other < lane; ++other) counts &= !(active >> other & 1 && sector[other] == sector[lane]);
    count += counts;
  }
  return count;
}

__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  __shared__ alignas(16) Particle tile[256];
  const int first = blockIdx.x * 256, count = min(256, n - first);
  auto own = cuda::make_pipeline();
  own.producer_acquire();
  // Chunk by chunk, so that the lanes of each copy are neighbours.
  for (int j = threadIdx.x; j < 2 * count; j += 256)
    cuda::memcpy_async(reinterpret_cast<float4*>(tile) + j,
                       reinterpret_cast<const float4*>(in + first) + j,
                       cuda::aligned_size_t<16>(16), own);
  own.producer_commit();
  own.consumer_wait();
  __syncthreads();
  if (threadIdx.x < count) {
    Particle& p = tile[threadIdx.x];
    const float a = dt * p.charge / p.mass;
    p.x += dt * p.vx, p.y += dt * p.vy, p.z += dt * p.vz;
    p.vx += a * ex, p.vy += a * ey, p.vz += a * ez;
  }
  __syncthreads();
  for (int j = threadIdx.x; j < 8 * count; j += 256) (&out[first].x)[j] = (&tile[0].x)[j];
}

__global__ void axpy(float a, const float* x, float* y, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  if (n - i < 4) {
    for (int k = i; k < n; ++k)
      cuda::atomic_ref<float, cuda::thread_scope_device>(y[k]).fetch_add(
          a * x[k], cuda::memory_order_relaxed);
    return;
  }
  float4 from, to;
  from = *static_cast<const float4*>(__builtin_assume_aligned(x + i, 16));
  to = *static_cast<const float4*>(__builtin_assume_aligned(y + i, 16));
  to.x += a * from.x, to.y += a * from.y, to.z += a * from.z, to.w += a * from.w;
  *static_cast<float4*>(__builtin_assume_aligned(y + i, 16)) = to;
}
