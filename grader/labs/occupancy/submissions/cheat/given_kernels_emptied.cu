// verdict: B1 follow: warps that wait | failed | "the grid gives it 16 warps at a time"
// verdict: B5 orbits: the tail | failed | "takes 1.05 waves"
// The given kernels do nothing here; the grader launches its own.
LAB32_LAUNCH(follow, .block = 32, .items_per_thread = 8);
__global__ void follow(const int* next, int* out, int n, int steps) {}
LAB32_LAUNCH(orbits, .block = 1024, .items_per_thread = 4);
__global__ void orbits(float* out, int n, int steps) {}
