// Every way to allocate, and what is known of the pointers.
#include <cstdlib>
#include <cstring>

#include "expect.h"

__device__ int variable[4];
__managed__ int managed_variable = 7;

__global__ void add_one(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

__global__ void double_managed() { managed_variable *= 2; }

static cudaMemoryType type_of(const void* pointer) {
  cudaPointerAttributes a;
  WORKS(cudaPointerGetAttributes(&a, pointer));
  return a.type;
}

static void device_memory() {
  size_t free_before, free_with, total;
  WORKS(cudaMemGetInfo(&free_before, &total));
  EXPECT(free_before <= total);
  int *a, *b;
  WORKS(cudaMalloc(&a, 1 << 20));
  WORKS(cudaMalloc(&b, 100));
  EXPECT(reinterpret_cast<size_t>(a) % 256 == 0 && reinterpret_cast<size_t>(b) % 256 == 0);
  WORKS(cudaMemGetInfo(&free_with, &total));
  EXPECT(free_before - free_with >= (1 << 20) + 100);
  EXPECT(type_of(a) == cudaMemoryTypeDevice);
  EXPECT(type_of(a + 1000) == cudaMemoryTypeDevice);
  int on_stack;
  EXPECT(type_of(&on_stack) == cudaMemoryTypeUnregistered);
  void* symbol;
  WORKS(cudaGetSymbolAddress(&symbol, variable));
  EXPECT(type_of(symbol) == cudaMemoryTypeDevice);
  EXPECT_ERROR(cudaFree(a + 1), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
  WORKS(cudaFree(a));
  EXPECT_ERROR(cudaFree(a), cudaErrorInvalidValue);
  WORKS(cudaFree(b));
  WORKS(cudaFree(nullptr));
  size_t free_after;
  WORKS(cudaMemGetInfo(&free_after, nullptr));
  EXPECT(free_after >= free_with + (1 << 20));
  void* huge = &huge;
  EXPECT_ERROR(cudaMalloc(&huge, total + 1), cudaErrorMemoryAllocation);
  EXPECT_ERROR(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  void* nothing = &nothing;
  WORKS(cudaMalloc(&nothing, 0));
  EXPECT(nothing == nullptr);
  cudaGetLastError();
}

static void pitched_memory() {
  char* rows;
  size_t pitch;
  WORKS(cudaMallocPitch(&rows, &pitch, 1000, 10));
  EXPECT(pitch == 1024);
  WORKS(cudaFree(rows));
  cudaPitchedPtr box;
  WORKS(cudaMalloc3D(&box, make_cudaExtent(100, 5, 3)));
  EXPECT(box.pitch == 512 && box.xsize == 100 && box.ysize == 5);
  WORKS(cudaMemset3D(box, 0, make_cudaExtent(100, 5, 3)));
  WORKS(cudaFree(box.ptr));
}

static void host_memory() {
  int* pinned;
  WORKS(cudaMallocHost(&pinned, 400));
  for (int i = 0; i < 100; ++i) EXPECT(pinned[i] == 0);
  for (int i = 0; i < 100; ++i) pinned[i] = i;
  EXPECT(type_of(pinned) == cudaMemoryTypeHost);
  add_one<<<1, 128>>>(pinned, 100);  // one address space
  WORKS(cudaDeviceSynchronize());
  for (int i = 0; i < 100; ++i) EXPECT(pinned[i] == i + 1);
  EXPECT_ERROR(cudaFree(pinned), cudaErrorInvalidValue);
  WORKS(cudaFreeHost(pinned));

  int *mapped, *on_device;
  WORKS(cudaHostAlloc(&mapped, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
  WORKS(cudaHostGetDevicePointer(&on_device, mapped, 0));
  unsigned flags = 0;
  WORKS(cudaHostGetFlags(&flags, mapped));
  EXPECT(flags == (cudaHostAllocMapped | cudaHostAllocPortable));
  mapped[3] = 41;
  add_one<<<1, 32>>>(on_device, 4);
  WORKS(cudaDeviceSynchronize());
  EXPECT(mapped[3] == 42);
  WORKS(cudaFreeHost(mapped));
  EXPECT_ERROR(cudaHostAlloc(&mapped, 4, 0x100), cudaErrorInvalidValue);

  int* own = static_cast<int*>(std::malloc(40000));
  int* inside = own + 100;
  for (int i = 0; i < 1000; ++i) inside[i] = i;
  WORKS(cudaHostRegister(inside, 4000, cudaHostRegisterMapped));
  EXPECT_ERROR(cudaHostRegister(inside, 4, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(inside[999] == 999);
  WORKS(cudaHostGetDevicePointer(&on_device, inside, 0));
  add_one<<<4, 256>>>(on_device, 1000);
  WORKS(cudaDeviceSynchronize());
  for (int i = 0; i < 1000; ++i) EXPECT(inside[i] == i + 1);
  EXPECT(type_of(inside + 5) == cudaMemoryTypeHost);
  WORKS(cudaHostUnregister(inside));
  EXPECT_ERROR(cudaHostUnregister(inside), cudaErrorHostMemoryNotRegistered);
  EXPECT(inside[17] == 18);
  std::free(own);
  cudaGetLastError();
}

static void managed_memory() {
  int* both;
  WORKS(cudaMallocManaged(&both, 5000 * sizeof(int)));
  EXPECT(both[4999] == 0);
  for (int i = 0; i < 5000; ++i) both[i] = i;
  EXPECT(type_of(both) == cudaMemoryTypeManaged);
  cudaMemLocation device{};
  device.type = cudaMemLocationTypeDevice;
  WORKS(cudaMemPrefetchAsync(both, 5000 * sizeof(int), device, 0));
  WORKS(cudaMemAdvise(both, 5000 * sizeof(int), cudaMemAdviseSetReadMostly, device));
  add_one<<<40, 128>>>(both, 5000);
  WORKS(cudaDeviceSynchronize());
  for (int i = 0; i < 5000; ++i) EXPECT(both[i] == i + 1);
  WORKS(cudaFree(both));
  WORKS(cudaMallocManaged(&both, 0));
  EXPECT(both == nullptr);

  EXPECT(managed_variable == 7);
  managed_variable = 21;
  double_managed<<<1, 1>>>();
  WORKS(cudaDeviceSynchronize());
  EXPECT(managed_variable == 42);
  EXPECT(type_of(&managed_variable) == cudaMemoryTypeManaged);
}

static void stream_ordered_memory() {
  cudaStream_t stream;
  WORKS(cudaStreamCreate(&stream));
  int* a;
  WORKS(cudaMallocAsync(&a, 4000, stream));
  WORKS(cudaMemsetAsync(a, 0, 4000, stream));
  add_one<<<8, 128, 0, stream>>>(a, 1000);
  int host[1000];
  WORKS(cudaMemcpyAsync(host, a, 4000, cudaMemcpyDeviceToHost, stream));
  WORKS(cudaStreamSynchronize(stream));
  for (int i = 0; i < 1000; ++i) EXPECT(host[i] == 1);

  cudaMemPool_t standard, made;
  WORKS(cudaDeviceGetDefaultMemPool(&standard, 0));
  unsigned long long used = 0, threshold = ~0ull;
  WORKS(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 4000);
  WORKS(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold));
  WORKS(cudaFreeAsync(a, stream));
  WORKS(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  EXPECT_ERROR(cudaFreeAsync(a, stream), cudaErrorInvalidValue);

  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  WORKS(cudaMemPoolCreate(&made, &properties));
  WORKS(cudaMallocFromPoolAsync(&a, 100, made, stream));
  WORKS(cudaMemPoolGetAttribute(made, cudaMemPoolAttrUsedMemHigh, &used));
  EXPECT(used == 100);
  WORKS(cudaFree(a));
  WORKS(cudaMemPoolTrimTo(made, 0));
  WORKS(cudaMemPoolDestroy(made));
  EXPECT_ERROR(cudaMemPoolDestroy(made), cudaErrorInvalidValue);
  WORKS(cudaStreamDestroy(stream));
  cudaGetLastError();
}

// A program that allocates and frees in a loop does not run out, whatever the sum.
static void again_and_again() {
  size_t free_now, total;
  WORKS(cudaMemGetInfo(&free_now, &total));
  for (int i = 0; i < 2000; ++i) {
    int* a;
    WORKS(cudaMalloc(&a, 1 << 20));
    WORKS(cudaFree(a));
  }
  for (size_t sum = 0; sum < 3 * total; sum += total / 2) {
    int* a = nullptr;
    WORKS(cudaMallocHost(&a, 1 << 16));
    WORKS(cudaFreeHost(a));
  }
}

int main() {
  device_memory();
  pitched_memory();
  host_memory();
  managed_memory();
  stream_ordered_memory();
  again_and_again();
  return result();
}
