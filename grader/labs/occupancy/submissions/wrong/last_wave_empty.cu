// verdict: A3 waves and the last one | failed | "If all waves are full, so is the last one"
// half right
__device__ float last_wave(int grid, int resident) { return float(grid % resident) / resident; }
