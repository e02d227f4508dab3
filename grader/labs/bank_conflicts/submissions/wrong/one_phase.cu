// verdict: A5 applied to strides | failed | "with its lanes in another order"
// verdict: A3 8 and 16 bytes | failed | "It seems to serve all lanes in one phase"
// verdict: A4 loads | failed | "that is not so"
__device__ int lanes_of_phase(int bytes) { return 32; }
