// verdict: B1 scale: result | error | "argument 3 of `scale` has 8 bytes, 4 are given"
// verdict: B1 scale: sectors | failed | "counts once the result is right"
// The name of the kernel, and parameters of its own.
__global__ void scale(const double* in, double* out, double factor, int n) {}
