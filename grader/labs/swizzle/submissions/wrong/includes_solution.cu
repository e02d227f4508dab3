// verdict: lab | error | "solutions/swizzle/swizzle.cu"
// Cheats: hands in the reference solution by its path.
#include "@ROOT@/solutions/swizzle/swizzle.cu"
