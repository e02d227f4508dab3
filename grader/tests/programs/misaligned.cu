// A vector load from an address that is no multiple of the vector's size.
//! case faulty
//! stdout| misaligned address
//! status: 1
//! check: memory 1
//! case mended
//! stdout| no error
//! stdout| 4 5 6 7
#include <cstdio>
#include <cstring>

__global__ void load(const int* in, int4* out, int offset) {
  *out = *reinterpret_cast<const int4*>(in + offset);
}

int main(int, char** argv) {
  int host[16], *in;
  int4 *out, v;
  for (int i = 0; i < 16; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof v);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  load<<<1, 1>>>(in, out, std::strcmp(argv[1], "faulty") == 0 ? 3 : 4);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;
  cudaMemcpy(&v, out, sizeof v, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", v.x, v.y, v.z, v.w);
  return 0;
}
