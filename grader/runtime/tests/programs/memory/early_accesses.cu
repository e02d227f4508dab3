// The host accesses managed or pinned memory that a kernel or a copy may still be writing.
//! case managed
//! gpu: undefined
//! check: race 1
//! case mapped
//! gpu: undefined
//! check: race 1
//! case copy
//! gpu: undefined
//! check: race 1
//! case writes
//! gpu: undefined
//! check: race 1
//! case waits
//! stdout| sum 496
//! case event
//! stdout| sum 496
//! case callback
//! stdout| sum 496
//! case beside
//! stdout| sum 496
//! case flag
//! stdout| sum 496
#include <cstdio>
#include <cstring>
#include <string>

constexpr int kThreads = 32, kCount = 1024;

// Element 0 does not change.
__global__ void number(int* a) { a[threadIdx.x] = threadIdx.x; }

__global__ void number_and_tell(int* a, int* flag) {
  a[threadIdx.x] = threadIdx.x;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *static_cast<volatile int*>(flag) = 1;
}

static int sum(const int* a) {
  int s = 0;
  for (int i = 0; i < kThreads; ++i) s += a[i];
  return s;
}

static int of_callback;

int main(int, char** argv) {
  const std::string what = argv[1];
  int *managed, *pinned, *device;
  cudaMallocManaged(&managed, kCount * sizeof(int));
  cudaMallocHost(&pinned, kCount * sizeof(int));
  cudaMalloc(&device, kThreads * sizeof(int));
  std::memset(managed, 0, kCount * sizeof(int));
  std::memset(pinned, 0, kCount * sizeof(int));
  int found = -1;
  if (what == "mapped") {
    number<<<1, kThreads>>>(pinned);
    found = sum(pinned);
  } else if (what == "copy") {
    number<<<1, kThreads>>>(device);
    cudaMemcpyAsync(pinned, device, kThreads * sizeof(int), cudaMemcpyDeviceToHost);
    found = sum(pinned);
  } else if (what == "flag") {
    // The kernel orders its writes for the host, which polls.
    number_and_tell<<<1, kThreads>>>(managed, pinned);
    while (*static_cast<volatile int*>(pinned) == 0) {
    }
    found = sum(managed);
  } else {
    number<<<1, kThreads>>>(managed);
    if (what == "managed") found = sum(managed);
    if (what == "writes") managed[5] = 0;
    if (what == "event") {
      cudaEvent_t event;
      cudaEventCreate(&event);
      cudaEventRecord(event);
      cudaEventSynchronize(event);
    }
    if (what == "callback") {
      cudaLaunchHostFunc(nullptr, [](void* a) { of_callback = sum(static_cast<int*>(a)); }, managed);
      cudaDeviceSynchronize();
      found = of_callback;
    }
    // Other elements of the same page belong to the host.
    if (what == "beside")
      for (int i = kThreads; i < kCount; ++i) managed[i] = i;
    if (what == "waits" || what == "beside") cudaDeviceSynchronize();
    if (found < 0) found = sum(managed);
  }
  std::printf("sum %d\n", found);
  return 0;
}
