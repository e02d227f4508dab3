// verdict: A1 blocks that reside | failed | "and that is not so"
// verdict: A2 what limits them | failed | "and that is not so"
__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  Allowed most = allowed(sm, usage);
  return min(most.threads, min(most.registers, most.shared));
}
