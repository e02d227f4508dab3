// The host touches memory of the device, and the message names the memory.
//! case reads
//! status: -11
//! stderr~ the host reads offset 12 of
//! stderr~ (400 bytes), which is device memory: only kernels and copies can access it
//! check: memory 1
//! case writes
//! status: -11
//! stderr~ the host writes offset 12 of
//! check: memory 1
//! case copies
//! status: -11
//! stderr~ the host reads offset 0 of
//! check: memory 1
//! case freed
//! status: -11
//! stderr~ which the program has freed
//! check: memory 1
#include <cstdio>
#include <cstring>
#include <string>

int main(int, char** argv) {
  const std::string what = argv[1];
  int *a, *managed, host[100];
  cudaMalloc(&a, sizeof host);
  if (what == "reads") std::printf("%d\n", a[3]);
  if (what == "writes") a[3] = 1;
  if (what == "copies") std::memcpy(host, a, sizeof host);
  if (what == "freed") {
    cudaMallocManaged(&managed, 400);
    cudaFree(managed);
    *managed = 1;
  }
  return 0;
}
