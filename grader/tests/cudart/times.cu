// Modelled times of launches that repeat: from the third on they are not modelled anew, but follow
// what the kernel does.
#include "expect.h"

__global__ void loop(float* x, const int* rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = *rounds;
  float v = x[i];
  for (int round = 0; round < n; ++round) v = v * 1.01f + 1;
  x[i] = v;
}

int main() {
  float* data;
  int* rounds;
  WORKS(cudaMalloc(&data, 1 << 20));
  WORKS(cudaMemset(data, 0, 1 << 20));
  WORKS(cudaMallocManaged(&rounds, sizeof(int)));
  cudaEvent_t start, stop;
  WORKS(cudaEventCreate(&start));
  WORKS(cudaEventCreate(&stop));
  float times[5];
  for (int i = 0; i < 5; ++i) {
    *rounds = i < 4 ? 1000 : 3000;
    WORKS(cudaEventRecord(start));
    loop<<<1024, 256>>>(data, rounds);
    WORKS(cudaEventRecord(stop));
    WORKS(cudaEventSynchronize(stop));
    WORKS(cudaEventElapsedTime(&times[i], start, stop));
  }
  EXPECT(times[1] <= times[0]);  // what the first has left in L2
  EXPECT(times[2] > 0.999f * times[1] && times[2] < 1.001f * times[1]);
  EXPECT(times[3] > 0.999f * times[1] && times[3] < 1.001f * times[1]);
  EXPECT(times[4] > 2 * times[3] && times[4] < 3 * times[3]);
  for (cudaEvent_t event : {start, stop}) WORKS(cudaEventDestroy(event));
  WORKS(cudaFree(data));
  WORKS(cudaFree(rounds));
  return result();
}
