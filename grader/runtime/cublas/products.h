// Matrix products: one, or as many as a batch has.
#pragma once

#include <functional>
#include <string>

#include "runtime/cublas/handle.h"

namespace lab32::cublas {

// Where the matrices of a product lie: the first ones and the step to the next, in elements; or, in
// device memory, lists of where each begins.
struct Batch {
  bool listed = false;
  int64_t count = 1;
  int64_t step_a = 0, step_b = 0, step_c = 0;
};

// As the program gives them.
struct Product {
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

// By which number BLAS calls each argument; 0: a wrong one is not told.
struct Places {
  const char* routine;
  int lda, ldb, ldc, count;
};
constexpr Places places_of(const char* routine, int count = 0) {
  return {routine, 8, 10, 13, count};
}

// Elements of A and B, of C, and of the factors.
struct Types {
  cudaDataType ab, c;
  cublasComputeType_t compute;
};

cublasStatus_t multiply(cublasHandle_t handle, const char* name, const Places& places,
                        const Product& product, const Types& types, const Batch& batch);

}  // namespace lab32::cublas
