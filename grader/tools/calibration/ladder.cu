// Four versions of the Reduce Tutorial, written anew. Their documented times on an Ada GPU are compared
// with the model (documented/reduce_ladder.csv).

// One int per thread, a tree over the block, one atomic per block.
template <int kThreads>
__device__ void tree(int* part, int t) {
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (t < step) part[t] += part[t + step];
    __syncthreads();
  }
}

extern "C" __global__ void step_tree(const int* in, int* out, int n) {  // 8 threads
  __shared__ int part[8];
  const int t = threadIdx.x, i = blockIdx.x * 8 + t;
  part[t] = i < n ? in[i] : 0;
  __syncthreads();
  tree<8>(part, t);
  if (t == 0) atomicAdd(out, part[0]);
}

// Vectors in shared memory, with as many threads as ints, so that three in four blocks have nothing to do.
extern "C" __global__ void step_vectors(const int* in, int* out, int n) {  // 32 threads
  __shared__ int4 part[32];
  int* const words = reinterpret_cast<int*>(part);
  const unsigned t = threadIdx.x, i = blockIdx.x * 32 + t;
  part[t] = i * 4 < unsigned(n) ? reinterpret_cast<const int4*>(in)[i] : make_int4(0, 0, 0, 0);
  __syncthreads();
  const int sum = words[4 * t] + words[4 * t + 1] + words[4 * t + 2] + words[4 * t + 3];
  __syncthreads();
  words[t] = sum;
  __syncthreads();
  tree<32>(words, t);
  if (t == 0) atomicAdd(out, words[0]);
}

// Four ints per thread, summed before they go to shared memory, with a quarter of the threads.
template <int kThreads>
__device__ int four(const int* in, int n) {
  const unsigned i = blockIdx.x * kThreads + threadIdx.x;
  if (i * 4 >= unsigned(n)) return 0;
  const int4 v = reinterpret_cast<const int4*>(in)[i];
  return v.x + v.y + v.z + v.w;
}

extern "C" __global__ void step_coarse(const int* in, int* out, int n) {  // 32 threads
  __shared__ int part[32];
  const int t = threadIdx.x;
  part[t] = four<32>(in, n);
  __syncthreads();
  tree<32>(part, t);
  if (t == 0) atomicAdd(out, part[0]);
}

extern "C" __global__ void step_shuffles(const int* in, int* out, int n) {  // 128 threads
  __shared__ int part[128];
  const int t = threadIdx.x;
  part[t] = four<128>(in, n);
  __syncthreads();
  if (t < 64) part[t] += part[t + 64];
  __syncthreads();
  if (t >= 32) return;
  int sum = part[t] + part[t + 32];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (t == 0) atomicAdd(out, sum);
}
