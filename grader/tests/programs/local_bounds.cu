// A thread's own array, written past its end and read before it was written.
//! case faulty
//! gpu: undefined
//! stdout| done
//! check: memory 1, initialisation 1
//! case mended
//! stdout| done
//! stdout| 0 4 8 12
#include <cstdio>
#include <cstring>

__global__ void faulty(int* out, int n) {
  int own[4];
  for (int i = 1; i <= n; ++i)
    own[(i + n) % 8] = i * threadIdx.x;  // up to own[7]
  out[threadIdx.x] = own[n % 4];         // own[0] has been written, own[3] has not
  out[threadIdx.x] += own[(n + 3) % 4];
}

__global__ void mended(int* out, int n) {
  int own[4];
  for (int i = 0; i < n; ++i) own[i] = i * threadIdx.x;
  out[threadIdx.x] = own[n - 1] + own[1];
}

int main(int, char** argv) {
  int *out, v[4];
  cudaMalloc(&out, sizeof v);
  const bool is_faulty = std::strcmp(argv[1], "faulty") == 0;
  if (is_faulty) {
    faulty<<<1, 4>>>(out, 4);
  } else {
    mended<<<1, 4>>>(out, 4);
  }
  cudaDeviceSynchronize();
  std::printf("done\n");
  if (!is_faulty) {
    cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
    std::printf("%d %d %d %d\n", v[0], v[1], v[2], v[3]);
  }
  return 0;
}
