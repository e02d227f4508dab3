// verdict: A1 blocks that reside | failed | "exactly the shared memory it asks for"
// verdict: A2 what limits them | failed | "which is wrong"
__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  sm.shared_unit = 1;
  Allowed most = allowed(sm, usage);
  return min(min(most.threads, most.blocks), min(most.registers, most.shared));
}
