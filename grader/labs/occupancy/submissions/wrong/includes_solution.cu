// verdict: lab | error | "solutions/occupancy/occupancy.cu"
#include "@ROOT@/solutions/occupancy/occupancy.cu"
