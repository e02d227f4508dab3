// The swizzle as a type with constexpr members, recursion over the bits, lambdas for the two sides
// of the tile, and one body for all kernels.
template <int B, int M, int S>
struct Bits {
  static constexpr int kY = M + (S > 0 ? S : 0), kZ = M - (S < 0 ? S : 0);
  __host__ __device__ static constexpr unsigned apply(unsigned offset) {
    if constexpr (B == 0)
      return offset;
    else
      return Bits<B - 1, M, S>::apply(offset) ^ (offset >> (kY + B - 1) & 1u) << (kZ + B - 1);
  }
};

template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  static_assert(Bits<3, 0, 3>::apply(9) == 8);
  return Bits<B, M, S>::apply(offset);
}

template <class T>
__device__ int general_place(int y, int x, int nx) {
  union {
    unsigned bytes;
    int place;
  } u{Bits<3, 4, 3>::apply(unsigned(y * nx + x) * unsigned(sizeof(T)))};
  return u.place / int(sizeof(T));
}

// 4 XORs by the mode: the mask of YYY is mode / 16 - 1.
__device__ int landing(int mode, int base, int y, int x, int element_bytes) {
  const int address = base + y * mode + x * element_bytes;
  return address ^ (address >> 7 & (mode >> 4) - 1) << 4;
}

template <class Place, class Load, class Add>
__device__ __forceinline__ void weigh(uint4* tile, const uint4* in, const unsigned* weight,
                                      uint4* out, Place place, Load load, Add add) {
  in += 512 * blockIdx.x;
  out += 1024 * blockIdx.x;
#pragma unroll
  for (int j = threadIdx.x; j < 512; j += 256) tile[place(j / 8, j % 8)] = __ldg(in + j);
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    uint4 sum{};
#pragma unroll
    for (int s = 0; s < 4; ++s)
      add(sum, __ldg(weight + 4 * warp + s),
          load(tile + place(16 * s + lane % 16, 2 * k + lane / 16)));
    out[128 * warp + 32 * k + lane] = sum;
  }
}

template <bool kTranspose>
__global__ void weigh_padded(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[64 * 9];
  const auto place = [](int row, int chunk) { return 9 * row + chunk; };
  weigh(tile, in, weight, out, place, load_matrices<kTranspose>, add_weighted);
}

template <bool kTranspose>
__global__ void weigh_swizzled(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[64 * 8];
  const auto place = [](int row, int chunk) { return Bits<3, 0, 3>::apply(8 * row + chunk); };
  weigh(tile, in, weight, out, place, load_matrices<kTranspose>, add_weighted);
}
