// A1 adds blocks until a resource runs out; A2 tries one more unit of each resource.
__device__ bool fits(Multiprocessor sm, Usage usage, int blocks, int which) {
  int warps = (usage.threads + 31) / 32;
  int unit = (usage.registers * 32 + sm.register_unit - 1) / sm.register_unit * sm.register_unit;
  int bytes = usage.shared + sm.shared_reserved;
  bytes = (bytes + sm.shared_unit - 1) / sm.shared_unit * sm.shared_unit;
  if (which & 1 && 32 * warps * blocks > sm.threads) return false;
  if (which & 2 && blocks > sm.blocks) return false;
  if (which & 4 && warps * blocks > 4 * (sm.registers / 4 / unit)) return false;
  return !(which & 8 && bytes * blocks > sm.shared);
}

__device__ int resident_blocks(Multiprocessor sm, Usage usage) {
  int blocks = 1;
  while (fits(sm, usage, blocks + 1, 15)) ++blocks;
  return blocks;
}

__device__ int limits(Multiprocessor sm, Usage usage) {
  int blocks = resident_blocks(sm, usage), found = 0;
  for (int which = 1; which <= 8; which *= 2)
    if (!fits(sm, usage, blocks + 1, which)) found |= which;
  return found;
}

__device__ int waves(int grid, int resident) { return (grid - 1) / resident + 1; }
__device__ float last_wave(int grid, int resident) {
  return ((grid - 1) % resident + 1) / float(resident);
}
