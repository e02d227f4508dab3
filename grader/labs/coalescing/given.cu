// The given kernels of labs/coalescing/coalescing.cu as the grader launches them. They are compiled behind the
// submission, so that changing them in the submission changes nothing (grading/engine/compiled.h).
namespace lab32_given {

constexpr int kWarpSize = 32;

__global__ void coalescer(const unsigned long long* addresses, const int* bytes,
                          const unsigned* active, int* out_requests, int* out_sectors,
                          int patterns) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= patterns) return;
  out_requests[p] = ::requests(addresses + 32 * p, bytes[p], active[p]);
  out_sectors[p] = ::sectors(addresses + 32 * p, bytes[p], active[p]);
}

__global__ void add1(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  z[i] = x[i] + y[i];
}

__global__ void add2(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  z[i] = x[i] + y[i];
}

__global__ void add3(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + (threadIdx.x ^ 1);
  z[i] = x[i] + y[i];
}

__global__ void add4(const float* x, const float* y, float* z) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
  z[i] = x[i] + y[i];
}

__global__ void add5(const float* x, const float* y, float* z) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  z[i] = x[i] + y[i];
}

__global__ void copy_strided(const float* in, float* out, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i * stride];
}

__global__ void pack(const float* values, float* particles, int field, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) particles[::slot(field, i, n)] = values[i];
}

__global__ void scale_field(const float* particles, float* out, int field, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * particles[::slot(field, i, n)];
}

}  // namespace lab32_given
