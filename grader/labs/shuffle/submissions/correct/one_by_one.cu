// Welford's update in D2 and D4, value by value, and the online softmax in D3: maximum and sum in
// one reduction.
__device__ Moments with(Moments m, float x) {
  float count = m.count + 1, delta = x - m.mean, mean = m.mean + delta / count;
  return {count, mean, m.squares + delta * (x - mean)};
}

__device__ Moments of_warp(Moments m) {
  for (int step = 1; step < kWarpSize; step *= 2)
    m = merged(m, {__shfl_xor_sync(kAll, m.count, step), __shfl_xor_sync(kAll, m.mean, step),
                   __shfl_xor_sync(kAll, m.squares, step)});
  return m;
}

__global__ void row_moments(const float* in, float* mean, float* variance, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  Moments m = {0, 0, 0};
  for (int c = lane; c < columns; c += kWarpSize) m = with(m, in[row * columns + c]);
  m = of_warp(m);
  if (lane == 0) {
    mean[row] = m.mean;
    variance[row] = m.squares / m.count;
  }
}

// Largest value so far, and the sum of e^(x - that): both are rescaled when two of them meet.
struct Running {
  float top, sum;
};

__device__ Running met(Running a, Running b) {
  float top = fmaxf(a.top, b.top);
  if (top == -INFINITY) return {top, 0};
  return {top, a.sum * expf(a.top - top) + b.sum * expf(b.top - top)};
}

__device__ Running of_warp(Running r) {
  for (int step = 1; step < kWarpSize; step *= 2)
    r = met(r, {__shfl_xor_sync(kAll, r.top, step), __shfl_xor_sync(kAll, r.sum, step)});
  return r;
}

__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ Running parts[kBlock / kWarpSize];
  const float* row = in + blockIdx.x * columns;
  int lane = threadIdx.x % kWarpSize;
  constexpr int kKept = kLongest / kBlock;
  float kept[kKept];
  Running all = {-INFINITY, 0};
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * kBlock + threadIdx.x;
    kept[k] = c < columns ? row[c] : -INFINITY;
    all = met(all, {kept[k], 1});
  }
  all = of_warp(all);
  if (lane == 0) parts[threadIdx.x / kWarpSize] = all;
  __syncthreads();
  all = of_warp(lane < kBlock / kWarpSize ? parts[lane] : Running{-INFINITY, 0});
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * kBlock + threadIdx.x;
    if (c < columns) out[blockIdx.x * columns + c] = expf(kept[k] - all.top) / all.sum;
  }
}

__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* out,
                           int columns, float epsilon) {
  __shared__ Moments parts[kBlock / kWarpSize];
  const float* row = in + blockIdx.x * columns;
  int lane = threadIdx.x % kWarpSize;
  constexpr int kKept = kLongest / kBlock;
  float kept[kKept];
  Moments m = {0, 0, 0};
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * kBlock + threadIdx.x;
    if (c < columns) m = with(m, kept[k] = row[c]);
  }
  m = of_warp(m);
  if (lane == 0) parts[threadIdx.x / kWarpSize] = m;
  __syncthreads();
  m = of_warp(lane < kBlock / kWarpSize ? parts[lane] : Moments{0, 0, 0});
  float scale = 1 / sqrtf(m.squares / m.count + epsilon);
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * kBlock + threadIdx.x;
    if (c < columns)
      out[blockIdx.x * columns + c] = (kept[k] - m.mean) * scale * weight[c] + bias[c];
  }
}
