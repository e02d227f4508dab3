// Bytes that nothing has written and that have no effect: the padding of a structure that is copied,
// and the old value of an exchange that nothing uses.
//! stdout| locks 0, best 1 at 31
#include <cstdio>

struct Best {
  double value;
  int i;
};

__global__ void unlock_all(int* locks) { atomicExch(&locks[threadIdx.x], 0); }

__global__ void fill(Best* b) {
  b[threadIdx.x].value = 1;
  b[threadIdx.x].i = threadIdx.x;
}

__global__ void copy(const Best* from, Best* to) {
  __shared__ Best s[32];
  s[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = s[threadIdx.x];
}

__global__ void last(const Best* from, double* value, int* i) {
  *value = from[31].value;
  *i = from[31].i;
}

int main() {
  int *locks, *i;
  double* value;
  Best *a, *b;
  cudaMalloc(&locks, 128);
  cudaMalloc(&i, sizeof *i);
  cudaMalloc(&value, sizeof *value);
  cudaMalloc(&a, 32 * sizeof(Best));
  cudaMalloc(&b, 32 * sizeof(Best));
  unlock_all<<<1, 32>>>(locks);
  fill<<<1, 32>>>(a);
  copy<<<1, 32>>>(a, b);
  last<<<1, 1>>>(b, value, i);
  int lock, place;
  double best;
  cudaMemcpy(&lock, locks + 7, sizeof lock, cudaMemcpyDeviceToHost);
  cudaMemcpy(&best, value, sizeof best, cudaMemcpyDeviceToHost);
  cudaMemcpy(&place, i, sizeof place, cudaMemcpyDeviceToHost);
  std::printf("locks %d, best %g at %d\n", lock, best, place);
  return 0;
}
