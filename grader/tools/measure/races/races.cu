// Runs kernels with races in device memory many times on a GPU, and counts wrong results. `lab32 check` finds
// each of these races (runtime/tests/programs/hazards/global_races.cu has small programs with the same
// mistakes).
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

constexpr int kBlocks = 2048, kThreads = 256, kAll = kBlocks * kThreads, kRuns = 200;
__device__ unsigned tickets;

__global__ void add(int* a, int*) {
  if (threadIdx.x == 0) *a += 1;
}

__global__ void add_in_block(int* a, int*) { a[blockIdx.x] += 1; }

__global__ void atomic_of_block(int* a, int*) { atomicAdd_block(a, 1); }

__global__ void zero_first(int* a, int*) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *a = 0;
  __syncthreads();
  atomicAdd(a, 1);
}

__global__ void neighbour_block(int* a, int*) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  int v = a[(i + kThreads) % kAll];
  a[i] = v + 1;
}

__global__ void neighbour_warp(int* a, int*) {
  int* own = a + blockIdx.x * kThreads;
  int v = own[(threadIdx.x + 32) % kThreads];
  own[threadIdx.x] = v + 1;
}

__global__ void who_is_last(int* a, int*) { a[0] = blockIdx.x; }

// Every thread stores, but only thread 0 has a fence, and no barrier orders the other threads' stores before it.
__global__ void ticket_of_one_thread(int* a, int* b) {
  __shared__ bool last;
  a[blockIdx.x * kThreads + threadIdx.x] = 1;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(&tickets, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  int sum = 0;
  for (int i = threadIdx.x; i < kAll; i += kThreads) sum += a[i];
  atomicAdd(b, sum);
  if (threadIdx.x == 0) tickets = 0;
}

__global__ void lock_unfenced(int* a, int* b) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(b, 0, 1) != 0) {
  }
  *a += 1;
  atomicExch(b, 0);
}

int main() {
  int *a, *b;
  if (cudaMalloc(&a, kAll * sizeof(int)) != cudaSuccess) return 1;
  cudaMalloc(&b, kAll * sizeof(int));
  std::vector<int> out(kAll);
  printf("kernel,runs,wrong,wanted,first_wrong\n");
  const auto measure = [&](const char* name, void (*kernel)(int*, int*), int start, bool from_b,
                           const std::function<int(int)>& wanted, int words) {
    int wrong = 0, want = 0, first = 0;
    for (int run = 0; run < kRuns; ++run) {
      for (int i = 0; i < kAll; ++i) out[i] = start < 0 ? i : start;
      cudaMemcpy(a, out.data(), kAll * sizeof(int), cudaMemcpyHostToDevice);
      cudaMemset(b, 0, kAll * sizeof(int));
      kernel<<<kBlocks, kThreads>>>(a, b);
      if (cudaMemcpy(out.data(), from_b ? b : a, kAll * sizeof(int), cudaMemcpyDeviceToHost) !=
          cudaSuccess)
        exit(1);
      for (int i = 0; i < words; ++i) {
        if (out[i] == wanted(i)) continue;
        if (wrong++ == 0) want = wanted(i), first = out[i];
        break;
      }
    }
    printf("%s,%d,%d,%d,%d\n", name, kRuns, wrong, wrong ? want : wanted(0),
           wrong ? first : wanted(0));
  };
  measure(
      "add", add, 0, false, [](int) { return kBlocks; }, 1);
  measure(
      "add_in_block", add_in_block, 0, false, [](int) { return kThreads; }, kBlocks);
  measure(
      "atomic_of_block", atomic_of_block, 0, false, [](int) { return kAll; }, 1);
  measure(
      "zero_first", zero_first, 1 << 20, false, [](int) { return kAll; }, 1);
  measure(
      "neighbour_block", neighbour_block, -1, false,
      [](int i) { return (i + kThreads) % kAll + 1; }, kAll);
  measure(
      "neighbour_warp", neighbour_warp, -1, false,
      [](int i) { return i / kThreads * kThreads + (i + 32) % kThreads + 1; }, kAll);
  measure(
      "who_is_last", who_is_last, 0, false, [](int) { return kBlocks - 1; }, 1);
  measure(
      "ticket_of_one_thread", ticket_of_one_thread, 0, true, [](int) { return kAll; }, 1);
  measure(
      "lock_unfenced", lock_unfenced, 0, false, [](int) { return kBlocks; }, 1);
  return 0;
}
