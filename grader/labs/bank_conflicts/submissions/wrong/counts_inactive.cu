// verdict: A5 applied to strides | failed | "lanes in another order"
// verdict: A1 words of 4 bytes | failed | "It seems to count inactive lanes, too"
// verdict: A2 parts of a word | failed | "It seems to count inactive lanes, too"
// verdict: A3 8 and 16 bytes | failed | "It seems to count inactive lanes, too"
__device__ int wavefronts(const unsigned address[32], int bytes, unsigned active) {
  return phases(address, bytes, 0xffffffff, lanes_of_phase(bytes));
}
