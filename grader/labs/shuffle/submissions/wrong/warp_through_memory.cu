// verdict: B2 warp_reduce_sum: shared | failed | "can exchange registers"
// verdict: B3 reduce_shuffle: wavefronts | failed | "Inside a warp nothing needs shared memory"
// A tree in shared memory, each warp in its own words, each step read, synchronised, then written.
template <class T>
__device__ T warp_reduce_sum(T v) {
  __shared__ T words[1024];
  int t = threadIdx.x, lane = t % kWarpSize;
  words[t] = v;
  __syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    if (lane < step) v += words[t + step];
    __syncwarp();
    if (lane < step) words[t] = v;
    __syncwarp();
  }
  return v;
}
