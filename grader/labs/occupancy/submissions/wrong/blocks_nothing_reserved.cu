// verdict: A1 blocks that reside | failed | "what the system takes of each block's shared memory"
// verdict: A2 what limits them | failed | "and that is not so"
__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  sm.shared_reserved = 0;
  Allowed most = allowed(sm, usage);
  return min(min(most.threads, most.blocks), min(most.registers, most.shared));
}
