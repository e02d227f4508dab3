// verdict: B4 best: result | failed | "out of bounds"
// verdict: B4 best: sectors | failed | "counts once the result is right"
// verdict: B4 best: requests | failed | "see `B4 best: sectors`"
// verdict: B4 best: wavefronts | failed | "see `B4 best: sectors`"
// Vectors whatever the row's length.
template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ Four<T> tile[kBestColumns][kDown];
  turn_by_vectors(tile, in, out, n, m, corner());
}
