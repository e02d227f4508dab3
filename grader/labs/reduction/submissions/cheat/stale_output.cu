// verdict: v7 int: result | failed | "out[0]"
// verdict: v7 float: result | failed | "out[0]"
// verdict: v7: sectors | failed | "counts once the result is right"
// verdict: v7: instructions | failed | "counts once"
// Writes nothing and hopes that out still holds the sum of an earlier version.
template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {}
