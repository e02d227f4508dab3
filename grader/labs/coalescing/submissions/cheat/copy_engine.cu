// verdict: B1 scale: sectors | failed | "has the copy engine move data"
// What the copy engine moves is no access of a lane's. Right, and as fast as can be, but nobody has
// counted it.
__global__ void scale(const float* in, float* out, float factor, int n) {
  __shared__ alignas(128) float tile[4096];
  __shared__ unsigned long long arrived;
  const int first = 4096 * blockIdx.x, count = min(4096, n - first);
  const unsigned bytes = 4 * (count & ~3);  // in units of 16
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&arrived));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    if (bytes != 0)
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
          "[%0], [%1], %2, [%3];" ::"r"(to),
          "l"(in + first), "r"(bytes), "r"(barrier)
          : "memory");
  }
  int done = 0;
  while (done == 0)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier)
        : "memory");
  for (int j = threadIdx.x; j < count; j += blockDim.x) {
    if (4 * j < static_cast<int>(bytes))
      tile[j] *= factor;
    else
      out[first + j] = factor * in[first + j];
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0 && bytes != 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + first),
                 "r"(to), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
