// verdict: A1 words of 4 bytes | failed | "and that is not so"
// verdict: A2 parts of a word | failed | "and that is not so"
// verdict: A3 8 and 16 bytes | failed | "and that is not so"
// verdict: A4 loads | failed | "and that is not so"
// verdict: A5 applied to strides | failed | "function says"
// The given kernel touch is emptied: it counts 0 wavefronts, and so do functions that are not
// written.
__device__ int wavefronts(const unsigned address[32], int bytes, unsigned active) { return 0; }

__device__ int load_wavefronts(const unsigned address[32], int bytes, unsigned active) { return 0; }

template <class T>
__global__ void touch(const T* in, T* out, int stride) {}
