// verdict: A1 words of 4 bytes | failed | "which is wrong"
// verdict: A2 parts of a word | failed | "which is wrong"
// verdict: A3 8 and 16 bytes | failed | "which is wrong"
// verdict: A4 loads | failed | "which is wrong"
// verdict: A5 applied to strides | failed | "function returns"
// The given kernel touch is emptied: it counts 0 wavefronts, and so do functions that are not
// written.
__device__ int wavefronts(const unsigned address[32], int bytes, unsigned active) { return 0; }

__device__ int load_wavefronts(const unsigned address[32], int bytes, unsigned active) { return 0; }

template <class T>
__global__ void touch(const T* in, T* out, int stride) {}
