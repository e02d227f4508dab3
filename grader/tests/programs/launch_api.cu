// Launches without <<< >>>: cudaLaunchKernel, and cudaLaunchKernelEx with attributes.
//! stdout| 0 10 20 30
//! stdout| 1 11 21 31
#include <cstdio>

struct Scale {
  int factor;
  short offset;
};

__global__ void apply(int* out, Scale scale, char bias) {
  out[threadIdx.x] = threadIdx.x * scale.factor + scale.offset + bias;
}

static void show(const int* device) {
  int v[4];
  cudaMemcpy(v, device, sizeof v, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", v[0], v[1], v[2], v[3]);
}

int main() {
  int* out;
  cudaMalloc(&out, 4 * sizeof(int));
  Scale scale{10, 3};
  char bias = -3;
  void* arguments[] = {&out, &scale, &bias};
  cudaLaunchKernel(reinterpret_cast<const void*>(apply), dim3(1), dim3(4), arguments, 0, nullptr);
  show(out);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(4);
  cudaLaunchKernelEx(&config, apply, out, scale, static_cast<char>(-2));
  show(out);
  cudaFree(out);
  return 0;
}
