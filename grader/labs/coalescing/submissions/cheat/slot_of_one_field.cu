// verdict: B2 fields: sectors | failed | "Let slot() put values side by side"
// Only the field that is known to be counted has an array of its own; the other seven stay
// structures.
__device__ int slot(int field, int i, int n) {
  int whole = ceil_div(n, kWarpSize) * kWarpSize;
  if (field == 6) return i;
  return whole + 7 * i + (field == 7 ? 6 : field);
}
