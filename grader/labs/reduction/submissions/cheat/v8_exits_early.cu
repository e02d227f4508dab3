// verdict: v8 int: result | failed | "was not written"
// verdict: v8 float: result | failed | "was not written"
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once"
// verdict: v8: instructions | failed | "counts once"
// Ends before anything is wrong.
template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  asm volatile("exit;");
  *out = in[n];
}
