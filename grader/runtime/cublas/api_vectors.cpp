// cuBLAS functions of vectors: dot products, norms, index of the largest element, axpy, scal, copy,
// swap. Steps of 0, negative steps and NaNs give the results of an H100. Sums have more bits than
// on a GPU, because the host adds in another order.

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/error.h"
#include "runtime/cublas/handle.h"
#include "runtime/cublas/values.h"

using namespace lab32::cublas;
using lab32::Error;

namespace {

std::string elements(int64_t n) { return fmt::format("{} elements", n); }

// The elements of a vector in BLAS' order: with a negative step, BLAS starts at the last one.
template <class T>
class StridedVector {
 public:
  StridedVector(T* at, int64_t n, int64_t step)
      : at_(at ? at + (step < 0 ? (1 - n) * step : 0) : at), step_(step) {}
  T& operator[](int64_t i) const { return at_[i * step_]; }

 private:
  T* at_;
  int64_t step_;
};

// Submits work whose result goes to the host, or to a word of device memory.
template <class Result>
cublasStatus_t submit_reduction(const char* name, cublasHandle_t handle, int64_t n, Result* out,
                                const std::function<Result(CheckedOperandAccess&)>& work) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (!out) throw Error("the result is a null pointer");
    if (handle->pointers == CUBLAS_POINTER_MODE_DEVICE)
      return run_or_capture(
          r, handle, name, elements(n), [=](Runtime&, CheckedOperandAccess& access) {
            Result* to = access.pointer_to_write<Result>("the result", out, {1, 1, 1});
            *to = work(access);
          });
    Result result{};
    const cublasStatus_t status = run_uncaptured_and_wait(
        r, handle, name, elements(n),
        [&](Runtime&, CheckedOperandAccess& access) { result = with_canonical_nan(work(access)); });
    if (status == CUBLAS_STATUS_SUCCESS) *out = result;
    return status;
  });
}

template <class T>
struct WiderSumType {
  using type = long double;
};
template <>
struct WiderSumType<float> {
  using type = double;
};
template <class T>
struct WiderSumType<std::complex<T>> {
  using type = std::complex<typename WiderSumType<T>::type>;
};

enum class Conjugated : bool { no, yes };

// A vector operand, as the program passes it.
template <class T>
struct BlasVectorAndIncrement {
  T* at;
  int64_t step;
};

template <class T>
cublasStatus_t dot(const char* name, cublasHandle_t handle, int64_t n,
                   BlasVectorAndIncrement<const T> x, BlasVectorAndIncrement<const T> y, T* out,
                   Conjugated conjugated) {
  using W = typename WiderSumType<T>::type;
  return submit_reduction<T>(name, handle, n, out, [=](CheckedOperandAccess& access) {
    if (n <= 0) return T();
    const StridedVector<const T> a(access.pointer_to_read<T>("x", x.at, vector_of(n, x.step)), n,
                                   x.step);
    const StridedVector<const T> b(access.pointer_to_read<T>("y", y.at, vector_of(n, y.step)), n,
                                   y.step);
    W sum{};
    for (int64_t i = 0; i < n; ++i)
      sum += W(conjugated == Conjugated::yes ? conjugate(a[i]) : a[i]) * W(b[i]);
    return static_cast<T>(sum);
  });
}

template <class T>
auto sum_of_absolute_parts(T x) {
  if constexpr (kComplex<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

template <class T>
using Real = decltype(sum_of_absolute_parts(T()));

template <class T>
cublasStatus_t asum(const char* name, cublasHandle_t handle, int64_t n, const T* x, int64_t step,
                    Real<T>* out) {
  using W = typename WiderSumType<Real<T>>::type;
  return submit_reduction<Real<T>>(name, handle, n, out, [=](CheckedOperandAccess& access) {
    if (n <= 0 || step <= 0) return Real<T>();
    const StridedVector<const T> a(access.pointer_to_read<T>("x", x, vector_of(n, step)), n, step);
    W sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kComplex<T>)
        sum += std::abs(W(a[i].real())) + std::abs(W(a[i].imag()));
      else
        sum += std::abs(W(a[i]));
    }
    return static_cast<Real<T>>(sum);
  });
}

// Scales the squares so that neither large nor small numbers overflow or underflow. With an
// infinite element the norm is infinite, even if another element is a NaN.
template <class T>
cublasStatus_t nrm2(const char* name, cublasHandle_t handle, int64_t n, const T* x, int64_t step,
                    Real<T>* out) {
  using W = typename WiderSumType<Real<T>>::type;
  return submit_reduction<Real<T>>(name, handle, n, out, [=](CheckedOperandAccess& access) {
    if (n <= 0 || step <= 0) return Real<T>();
    const StridedVector<const T> a(access.pointer_to_read<T>("x", x, vector_of(n, step)), n, step);
    W sum = 0;
    bool infinite = false;
    const auto add = [&](W v) {
      infinite |= std::isinf(v);
      sum += v * v;
    };
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kComplex<T>) {
        add(a[i].real());
        add(a[i].imag());
      } else {
        add(a[i]);
      }
    }
    return infinite ? std::numeric_limits<Real<T>>::infinity()
                    : static_cast<Real<T>>(std::sqrt(sum));
  });
}

enum class Wanted : bool { least, most };

// The 1-based index of the first element with the largest (or smallest) magnitude. NaNs are
// skipped; if all elements are NaNs, the result is 1.
template <class T, class Index>
cublasStatus_t index_of_extreme(const char* name, cublasHandle_t handle, int64_t n, const T* x,
                                int64_t step, Index* out, Wanted wanted) {
  return submit_reduction<Index>(name, handle, n, out, [=](CheckedOperandAccess& access) -> Index {
    if (n <= 0 || step <= 0) return 0;
    const StridedVector<const T> a(access.pointer_to_read<T>("x", x, vector_of(n, step)), n, step);
    int64_t best = -1;
    for (int64_t i = 0; i < n; ++i) {
      const auto v = sum_of_absolute_parts(a[i]);
      if (std::isnan(v)) continue;
      if (best < 0 || (wanted == Wanted::most ? v > sum_of_absolute_parts(a[best])
                                              : v < sum_of_absolute_parts(a[best])))
        best = i;
    }
    return static_cast<Index>(best < 0 ? 1 : best + 1);
  });
}

template <class T>
cublasStatus_t copy_or_swap(const char* name, cublasHandle_t handle, int64_t n,
                            BlasVectorAndIncrement<T> x, BlasVectorAndIncrement<T> y, bool swaps) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    return run_or_capture(
        r, handle, name, elements(n), [=](Runtime&, CheckedOperandAccess& access) {
          const MatrixExtent of_x = vector_of(n, x.step), of_y = vector_of(n, y.step);
          T* from = swaps ? access.pointer_to_update<T>("x", x.at, of_x)
                          : const_cast<T*>(access.pointer_to_read<T>("x", x.at, of_x));
          T* to = access.pointer_to_update<T>("y", y.at, of_y, swaps);
          access.keep_bits();
          const StridedVector<T> a(from, n, x.step), b(to, n, y.step);
          for (int64_t i = 0; i < n; ++i) {
            if (swaps)
              std::swap(a[i], b[i]);
            else
              b[i] = a[i];
          }
        });
  });
}

// Computes y = alpha x + y. If alpha is 0, the terms are skipped, so a NaN in x has no effect.
template <class T>
cublasStatus_t axpy(const char* name, cublasHandle_t handle, int64_t n, const void* alpha,
                    BlasVectorAndIncrement<const T> x, BlasVectorAndIncrement<T> y) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    const ScalarFactor<T> factor(handle, "alpha", alpha);
    if (factor.is_null()) throw Error("alpha is a null pointer");
    return run_or_capture(
        r, handle, name, elements(n), [=](Runtime&, CheckedOperandAccess& access) {
          const T f = factor.get(access);
          if (f == T()) return;
          const StridedVector<const T> a(access.pointer_to_read<T>("x", x.at, vector_of(n, x.step)),
                                         n, x.step);
          const StridedVector<T> b(access.pointer_to_update<T>("y", y.at, vector_of(n, y.step)), n,
                                   y.step);
          for (int64_t i = 0; i < n; ++i) b[i] += f * a[i];
        });
  });
}

// Complex vectors times complex or real factors. No term is skipped: 0 times NaN is NaN.
template <class T, class S>
cublasStatus_t scal(const char* name, cublasHandle_t handle, int64_t n, const void* alpha, T* x,
                    int64_t step) {
  return with_handle(name, handle, [&](Runtime& r) {
    if (n <= 0 || step <= 0) return CUBLAS_STATUS_SUCCESS;
    const ScalarFactor<S> factor(handle, "alpha", alpha);
    if (factor.is_null()) throw Error("alpha is a null pointer");
    return run_or_capture(r, handle, name, elements(n),
                          [=](Runtime&, CheckedOperandAccess& access) {
                            const S f = factor.get(access);
                            const StridedVector<T> a(
                                access.pointer_to_update<T>("x", x, vector_of(n, step)), n, step);
                            for (int64_t i = 0; i < n; ++i) a[i] *= f;
                          });
  });
}

template <class T>
Host<T>* as_host_type(T* p) {
  return reinterpret_cast<Host<T>*>(p);
}
template <class T>
const Host<T>* as_host_type(const T* p) {
  return reinterpret_cast<const Host<T>*>(p);
}

}  // namespace

// Int is int, or int64_t for the functions whose names end in _64.
#define FOR_BOTH(MACRO, Name, ...)                           \
  MACRO(cublas##Name##_v2, "cublas" #Name, int, __VA_ARGS__) \
  MACRO(cublas##Name##_v2_64, "cublas" #Name, int64_t, __VA_ARGS__)

#define DOT(symbol, name, Int, T, conjugated)                                                    \
  cublasStatus_t symbol(cublasHandle_t h, Int n, const T* x, Int step_x, const T* y, Int step_y, \
                        T* out) {                                                                \
    return dot<Host<T>>(name, h, n, {as_host_type(x), step_x}, {as_host_type(y), step_y},        \
                        as_host_type(out), Conjugated::conjugated);                              \
  }
FOR_BOTH(DOT, Sdot, float, no)
FOR_BOTH(DOT, Ddot, double, no)
FOR_BOTH(DOT, Cdotu, cuComplex, no)
FOR_BOTH(DOT, Cdotc, cuComplex, yes)
FOR_BOTH(DOT, Zdotu, cuDoubleComplex, no)
FOR_BOTH(DOT, Zdotc, cuDoubleComplex, yes)

#define SUM(symbol, name, Int, function, T, R)                                   \
  cublasStatus_t symbol(cublasHandle_t h, Int n, const T* x, Int step, R* out) { \
    return function<Host<T>>(name, h, n, as_host_type(x), step, out);            \
  }
FOR_BOTH(SUM, Sasum, asum, float, float)
FOR_BOTH(SUM, Dasum, asum, double, double)
FOR_BOTH(SUM, Scasum, asum, cuComplex, float)
FOR_BOTH(SUM, Dzasum, asum, cuDoubleComplex, double)
FOR_BOTH(SUM, Snrm2, nrm2, float, float)
FOR_BOTH(SUM, Dnrm2, nrm2, double, double)
FOR_BOTH(SUM, Scnrm2, nrm2, cuComplex, float)
FOR_BOTH(SUM, Dznrm2, nrm2, cuDoubleComplex, double)

#define EXTREME(symbol, name, Int, T, wanted)                                                      \
  cublasStatus_t symbol(cublasHandle_t h, Int n, const T* x, Int step, Int* out) {                 \
    return index_of_extreme<Host<T>, Int>(name, h, n, as_host_type(x), step, out, Wanted::wanted); \
  }
FOR_BOTH(EXTREME, Isamax, float, most)
FOR_BOTH(EXTREME, Idamax, double, most)
FOR_BOTH(EXTREME, Icamax, cuComplex, most)
FOR_BOTH(EXTREME, Izamax, cuDoubleComplex, most)
FOR_BOTH(EXTREME, Isamin, float, least)
FOR_BOTH(EXTREME, Idamin, double, least)
FOR_BOTH(EXTREME, Icamin, cuComplex, least)
FOR_BOTH(EXTREME, Izamin, cuDoubleComplex, least)

#define AXPY(symbol, name, Int, T)                                                                 \
  cublasStatus_t symbol(cublasHandle_t h, Int n, const T* alpha, const T* x, Int step_x, T* y,     \
                        Int step_y) {                                                              \
    return axpy<Host<T>>(name, h, n, alpha, {as_host_type(x), step_x}, {as_host_type(y), step_y}); \
  }
FOR_BOTH(AXPY, Saxpy, float)
FOR_BOTH(AXPY, Daxpy, double)
FOR_BOTH(AXPY, Caxpy, cuComplex)
FOR_BOTH(AXPY, Zaxpy, cuDoubleComplex)

#define SCAL(symbol, name, Int, T, S)                                              \
  cublasStatus_t symbol(cublasHandle_t h, Int n, const S* alpha, T* x, Int step) { \
    return scal<Host<T>, Host<S>>(name, h, n, alpha, as_host_type(x), step);       \
  }
FOR_BOTH(SCAL, Sscal, float, float)
FOR_BOTH(SCAL, Dscal, double, double)
FOR_BOTH(SCAL, Cscal, cuComplex, cuComplex)
FOR_BOTH(SCAL, Zscal, cuDoubleComplex, cuDoubleComplex)
FOR_BOTH(SCAL, Csscal, cuComplex, float)
FOR_BOTH(SCAL, Zdscal, cuDoubleComplex, double)

#define COPY(symbol, name, Int, T)                                                           \
  cublasStatus_t symbol(cublasHandle_t h, Int n, const T* x, Int step_x, T* y, Int step_y) { \
    return copy_or_swap<T>(name, h, n, {const_cast<T*>(x), step_x}, {y, step_y}, false);     \
  }
#define SWAP(symbol, name, Int, T)                                                     \
  cublasStatus_t symbol(cublasHandle_t h, Int n, T* x, Int step_x, T* y, Int step_y) { \
    return copy_or_swap<T>(name, h, n, {x, step_x}, {y, step_y}, true);                \
  }
FOR_BOTH(COPY, Scopy, float)
FOR_BOTH(COPY, Dcopy, double)
FOR_BOTH(COPY, Ccopy, cuComplex)
FOR_BOTH(COPY, Zcopy, cuDoubleComplex)
FOR_BOTH(SWAP, Sswap, float)
FOR_BOTH(SWAP, Dswap, double)
FOR_BOTH(SWAP, Cswap, cuComplex)
FOR_BOTH(SWAP, Zswap, cuDoubleComplex)
