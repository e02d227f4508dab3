// verdict: B4 centre: sectors | failed | "touch 4 sectors where 1 would do"
// Neighbouring lanes have neighbouring elements, and a case for each column makes four requests of
// one.
__global__ void centre(const float* in, const float* mean, float* out, int n) {
  const int row = 64 * (4 * blockIdx.x + blockIdx.y) + threadIdx.x / 4;
  if (row >= n) return;
  const int i = 4 * row + threadIdx.x % 4;
  switch (threadIdx.x % 4) {
    case 0:
      out[i] = in[i] - mean[0];
      break;
    case 1:
      out[i] = in[i] - mean[1];
      break;
    case 2:
      out[i] = in[i] - mean[2];
      break;
    default:
      out[i] = in[i] - mean[3];
  }
}
