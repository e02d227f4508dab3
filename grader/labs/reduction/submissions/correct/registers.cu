// Each thread keeps its sum in a register, the last step has no barrier, shifts give the distances,
// v2 needs no product, and v8 has two vectors per round and blocks of 256.
__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  for (unsigned bits = 1; 1u << bits <= blockDim.x; ++bits) {
    __syncthreads();
    if (t < blockDim.x >> bits) sums[t << bits] += sums[(t << bits) + (1u << bits) / 2];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  int sum = in[blockIdx.x * blockDim.x + t];
  sums[t] = sum;
  for (unsigned distance = blockDim.x / 2; distance > 0; distance >>= 1) {
    __syncthreads();
    if (t < distance) sums[t] = sum += sums[t + distance];
  }
  if (t == 0) out[blockIdx.x] = sum;
}

__global__ void reduce_v4(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  const int2* pairs = reinterpret_cast<const int2*>(in);
  int2 pair = pairs[blockIdx.x * blockDim.x + t];
  int sum = pair.x + pair.y;
  sums[t] = sum;
  for (unsigned distance = blockDim.x / 2; distance > 0; distance >>= 1) {
    __syncthreads();
    if (t < distance) sums[t] = sum += sums[t + distance];
  }
  if (t == 0) out[blockIdx.x] = sum;
}

__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  int sum = in[i] + in[i + blockDim.x];
  sums[t] = sum;
  for (unsigned distance = blockDim.x / 2; distance > 16; distance >>= 1) {
    __syncthreads();
    if (t < distance) sums[t] = sum += sums[t + distance];
  }
  if (t >= 32) return;
  for (int distance = 16; distance > 0; distance >>= 1)
    sum += __shfl_xor_sync(kWholeWarp, sum, distance);
  if (t == 0) out[blockIdx.x] = sum;
}

LAB32_LAUNCH(reduce_v7, .block = 1024, .items_per_thread = 8, .blocks_per_sm = 2);
LAB32_LAUNCH(reduce_v8, .block = 256, .items_per_thread = 8, .blocks_per_sm = 4);

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  const Four<T>* fours = reinterpret_cast<const Four<T>*>(in);
  int count = n / 4, stride = gridDim.x * blockDim.x;
  T sum = 0, other = 0;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n % 4) sum = in[4 * count + i];
  for (; i + stride < count; i += 2 * stride) {
    Four<T> a = fours[i], b = fours[i + stride];
    sum += a.sum();
    other += b.sum();
  }
  if (i < count) sum += fours[i].sum();
  sum = fast_block_sum(sum + other);

  volatile unsigned long long* all = sum_of_block;
  if (blockIdx.x != gridDim.x - 1) {
    if (threadIdx.x == 0) all[blockIdx.x] = marked(sum);
    return;
  }
  if (threadIdx.x != 0) sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x - 1; b += blockDim.x) {
    unsigned long long word;
    while ((word = all[b]) == 0) {
    }
    all[b] = 0;
    T part;
    unmark(word, &part);
    sum += part;
  }
  __syncthreads();
  sum = fast_block_sum(sum);
  if (threadIdx.x == 0) *out = sum;
}
