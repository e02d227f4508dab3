// verdict: A1 blocks that reside | failed | "count single threads"
// verdict: A2 what limits them | failed | "which is wrong"
__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  Allowed most = allowed(sm, usage);
  return min(min(sm.threads / usage.threads, most.blocks),
             min(sm.registers / (usage.registers * usage.threads), most.shared));
}
