// verdict: B2 fields: result | failed | "writes particles[1048576]; the last is particles[255]"
// verdict: B2 fields: sectors | failed | "counts once the result is right"
// The array of the pointer is named, although another one is closer to the address.
__device__ int slot(int field, int i, int n) { return (field << 20) + i; }
