// verdict: lab | error | "solutions/transpose/transpose.cu"
// Cheats: hands in the reference solution by its path.
#include "@ROOT@/solutions/transpose/transpose.cu"
