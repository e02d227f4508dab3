// verdict: A3 waves and the last one | failed | "After whole waves only, the last one is full"
// half right
__device__ float last_wave(int grid, int resident) { return float(grid % resident) / resident; }
