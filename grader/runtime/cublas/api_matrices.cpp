// cuBLAS functions of matrices and vectors (gemv, ger), of matrices without a product (geam, dgmm),
// and copies of vectors and matrices between host and device.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "runtime/cublas/handle.h"
#include "runtime/cublas/values.h"
#include "runtime/cudart/errors.h"

using namespace lab32::cublas;
using lab32::Error;

namespace {

int64_t at_least_one(int64_t rows) { return std::max<int64_t>(1, rows); }

// The index in memory of element i of a vector of n elements, `step` apart. If the step is
// negative, BLAS starts at the last element.
int64_t place(int64_t i, int64_t n, int64_t step) { return (step < 0 ? i - n + 1 : i) * step; }

// The operands of a product of a matrix and a vector, as the program passes them.
struct CublasGemvArguments {
  cublasOperation_t op;
  int64_t m, n;
  const void* alpha;
  const void* a;
  int64_t lda;
  const void* x;
  int64_t step_x;
  const void* beta;
  void* y;
  int64_t step_y;
};
struct CublasGerArguments {
  bool conjugated;
  int64_t m, n;
  const void* alpha;
  const void* x;
  int64_t step_x;
  const void* y;
  int64_t step_y;
  void* a;
  int64_t lda;
};
struct CublasGeamArguments {
  cublasOperation_t op_a, op_b;
  int64_t m, n;
  const void* alpha;
  const void* a;
  int64_t lda;
  const void* beta;
  const void* b;
  int64_t ldb;
  void* c;
  int64_t ldc;
};
struct CublasDgmmArguments {
  cublasSideMode_t side;
  int64_t m, n;
  const void* a;
  int64_t lda;
  const void* x;
  int64_t step;
  void* c;
  int64_t ldc;
};

// An H100 rejects only these arguments. Its results for other operations and for steps of 0 were
// not measured.
template <class T>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, const CublasGemvArguments& p) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (p.m <= 0 || p.n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (p.lda < p.m) return CUBLAS_STATUS_INVALID_VALUE;
    if (!p.x || !p.y) return CUBLAS_STATUS_INVALID_VALUE;
    if (!p.a) return CUBLAS_STATUS_INTERNAL_ERROR;
    if (!is_valid_operation(p.op)) throw Error("an invalid operation is not simulated");
    if (p.step_x == 0 || p.step_y == 0) throw Error("a step of 0");
    const ScalarFactor<T> by(handle, "alpha", p.alpha), keep(handle, "beta", p.beta);
    if (by.is_null() || keep.is_null()) throw Error("alpha or beta is a null pointer");
    const int64_t rows = p.op == CUBLAS_OP_N ? p.m : p.n, columns = p.op == CUBLAS_OP_N ? p.n : p.m;
    return run_or_capture(
        r, handle, name, fmt::format("{}, {} p.x {}", operation_letter(p.op), p.m, p.n),
        [=](Runtime&, CheckedOperandAccess& access) {
          const T f = by.get(access), g = keep.get(access);
          const bool reads = f != T();
          const T* A = reads ? access.pointer_to_read<T>("A", p.a, {p.m, p.n, p.lda}) : nullptr;
          const T* X =
              reads ? access.pointer_to_read<T>("x", p.x, vector_of(columns, p.step_x)) : nullptr;
          T* Y = access.pointer_to_update<T>("y", p.y, vector_of(rows, p.step_y), g != T());
          access.count_operations(2.0 * (kComplex<T> ? 4 : 1) * static_cast<double>(p.m) *
                                  static_cast<double>(p.n));
          for (int64_t i = 0; i < rows; ++i) {
            T sum{};
            for (int64_t j = 0; reads && j < columns; ++j) {
              const T v = p.op == CUBLAS_OP_N ? A[j * p.lda + i] : A[i * p.lda + j];
              sum += (p.op == CUBLAS_OP_C ? conjugate(v) : v) * X[place(j, columns, p.step_x)];
            }
            T& to = Y[place(i, rows, p.step_y)];
            to = (reads ? f * sum : T()) + (g == T() ? T() : g * to);
          }
        });
  });
}

template <class T>
cublasStatus_t ger(const char* name, const char* routine, cublasHandle_t handle,
                   const CublasGerArguments& p) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (p.m < 0) return report_illegal_parameter(routine, 1);
    if (p.n < 0) return report_illegal_parameter(routine, 2);
    if (p.step_x == 0) return report_illegal_parameter(routine, 5);
    if (p.step_y == 0) return report_illegal_parameter(routine, 7);
    if (p.lda < at_least_one(p.m)) return report_illegal_parameter(routine, 9);
    if (p.m == 0 || p.n == 0) return CUBLAS_STATUS_SUCCESS;
    const ScalarFactor<T> by(handle, "alpha", p.alpha);
    if (by.is_null()) return CUBLAS_STATUS_INVALID_VALUE;
    return run_or_capture(
        r, handle, name, fmt::format("{} p.x {}", p.m, p.n),
        [=](Runtime&, CheckedOperandAccess& access) {
          const T f = by.get(access);
          if (f == T()) return;
          const T* X = access.pointer_to_read<T>("x", p.x, vector_of(p.m, p.step_x));
          const T* Y = access.pointer_to_read<T>("y", p.y, vector_of(p.n, p.step_y));
          T* A = access.pointer_to_update<T>("A", p.a, {p.m, p.n, p.lda});
          for (int64_t j = 0; j < p.n; ++j) {
            const T v = Y[place(j, p.n, p.step_y)], g = f * (p.conjugated ? conjugate(v) : v);
            for (int64_t i = 0; i < p.m; ++i) A[j * p.lda + i] += X[place(i, p.m, p.step_x)] * g;
          }
        });
  });
}

template <class T>
cublasStatus_t geam(const char* name, const char* routine, cublasHandle_t handle,
                    const CublasGeamArguments& p) {
  return with_handle(name, handle, [&](Runtime& r) {
    const auto extent = [=](cublasOperation_t op, int64_t leading) {
      return op == CUBLAS_OP_N ? MatrixExtent{p.m, p.n, leading} : MatrixExtent{p.n, p.m, leading};
    };
    const MatrixExtent of_a = extent(p.op_a, p.lda), of_b = extent(p.op_b, p.ldb);
    if (!is_valid_operation(p.op_a)) return report_illegal_parameter(routine, 1);
    if (!is_valid_operation(p.op_b)) return report_illegal_parameter(routine, 2);
    if (p.m < 0) return report_illegal_parameter(routine, 3);
    if (p.n < 0) return report_illegal_parameter(routine, 4);
    if (p.lda < at_least_one(of_a.rows)) return report_illegal_parameter(routine, 7);
    if (p.ldb < at_least_one(of_b.rows)) return report_illegal_parameter(routine, 10);
    if (p.ldc < at_least_one(p.m)) return report_illegal_parameter(routine, 12);
    if (p.m == 0 || p.n == 0) return CUBLAS_STATUS_SUCCESS;
    // The operation may be done in place only if each element is read from the address that it is
    // written to.
    const auto moved = [=](const void* at, cublasOperation_t op, int64_t leading) {
      return at == p.c && (op != CUBLAS_OP_N || leading != p.ldc);
    };
    if (moved(p.a, p.op_a, p.lda) || moved(p.b, p.op_b, p.ldb)) return CUBLAS_STATUS_INVALID_VALUE;
    const ScalarFactor<T> by_a(handle, "alpha", p.alpha), by_b(handle, "beta", p.beta);
    if (by_a.is_null() || by_b.is_null()) throw Error("alpha or beta is a null pointer");
    return run_or_capture(
        r, handle, name, fmt::format("{} x {}", p.m, p.n),
        [=](Runtime&, CheckedOperandAccess& access) {
          const T f = by_a.get(access), g = by_b.get(access);
          const T* A = f == T() ? nullptr : access.pointer_to_read<T>("A", p.a, of_a);
          const T* B = g == T() ? nullptr : access.pointer_to_read<T>("B", p.b, of_b);
          T* C = access.pointer_to_write<T>("C", p.c, {p.m, p.n, p.ldc});
          const auto element = [](const T* from, cublasOperation_t op, int64_t leading, int64_t i,
                                  int64_t j) {
            if (op == CUBLAS_OP_N) return from[j * leading + i];
            const T v = from[i * leading + j];
            return op == CUBLAS_OP_C ? conjugate(v) : v;
          };
          for (int64_t j = 0; j < p.n; ++j)
            for (int64_t i = 0; i < p.m; ++i)
              C[j * p.ldc + i] = (A ? f * element(A, p.op_a, p.lda, i, j) : T()) +
                                 (B ? g * element(B, p.op_b, p.ldb, i, j) : T());
        });
  });
}

template <class T>
cublasStatus_t dgmm(const char* name, const char* routine, cublasHandle_t handle,
                    const CublasDgmmArguments& p) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (p.side != CUBLAS_SIDE_LEFT && p.side != CUBLAS_SIDE_RIGHT)
      return report_illegal_parameter(routine, 1);
    if (p.m < 0) return report_illegal_parameter(routine, 2);
    if (p.n < 0) return report_illegal_parameter(routine, 3);
    if (p.lda < at_least_one(p.m)) return report_illegal_parameter(routine, 5);
    if (p.ldc < at_least_one(p.m)) return report_illegal_parameter(routine, 9);
    if (p.m == 0 || p.n == 0) return CUBLAS_STATUS_SUCCESS;
    return run_or_capture(
        r, handle, name, fmt::format("{} p.x {}", p.m, p.n),
        [=](Runtime&, CheckedOperandAccess& access) {
          const bool left = p.side == CUBLAS_SIDE_LEFT;
          const int64_t length = left ? p.m : p.n;
          const T* A = access.pointer_to_read<T>("A", p.a, {p.m, p.n, p.lda});
          const T* X = access.pointer_to_read<T>("x", p.x, vector_of(length, p.step));
          T* C = access.pointer_to_write<T>("C", p.c, {p.m, p.n, p.ldc});
          for (int64_t j = 0; j < p.n; ++j)
            for (int64_t i = 0; i < p.m; ++i)
              C[j * p.ldc + i] = A[j * p.lda + i] * X[place(left ? i : j, length, p.step)];
        });
  });
}

}  // namespace

// Int is int, or int64_t for the functions whose names end in _64.
#define GEMV(T, symbol, name, Int)                                                            \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t op, Int m, Int n, const T* alpha, \
                        const T* a, Int lda, const T* x, Int step_x, const T* beta, T* y,     \
                        Int step_y) {                                                         \
    return gemv<Host<T>>(name, h, {op, m, n, alpha, a, lda, x, step_x, beta, y, step_y});     \
  }
#define GER(T, symbol, name, ROUTINE, conjugated, Int)                                          \
  cublasStatus_t symbol(cublasHandle_t h, Int m, Int n, const T* alpha, const T* x, Int step_x, \
                        const T* y, Int step_y, T* a, Int lda) {                                \
    return ger<Host<T>>(name, ROUTINE, h,                                                       \
                        {conjugated, m, n, alpha, x, step_x, y, step_y, a, lda});               \
  }
#define GEAM(T, symbol, name, ROUTINE, Int)                                                      \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m,     \
                        Int n, const T* alpha, const T* a, Int lda, const T* beta, const T* b,   \
                        Int ldb, T* c, Int ldc) {                                                \
    return geam<Host<T>>(name, ROUTINE, h, {ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc}); \
  }
#define DGMM(T, symbol, name, ROUTINE, Int)                                                \
  cublasStatus_t symbol(cublasHandle_t h, cublasSideMode_t side, Int m, Int n, const T* a, \
                        Int lda, const T* x, Int step, T* c, Int ldc) {                    \
    return dgmm<Host<T>>(name, ROUTINE, h, {side, m, n, a, lda, x, step, c, ldc});         \
  }
#define MATRICES(T, X)                                                \
  GEMV(T, cublas##X##gemv_v2, "cublas" #X "gemv", int)                \
  GEMV(T, cublas##X##gemv_v2_64, "cublas" #X "gemv", int64_t)         \
  GEAM(T, cublas##X##geam, "cublas" #X "geam", #X "GEAM", int)        \
  GEAM(T, cublas##X##geam_64, "cublas" #X "geam", #X "GEAM", int64_t) \
  DGMM(T, cublas##X##dgmm, "cublas" #X "dgmm", #X "DGMM", int)        \
  DGMM(T, cublas##X##dgmm_64, "cublas" #X "dgmm", #X "DGMM", int64_t)
MATRICES(float, S)
MATRICES(double, D)
MATRICES(cuComplex, C)
MATRICES(cuDoubleComplex, Z)

#define RANK_ONE(T, Name, ROUTINE, conjugated)                        \
  GER(T, cublas##Name##_v2, "cublas" #Name, ROUTINE, conjugated, int) \
  GER(T, cublas##Name##_v2_64, "cublas" #Name, ROUTINE, conjugated, int64_t)
RANK_ONE(float, Sger, "SGER", false)
RANK_ONE(double, Dger, "DGER", false)
RANK_ONE(cuComplex, Cgeru, "CGERU", false)
RANK_ONE(cuComplex, Cgerc, "CGERC", true)
RANK_ONE(cuDoubleComplex, Zgeru, "ZGERU", false)
RANK_ONE(cuDoubleComplex, Zgerc, "ZGERC", true)

// Vectors and matrices between the host and the device: copies that use the runtime's copy
// functions.

namespace {

// The status that an H100 returns for a failed copy. The runtime also remembers its own error.
cublasStatus_t status_of_copy(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

// Both sides of a copy. The steps count elements of a vector or rows of a matrix. A null `stream`
// means that the call waits for the copy.
struct StridedSourceAndDestination {
  const void* from;
  int64_t step_from;
  void* to;
  int64_t step_to;
  cudaMemcpyKind kind;
  const cudaStream_t* stream = nullptr;
};

// Copies rows; the steps and the width are in bytes.
cublasStatus_t copy_pitched(size_t width, size_t height, const StridedSourceAndDestination& s) {
  if (!s.from || !s.to) return CUBLAS_STATUS_MAPPING_ERROR;
  const auto from_pitch = static_cast<size_t>(s.step_from),
             to_pitch = static_cast<size_t>(s.step_to);
  // Rows without gaps are copied as one piece, which is a one-dimensional copy in a captured graph.
  if (width == from_pitch && width == to_pitch)
    return status_of_copy(s.stream
                              ? cudaMemcpyAsync(s.to, s.from, width * height, s.kind, *s.stream)
                              : cudaMemcpy(s.to, s.from, width * height, s.kind));
  return status_of_copy(
      s.stream
          ? cudaMemcpy2DAsync(s.to, to_pitch, s.from, from_pitch, width, height, s.kind, *s.stream)
          : cudaMemcpy2D(s.to, to_pitch, s.from, from_pitch, width, height, s.kind));
}

// Converts steps of `element` bytes each into bytes.
StridedSourceAndDestination with_steps_in_bytes(StridedSourceAndDestination s, int64_t element) {
  s.step_from *= element;
  s.step_to *= element;
  return s;
}

cublasStatus_t copy_vector(int64_t n, int64_t element, const StridedSourceAndDestination& s) {
  if (element <= 0 || s.step_from <= 0 || s.step_to <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  if (n < 0) return CUBLAS_STATUS_MAPPING_ERROR;
  return copy_pitched(static_cast<size_t>(element), static_cast<size_t>(n),
                      with_steps_in_bytes(s, element));
}

cublasStatus_t copy_matrix(int64_t rows, int64_t columns, int64_t element,
                           const StridedSourceAndDestination& s) {
  if (rows < 0 || columns < 0 || element <= 0 || s.step_from <= 0 || s.step_to <= 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  if (s.step_from < rows || s.step_to < rows) return CUBLAS_STATUS_MAPPING_ERROR;
  return copy_pitched(static_cast<size_t>(element * rows), static_cast<size_t>(columns),
                      with_steps_in_bytes(s, element));
}

}  // namespace

// Int is int, or int64_t for the functions whose names end in _64.
#define COPIES(suffix, Int)                                                                        \
  cublasStatus_t cublasSetVector##suffix(Int n, Int element, const void* x, Int step_x, void* y,   \
                                         Int step_y) {                                             \
    return copy_vector(n, element, {x, step_x, y, step_y, cudaMemcpyHostToDevice});                \
  }                                                                                                \
  cublasStatus_t cublasGetVector##suffix(Int n, Int element, const void* x, Int step_x, void* y,   \
                                         Int step_y) {                                             \
    return copy_vector(n, element, {x, step_x, y, step_y, cudaMemcpyDeviceToHost});                \
  }                                                                                                \
  cublasStatus_t cublasSetVectorAsync##suffix(Int n, Int element, const void* x, Int step_x,       \
                                              void* y, Int step_y, cudaStream_t stream) {          \
    return copy_vector(n, element, {x, step_x, y, step_y, cudaMemcpyHostToDevice, &stream});       \
  }                                                                                                \
  cublasStatus_t cublasGetVectorAsync##suffix(Int n, Int element, const void* x, Int step_x,       \
                                              void* y, Int step_y, cudaStream_t stream) {          \
    return copy_vector(n, element, {x, step_x, y, step_y, cudaMemcpyDeviceToHost, &stream});       \
  }                                                                                                \
  cublasStatus_t cublasSetMatrix##suffix(Int rows, Int columns, Int element, const void* a,        \
                                         Int lda, void* b, Int ldb) {                              \
    return copy_matrix(rows, columns, element, {a, lda, b, ldb, cudaMemcpyHostToDevice});          \
  }                                                                                                \
  cublasStatus_t cublasGetMatrix##suffix(Int rows, Int columns, Int element, const void* a,        \
                                         Int lda, void* b, Int ldb) {                              \
    return copy_matrix(rows, columns, element, {a, lda, b, ldb, cudaMemcpyDeviceToHost});          \
  }                                                                                                \
  cublasStatus_t cublasSetMatrixAsync##suffix(Int rows, Int columns, Int element, const void* a,   \
                                              Int lda, void* b, Int ldb, cudaStream_t stream) {    \
    return copy_matrix(rows, columns, element, {a, lda, b, ldb, cudaMemcpyHostToDevice, &stream}); \
  }                                                                                                \
  cublasStatus_t cublasGetMatrixAsync##suffix(Int rows, Int columns, Int element, const void* a,   \
                                              Int lda, void* b, Int ldb, cudaStream_t stream) {    \
    return copy_matrix(rows, columns, element, {a, lda, b, ldb, cudaMemcpyDeviceToHost, &stream}); \
  }                                                                                                \
  static_assert(true)
COPIES(, int);
COPIES(_64, int64_t);
