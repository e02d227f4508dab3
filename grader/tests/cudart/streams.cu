// Streams, host functions, callbacks, events.
#include "expect.h"

__global__ void append(int* list, int value) { list[atomicAdd(list, 1) + 1] = value; }

__global__ void busy(float* data, int n) {
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
    data[i] = data[i] * 2 + 1;
}

static void CUDART_CB count(void* data) { ++*static_cast<int*>(data); }
static void CUDART_CB note(cudaStream_t, cudaError_t status, void* data) {
  *static_cast<int*>(data) = status == cudaSuccess ? 11 : 12;
}

static void streams() {
  cudaStream_t plain, aside, urgent;
  WORKS(cudaStreamCreate(&plain));
  WORKS(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
  int least, greatest, priority;
  WORKS(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest < 0);
  WORKS(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest - 100));
  WORKS(cudaStreamGetPriority(urgent, &priority));
  EXPECT(priority == greatest);
  unsigned flags = 9;
  WORKS(cudaStreamGetFlags(aside, &flags));
  EXPECT(flags == cudaStreamNonBlocking);
  unsigned long long a, b;
  WORKS(cudaStreamGetId(plain, &a));
  WORKS(cudaStreamGetId(aside, &b));
  EXPECT(a != b);

  int* list;
  WORKS(cudaMallocManaged(&list, 64));
  append<<<1, 1, 0, plain>>>(list, 5);
  append<<<1, 1, 0, aside>>>(list, 6);
  append<<<1, 1, 0, cudaStreamPerThread>>>(list, 7);
  append<<<1, 1, 0, cudaStreamLegacy>>>(list, 8);
  WORKS(cudaStreamSynchronize(plain));
  WORKS(cudaStreamQuery(aside));
  WORKS(cudaDeviceSynchronize());
  EXPECT(list[0] == 4);

  int calls = 0, noted = 0;
  WORKS(cudaLaunchHostFunc(plain, count, &calls));
  WORKS(cudaStreamAddCallback(aside, note, &noted, 0));
  WORKS(cudaDeviceSynchronize());
  EXPECT(calls == 1 && noted == 11);
  cudaStreamCaptureStatus capturing;
  WORKS(cudaStreamIsCapturing(plain, &capturing));
  EXPECT(capturing == cudaStreamCaptureStatusNone);

  WORKS(cudaStreamDestroy(plain));
  WORKS(cudaStreamDestroy(aside));
  WORKS(cudaStreamDestroy(urgent));
  EXPECT_ERROR(cudaStreamCreateWithFlags(&plain, 77), cudaErrorInvalidValue);
  WORKS(cudaFree(list));
  cudaGetLastError();
}

static void events() {
  constexpr int kSmall = 1 << 12, kLarge = 1 << 20;
  float* data;
  WORKS(cudaMalloc(&data, kLarge * 4));
  WORKS(cudaMemset(data, 0, kLarge * 4));
  cudaEvent_t start, middle, stop, untimed;
  WORKS(cudaEventCreate(&start));
  WORKS(cudaEventCreate(&middle));
  WORKS(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
  WORKS(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  float small = -1, large = -1, both = -1, none = -1;
  EXPECT_ERROR(cudaEventElapsedTime(&small, start, stop), cudaErrorInvalidResourceHandle);
  WORKS(cudaEventQuery(start));     // one that was never recorded has happened
  busy<<<16, 256>>>(data, kSmall);  // a GPU loads the kernel
  WORKS(cudaEventRecord(start));
  busy<<<16, 256>>>(data, kSmall);
  WORKS(cudaEventRecord(middle));
  busy<<<128, 256>>>(data, kLarge);
  WORKS(cudaEventRecord(stop, 0));
  WORKS(cudaEventRecord(untimed));
  WORKS(cudaEventSynchronize(stop));
  WORKS(cudaEventQuery(stop));
  WORKS(cudaEventElapsedTime(&small, start, middle));
  WORKS(cudaEventElapsedTime(&large, middle, stop));
  WORKS(cudaEventElapsedTime(&both, start, stop));
  WORKS(cudaEventElapsedTime(&none, stop, stop));
  EXPECT(small > 0 && large > small && none == 0);
  EXPECT(both > (small + large) * 0.999f && both < (small + large) * 1.001f);
  EXPECT_ERROR(cudaEventElapsedTime(&none, start, untimed), cudaErrorInvalidResourceHandle);

  cudaStream_t stream;
  WORKS(cudaStreamCreate(&stream));
  WORKS(cudaStreamWaitEvent(stream, stop));
  WORKS(cudaStreamDestroy(stream));
  for (cudaEvent_t event : {start, middle, stop, untimed}) WORKS(cudaEventDestroy(event));
  WORKS(cudaFree(data));
  cudaGetLastError();
}

int main() {
  streams();
  events();
  return result();
}
