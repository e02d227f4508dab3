// verdict: A1 blocks that reside | failed | "the registers it asks for"
// verdict: A2 what limits them | failed | "which is wrong"
// half right
__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  int warps = ceil_div(usage.threads, kWarpSize);
  int registers = sm.registers / kQuarters / (usage.registers * kWarpSize) * kQuarters / warps;
  Allowed most = allowed(sm, usage);
  return min(min(most.threads, most.blocks), min(registers, most.shared));
}
