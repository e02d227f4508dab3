// Four columns per load if the row is aligned, double precision for the moments (one pass; the
// textbook formula is stable enough), pointers that are incremented, lambdas for each element.
template <class F>
__device__ void each_of_row(const float* row, int columns, int first, int step, F f) {
  if (columns % 4 == 0) {
    const float4* at = reinterpret_cast<const float4*>(row) + first;
    for (int left = columns / 4 - first; left > 0; left -= step, at += step) {
      const float4 v = *at;
      f(v.x), f(v.y), f(v.z), f(v.w);
    }
  } else {
    for (const float *at = row + first, *end = row + columns; at < end; at += step) f(*at);
  }
}

__global__ void row_range(const float* __restrict__ in, float* __restrict__ low,
                          float* __restrict__ high, int rows, int columns) {
  const int row = blockIdx.x * (blockDim.x / kWarpSize) + threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  float least = INFINITY, most = -INFINITY;
  each_of_row(in + size_t(row) * columns, columns, lane, kWarpSize, [&](float x) {
    least = x < least ? x : least;
    most = x > most ? x : most;
  });
  for (int step = 1; step < kWarpSize; step += step) {
    least = fminf(least, __shfl_xor_sync(kAll, least, step));
    most = fmaxf(most, __shfl_xor_sync(kAll, most, step));
  }
  if (lane == 0) low[row] = least;
  if (lane == 1) high[row] = most;
}

__global__ void row_moments(const float* in, float* mean, float* variance, int rows, int columns) {
  const int row = blockIdx.x * (blockDim.x / kWarpSize) + threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  double sum = 0, squares = 0;
  each_of_row(in + size_t(row) * columns, columns, lane, kWarpSize, [&](double x) {
    sum += x;
    squares += x * x;
  });
  for (int step = 16; step > 0; step >>= 1) {
    sum += __shfl_down_sync(kAll, sum, step);
    squares += __shfl_down_sync(kAll, squares, step);
  }
  if (lane != 0) return;
  sum /= columns;
  mean[row] = float(sum);
  variance[row] = float(fmax(squares / columns - sum * sum, 0.0));
}

__global__ void __launch_bounds__(kBlock)
    layer_norm(const float* in, const float* weight, const float* bias, float* out, int columns,
               float epsilon) {
  __shared__ float4 kept[kLongest / 4];
  __shared__ double parts[2][kBlock / kWarpSize];
  float* row = reinterpret_cast<float*>(kept);
  const float* from = in + size_t(blockIdx.x) * columns;
  float* to = out + size_t(blockIdx.x) * columns;
  double sum = 0, squares = 0;
  const auto take = [&](float x) {
    sum += x;
    squares += double(x) * x;
  };
  if (columns % 4 == 0) {
    for (int c = threadIdx.x; c < columns / 4; c += kBlock) {
      const float4 v = kept[c] = reinterpret_cast<const float4*>(from)[c];
      take(v.x), take(v.y), take(v.z), take(v.w);
    }
  } else {
    for (int c = threadIdx.x; c < columns; c += kBlock) take(row[c] = from[c]);
  }
  for (int step = 16; step > 0; step >>= 1) {
    sum += __shfl_xor_sync(kAll, sum, step);
    squares += __shfl_xor_sync(kAll, squares, step);
  }
  if (threadIdx.x % kWarpSize == 0) {
    parts[0][threadIdx.x / kWarpSize] = sum;
    parts[1][threadIdx.x / kWarpSize] = squares;
  }
  __syncthreads();
  sum = squares = 0;
  for (int w = 0; w < kBlock / kWarpSize; ++w) sum += parts[0][w], squares += parts[1][w];
  const double middle = sum / columns;
  const double scale = 1 / sqrt(fmax(squares / columns - middle * middle, 0.0) + epsilon);
  const auto normed = [&](int c) {
    return float((row[c] - middle) * scale) * __ldg(weight + c) + __ldg(bias + c);
  };
  for (int c = threadIdx.x; c < columns; c += kBlock) to[c] = normed(c);
}
