// Blocks that hand a value on, the first to the last one: each waits for the one behind it. They fit
// the device at once, so a GPU runs them, too.
//! stdout| block 0 got 131
#include <cstdio>

__global__ void chain(volatile int* flag) {
  const int b = blockIdx.x;
  int value = 0;
  if (b + 1 < gridDim.x) {
    while (flag[b + 1] < 0) {
    }
    value = flag[b + 1] + 1;
  }
  __threadfence();
  flag[b] = value;
}

int main() {
  int *flag, first = 0;
  cudaMalloc(&flag, 132 * sizeof(int));
  cudaMemset(flag, 0xff, 132 * sizeof(int));
  chain<<<132, 1>>>(flag);
  cudaMemcpy(&first, flag, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("block 0 got %d\n", first);
  cudaFree(flag);
  return 0;
}
