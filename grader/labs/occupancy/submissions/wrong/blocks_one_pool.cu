// verdict: A1 blocks that reside | failed | "treat the registers as one pool"
// verdict: A2 what limits them | failed | "which is wrong"
__device__ Allowed allowed(Multiprocessor sm, Usage usage) {
  Allowed most;
  int warps = ceil_div(usage.threads, kWarpSize);
  most.threads = sm.threads / kWarpSize / warps;
  most.blocks = sm.blocks;
  most.registers = sm.registers / round_up(usage.registers * kWarpSize, sm.register_unit) / warps;
  int of_block = round_up(usage.shared + sm.shared_reserved, sm.shared_unit);
  most.shared = of_block > 0 ? sm.shared / of_block : sm.blocks + 1;
  return most;
}
