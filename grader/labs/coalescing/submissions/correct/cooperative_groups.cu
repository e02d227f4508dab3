// Cooperative groups throughout: the block stages particles as a collective, four lanes process a
// row of the table, and the group elects one thread of the last block for the tail.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

__global__ void scale(const float* in, float* out, float factor, int n) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  // Each warp has 512 neighbours, which it walks in strides of a warp.
  const int begin = 4096 * block.group_index().x + 512 * warp.meta_group_rank();
  const int end = min(begin + 512, n);
  for (int i = begin + warp.thread_rank(); i < end; i += warp.size()) out[i] = factor * in[i];
}

__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  __shared__ Particle tile[256];
  auto block = cg::this_thread_block();
  const int first = block.group_index().x * block.num_threads();
  const int count = min(static_cast<int>(block.num_threads()), n - first);
  cg::memcpy_async(block, tile, in + first, sizeof(Particle) * count);
  cg::wait(block);
  const int t = block.thread_rank();
  if (t < count) {
    Particle p = tile[t];
    const float a = dt * p.charge / p.mass;
    p.x += dt * p.vx;
    p.y += dt * p.vy;
    p.z += dt * p.vz;
    p.vx += a * ex;
    p.vy += a * ey;
    p.vz += a * ez;
    tile[t] = p;
  }
  block.sync();
  for (int j = t; j < kFields * count; j += block.num_threads())
    reinterpret_cast<float*>(out + first)[j] = reinterpret_cast<const float*>(tile)[j];
}

__global__ void centre(const float* in, const float* mean, float* out, int n) {
  auto block = cg::this_thread_block();
  auto row_of_four = cg::tiled_partition<4>(block);
  const int quarter = 4 * block.group_index().x + block.group_index().y;
  const int row = 64 * quarter + row_of_four.meta_group_rank();
  const int column = row_of_four.thread_rank();
  if (row < n) out[4 * row + column] = in[4 * row + column] - mean[column];
}

__global__ void axpy(float a, const float* x, float* y, int n) {
  const int q = cg::this_grid().thread_rank();
  if (q < n / 4) {
    const float4 from = reinterpret_cast<const float4*>(x)[q];
    float4 to = reinterpret_cast<float4*>(y)[q];
    to = {fmaf(a, from.x, to.x), fmaf(a, from.y, to.y), fmaf(a, from.z, to.z),
          fmaf(a, from.w, to.w)};
    reinterpret_cast<float4*>(y)[q] = to;
  }
  if (blockIdx.x == gridDim.x - 1)
    cg::invoke_one(cg::this_thread_block(), [=] {
      for (int i = n / 4 * 4; i < n; ++i) y[i] = fmaf(a, x[i], y[i]);
    });
}
