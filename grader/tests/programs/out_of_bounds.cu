// The guard that is missing, or off by one: reads and writes past the end of an array.
//! case faulty
//! gpu: undefined
//! stdout| done
//! check: memory 1
//! case mended
//! stdout| done
//! stdout| last 99
#include <cstdio>
#include <cstring>

__global__ void faulty(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  if (i <= n) out[i] = in[i];  // one line, whatever is wrong on it
}

__global__ void mended(const int* in, int* out, int n) {
  const int i = threadIdx.x;
  if (i < n) out[i] = in[i];
}

int main(int, char** argv) {
  int host[100], *in, *out;
  for (int i = 0; i < 100; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  const bool is_faulty = std::strcmp(argv[1], "faulty") == 0;
  if (is_faulty) {
    faulty<<<1, 128>>>(in, out, 100);
  } else {
    mended<<<1, 128>>>(in, out, 100);
  }
  cudaDeviceSynchronize();
  std::printf("done\n");
  if (!is_faulty && cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess)
    std::printf("last %d\n", host[99]);
  return 0;
}
