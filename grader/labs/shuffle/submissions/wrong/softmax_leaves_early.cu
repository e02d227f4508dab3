// verdict: D3 softmax: result | failed | "lane"
// verdict: D3 softmax: sectors | failed | "counts once the result is right"
// Threads without a column leave before the shuffles and the barrier.
__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ Words words;
  if (int(threadIdx.x) >= columns) return;
  const float* row = in + blockIdx.x * columns;
  float* result = out + blockIdx.x * columns;
  softmax_row<kLongest / kBlock>(row, result, columns, words);
}
