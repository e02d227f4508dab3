// Half the shared memory that the threads need (one of the documents' kernels does this).
//! case faulty
//! gpu: undefined
//! stdout| done
//! check: memory 1
//! case mended
//! stdout| done
//! stdout| sum 2016
#include <cstdio>
#include <cstring>

constexpr int kThreads = 64;

template <int kWords>
__global__ void sum(int* out) {
  __shared__ int s[kWords];
  const int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  if (t == 0) {
    int total = 0;
    for (int i = 0; i < kWords; ++i) total += s[i];
    *out = total;
  }
}

int main(int, char** argv) {
  int *out, v = 0;
  cudaMalloc(&out, sizeof v);
  const bool faulty = std::strcmp(argv[1], "faulty") == 0;
  if (faulty) {
    sum<kThreads / 2><<<1, kThreads>>>(out);
  } else {
    sum<kThreads><<<1, kThreads>>>(out);
  }
  cudaDeviceSynchronize();
  std::printf("done\n");
  if (!faulty) {
    cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
    std::printf("sum %d\n", v);
  }
  return 0;
}
