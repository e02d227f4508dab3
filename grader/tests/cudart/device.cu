// The device, its settings, versions, the names of errors; cudaDeviceReset.
#include <cuda_profiler_api.h>

#include <cstring>

#include "expect.h"

__device__ int value = 5;
__global__ void bump() { ++value; }

static int attribute(cudaDeviceAttr which) {
  int v = -1;
  WORKS(cudaDeviceGetAttribute(&v, which, 0));
  return v;
}

int main() {
  int n = -1;
  WORKS(cudaGetDeviceCount(&n));
  EXPECT(n == 1);
  WORKS(cudaSetDevice(0));
  WORKS(cudaGetDevice(&n));
  EXPECT(n == 0);
  EXPECT_ERROR(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidDevice);
  WORKS(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  unsigned flags = 0;
  WORKS(cudaGetDeviceFlags(&flags));
  EXPECT(flags & cudaDeviceScheduleBlockingSync);

  // Those of an H200 (data/devices/h200.toml, from cudaDeviceGetAttribute on one).
  cudaDeviceProp p;
  WORKS(cudaGetDeviceProperties(&p, 0));
  EXPECT(std::strncmp(p.name, "NVIDIA H200", 11) == 0);
  EXPECT(p.major == 9 && p.minor == 0 && p.warpSize == 32 && p.multiProcessorCount == 132);
  EXPECT(p.maxThreadsPerBlock == 1024 && p.maxThreadsPerMultiProcessor == 2048);
  EXPECT(p.maxThreadsDim[2] == 64 && p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535);
  EXPECT(p.sharedMemPerBlock == 49152 && p.sharedMemPerBlockOptin == 232448);
  EXPECT(p.sharedMemPerMultiprocessor == 233472 && p.regsPerBlock == 65536);
  EXPECT(p.totalGlobalMem == 150109880320 && p.l2CacheSize == 62914560);
  EXPECT(p.memoryBusWidth == 6016 && p.unifiedAddressing == 1 && p.cooperativeLaunch == 1);
  EXPECT(attribute(cudaDevAttrClockRate) == 1980000);
  EXPECT(attribute(cudaDevAttrMemoryClockRate) == 3201000);
  EXPECT(attribute(cudaDevAttrComputeCapabilityMajor) == 9);
  EXPECT(attribute(cudaDevAttrMaxBlocksPerMultiprocessor) == 32);
  EXPECT_ERROR(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
  EXPECT_ERROR(cudaDeviceGetAttribute(&n, static_cast<cudaDeviceAttr>(0), 0),
               cudaErrorInvalidValue);

  size_t bytes = 0;
  WORKS(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
  EXPECT(bytes >= 1 << 20);
  WORKS(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 24));
  WORKS(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  EXPECT(bytes == 1 << 24);
  WORKS(cudaDeviceSetLimit(cudaLimitStackSize, 3000));
  WORKS(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
  EXPECT(bytes == 3008);
  EXPECT_ERROR(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 1), cudaErrorUnsupportedLimit);
  EXPECT_ERROR(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorInvalidValue);

  int runtime = 0, driver = 0;
  WORKS(cudaRuntimeGetVersion(&runtime));
  WORKS(cudaDriverGetVersion(&driver));
  EXPECT(runtime == CUDART_VERSION && driver >= runtime);
  char id[32];
  WORKS(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  WORKS(cudaDeviceGetByPCIBusId(&n, id));
  EXPECT(n == 0);
  int can = -1;
  WORKS(cudaDeviceCanAccessPeer(&can, 0, 0));
  EXPECT(can == 0);
  WORKS(cudaProfilerStart());
  WORKS(cudaProfilerStop());

  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress),
                     "an illegal memory access was encountered") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(12345)),
                     "unrecognized error code") == 0);

  cudaGetLastError();
  bump<<<1, 1>>>();
  int host = 0;
  WORKS(cudaMemcpyFromSymbol(&host, value, 4));
  EXPECT(host == 6);
  int* lost;
  WORKS(cudaMalloc(&lost, 4));
  WORKS(cudaDeviceReset());
  EXPECT_ERROR(cudaFree(lost), cudaErrorInvalidValue);
  WORKS(cudaMemcpyFromSymbol(&host, value, 4));
  EXPECT(host == 5);  // as the program started
  return result();
}
