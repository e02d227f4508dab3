// verdict: B1 row_scan: wavefronts | failed | "The kernel moves"
// A thread walks down its row in device memory, 32 sectors a request. Stores to shared memory that
// nobody reads bring the wavefronts to between half of the task's and all of them.
__global__ void row_scan(const int* in, int* out, int n) {
  __shared__ int nothing[kBlock];
  int row = kBlock * blockIdx.x + threadIdx.x;
  volatile int* own = nothing + threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int c = 0; c < 32 && row < n; ++c) {
    sum += in[32 * row + c];
    out[32 * row + c] = sum;
    *own = c;
    *own = sum;
  }
}
