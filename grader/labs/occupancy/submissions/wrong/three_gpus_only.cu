// verdict: A1 blocks that reside | failed | "GPU that is drawn"
// verdict: A2 what limits them | failed | "GPU that is drawn"
// The register file of all three GPUs has 65536 registers, and sm.registers is not read.
__device__ Allowed allowed(Multiprocessor sm, Usage usage) {
  Allowed most;
  // A partial warp takes the place of a whole one.
  int warps = ceil_div(usage.threads, kWarpSize);
  most.threads = sm.threads / kWarpSize / warps;
  most.blocks = sm.blocks;
  // Registers are given to a warp, in units; the remainder of a quarter stays unused.
  int of_warp = round_up(usage.registers * kWarpSize, sm.register_unit);
  most.registers = 65536 / kQuarters / of_warp * kQuarters / warps;
  // Shared memory is given to a block, with the system's own part. Turing reserves none.
  int of_block = round_up(usage.shared + sm.shared_reserved, sm.shared_unit);
  most.shared = of_block > 0 ? sm.shared / of_block : sm.blocks + 1;
  return most;
}
