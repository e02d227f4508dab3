// verdict: A1 words of 4 bytes | failed | "It seems to count conflicts"
// verdict: A2 parts of a word | failed | "It seems to count conflicts"
// verdict: A3 8 and 16 bytes | failed | "which is wrong"
// verdict: A5 applied to strides | failed | "for its store your function returns 0"
__device__ int wavefronts(const unsigned address[32], int bytes, unsigned active) {
  return max(0, phases(address, bytes, active, lanes_of_phase(bytes)) - 1);
}
