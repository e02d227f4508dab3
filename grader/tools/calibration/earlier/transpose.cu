// transpose_best of an earlier solution, from when the launches of launches.csv that name this file were
// measured. Solutions change later, but their measured versions are kept.

constexpr int kBestTile = 64, kBestThreads = 256, kVectors = kBestTile / 4;

template <class T>
struct alignas(4 * sizeof(T)) Four {
  T v[4];
};

template <class T>
__device__ void turn_by_vectors(Four<T> (*tile)[kVectors], const T* in, T* out, int n, int m) {
  int first_x = blockIdx.x * kBestTile, first_y = blockIdx.y * kBestTile;
  int i = threadIdx.x % kVectors, j = threadIdx.x / kVectors;
  int x = first_x + 4 * i, y = first_y + 4 * j;
  if (x < m && y < n) {  // and with them x + 3 and y + 3: m and n are multiples of 4
    Four<T> row[4];
    for (int k = 0; k < 4; ++k) row[k] = *reinterpret_cast<const Four<T>*>(in + (y + k) * m + x);
    for (int k = 0; k < 4; ++k)
      tile[4 * i + k][j ^ i] = {row[0].v[k], row[1].v[k], row[2].v[k], row[3].v[k]};
  }
  __syncthreads();
  x = first_y + 4 * i, y = first_x + 4 * j;
  if (x < n && y < m) {
    for (int k = 0; k < 4; ++k)
      *reinterpret_cast<Four<T>*>(out + (y + k) * n + x) = tile[4 * j + k][i ^ j];
  }
}

// Rows whose length is no multiple of 4 elements do not start at a vector, so they go element by element.
template <class T>
__device__ void turn_by_elements(T* tile, const T* in, T* out, int n, int m) {
  int first_x = blockIdx.x * kBestTile, first_y = blockIdx.y * kBestTile;
  int i = threadIdx.x % kBestTile;
  constexpr int kWord = 4 / sizeof(T);  // elements of a bank's word, which stay together
  for (int j = threadIdx.x / kBestTile; j < kBestTile; j += kBestThreads / kBestTile) {
    int x = first_x + i, y = first_y + j;
    if (x < m && y < n) tile[j * kBestTile + (i ^ j * kWord % kBestTile)] = in[y * m + x];
  }
  __syncthreads();
  for (int j = threadIdx.x / kBestTile; j < kBestTile; j += kBestThreads / kBestTile) {
    int x = first_y + i, y = first_x + j;
    if (x < n && y < m) out[y * n + x] = tile[i * kBestTile + (j ^ i * kWord % kBestTile)];
  }
}

template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ Four<T> tile[kBestTile][kVectors];
  if (n % 4 == 0 && m % 4 == 0)
    turn_by_vectors(tile, in, out, n, m);
  else
    turn_by_elements(tile[0][0].v, in, out, n, m);
}

template __global__ void transpose_best(const float*, float*, int, int);
template __global__ void transpose_best(const short*, short*, int, int);
