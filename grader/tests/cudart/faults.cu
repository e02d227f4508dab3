// A kernel that goes wrong in the way that the argument names, and what each call says after it.
#include <cassert>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

__global__ void go_wrong(int* data, int* none, int how) {
  const int i = threadIdx.x;
  if (how == 0) data[i + 100] = i;
  if (how == 1) *reinterpret_cast<int*>(reinterpret_cast<char*>(data) + 2) = 1;
  if (how == 2) none[i] = i;
  if (how == 3) assert(i < 7);
  if (how == 4) __trap();
  if (how == 5) printf("thread %d was here\n", i);
}

__global__ void fine(int* data) { data[0] = 1; }

static void show(const char* what, cudaError_t error) {
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
}

int main(int, char** argv) {
  const char* ways[] = {"bounds", "misaligned", "null", "assert", "trap"};
  int how = 0;
  while (std::strcmp(ways[how], argv[1])) ++how;
  int* data;
  cudaMalloc(&data, 400);
  go_wrong<<<1, 2>>>(data, nullptr, 5);
  std::printf("before\n");
  go_wrong<<<1, 32>>>(data, nullptr, how);
  show("at the launch", cudaGetLastError());
  fine<<<1, 1>>>(data);
  show("at the next launch", cudaGetLastError());
  show("synchronised", cudaDeviceSynchronize());
  show("last", cudaGetLastError());
  show("last again", cudaPeekAtLastError());
  show("copy", cudaMemcpy(&how, data, 4, cudaMemcpyDeviceToHost));
  show("allocation", cudaMalloc(&data, 4));
  fine<<<1, 1>>>(data);
  show("launch", cudaGetLastError());
  return 3;
}
