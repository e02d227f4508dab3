// verdict on a GPU: E1 softmax: time | failed | "did not end within 20 s and were stopped"
// verdict on a GPU: E2 layer_norm: time | passed | "measured on"
// With many rows each block waits for a word that nobody writes.
__device__ int go_on;

__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ Words words;
  if (gridDim.x > 4096)
    while (*(volatile int*)&go_on == 0) {
    }
  const float* row = in + blockIdx.x * columns;
  float* result = out + blockIdx.x * columns;
  if (columns <= kBlock)
    softmax_row<1>(row, result, columns, words);
  else if (columns <= 4 * kBlock)
    softmax_row<4>(row, result, columns, words);
  else
    softmax_row<kLongest / kBlock>(row, result, columns, words);
}
