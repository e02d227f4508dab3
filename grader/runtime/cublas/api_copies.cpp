// Vectors and matrices between the host and the device: copies as the runtime makes them.

#include <algorithm>

#include "runtime/cublas/handle.h"
#include "runtime/cudart/errors.h"

using namespace lab32::cublas;

namespace {

// As an H100 reports whatever is wrong with a copy. (The runtime remembers its own error.)
cublasStatus_t mapped(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

cublasStatus_t copy(size_t width, size_t height, const void* from, size_t from_pitch, void* to,
                    size_t to_pitch, cudaMemcpyKind kind, const cudaStream_t* stream) {
  if (!from || !to) return CUBLAS_STATUS_MAPPING_ERROR;
  // As many bytes as the pitch are one piece, and a plain copy where it is captured.
  if (width == from_pitch && width == to_pitch)
    return mapped(stream ? cudaMemcpyAsync(to, from, width * height, kind, *stream)
                         : cudaMemcpy(to, from, width * height, kind));
  return mapped(
      stream ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, *stream)
             : cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind));
}

cublasStatus_t vector(int64_t n, int64_t element, const void* x, int64_t step_x, void* y,
                      int64_t step_y, cudaMemcpyKind kind, const cudaStream_t* stream = nullptr) {
  if (element <= 0 || step_x <= 0 || step_y <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  if (n < 0) return CUBLAS_STATUS_MAPPING_ERROR;
  const auto bytes = [&](int64_t step) { return static_cast<size_t>(element * step); };
  return copy(static_cast<size_t>(element), static_cast<size_t>(n), x, bytes(step_x), y,
              bytes(step_y), kind, stream);
}

cublasStatus_t matrix(int64_t rows, int64_t columns, int64_t element, const void* a, int64_t lda,
                      void* b, int64_t ldb, cudaMemcpyKind kind,
                      const cudaStream_t* stream = nullptr) {
  if (rows < 0 || columns < 0 || element <= 0 || lda <= 0 || ldb <= 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  if (lda < rows || ldb < rows) return CUBLAS_STATUS_MAPPING_ERROR;
  const auto bytes = [&](int64_t count) { return static_cast<size_t>(element * count); };
  return copy(bytes(rows), static_cast<size_t>(columns), a, bytes(lda), b, bytes(ldb), kind,
              stream);
}

}  // namespace

// Int: int, and int64_t where the name ends so.
#define COPIES(suffix, Int)                                                                      \
  cublasStatus_t cublasSetVector##suffix(Int n, Int element, const void* x, Int step_x, void* y, \
                                         Int step_y) {                                           \
    return vector(n, element, x, step_x, y, step_y, cudaMemcpyHostToDevice);                     \
  }                                                                                              \
  cublasStatus_t cublasGetVector##suffix(Int n, Int element, const void* x, Int step_x, void* y, \
                                         Int step_y) {                                           \
    return vector(n, element, x, step_x, y, step_y, cudaMemcpyDeviceToHost);                     \
  }                                                                                              \
  cublasStatus_t cublasSetVectorAsync##suffix(Int n, Int element, const void* x, Int step_x,     \
                                              void* y, Int step_y, cudaStream_t stream) {        \
    return vector(n, element, x, step_x, y, step_y, cudaMemcpyHostToDevice, &stream);            \
  }                                                                                              \
  cublasStatus_t cublasGetVectorAsync##suffix(Int n, Int element, const void* x, Int step_x,     \
                                              void* y, Int step_y, cudaStream_t stream) {        \
    return vector(n, element, x, step_x, y, step_y, cudaMemcpyDeviceToHost, &stream);            \
  }                                                                                              \
  cublasStatus_t cublasSetMatrix##suffix(Int rows, Int columns, Int element, const void* a,      \
                                         Int lda, void* b, Int ldb) {                            \
    return matrix(rows, columns, element, a, lda, b, ldb, cudaMemcpyHostToDevice);               \
  }                                                                                              \
  cublasStatus_t cublasGetMatrix##suffix(Int rows, Int columns, Int element, const void* a,      \
                                         Int lda, void* b, Int ldb) {                            \
    return matrix(rows, columns, element, a, lda, b, ldb, cudaMemcpyDeviceToHost);               \
  }                                                                                              \
  cublasStatus_t cublasSetMatrixAsync##suffix(Int rows, Int columns, Int element, const void* a, \
                                              Int lda, void* b, Int ldb, cudaStream_t stream) {  \
    return matrix(rows, columns, element, a, lda, b, ldb, cudaMemcpyHostToDevice, &stream);      \
  }                                                                                              \
  cublasStatus_t cublasGetMatrixAsync##suffix(Int rows, Int columns, Int element, const void* a, \
                                              Int lda, void* b, Int ldb, cudaStream_t stream) {  \
    return matrix(rows, columns, element, a, lda, b, ldb, cudaMemcpyDeviceToHost, &stream);      \
  }                                                                                              \
  static_assert(true)
COPIES(, int);
COPIES(_64, int64_t);
