// verdict: lab | error | "solutions/coalescing/coalescing.cu"
#include "@ROOT@/solutions/coalescing/coalescing.cu"
