// The kernels that the timer runs before and after the timed kernels.

// Fills L2 with other data by reading. A memset would leave modified lines, which the next kernel
// would have to write back. `n` counts 16-byte words.
extern "C" __global__ void lab32_flush(const uint4* from, unsigned long long n, unsigned* sink) {
  unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n;
       i += step)
    sum += from[i].x;
  if (sum == 1) *sink = sum;  // prevents the compiler from removing the loads
}

// Keeps the queue busy for about `cycles`, so that the host has enqueued all following work before
// it starts. Otherwise the host's launch times would be measured.
extern "C" __global__ void lab32_spin(long long cycles) {
  long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

// A digest that tells outputs apart: the sum over all words, each mixed with its index. `n` counts
// bytes.
extern "C" __global__ void lab32_digest(const unsigned char* from, unsigned long long n,
                                        unsigned long long* to) {
  unsigned long long step = (unsigned long long)gridDim.x * blockDim.x;
  unsigned long long sum = 0;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
       i < n / 4 + 3; i += step) {
    // Whole words, then up to three single bytes, never beyond the end.
    unsigned long long value;
    if (i < n / 4)
      value = ((const unsigned*)from)[i];
    else if (n / 4 * 4 + (i - n / 4) < n)
      value = from[n / 4 * 4 + (i - n / 4)];
    else
      break;
    unsigned long long h = (value + 0x9e3779b97f4a7c15ull) ^ (i * 0xbf58476d1ce4e5b9ull);
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ h >> 27) * 0x94d049bb133111ebull;
    sum += h ^ h >> 31;
  }
  if (sum) atomicAdd(to, sum);
}
