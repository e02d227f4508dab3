// verdict: A1 blocks that reside | failed | "which is wrong"
// verdict: A2 what limits them | failed | "which is wrong"
__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  Allowed most = allowed(sm, usage);
  return min(most.threads, min(most.registers, most.shared));
}
