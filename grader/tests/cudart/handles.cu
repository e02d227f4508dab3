// Handles of what was destroyed: errors here, where a GPU's runtime may crash.
#include "expect.h"

__global__ void mark(int* out) { *out = 1; }

int main() {
  int* out;
  WORKS(cudaMallocManaged(&out, 4));
  cudaStream_t stream;
  WORKS(cudaStreamCreate(&stream));
  WORKS(cudaStreamDestroy(stream));
  EXPECT_ERROR(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  mark<<<1, 1, 0, stream>>>(out);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  EXPECT(*out == 0);
  cudaEvent_t event;
  WORKS(cudaEventCreate(&event));
  WORKS(cudaEventDestroy(event));
  EXPECT_ERROR(cudaEventRecord(event), cudaErrorInvalidResourceHandle);
  return result();
}
