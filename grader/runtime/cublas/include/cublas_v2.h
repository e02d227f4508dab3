// cuBLAS declarations for toolkits without cuBLAS' own header (such as the wheel nvidia-cuda-nvcc).
// The names and types of the simulated functions are written from NVIDIA's documentation. Refused
// functions are declared with any arguments and print a message when called; runtime.mk generates
// these declarations from api.def and inserts them at the mark.
#pragma once

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <driver_types.h>
#include <library_types.h>
#include <stddef.h>
#include <stdint.h>

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 1
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)
#define CUBLASWINAPI

typedef enum {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum {
  CUBLAS_FILL_MODE_LOWER,
  CUBLAS_FILL_MODE_UPPER,
  CUBLAS_FILL_MODE_FULL
} cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum {
  CUBLAS_OP_N,
  CUBLAS_OP_T,
  CUBLAS_OP_C,
  CUBLAS_OP_HERMITAN = 2,
  CUBLAS_OP_CONJG
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED } cublasAtomicsMode_t;
typedef enum {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_ALGO0 = 0,
  CUBLAS_GEMM_ALGO23 = 23,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
  CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
  CUBLAS_GEMM_ALGO15_TENSOR_OP = 115,
  CUBLAS_GEMM_AUTOTUNE = 999
} cublasGemmAlgo_t;
typedef enum {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
  CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH = 8,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32I_PEDANTIC = 73,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78,
  CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext* cublasHandle_t;
typedef void (*cublasLogCallback)(const char* message);

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int* version);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value);
size_t cublasGetCudartVersion(void);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t bytes);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count);
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char* file);
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback);
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback);

// Declares a function twice: with int, and with int64_t under a name that ends in _64.
#define LAB32_BOTH(DECLARE, name, ...) \
  DECLARE(name, int, __VA_ARGS__)      \
  DECLARE(name##_64, int64_t, __VA_ARGS__)

#define LAB32_COPY(name, I, ...) \
  cublasStatus_t name(I n, I element, const void* x, I step_x, void* y, I step_y);
#define LAB32_COPY_ASYNC(name, I, ...)                                            \
  cublasStatus_t name(I n, I element, const void* x, I step_x, void* y, I step_y, \
                      cudaStream_t stream);
#define LAB32_COPY_2D(name, I, ...) \
  cublasStatus_t name(I rows, I columns, I element, const void* a, I lda, void* b, I ldb);
#define LAB32_COPY_2D_ASYNC(name, I, ...)                                                 \
  cublasStatus_t name(I rows, I columns, I element, const void* a, I lda, void* b, I ldb, \
                      cudaStream_t stream);
LAB32_BOTH(LAB32_COPY, cublasSetVector, )
LAB32_BOTH(LAB32_COPY, cublasGetVector, )
LAB32_BOTH(LAB32_COPY_ASYNC, cublasSetVectorAsync, )
LAB32_BOTH(LAB32_COPY_ASYNC, cublasGetVectorAsync, )
LAB32_BOTH(LAB32_COPY_2D, cublasSetMatrix, )
LAB32_BOTH(LAB32_COPY_2D, cublasGetMatrix, )
LAB32_BOTH(LAB32_COPY_2D_ASYNC, cublasSetMatrixAsync, )
LAB32_BOTH(LAB32_COPY_2D_ASYNC, cublasGetMatrixAsync, )

#define LAB32_DOT(name, I, T)                                                                 \
  cublasStatus_t name(cublasHandle_t handle, I n, const T* x, I step_x, const T* y, I step_y, \
                      T* result);
#define LAB32_SUM(name, I, T, R) \
  cublasStatus_t name(cublasHandle_t handle, I n, const T* x, I step, R* result);
#define LAB32_EXTREME(name, I, T) \
  cublasStatus_t name(cublasHandle_t handle, I n, const T* x, I step, I* result);
#define LAB32_AXPY(name, I, T)                                                                \
  cublasStatus_t name(cublasHandle_t handle, I n, const T* alpha, const T* x, I step_x, T* y, \
                      I step_y);
#define LAB32_SCAL(name, I, T, S) \
  cublasStatus_t name(cublasHandle_t handle, I n, const S* alpha, T* x, I step);
#define LAB32_COPY_DEVICE(name, I, T) \
  cublasStatus_t name(cublasHandle_t handle, I n, const T* x, I step_x, T* y, I step_y);
#define LAB32_SWAP(name, I, T) \
  cublasStatus_t name(cublasHandle_t handle, I n, T* x, I step_x, T* y, I step_y);
#define LAB32_GEMV(name, I, T)                                                               \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op, I m, I n, const T* alpha, \
                      const T* a, I lda, const T* x, I step_x, const T* beta, T* y, I step_y);
#define LAB32_GER(name, I, T)                                                                \
  cublasStatus_t name(cublasHandle_t handle, I m, I n, const T* alpha, const T* x, I step_x, \
                      const T* y, I step_y, T* a, I lda);
#define LAB32_GEMM(name, I, T)                                                                    \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, \
                      I n, I k, const T* alpha, const T* a, I lda, const T* b, I ldb,             \
                      const T* beta, T* c, I ldc);
#define LAB32_STRIDED(name, I, T)                                                                 \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, \
                      I n, I k, const T* alpha, const T* a, I lda, long long step_a, const T* b,  \
                      I ldb, long long step_b, const T* beta, T* c, I ldc, long long step_c,      \
                      I count);
#define LAB32_BATCHED(name, I, T)                                                                 \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, \
                      I n, I k, const T* alpha, const T* const a[], I lda, const T* const b[],    \
                      I ldb, const T* beta, T* const c[], I ldc, I count);
#define LAB32_GEAM(name, I, T)                                                                    \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, \
                      I n, const T* alpha, const T* a, I lda, const T* beta, const T* b, I ldb,   \
                      T* c, I ldc);
#define LAB32_DGMM(name, I, T)                                                                   \
  cublasStatus_t name(cublasHandle_t handle, cublasSideMode_t side, I m, I n, const T* a, I lda, \
                      const T* x, I step, T* c, I ldc);
#define LAB32_ALL(T, X, x, R, RX)                             \
  LAB32_BOTH(LAB32_GEMM, cublas##X##gemm_v2, T)               \
  LAB32_BOTH(LAB32_STRIDED, cublas##X##gemmStridedBatched, T) \
  LAB32_BOTH(LAB32_BATCHED, cublas##X##gemmBatched, T)        \
  LAB32_BOTH(LAB32_GEMV, cublas##X##gemv_v2, T)               \
  LAB32_BOTH(LAB32_GEAM, cublas##X##geam, T)                  \
  LAB32_BOTH(LAB32_DGMM, cublas##X##dgmm, T)                  \
  LAB32_BOTH(LAB32_AXPY, cublas##X##axpy_v2, T)               \
  LAB32_BOTH(LAB32_SCAL, cublas##X##scal_v2, T, T)            \
  LAB32_BOTH(LAB32_COPY_DEVICE, cublas##X##copy_v2, T)        \
  LAB32_BOTH(LAB32_SWAP, cublas##X##swap_v2, T)               \
  LAB32_BOTH(LAB32_SUM, cublas##RX##asum_v2, T, R)            \
  LAB32_BOTH(LAB32_SUM, cublas##RX##nrm2_v2, T, R)            \
  LAB32_BOTH(LAB32_EXTREME, cublasI##x##amax_v2, T)           \
  LAB32_BOTH(LAB32_EXTREME, cublasI##x##amin_v2, T)
LAB32_ALL(float, S, s, float, S)
LAB32_ALL(double, D, d, double, D)
LAB32_ALL(cuComplex, C, c, float, Sc)
LAB32_ALL(cuDoubleComplex, Z, z, double, Dz)
LAB32_BOTH(LAB32_DOT, cublasSdot_v2, float)
LAB32_BOTH(LAB32_DOT, cublasDdot_v2, double)
LAB32_BOTH(LAB32_DOT, cublasCdotu_v2, cuComplex)
LAB32_BOTH(LAB32_DOT, cublasCdotc_v2, cuComplex)
LAB32_BOTH(LAB32_DOT, cublasZdotu_v2, cuDoubleComplex)
LAB32_BOTH(LAB32_DOT, cublasZdotc_v2, cuDoubleComplex)
LAB32_BOTH(LAB32_SCAL, cublasCsscal_v2, cuComplex, float)
LAB32_BOTH(LAB32_SCAL, cublasZdscal_v2, cuDoubleComplex, double)
LAB32_BOTH(LAB32_GER, cublasSger_v2, float)
LAB32_BOTH(LAB32_GER, cublasDger_v2, double)
LAB32_BOTH(LAB32_GER, cublasCgeru_v2, cuComplex)
LAB32_BOTH(LAB32_GER, cublasCgerc_v2, cuComplex)
LAB32_BOTH(LAB32_GER, cublasZgeru_v2, cuDoubleComplex)
LAB32_BOTH(LAB32_GER, cublasZgerc_v2, cuDoubleComplex)
#ifdef __cplusplus
LAB32_BOTH(LAB32_GEMM, cublasHgemm, __half)
LAB32_BOTH(LAB32_STRIDED, cublasHgemmStridedBatched, __half)
LAB32_BOTH(LAB32_BATCHED, cublasHgemmBatched, __half)
#endif

#define LAB32_SGEMM_EX(name, I, ...)                                                              \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, \
                      I n, I k, const float* alpha, const void* a, cudaDataType type_a, I lda,    \
                      const void* b, cudaDataType type_b, I ldb, const float* beta, void* c,      \
                      cudaDataType type_c, I ldc);
#define LAB32_GEMM_EX(name, I, ...)                                                               \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, \
                      I n, I k, const void* alpha, const void* a, cudaDataType type_a, I lda,     \
                      const void* b, cudaDataType type_b, I ldb, const void* beta, void* c,       \
                      cudaDataType type_c, I ldc, cublasComputeType_t compute,                    \
                      cublasGemmAlgo_t algorithm);
#define LAB32_STRIDED_EX(name, I, ...)                                                            \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, \
                      I n, I k, const void* alpha, const void* a, cudaDataType type_a, I lda,     \
                      long long step_a, const void* b, cudaDataType type_b, I ldb,                \
                      long long step_b, const void* beta, void* c, cudaDataType type_c, I ldc,    \
                      long long step_c, I count, cublasComputeType_t compute,                     \
                      cublasGemmAlgo_t algorithm);
#define LAB32_BATCHED_EX(name, I, ...)                                                            \
  cublasStatus_t name(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, I m, \
                      I n, I k, const void* alpha, const void* const a[], cudaDataType type_a,    \
                      I lda, const void* const b[], cudaDataType type_b, I ldb, const void* beta, \
                      void* const c[], cudaDataType type_c, I ldc, I count,                       \
                      cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
LAB32_BOTH(LAB32_SGEMM_EX, cublasSgemmEx, )
LAB32_BOTH(LAB32_GEMM_EX, cublasGemmEx, )
LAB32_BOTH(LAB32_STRIDED_EX, cublasGemmStridedBatchedEx, )
LAB32_BOTH(LAB32_BATCHED_EX, cublasGemmBatchedEx, )

#ifdef __cplusplus
// mark: functions that are refused
}
#endif

#define cublasCaxpy cublasCaxpy_v2
#define cublasCcopy cublasCcopy_v2
#define cublasCdotc cublasCdotc_v2
#define cublasCdotu cublasCdotu_v2
#define cublasCgemm cublasCgemm_v2
#define cublasCgemv cublasCgemv_v2
#define cublasCgerc cublasCgerc_v2
#define cublasCgeru cublasCgeru_v2
#define cublasCreate cublasCreate_v2
#define cublasCscal cublasCscal_v2
#define cublasCsscal cublasCsscal_v2
#define cublasCswap cublasCswap_v2
#define cublasDasum cublasDasum_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasDcopy cublasDcopy_v2
#define cublasDdot cublasDdot_v2
#define cublasDestroy cublasDestroy_v2
#define cublasDgemm cublasDgemm_v2
#define cublasDgemv cublasDgemv_v2
#define cublasDger cublasDger_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasDscal cublasDscal_v2
#define cublasDswap cublasDswap_v2
#define cublasDzasum cublasDzasum_v2
#define cublasDznrm2 cublasDznrm2_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasGetStream cublasGetStream_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasIcamax cublasIcamax_v2
#define cublasIcamin cublasIcamin_v2
#define cublasIdamax cublasIdamax_v2
#define cublasIdamin cublasIdamin_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIsamin cublasIsamin_v2
#define cublasIzamax cublasIzamax_v2
#define cublasIzamin cublasIzamin_v2
#define cublasSasum cublasSasum_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasScasum cublasScasum_v2
#define cublasScnrm2 cublasScnrm2_v2
#define cublasScopy cublasScopy_v2
#define cublasSdot cublasSdot_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasSetStream cublasSetStream_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSgemm cublasSgemm_v2
#define cublasSgemv cublasSgemv_v2
#define cublasSger cublasSger_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasSscal cublasSscal_v2
#define cublasSswap cublasSswap_v2
#define cublasZaxpy cublasZaxpy_v2
#define cublasZcopy cublasZcopy_v2
#define cublasZdotc cublasZdotc_v2
#define cublasZdotu cublasZdotu_v2
#define cublasZdscal cublasZdscal_v2
#define cublasZgemm cublasZgemm_v2
#define cublasZgemv cublasZgemv_v2
#define cublasZgerc cublasZgerc_v2
#define cublasZgeru cublasZgeru_v2
#define cublasZscal cublasZscal_v2
#define cublasZswap cublasZswap_v2
#define cublasCaxpy_64 cublasCaxpy_v2_64
#define cublasCcopy_64 cublasCcopy_v2_64
#define cublasCdotc_64 cublasCdotc_v2_64
#define cublasCdotu_64 cublasCdotu_v2_64
#define cublasCgemm_64 cublasCgemm_v2_64
#define cublasCgemv_64 cublasCgemv_v2_64
#define cublasCgerc_64 cublasCgerc_v2_64
#define cublasCgeru_64 cublasCgeru_v2_64
#define cublasCscal_64 cublasCscal_v2_64
#define cublasCsscal_64 cublasCsscal_v2_64
#define cublasCswap_64 cublasCswap_v2_64
#define cublasDasum_64 cublasDasum_v2_64
#define cublasDaxpy_64 cublasDaxpy_v2_64
#define cublasDcopy_64 cublasDcopy_v2_64
#define cublasDdot_64 cublasDdot_v2_64
#define cublasDgemm_64 cublasDgemm_v2_64
#define cublasDgemv_64 cublasDgemv_v2_64
#define cublasDger_64 cublasDger_v2_64
#define cublasDnrm2_64 cublasDnrm2_v2_64
#define cublasDscal_64 cublasDscal_v2_64
#define cublasDswap_64 cublasDswap_v2_64
#define cublasDzasum_64 cublasDzasum_v2_64
#define cublasDznrm2_64 cublasDznrm2_v2_64
#define cublasIcamax_64 cublasIcamax_v2_64
#define cublasIcamin_64 cublasIcamin_v2_64
#define cublasIdamax_64 cublasIdamax_v2_64
#define cublasIdamin_64 cublasIdamin_v2_64
#define cublasIsamax_64 cublasIsamax_v2_64
#define cublasIsamin_64 cublasIsamin_v2_64
#define cublasIzamax_64 cublasIzamax_v2_64
#define cublasIzamin_64 cublasIzamin_v2_64
#define cublasSasum_64 cublasSasum_v2_64
#define cublasSaxpy_64 cublasSaxpy_v2_64
#define cublasScasum_64 cublasScasum_v2_64
#define cublasScnrm2_64 cublasScnrm2_v2_64
#define cublasScopy_64 cublasScopy_v2_64
#define cublasSdot_64 cublasSdot_v2_64
#define cublasSgemm_64 cublasSgemm_v2_64
#define cublasSgemv_64 cublasSgemv_v2_64
#define cublasSger_64 cublasSger_v2_64
#define cublasSnrm2_64 cublasSnrm2_v2_64
#define cublasSscal_64 cublasSscal_v2_64
#define cublasSswap_64 cublasSswap_v2_64
#define cublasZaxpy_64 cublasZaxpy_v2_64
#define cublasZcopy_64 cublasZcopy_v2_64
#define cublasZdotc_64 cublasZdotc_v2_64
#define cublasZdotu_64 cublasZdotu_v2_64
#define cublasZdscal_64 cublasZdscal_v2_64
#define cublasZgemm_64 cublasZgemm_v2_64
#define cublasZgemv_64 cublasZgemv_v2_64
#define cublasZgerc_64 cublasZgerc_v2_64
#define cublasZgeru_64 cublasZgeru_v2_64
#define cublasZscal_64 cublasZscal_v2_64
#define cublasZswap_64 cublasZswap_v2_64
