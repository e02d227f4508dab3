// verdict: B2 copy: with 8 warps | failed | "has the copy engine move data"
// The model of the time knows no copy engine: the kernel would seem to have next to nothing to do.
__global__ void copy(const float* in, float* out, int n) {
  __shared__ alignas(128) float tile[8192];
  __shared__ unsigned long long arrived;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&arrived));
  const int whole = n & ~3;  // in units of 16 bytes
  if (blockIdx.x == 0 && threadIdx.x < n - whole) out[whole + threadIdx.x] = in[whole + threadIdx.x];
  if (threadIdx.x != 0) return;
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
  int phase = 0;
  for (int first = 8192 * blockIdx.x; first < whole; first += 8192 * gridDim.x, phase ^= 1) {
    const unsigned bytes = 4 * min(8192, whole - first);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1], %2, [%3];" ::"r"(to),
        "l"(in + first), "r"(bytes), "r"(barrier)
        : "memory");
    int done = 0;
    while (done == 0)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(barrier), "r"(phase)
          : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + first),
                 "r"(to), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
