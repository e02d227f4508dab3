// An overload for ints by redux, floats by shfl.sync in inline PTX; adds as red.global; keys by
// ballots, one round for each different key of the warp.
__device__ __forceinline__ int lanes_sum(int v) { return __reduce_add_sync(kAll, v); }

template <int kStep>
__device__ __forceinline__ float with_lane_across(float v) {
  float other;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=f"(other)
               : "f"(v), "n"(kStep));
  return v + other;
}

__device__ __forceinline__ float lanes_sum(float v) {
  v = with_lane_across<16>(v);
  v = with_lane_across<8>(v);
  v = with_lane_across<4>(v);
  v = with_lane_across<2>(v);
  return with_lane_across<1>(v);
}

__device__ __forceinline__ unsigned lane_id() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

__device__ __forceinline__ void add_to(float* to, float v) {
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
               "f"(v)
               : "memory");
}

template <class T>
__device__ T warp_reduce_sum(T v) {
  return lanes_sum(v);
}

__global__ void sum_by_warps(const float* in, float* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  float sum = lanes_sum(i < n ? __ldg(in + i) : 0.0f);
  if (lane_id() == 0) add_to(total, sum);
}

__global__ void sum_by_key(const int* key, const float* value, float* totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  int mine = i < n ? key[i] : -1;
  float v = i < n ? value[i] : 0;
  for (unsigned left = __ballot_sync(kAll, i < n); left != 0;) {
    int leader = 31 - __clz(int(left));
    int current = __shfl_sync(kAll, mine, leader);
    float sum = lanes_sum(mine == current ? v : 0.0f);
    if (lane_id() == leader) add_to(totals + current, sum);
    left &= ~__ballot_sync(kAll, mine == current);
  }
}
