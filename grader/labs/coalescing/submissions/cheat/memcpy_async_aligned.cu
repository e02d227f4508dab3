// verdict: B3 push: sectors | failed | "memcpy_async becomes cp.async.bulk"
// An honest student's way to the copy engine: the size is known to be a multiple of 16 bytes.
#include <cooperative_groups.h>

#include <cuda/barrier>

__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  namespace cg = cooperative_groups;
  auto block = cg::this_thread_block();
  __shared__ alignas(16) Particle s[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (block.thread_rank() == 0) init(&bar, block.size());
  block.sync();
  int count = max(0, min(256, n - 256 * (int)blockIdx.x));
  cuda::memcpy_async(block, s, in + 256 * blockIdx.x, cuda::aligned_size_t<16>(32 * count), bar);
  bar.arrive_and_wait();
  if (threadIdx.x < count) {
    Particle p = s[threadIdx.x];
    float a = dt * p.charge / p.mass;
    p.x += dt * p.vx;
    p.y += dt * p.vy;
    p.z += dt * p.vz;
    p.vx += a * ex;
    p.vy += a * ey;
    p.vz += a * ez;
    s[threadIdx.x] = p;
  }
  block.sync();
  float4* d = reinterpret_cast<float4*>(s);
  float4* o = reinterpret_cast<float4*>(out + 256 * blockIdx.x);
  for (int k = threadIdx.x; k < 2 * count; k += 256) o[k] = d[k];
}
