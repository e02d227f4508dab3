// verdict: A1 blocks that reside | failed | "the shared memory that the system reserves in each block"
// verdict: A2 what limits them | failed | "which is wrong"
__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  sm.shared_reserved = 0;
  Allowed most = allowed(sm, usage);
  return min(min(most.threads, most.blocks), min(most.registers, most.shared));
}
