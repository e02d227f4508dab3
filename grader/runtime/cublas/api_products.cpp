// cuBLAS' matrix products under all their names. Int is int, or int64_t for the functions whose
// names end in _64.

#include "runtime/cublas/products.h"
#include "runtime/cublas/values.h"

using namespace lab32::cublas;

namespace {

// A product whose matrices, factors and sums all have the type T.
template <class T>
constexpr ProductTypes kTypes{};
template <>
constexpr ProductTypes kTypes<float>{CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
template <>
constexpr ProductTypes kTypes<double>{CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
template <>
constexpr ProductTypes kTypes<cuComplex>{CUDA_C_32F, CUDA_C_32F, CUBLAS_COMPUTE_32F};
template <>
constexpr ProductTypes kTypes<cuDoubleComplex>{CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F};
template <>
constexpr ProductTypes kTypes<__half>{CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F};

// The positions in GEMM_EX. BLAS counts its type arguments, too.
constexpr XerblaArgumentPositions kEx{"GEMM_EX ", 9, 12, 16, 0};
constexpr int kAlgorithm = 18;

bool is_algorithm(cublasGemmAlgo_t a) {
  return (a >= -1 && a <= 23) || (a >= 99 && a <= 115) || a == 999;
}

struct GemmExTypes {
  cudaDataType a, b, c;
  cublasComputeType_t compute;
  cublasGemmAlgo_t algorithm;
};

cublasStatus_t multiply_ex(cublasHandle_t handle, const char* name, const CublasGemmArguments& p,
                           const GemmExTypes& ex, const GemmBatchLayout& batch) {
  return with_handle(name, handle, [&](Runtime&) {
    if (!is_algorithm(ex.algorithm)) return report_illegal_parameter(kEx.routine, kAlgorithm);
    // An H100 also refuses A and B of different types.
    const ProductTypes types{ex.a == ex.b ? ex.a : CUDA_R_64U, ex.c, ex.compute};
    return multiply(handle, name, kEx, p, types, batch);
  });
}

}  // namespace

#define OPERANDS(T, Int)                                                             \
  cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, Int n, Int k, \
      const T *alpha, const T *a, Int lda, const T *b, Int ldb, const T *beta, T *c, Int ldc

#define GEMM(T, symbol, Name, ROUTINE, Int)                                                 \
  cublasStatus_t symbol(OPERANDS(T, Int)) {                                                 \
    return multiply(h, "cublas" #Name, gemm_xerbla_positions(ROUTINE),                      \
                    {ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, kTypes<T>, {}); \
  }
GEMM(float, cublasSgemm_v2, Sgemm, "SGEMM", int)
GEMM(float, cublasSgemm_v2_64, Sgemm, "SGEMM", int64_t)
GEMM(double, cublasDgemm_v2, Dgemm, "DGEMM", int)
GEMM(double, cublasDgemm_v2_64, Dgemm, "DGEMM", int64_t)
GEMM(cuComplex, cublasCgemm_v2, Cgemm, "CGEMM", int)
GEMM(cuComplex, cublasCgemm_v2_64, Cgemm, "CGEMM", int64_t)
GEMM(cuDoubleComplex, cublasZgemm_v2, Zgemm, "ZGEMM", int)
GEMM(cuDoubleComplex, cublasZgemm_v2_64, Zgemm, "ZGEMM", int64_t)
GEMM(__half, cublasHgemm, Hgemm, "HGEMM", int)
GEMM(__half, cublasHgemm_64, Hgemm, "HGEMM", int64_t)

#define STRIDED(T, symbol, Name, Int)                                                        \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, \
                        Int n, Int k, const T* alpha, const T* a, Int lda, long long step_a, \
                        const T* b, Int ldb, long long step_b, const T* beta, T* c, Int ldc, \
                        long long step_c, Int count) {                                       \
    return multiply(h, "cublas" #Name, gemm_xerbla_positions(#Name, 14),                     \
                    {ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, kTypes<T>,       \
                    {false, count, step_a, step_b, step_c});                                 \
  }
#define BATCHED(T, symbol, Name, Int)                                                        \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m, \
                        Int n, Int k, const T* alpha, const T* const a[], Int lda,           \
                        const T* const b[], Int ldb, const T* beta, T* const c[], Int ldc,   \
                        Int count) {                                                         \
    return multiply(h, "cublas" #Name, gemm_xerbla_positions(#Name, 14),                     \
                    {ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, const_cast<T**>(c), ldc}, \
                    kTypes<T>, {true, count, 0, 0, 0});                                      \
  }
#define BATCHES(T, X)                                                          \
  STRIDED(T, cublas##X##gemmStridedBatched, X##gemmStridedBatched, int)        \
  STRIDED(T, cublas##X##gemmStridedBatched_64, X##gemmStridedBatched, int64_t) \
  BATCHED(T, cublas##X##gemmBatched, X##gemmBatched, int)                      \
  BATCHED(T, cublas##X##gemmBatched_64, X##gemmBatched, int64_t)
BATCHES(float, S)
BATCHES(double, D)
BATCHES(cuComplex, C)
BATCHES(cuDoubleComplex, Z)
BATCHES(__half, H)

#define EX(symbol, Int)                                                                           \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m,      \
                        Int n, Int k, const void* alpha, const void* a, cudaDataType type_a,      \
                        Int lda, const void* b, cudaDataType type_b, Int ldb, const void* beta,   \
                        void* c, cudaDataType type_c, Int ldc, cublasComputeType_t compute,       \
                        cublasGemmAlgo_t algorithm) {                                             \
    return multiply_ex(h, "cublasGemmEx", {ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, \
                       {type_a, type_b, type_c, compute, algorithm}, {});                         \
  }
EX(cublasGemmEx, int)
EX(cublasGemmEx_64, int64_t)

#define STRIDED_EX(symbol, Int)                                                                    \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m,       \
                        Int n, Int k, const void* alpha, const void* a, cudaDataType type_a,       \
                        Int lda, long long step_a, const void* b, cudaDataType type_b, Int ldb,    \
                        long long step_b, const void* beta, void* c, cudaDataType type_c, Int ldc, \
                        long long step_c, Int count, cublasComputeType_t compute,                  \
                        cublasGemmAlgo_t algorithm) {                                              \
    return multiply_ex(                                                                            \
        h, "cublasGemmStridedBatchedEx", {ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc},   \
        {type_a, type_b, type_c, compute, algorithm}, {false, count, step_a, step_b, step_c});     \
  }
STRIDED_EX(cublasGemmStridedBatchedEx, int)
STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t)

#define BATCHED_EX(symbol, Int)                                                                    \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m,       \
                        Int n, Int k, const void* alpha, const void* const a[],                    \
                        cudaDataType type_a, Int lda, const void* const b[], cudaDataType type_b,  \
                        Int ldb, const void* beta, void* const c[], cudaDataType type_c, Int ldc,  \
                        Int count, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {      \
    return multiply_ex(h, "cublasGemmBatchedEx",                                                   \
                       {ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, const_cast<void**>(c), ldc}, \
                       {type_a, type_b, type_c, compute, algorithm}, {true, count, 0, 0, 0});      \
  }
BATCHED_EX(cublasGemmBatchedEx, int)
BATCHED_EX(cublasGemmBatchedEx_64, int64_t)

#define SGEMM_EX(symbol, Int)                                                                    \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m,     \
                        Int n, Int k, const float* alpha, const void* a, cudaDataType type_a,    \
                        Int lda, const void* b, cudaDataType type_b, Int ldb, const float* beta, \
                        void* c, cudaDataType type_c, Int ldc) {                                 \
    return multiply(h, "cublasSgemmEx", {"SGEMM_EX ", 9, 12, 16, 0},                             \
                    {ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc},                      \
                    {type_a == type_b ? type_a : CUDA_R_64U, type_c, CUBLAS_COMPUTE_32F}, {});   \
  }
SGEMM_EX(cublasSgemmEx, int)
SGEMM_EX(cublasSgemmEx_64, int64_t)
