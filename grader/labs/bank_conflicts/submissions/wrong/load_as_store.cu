// verdict: A5 applied to strides | failed | "with its lanes in another order"
// verdict: A4 loads | failed | "It seems to be the store's rule; a load may merge phases."
// half right
__device__ int load_wavefronts(const unsigned address[32], int bytes, unsigned active) {
  return wavefronts(address, bytes, active);
}
