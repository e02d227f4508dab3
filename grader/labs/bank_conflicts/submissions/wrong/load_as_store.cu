// verdict: A5 applied to strides | failed | "lanes in another order"
// verdict: A4 loads | failed | "It seems to apply the rule for stores; a load may merge phases."
// half right
__device__ int load_wavefronts(const unsigned address[32], int bytes, unsigned active) {
  return wavefronts(address, bytes, active);
}
