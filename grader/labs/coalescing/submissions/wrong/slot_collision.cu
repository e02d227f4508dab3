// verdict: B2 fields: result | failed | "field"
// verdict: B2 fields: sectors | failed | "counts once the result is right"
// Blocks of 32 particles, field by field - but the fields of a block lie 16 apart, not 32.
__device__ int slot(int field, int i, int n) { return i / 32 * 256 + field * 16 + i % 32; }
