// verdict: B2 fields: result | failed | "out of bounds"
// verdict: B2 fields: sectors | failed | "counts once the result is right"
// Fields 2^20 apart: right for the size that everybody tries.
__device__ int slot(int field, int i, int n) { return (field << 20) + i; }
