// verdict: A2 what limits them | failed | "which other one allows no more blocks"
__device__ int limits(Multiprocessor sm, Usage usage) {
  Allowed most = allowed(sm, usage);
  int blocks = resident_blocks(sm, usage);
  if (most.threads == blocks) return kThreads;
  if (most.blocks == blocks) return kBlocks;
  return most.registers == blocks ? kRegisters : kShared;
}
