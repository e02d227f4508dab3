// verdict: A5 applied to strides | failed | "lanes in another order"
// verdict: A3 8 and 16 bytes | failed | "It seems to serve all lanes in one phase"
// verdict: A4 loads | failed | "which is wrong"
__device__ int lanes_of_phase(int bytes) { return 32; }
