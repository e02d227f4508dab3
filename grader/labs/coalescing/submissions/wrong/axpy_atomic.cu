// verdict: B5 axpy: requests | failed | "requests"
// An atomic for each element: a request is a request.
__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = i; k < i + 4 && k < n; ++k) atomicAdd(y + k, a * x[k]);
}
