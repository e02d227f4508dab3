// verdict: B2 look_up: wavefronts | failed | "the stores of 32 lanes, 4 bytes each, take 32 wavefronts where 1 would"
// The conflict is moved from the look-ups to the way in.
__device__ int entry(int row, int column) { return 256 * column + row; }
