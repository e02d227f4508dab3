// verdict: A3 waves and the last one | failed | "which is wrong"
__device__ int waves(int grid, int resident) { return grid / resident; }
__device__ float last_wave(int grid, int resident) { return float(grid % resident) / resident; }
