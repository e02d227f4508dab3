// A matrix and vectors: gemv, ger; matrices without a product: geam, dgmm.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "runtime/cublas/handle.h"
#include "runtime/cublas/values.h"

using namespace lab32::cublas;
using lab32::Error;

namespace {

int64_t at_least_one(int64_t rows) { return std::max<int64_t>(1, rows); }

// Of a vector with a step: BLAS begins at the end where that is negative.
int64_t place(int64_t i, int64_t n, int64_t step) { return (step < 0 ? i - n + 1 : i) * step; }

// An H100 finds no more wrong than this; what it makes of other operations and of steps of 0 is not
// known.
template <class T>
cublasStatus_t gemv(const char* name, cublasHandle_t handle, cublasOperation_t op, int64_t m,
                    int64_t n, const void* alpha, const void* a, int64_t lda, const void* x,
                    int64_t step_x, const void* beta, void* y, int64_t step_y) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (m <= 0 || n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (lda < m) return CUBLAS_STATUS_INVALID_VALUE;
    if (!x || !y) return CUBLAS_STATUS_INVALID_VALUE;
    if (!a) return CUBLAS_STATUS_INTERNAL_ERROR;
    if (!is_operation(op)) throw Error("an operation that is none");
    if (step_x == 0 || step_y == 0) throw Error("a step of 0");
    const Scalar<T> by(handle, "alpha", alpha), keep(handle, "beta", beta);
    if (by.is_null() || keep.is_null()) throw Error("alpha or beta is a null pointer");
    const int64_t rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
    return submit(
        r, handle, name, fmt::format("{}, {} x {}", letter_of(op), m, n),
        [=](Runtime&, Turn& turn) {
          const T f = by.get(turn), g = keep.get(turn);
          const bool reads = f != T();
          const T* A = reads ? turn.read<T>("A", a, {m, n, lda}) : nullptr;
          const T* X = reads ? turn.read<T>("x", x, vector_of(columns, step_x)) : nullptr;
          T* Y = turn.update<T>("y", y, vector_of(rows, step_y), g != T());
          turn.works(2.0 * (kComplex<T> ? 4 : 1) * static_cast<double>(m) * static_cast<double>(n));
          for (int64_t i = 0; i < rows; ++i) {
            T sum{};
            for (int64_t j = 0; reads && j < columns; ++j) {
              const T v = op == CUBLAS_OP_N ? A[j * lda + i] : A[i * lda + j];
              sum += (op == CUBLAS_OP_C ? conjugate(v) : v) * X[place(j, columns, step_x)];
            }
            T& to = Y[place(i, rows, step_y)];
            to = (reads ? f * sum : T()) + (g == T() ? T() : g * to);
          }
        });
  });
}

template <class T>
cublasStatus_t ger(const char* name, const char* routine, bool conjugated, cublasHandle_t handle,
                   int64_t m, int64_t n, const void* alpha, const void* x, int64_t step_x,
                   const void* y, int64_t step_y, void* a, int64_t lda) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (m < 0) return illegal(routine, 1);
    if (n < 0) return illegal(routine, 2);
    if (step_x == 0) return illegal(routine, 5);
    if (step_y == 0) return illegal(routine, 7);
    if (lda < at_least_one(m)) return illegal(routine, 9);
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    const Scalar<T> by(handle, "alpha", alpha);
    if (by.is_null()) return CUBLAS_STATUS_INVALID_VALUE;
    return submit(r, handle, name, fmt::format("{} x {}", m, n), [=](Runtime&, Turn& turn) {
      const T f = by.get(turn);
      if (f == T()) return;
      const T* X = turn.read<T>("x", x, vector_of(m, step_x));
      const T* Y = turn.read<T>("y", y, vector_of(n, step_y));
      T* A = turn.update<T>("A", a, {m, n, lda});
      for (int64_t j = 0; j < n; ++j) {
        const T v = Y[place(j, n, step_y)], g = f * (conjugated ? conjugate(v) : v);
        for (int64_t i = 0; i < m; ++i) A[j * lda + i] += X[place(i, m, step_x)] * g;
      }
    });
  });
}

template <class T>
cublasStatus_t geam(const char* name, const char* routine, cublasHandle_t handle,
                    cublasOperation_t op_a, cublasOperation_t op_b, int64_t m, int64_t n,
                    const void* alpha, const void* a, int64_t lda, const void* beta, const void* b,
                    int64_t ldb, void* c, int64_t ldc) {
  return with_handle(name, handle, [&](Runtime& r) {
    const auto extent = [=](cublasOperation_t op, int64_t leading) {
      return op == CUBLAS_OP_N ? Extent{m, n, leading} : Extent{n, m, leading};
    };
    const Extent of_a = extent(op_a, lda), of_b = extent(op_b, ldb);
    if (!is_operation(op_a)) return illegal(routine, 1);
    if (!is_operation(op_b)) return illegal(routine, 2);
    if (m < 0) return illegal(routine, 3);
    if (n < 0) return illegal(routine, 4);
    if (lda < at_least_one(of_a.rows)) return illegal(routine, 7);
    if (ldb < at_least_one(of_b.rows)) return illegal(routine, 10);
    if (ldc < at_least_one(m)) return illegal(routine, 12);
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    // In place only where each element is read where it is written.
    const auto moved = [=](const void* at, cublasOperation_t op, int64_t leading) {
      return at == c && (op != CUBLAS_OP_N || leading != ldc);
    };
    if (moved(a, op_a, lda) || moved(b, op_b, ldb)) return CUBLAS_STATUS_INVALID_VALUE;
    const Scalar<T> by_a(handle, "alpha", alpha), by_b(handle, "beta", beta);
    if (by_a.is_null() || by_b.is_null()) throw Error("alpha or beta is a null pointer");
    return submit(r, handle, name, fmt::format("{} x {}", m, n), [=](Runtime&, Turn& turn) {
      const T f = by_a.get(turn), g = by_b.get(turn);
      const T* A = f == T() ? nullptr : turn.read<T>("A", a, of_a);
      const T* B = g == T() ? nullptr : turn.read<T>("B", b, of_b);
      T* C = turn.write<T>("C", c, {m, n, ldc});
      const auto element = [](const T* from, cublasOperation_t op, int64_t leading, int64_t i,
                              int64_t j) {
        if (op == CUBLAS_OP_N) return from[j * leading + i];
        const T v = from[i * leading + j];
        return op == CUBLAS_OP_C ? conjugate(v) : v;
      };
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i)
          C[j * ldc + i] = (A ? f * element(A, op_a, lda, i, j) : T()) +
                           (B ? g * element(B, op_b, ldb, i, j) : T());
    });
  });
}

template <class T>
cublasStatus_t dgmm(const char* name, const char* routine, cublasHandle_t handle,
                    cublasSideMode_t side, int64_t m, int64_t n, const void* a, int64_t lda,
                    const void* x, int64_t step, void* c, int64_t ldc) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (side != CUBLAS_SIDE_LEFT && side != CUBLAS_SIDE_RIGHT) return illegal(routine, 1);
    if (m < 0) return illegal(routine, 2);
    if (n < 0) return illegal(routine, 3);
    if (lda < at_least_one(m)) return illegal(routine, 5);
    if (ldc < at_least_one(m)) return illegal(routine, 9);
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    return submit(r, handle, name, fmt::format("{} x {}", m, n), [=](Runtime&, Turn& turn) {
      const bool left = side == CUBLAS_SIDE_LEFT;
      const int64_t length = left ? m : n;
      const T* A = turn.read<T>("A", a, {m, n, lda});
      const T* X = turn.read<T>("x", x, vector_of(length, step));
      T* C = turn.write<T>("C", c, {m, n, ldc});
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < m; ++i)
          C[j * ldc + i] = A[j * lda + i] * X[place(left ? i : j, length, step)];
    });
  });
}

}  // namespace

// Int: int, and int64_t where the name ends so.
#define GEMV(T, symbol, name, Int)                                                            \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t op, Int m, Int n, const T* alpha, \
                        const T* a, Int lda, const T* x, Int step_x, const T* beta, T* y,     \
                        Int step_y) {                                                         \
    return gemv<Host<T>>(name, h, op, m, n, alpha, a, lda, x, step_x, beta, y, step_y);       \
  }
#define GER(T, symbol, name, ROUTINE, conjugated, Int)                                            \
  cublasStatus_t symbol(cublasHandle_t h, Int m, Int n, const T* alpha, const T* x, Int step_x,   \
                        const T* y, Int step_y, T* a, Int lda) {                                  \
    return ger<Host<T>>(name, ROUTINE, conjugated, h, m, n, alpha, x, step_x, y, step_y, a, lda); \
  }
#define GEAM(T, symbol, name, ROUTINE, Int)                                                    \
  cublasStatus_t symbol(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, Int m,   \
                        Int n, const T* alpha, const T* a, Int lda, const T* beta, const T* b, \
                        Int ldb, T* c, Int ldc) {                                              \
    return geam<Host<T>>(name, ROUTINE, h, ta, tb, m, n, alpha, a, lda, beta, b, ldb, c, ldc); \
  }
#define DGMM(T, symbol, name, ROUTINE, Int)                                                \
  cublasStatus_t symbol(cublasHandle_t h, cublasSideMode_t side, Int m, Int n, const T* a, \
                        Int lda, const T* x, Int step, T* c, Int ldc) {                    \
    return dgmm<Host<T>>(name, ROUTINE, h, side, m, n, a, lda, x, step, c, ldc);           \
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
