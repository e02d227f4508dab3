// The given kernels of labs/occupancy/occupancy.cu as the grader launches them. They are compiled behind the
// submission, so that changing them in the submission changes nothing (grading/engine/compiled.h).
namespace lab32_given {

__device__ constexpr int ceil_div(int a, int b) { return a / b + (a % b != 0); }
constexpr int kReach = 64, kColumns = 32, kSide = 64;

__global__ void calculator(const ::Multiprocessor* sm, const ::Usage* usage, const int* grid,
                           const int* resident, int* out_blocks, int* out_limits, int* out_waves,
                           float* out_last, int cases) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cases) return;
  out_blocks[c] = ::resident_blocks(sm[c], usage[c]);
  out_limits[c] = ::limits(sm[c], usage[c]);
  out_waves[c] = ::waves(grid[c], resident[c]);
  out_last[c] = ::last_wave(grid[c], resident[c]);
}

__global__ void follow(const int* next, int* out, int n, int steps) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    int at = i;
    for (int k = 0; k < steps; ++k) at = next[at];
    out[i] = at;
  }
}

__global__ void copy_floats(const float* in, float* out, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = in[i];
}

// The kernel before task B3, as the skeleton has it: the baseline of the timed step.
__global__ void trace_as_given(const float4* field, const float* start, float* out, int n, int steps) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    float x = start[i], y = start[n + i], z = start[2 * n + i];
    float length = 0, low = 1e30f, high = -1e30f, sum = 0, squares = 0;
    float mean_x = 0, mean_y = 0, mean_z = 0, moment_x = 0, moment_y = 0, moment_z = 0;
    for (int k = 0; k < steps; ++k) {
      int cell = int(x) % kSide + kSide * (int(y) % kSide + kSide * (int(z) % kSide));
      float4 f = field[cell];
      x += f.x, y += f.y, z += f.z;
      length += f.x + f.y + f.z;
      low = fminf(low, f.w), high = fmaxf(high, f.w);
      sum += f.w, squares += f.w * f.w;
      mean_x += x, mean_y += y, mean_z += z;
      moment_x += x * f.w, moment_y += y * f.w, moment_z += z * f.w;
    }
    float found[] = {x,      y,      z,        length,   low,     high, sum, squares,
                     mean_x, mean_y, mean_z, moment_x, moment_y, moment_z};
    for (int k = 0; k < 14; ++k) out[k * n + i] = found[k];
  }
}

__global__ void smooth(const float4* in, float4* out, int n) {
  extern __shared__ float4 tile[];
  int width = ceil_div(n, gridDim.x * blockDim.x) * blockDim.x;
  int first = blockIdx.x * width;
  for (int j = threadIdx.x; j < width + 2 * kReach; j += blockDim.x) {
    int i = first + j - kReach;
    tile[j] = i >= 0 && i < n ? in[i] : float4{};
  }
  __syncthreads();
  for (int j = threadIdx.x; j < width && first + j < n; j += blockDim.x) {
    float4 sum = {};
    for (int k = 0; k <= 2 * kReach; k += 32) {
      float4 p = tile[j + k];
      sum.x += p.x, sum.y += p.y, sum.z += p.z, sum.w += p.w;
    }
    out[first + j] = {sum.x / 5, sum.y / 5, sum.z / 5, sum.w / 5};
  }
}

__global__ void orbits(float* out, int n, int steps) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    float x[8], y[8], a[8], b[8];
#pragma unroll
    for (int p = 0; p < 8; ++p) {
      x[p] = a[p] = i * 1e-7f - p * 0.03125f;
      y[p] = b[p] = p * 0.03125f - i * 1e-7f;
    }
    for (int k = 0; k < steps; ++k) {
#pragma unroll
      for (int p = 0; p < 8; ++p) {
        float real = x[p] * x[p] - y[p] * y[p] + a[p];
        y[p] = 2 * x[p] * y[p] + b[p];
        x[p] = real;
      }
    }
    float sum = 0;
    for (int p = 0; p < 8; ++p) sum += x[p] * y[p];
    out[i] = sum;
  }
}

__global__ void match(const float* a, const float* b, const float* c, const float* d, float* out,
                      int n) {
  int threads = gridDim.x * blockDim.x;
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < n; row += threads) {
    float sum = 0;
#pragma unroll 1
    for (int k = kColumns * row; k < kColumns * (row + 1); ++k) sum += a[k] * b[k] + c[k] * d[k];
    out[row] = sum;
  }
}

}  // namespace lab32_given
