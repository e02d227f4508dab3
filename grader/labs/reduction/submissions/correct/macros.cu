// Macros throughout: v6 written out step by step, as in the SYSU Lecture, and a v7 whose sums lie
// in dynamic shared memory.
#define IN_FIRST(count) if (threadIdx.x < (count))
#define TREE_STEP(distance)                                                 \
  if (kThreads >= 2 * (distance)) {                                         \
    IN_FIRST(distance) sums[threadIdx.x] += sums[threadIdx.x + (distance)]; \
    __syncthreads();                                                        \
  }
#define LANE_STEP(distance) sum += __shfl_xor_sync(kWholeWarp, sum, distance);
#define LANE_STEPS LANE_STEP(16) LANE_STEP(8) LANE_STEP(4) LANE_STEP(2) LANE_STEP(1)

template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  __shared__ int sums[kThreads];
  const unsigned i = blockIdx.x * (2 * kThreads) + threadIdx.x;
  sums[threadIdx.x] = in[i] + in[i + kThreads];
  __syncthreads();
  TREE_STEP(512)
  TREE_STEP(256)
  TREE_STEP(128)
  TREE_STEP(64)
  IN_FIRST(32) {
    int sum = sums[threadIdx.x] + sums[threadIdx.x + 32];
    LANE_STEPS
    IN_FIRST(1) out[blockIdx.x] = sum;
  }
}

LAB32_LAUNCH(reduce_v7, .block = 512, .items_per_thread = 32, .blocks_per_sm = 4,
             .dynamic_shared = 4096);

extern __shared__ __align__(16) unsigned char room[];

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  T* sums = reinterpret_cast<T*>(room);
  T sum = 0;
  const int step = gridDim.x * kThreads;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += step) sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  TREE_STEP(512)
  TREE_STEP(256)
  TREE_STEP(128)
  TREE_STEP(64)
  IN_FIRST(32) {
    sum = sums[threadIdx.x] + sums[threadIdx.x + 32];
    LANE_STEPS
    IN_FIRST(1) atomicAdd(out, sum);
  }
}
