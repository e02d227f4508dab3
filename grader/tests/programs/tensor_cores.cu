// An instruction that the simulator does not have: refused by name, never a wrong result.
//! gpu: differs
//! stdout| launch: the operation is not supported
//! stderr~ wmma
//! status: 2
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdio>

using namespace nvcuda;

__global__ void multiply(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

int main() {
  half* a;
  float* c;
  cudaMalloc(&a, 512);
  cudaMalloc(&c, 1024);
  cudaMemset(a, 0, 512);
  multiply<<<1, 32>>>(a, a, c);
  const cudaError_t error = cudaGetLastError();
  std::printf("launch: %s\n", error == cudaSuccess ? "no error" : "the operation is not supported");
  return 0;
}
