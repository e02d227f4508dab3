// The given kernels of labs/swizzle/swizzle.cu as the grader launches them. They are compiled behind the
// submission, so that changing them in the submission changes nothing (grading/engine/compiled.h).
namespace lab32_given {

constexpr int kRows = 64, kChunks = 8, kWarps = 8;

template <int B, int M, int S>
__global__ void swizzle_all(const unsigned* in, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = ::swizzle<B, M, S>(in[i]);
}
template __global__ void swizzle_all<3, 0, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<1, 0, 1>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<2, 0, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<5, 0, 5>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<2, 1, 4>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<3, 3, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<3, 4, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<2, 4, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<1, 4, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<0, 4, 3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<2, 0, -3>(const unsigned*, unsigned*, int);
template __global__ void swizzle_all<3, 2, -4>(const unsigned*, unsigned*, int);

template <class T>
__global__ void place_all(int ny, int nx, ::Chunk* chunk, ::Place* documented, int* general) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= ny * nx) return;
  chunk[i] = ::chunk_of<T>(i / nx, i % nx, nx);
  documented[i] = ::documented_place<T>(i / nx, i % nx, nx);
  general[i] = ::general_place<T>(i / nx, i % nx, nx);
}
template __global__ void place_all<char>(int, int, ::Chunk*, ::Place*, int*);
template __global__ void place_all<short>(int, int, ::Chunk*, ::Place*, int*);
template __global__ void place_all<int>(int, int, ::Chunk*, ::Place*, int*);
template __global__ void place_all<double>(int, int, ::Chunk*, ::Place*, int*);

template <bool kTranspose>
__device__ uint4 load_matrices(const uint4* row) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  uint4 m;
  if constexpr (kTranspose) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.x), "=r"(m.y), "=r"(m.z), "=r"(m.w)
                 : "r"(address)
                 : "memory");
  }
  return m;
}

__device__ void add_weighted(uint4& sum, unsigned weight, uint4 m) {
  sum.x += weight * m.x;
  sum.y += weight * m.y;
  sum.z += weight * m.z;
  sum.w += weight * m.w;
}

template <bool kTranspose>
__global__ void weigh_plain(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[kRows][kChunks];
  in += kRows * kChunks * blockIdx.x;
  for (int j = threadIdx.x; j < kRows * kChunks; j += 32 * kWarps) {
    int row = j / kChunks, chunk = j % kChunks;
    tile[row][chunk] = in[j];
  }
  __syncthreads();
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < kChunks / 2; ++k) {
    uint4 sum = {};
    for (int s = 0; s < kRows / 16; ++s) {
      int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
      uint4 m = lab32_given::load_matrices<kTranspose>(&tile[row][chunk]);
      lab32_given::add_weighted(sum, weight[4 * warp + s], m);
    }
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum;
  }
}
template __global__ void weigh_plain<false>(const uint4*, const unsigned*, uint4*);
template __global__ void weigh_plain<true>(const uint4*, const unsigned*, uint4*);

__global__ void land_all(int mode, int base, int rows, int columns, int element_bytes, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) out[i] = ::landing(mode, base, i / columns, i % columns, element_bytes);
}

}  // namespace lab32_given
