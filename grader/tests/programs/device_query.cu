// Properties and attributes: what is the same on every H200, and what must agree with what.
//! stdout| devices at least 1: 1, current 0
//! stdout| cc 9.0, 132 multiprocessors, warps of 32
//! stdout| block 1024 of 1024 x 1024 x 64, shared 49152, opt-in 232448
//! stdout| attribute and property agree: 1
//! stdout| versions agree: 1
//! stdout| free is not more than total: 1
#include <cstdio>

int main() {
  int count = 0, device = -1, driver = 0, runtime = 0, attribute = 0, opt_in = 0;
  cudaGetDeviceCount(&count);
  cudaSetDevice(0);
  cudaGetDevice(&device);
  std::printf("devices at least 1: %d, current %d\n", count >= 1, device);
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  std::printf("cc %d.%d, %d multiprocessors, warps of %d\n", p.major, p.minor,
              p.multiProcessorCount, p.warpSize);
  cudaDeviceGetAttribute(&opt_in, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
  std::printf("block %d of %d x %d x %d, shared %zu, opt-in %d\n", p.maxThreadsPerBlock,
              p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2], p.sharedMemPerBlock,
              opt_in);
  cudaDeviceGetAttribute(&attribute, cudaDevAttrMaxThreadsPerMultiProcessor, 0);
  std::printf("attribute and property agree: %d\n", attribute == p.maxThreadsPerMultiProcessor);
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  std::printf("versions agree: %d\n", driver >= runtime && runtime >= 13000);
  size_t available = 0, total = 0;
  cudaMemGetInfo(&available, &total);
  std::printf("free is not more than total: %d\n", available <= total && total > 0);
  return 0;
}
