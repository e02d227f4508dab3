// Calls that few programs make.
#include "expect.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

__device__ int variable[4];
__global__ void put(int* out, int value) { out[threadIdx.x] = value + int(threadIdx.x); }

static void device() {
  int n = -1;
  cudaDeviceProp properties;
  WORKS(cudaGetDeviceProperties(&properties, 0));
  WORKS(cudaChooseDevice(&n, &properties));
  EXPECT(n == 0);
  WORKS(cudaInitDevice(0, 0, 0));
  int only[] = {0};
  WORKS(cudaSetValidDevices(only, 1));
  EXPECT_ERROR(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  EXPECT_ERROR(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  EXPECT_ERROR(cudaDeviceGetP2PAttribute(&n, cudaDevP2PAttrAccessSupported, 0, 0),
               cudaErrorInvalidDevice);
  cudaGetLastError();
  cudaFuncCache cache;
  WORKS(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  WORKS(cudaDeviceGetCacheConfig(&cache));
  // On a GPU fewer blocks are said to fit when L1 is preferred.
  WORKS(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
  WORKS(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte));
  cudaSharedMemConfig banks;
  WORKS(cudaDeviceGetSharedMemConfig(&banks));
  EXPECT(banks == cudaSharedMemBankSizeFourByte);
  WORKS(cudaCtxResetPersistingL2Cache());
  const cudaChannelFormatDesc channel =
      cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindFloat);
  EXPECT(channel.x == 8 && channel.y == 16 && channel.f == cudaChannelFormatKindFloat);
}

static void pools() {
  cudaMemPool_t pool, usual;
  WORKS(cudaDeviceGetDefaultMemPool(&usual, 0));
  WORKS(cudaDeviceGetMemPool(&pool, 0));
  EXPECT(pool == usual);
  WORKS(cudaDeviceSetMemPool(0, usual));
  cudaMemLocation here{};
  here.type = cudaMemLocationTypeDevice;
  cudaMemAccessFlags flags;
  WORKS(cudaMemPoolGetAccess(&flags, usual, &here));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  cudaMemAccessDesc access{};
  access.location = here;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  WORKS(cudaMemPoolSetAccess(usual, &access, 1));
}

static void copies() {
  int *a, *b;
  WORKS(cudaMalloc(&a, 16));
  WORKS(cudaMalloc(&b, 16));
  const int values[] = {1, 2, 3, 4};
  int back[4] = {};
  WORKS(cudaMemcpy2DAsync(a, 8, values, 8, 8, 2, cudaMemcpyHostToDevice, 0));
  WORKS(cudaMemcpyPeerAsync(b, 0, a, 0, 16, 0));
  WORKS(cudaMemcpy(back, b, 16, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 1 && back[3] == 4);
  WORKS(cudaMemset2DAsync(a, 8, 0, 4, 2, 0));  // the left of two columns
  WORKS(cudaMemcpy(back, a, 16, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 0 && back[1] == 2 && back[2] == 0 && back[3] == 4);
  WORKS(cudaMemset3DAsync(make_cudaPitchedPtr(a, 8, 8, 1), 0xff, make_cudaExtent(4, 1, 2), 0));
  WORKS(cudaMemcpy(back, a, 16, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == -1 && back[1] == 2 && back[2] == -1 && back[3] == 4);
  WORKS(cudaMemcpyToSymbolAsync(variable, values, 8, 8, cudaMemcpyHostToDevice, 0));
  WORKS(cudaMemcpyFromSymbol(back, variable, 16));
  EXPECT(back[0] == 0 && back[2] == 1 && back[3] == 2);
  WORKS(cudaFree(a));
  WORKS(cudaFree(b));
}

static void launches() {
  int* out;
  WORKS(cudaMallocManaged(&out, 128));
  const void* symbol = reinterpret_cast<const void*>(put);
  cudaFunction_t function;
  WORKS(cudaGetFuncBySymbol(&function, symbol));
  cudaKernel_t kernel;
  WORKS(cudaGetKernel(&kernel, symbol));
  WORKS(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024,
                                        0));
  WORKS(cudaFuncSetSharedMemConfig(symbol, cudaSharedMemBankSizeFourByte));
  int blocks = 0;
  WORKS(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, symbol, 32, 0,
                                                               cudaOccupancyDefault));
  EXPECT(blocks == 32);

  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  WORKS(cudaLaunchKernelEx(&config, put, out, 7));
  int value = 9;
  void* args[] = {&out, &value};
  WORKS(cudaDeviceSynchronize());
  EXPECT(out[0] == 7 && out[31] == 38);
  WORKS(cudaLaunchKernelExC(&config, symbol, args));
  WORKS(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(2), args, 0, 0));
  WORKS(cudaDeviceSynchronize());
  EXPECT(out[0] == 9 && out[31] == 40);
  WORKS(cudaFree(out));
}

static void streams() {
  cudaStream_t stream;
  WORKS(cudaStreamCreate(&stream));
  int n = -1;
  WORKS(cudaStreamGetDevice(stream, &n));
  EXPECT(n == 0);
  int* managed;
  WORKS(cudaMallocManaged(&managed, 4));
  WORKS(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
  cudaEvent_t event;
  WORKS(cudaEventCreate(&event));
  WORKS(cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault));
  WORKS(cudaStreamSynchronize(stream));
  WORKS(cudaEventQuery(event));
  WORKS(cudaEventDestroy(event));
  WORKS(cudaFree(managed));
  WORKS(cudaStreamDestroy(stream));
}

int main() {
  device();
  pools();
  copies();
  launches();
  streams();
  return result();
}
