// Matrix products: a single one, or a batch. `CublasGemmArguments` has the program's arguments,
// `ProductTypes` the types of the elements, and `GemmBatchLayout` where the matrices of each
// product begin.
#pragma once

#include <functional>
#include <string>

#include "runtime/cublas/handle.h"

namespace lab32::cublas {

// Where the matrices of a batch begin: the first ones and the stride to the next in elements, or
// lists of addresses in device memory.
struct GemmBatchLayout {
  bool listed = false;
  int64_t count = 1;
  int64_t step_a = 0, step_b = 0, step_c = 0;
};

// The arguments of a product, as the program passes them.
struct CublasGemmArguments {
  cublasOperation_t op_a, op_b;
  int64_t m, n, k;
  const void* alpha;
  const void* a;
  int64_t lda;
  const void* b;
  int64_t ldb;
  const void* beta;
  void* c;
  int64_t ldc;
};

// The position by which BLAS reports each wrong argument; 0: this argument is not reported.
struct XerblaArgumentPositions {
  const char* routine;
  int lda, ldb, ldc, count;
};
constexpr XerblaArgumentPositions gemm_xerbla_positions(const char* routine, int count = 0) {
  return {routine, 8, 10, 13, count};
}

// The types of a product: of the elements of A and B, of those of C, and of the computation.
struct ProductTypes {
  cudaDataType ab, c;
  cublasComputeType_t compute;
};

cublasStatus_t multiply(cublasHandle_t handle, const char* name,
                        const XerblaArgumentPositions& places, const CublasGemmArguments& product,
                        const ProductTypes& types, const GemmBatchLayout& batch);

}  // namespace lab32::cublas
