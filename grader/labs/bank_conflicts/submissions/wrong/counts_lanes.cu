// verdict: A1 words of 4 bytes | failed | "lanes that access the same word of a bank get it together"
// verdict: A2 parts of a word | failed | "Bank/word where it lies"
// verdict: A3 8 and 16 bytes | failed | "which is wrong"
// verdict: A4 loads | failed | "which is wrong"
// verdict: A5 applied to strides | failed | "touch<char> with stride 1"
// No broadcast: lanes in the fullest bank.
__device__ int phase(const unsigned address[32], int bytes, unsigned active, int first, int lanes) {
  int fullest = 0;
  for (unsigned bank = 0; bank < 32; ++bank) {
    int here = 0;
    for (int lane = first; lane < first + lanes; ++lane) {
      unsigned offset = (bank - address[lane] / 4) % 32;
      here += (active >> lane & 1) && offset < (bytes <= 4 ? 1 : bytes / 4);
    }
    fullest = max(fullest, here);
  }
  return fullest;
}
