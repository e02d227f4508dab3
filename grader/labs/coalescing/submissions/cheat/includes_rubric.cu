// verdict: lab | error | "data/limits/coalescing.toml"
// Wants the rubric with its answers.
#include "@ROOT@/data/limits/coalescing.toml"
__global__ void scale(const float* in, float* out, float factor, int n) {}
