// cudaMemcpy in all directions, cudaMemset, and the direction that the runtime finds out itself.
//! stdout| host to host 7
//! stdout| through the device 1 2 3 4
//! stdout| memset 01010101 00000000
//! stdout| part 1 9 9 4
//! stdout| offset copy 3 4
//! stdout| free of null: no error
#include <cstdio>

int main() {
  int a[4] = {1, 2, 3, 4}, b[4] = {}, seven = 7, copy = 0;
  cudaMemcpy(&copy, &seven, sizeof copy, cudaMemcpyHostToHost);
  std::printf("host to host %d\n", copy);
  int *d, *e;
  cudaMalloc(&d, sizeof a);
  cudaMalloc(&e, sizeof a);
  cudaMemcpy(d, a, sizeof a, cudaMemcpyDefault);
  cudaMemcpy(e, d, sizeof a, cudaMemcpyDeviceToDevice);
  cudaMemcpy(b, e, sizeof a, cudaMemcpyDefault);
  std::printf("through the device %d %d %d %d\n", b[0], b[1], b[2], b[3]);
  cudaMemset(e, 1, 8);
  cudaMemset(e + 2, 0, 8);
  cudaMemcpy(b, e, sizeof b, cudaMemcpyDeviceToHost);
  std::printf("memset %08x %08x\n", b[1], b[3]);
  const int nines[2] = {9, 9};
  cudaMemcpy(d + 1, nines, sizeof nines, cudaMemcpyHostToDevice);
  cudaMemcpy(b, d, sizeof b, cudaMemcpyDeviceToHost);
  std::printf("part %d %d %d %d\n", b[0], b[1], b[2], b[3]);
  cudaMemcpy(d, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(b, d + 2, 2 * sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("offset copy %d %d\n", b[0], b[1]);
  std::printf("free of null: %s\n", cudaGetErrorString(cudaFree(nullptr)));
  cudaFree(d);
  cudaFree(e);
  return 0;
}
