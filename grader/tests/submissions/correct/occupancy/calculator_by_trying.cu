// A1 by adding blocks until something is short; A2 by trying one more of each; other shapes and
// limits: as good.
__device__ bool fits(Multiprocessor sm, Usage usage, int blocks, int which) {
  int warps = (usage.threads + 31) / 32;
  int unit = (usage.registers * 32 + sm.register_unit - 1) / sm.register_unit * sm.register_unit;
  int bytes = usage.shared + sm.shared_reserved;
  bytes = (bytes + sm.shared_unit - 1) / sm.shared_unit * sm.shared_unit;
  if (which & kThreads && 32 * warps * blocks > sm.threads) return false;
  if (which & kBlocks && blocks > sm.blocks) return false;
  if (which & kRegisters && warps * blocks > 4 * (sm.registers / 4 / unit)) return false;
  return !(which & kShared && bytes * blocks > sm.shared);
}

__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  int blocks = 1;
  while (fits(sm, usage, blocks + 1, kThreads | kBlocks | kRegisters | kShared)) ++blocks;
  return blocks;
}

__device__ int limits(Multiprocessor sm, Usage usage) {
  int blocks = resident_blocks(sm, usage), found = 0;
  for (int which = 1; which <= kShared; which *= 2)
    if (!fits(sm, usage, blocks + 1, which)) found |= which;
  return found;
}

__device__ int waves(int grid, int resident) { return (grid - 1) / resident + 1; }
__device__ float last_wave(int grid, int resident) {
  return ((grid - 1) % resident + 1) / float(resident);
}

LAB32_LAUNCH(follow, .block = 512, .items_per_thread = 2);
LAB32_LAUNCH(smooth, .block = 128, .items_per_thread = 6);
LAB32_LAUNCH(orbits, .block = 128, .items_per_thread = 1);
LAB32_LAUNCH(match, .block = 256, .items_per_thread = 1, .blocks_per_sm = 1);
