// verdict: B1 scale: result | failed | "was not written"
// verdict: B1 scale: sectors | failed | "once the result is right"
// The lines above name each check that this mistake loses, its status, and words of the message. The rest of the
// file replaces definitions of the solution. Here the last element of an odd n is forgotten.
__global__ void scale(const float* in, float* out, float factor, int n) {
  for (int k = 0; k < kItems; ++k) {
    int i = (blockIdx.x * kItems + k) * kBlock + threadIdx.x;
    if (i < n / 2 * 2) out[i] = factor * in[i];
  }
}
