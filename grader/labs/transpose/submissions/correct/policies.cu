// One kernel body for all versions: a policy gives the place of an element in the tile, a lambda
// the thread that moves it. Half of the threads move two elements each; the others wait.
template <int kPitch>
struct Rows {
  static constexpr int kElements = kPitch * kTile;
  __device__ static int place(int row, int column) { return row * kPitch + column; }
};

struct Xored {
  static constexpr int kElements = kTile * kTile;
  __device__ static int place(int row, int column) { return row * kTile | (row ^ column); }
};

template <class Policy, class T>
class Tile {
 public:
  __device__ T& operator()(int row, int column) { return at_[Policy::place(row, column)]; }

 private:
  T at_[Policy::kElements];
};

template <class Body>
__device__ __forceinline__ void for_two_rows(int columns, int rows, const Body& body) {
  if (threadIdx.y >= kTile / 2 || int(threadIdx.x) >= columns) return;
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kTile / 2)
    if (y < rows) body(y, threadIdx.x);
}

template <class Policy, class T>
__device__ void turn(Tile<Policy, T>& tile, const T* __restrict__ in, T* __restrict__ out, int n,
                     int m) {
  const int x0 = blockIdx.x * kTile, y0 = blockIdx.y * kTile;
  for_two_rows(m - x0, n - y0, [&](int y, int x) { tile(y, x) = in[(y0 + y) * m + x0 + x]; });
  __syncthreads();
  for_two_rows(n - y0, m - x0, [&](int y, int x) { out[(x0 + y) * n + y0 + x] = tile(x, y); });
}

template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ Tile<Rows<kTile>, T> tile;
  turn(tile, in, out, n, m);
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ Tile<Rows<kTile + 1>, T> tile;
  turn(tile, in, out, n, m);
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ Tile<Xored, T> tile;
  turn(tile, in, out, n, m);
}
