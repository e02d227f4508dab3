// verdict: lab | error | "shuffle.cu"
#include "@ROOT@/solutions/shuffle/shuffle.cu"
