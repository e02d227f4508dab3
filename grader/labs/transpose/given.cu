// The given kernels of labs/transpose/transpose.cu as the grader launches them. They are compiled behind the
// submission, so that changing them in the submission changes nothing (grading/engine/compiled.h).
namespace lab32_given {

constexpr int kTile = 32;

template <class T>
__global__ void transpose_naive(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) out[x * n + y] = in[y * m + x];
}
template __global__ void transpose_naive(const double*, double*, int, int);
template __global__ void transpose_naive(const float*, float*, int, int);
template __global__ void transpose_naive(const short*, short*, int, int);

template <int kWide, int kPitch>
__global__ void turn_tile(const float* in, float* out) {
  __shared__ float tile[kWide * kPitch];
  int tx = threadIdx.x, ty = threadIdx.y;
  tile[kPitch * ty + tx] = in[kWide * ty + tx];
  __syncthreads();
  out[kWide * ty + tx] = tile[kPitch * tx + ty];
}
template __global__ void turn_tile<16, 16>(const float*, float*);
template __global__ void turn_tile<16, 17>(const float*, float*);
template __global__ void turn_tile<32, 32>(const float*, float*);
template __global__ void turn_tile<32, 33>(const float*, float*);

}  // namespace lab32_given
