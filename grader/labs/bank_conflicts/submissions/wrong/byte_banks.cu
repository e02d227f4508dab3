// verdict: A1 words of 4 bytes | failed | "It seems to use the byte address as the number of the word"
// verdict: A2 parts of a word | failed | "It seems to use the byte address as the number of the word"
// verdict: A3 8 and 16 bytes | failed | "which is wrong"
// verdict: A5 applied to strides | failed | "touch<char> with stride 2"
// The first word only, and of that the byte's number modulo 32.
__device__ int wavefronts(const unsigned address[32], int bytes, unsigned active) {
  int sum = 0, lanes = lanes_of_phase(bytes);
  for (int first = 0; first < 32; first += lanes) {
    int fullest = 0;
    for (unsigned bank = 0; bank < 32; ++bank) {
      int distinct = 0;
      for (int lane = first; lane < first + lanes; ++lane) {
        bool fresh = (active >> lane & 1) && address[lane] % 32 == bank;
        for (int lower = first; lower < lane; ++lower) {
          if ((active >> lower & 1) && address[lower] == address[lane]) fresh = false;
        }
        distinct += fresh;
      }
      fullest = max(fullest, distinct);
    }
    sum += fullest;
  }
  return sum;
}
