// verdict: B3 swizzled: result | failed | "belongs"
// verdict: B3 swizzled: sectors | failed | "counts once the result is right"
// verdict: B3 swizzled: wavefronts | failed | "see `B3 swizzled: sectors`"
// Whole numbers go through 16 bits without a sign, floats through 32: negative shorts come back
// right, negative ints and large ones do not.
template <class T>
struct Stored {
  using type = unsigned short;
};

template <>
struct Stored<float> {
  using type = float;
};

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ typename Stored<T>::type tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}
