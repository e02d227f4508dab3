// verdict: B4 best: requests | failed | "65,536 requests, where 16,384 are enough"
// half right
// 16 elements per thread, one after the other: a quarter of the points.
template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ T tile[kBestRows * kBestColumns];
  turn_by_elements(tile, in, out, n, m, corner());
}
