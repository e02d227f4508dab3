// Kernels for test_sim_cuda.cpp: what is clearer, or more telling, as nvcc emits it.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cassert>
#include <cstdio>

namespace cg = cooperative_groups;

// --- calls ------------------------------------------------------------------------------------------

__device__ __noinline__ unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__global__ void fibonacci_of_lane(unsigned* out) { out[threadIdx.x] = fibonacci(threadIdx.x % 16); }

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
__device__ __noinline__ int times(int a, int b) { return a * b; }
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  // Reached through a table only, and calls on.
  __device__ int area() const override { return times(side, side); }
};
struct Strip : Shape {
  int length;
  __device__ explicit Strip(int l) : length(l) {}
  __device__ int area() const override { return length; }
};

__global__ void virtual_areas(int* out) {
  Square square(threadIdx.x);
  Strip strip(100 + threadIdx.x);
  const Shape* shape = threadIdx.x % 3 == 0 ? static_cast<const Shape*>(&square) : &strip;
  out[threadIdx.x] = shape->area();
}

// The table of Square holds a destructor that calls free(), which only this kernel needs.
__global__ void deletes() {
  Square square(1);
  Shape* shape = &square;
  asm volatile("" : "+l"(shape));  // so that the compiler does not know what it is
  delete shape;  //@deletes
}

using Unary = int (*)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int negative(int x) { return -x; }
__device__ int squared(int x) { return times(x, x); }
__device__ Unary operations[] = {twice, negative, squared};

__global__ void through_table(int* out) {
  out[threadIdx.x] = operations[threadIdx.x % 3](threadIdx.x);
}

struct Big {
  int values[12];
};
__device__ __noinline__ Big reversed(Big b, int add) {
  Big r;
  for (int i = 0; i < 12; ++i) r.values[i] = b.values[11 - i] + add;
  return r;
}

__global__ void structures(Big given, int* out) {
  given.values[threadIdx.x % 12] += 1000;
  const Big r = reversed(given, threadIdx.x);
  int sum = 0;
  for (int i = 0; i < 12; ++i) sum = sum * 3 + r.values[i];
  out[threadIdx.x] = sum;
}

// --- control flow -----------------------------------------------------------------------------------

__global__ void dense_switch(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int x = in[i];
  switch (x) {
    case 0: x = 17; break;
    case 1: x = x * 5 + 3; break;
    case 2:
      for (int k = 0; k < i; ++k) x ^= k * 7;
      break;
    case 3: x = -x;  // falls through
    case 4: x -= 9; break;
    case 5: x = in[i ^ 1]; break;
    case 6: return;
    case 7: x <<= 3; break;
    default: x = 1 << (x & 7);
  }
  out[i] = x;
}

// Collatz steps: loops with break, continue and an early exit from two levels.
__global__ void collatz(int* out) {
  const unsigned start = blockIdx.x * blockDim.x + threadIdx.x;
  if (start == 0) return;
  unsigned long long n = start;
  int steps = 0;
  for (;;) {
    for (int k = 0; k < 3; ++k) {
      if (n == 1) goto done;
      ++steps;
      if (n % 2 == 0) {
        n /= 2;
        continue;
      }
      n = 3 * n + 1;
      if (n > 20000) break;
    }
  }
done:
  out[start] = steps;
}

// --- lanes that wait --------------------------------------------------------------------------------

__device__ int mutex;

// The lock as every forum has it, taken by all lanes of all warps.
__global__ void locked_count(int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&mutex, 0, 1) == 0) {
      __threadfence();
      const int old = *static_cast<volatile int*>(counter);
      *static_cast<volatile int*>(counter) = old + 1;
      __threadfence();
      atomicExch(&mutex, 0);
      done = true;
    }
  }
}

// And as it is said to hang: the loop around the swap alone.
__global__ void naive_lock(int* counter) {
  while (atomicCAS(&mutex, 0, 1) != 0) {
  }
  const int old = *static_cast<volatile int*>(counter);
  *static_cast<volatile int*>(counter) = old + 1;
  __threadfence();
  atomicExch(&mutex, 0);
}

// The last block to finish sums what all blocks left.
__device__ unsigned finished;
__global__ void last_block_sums(const int* in, int* partial, int* out) {
  __shared__ int box[128];
  __shared__ bool last;
  box[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int s = 64; s > 0; s /= 2) {
    if (threadIdx.x < s) box[threadIdx.x] += box[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = box[0];
    __threadfence();
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += static_cast<volatile int*>(partial)[b];
  *out = sum;
  finished = 0;
}

// --- cooperative groups -----------------------------------------------------------------------------

__global__ void group_sums(const int* in, int* out) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int mine = in[block.thread_rank()];
  int sum = cg::reduce(tile, mine, cg::plus<int>());
  sum += tile.shfl_xor(mine, 3) * 100;
  if (mine % 2 == 0) {
    const auto active = cg::coalesced_threads();
    sum += 10000 * active.size();
    active.sync();
  }
  block.sync();
  out[block.thread_rank()] = sum;
}

// --- output -----------------------------------------------------------------------------------------

__global__ void formats(const int* in, int* out) {
  if (threadIdx.x > 1) return;
  const char local[] = {'l', 'o', 'c', static_cast<char>('0' + threadIdx.x), 0};
  out[threadIdx.x] =
      printf("%d|%5d|%-5u|%x|%#X|%o|%c|%s|%%|%6.2f|%e|%g|%lld|%lu|%hd|%+d|%*d|%.3s|%p\n",
             -static_cast<int>(threadIdx.x), 42, 7u, 255, 255, 8, 'x', "text", 3.14159, 12345.678,
             0.5f, -1234567890123ll, 99ul, 7, 5, 4, 6, local, static_cast<void*>(nullptr));
  printf("plain\n");
}

__global__ void chatter() { printf("block %d thread %d\n", blockIdx.x, threadIdx.x); }

// A ring of n threads: everyone takes over what its left neighbour has, twice.
__global__ void meet(int* words, int n) {
  const auto grid = cooperative_groups::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  words[i] = i;
  for (int round = 0; round < 2; ++round) {
    grid.sync();
    const int left = words[(i + n - 1) % n];
    grid.sync();
    words[i] = left;
  }
  if (threadIdx.x == 0) printf("block %d done\n", blockIdx.x);
}

__global__ void flood() { printf("%1000d\n", blockIdx.x); }

// --- faults -----------------------------------------------------------------------------------------

__global__ void asserts(const int* in) {
  assert(in[threadIdx.x] < 20);  //@assert
}

__global__ void falls_off(const int* in, int* out) {
  const int i = threadIdx.x;
  out[i] = in[i] + in[i + 1];  //@off_by_one
}

__global__ void half_waits(int* out) {
  __shared__ int box[64];
  box[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32) {
    __syncthreads();  //@half_waits
    out[threadIdx.x] = box[threadIdx.x + 32];
  } else {
    out[threadIdx.x] = 0;
    while (static_cast<volatile int*>(box)[0] >= 0) {  //@spins
    }
  }
}

__global__ void needs_texture(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);  //@texture
}
