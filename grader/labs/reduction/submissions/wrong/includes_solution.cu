// verdict: lab | error | "solutions/reduction/reduction.cu"
// Cheats: hands in the reference solution by its path.
#include "@ROOT@/solutions/reduction/reduction.cu"
