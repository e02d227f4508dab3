// The element types of matrices and vectors, and the types in which the host computes with them.
#pragma once

#include <complex>
#include <type_traits>

#include "simulator/core/semantics/half.h"

// Declarations of libcublas.so.13's functions: the toolkit's own header if it has one, so that a
// wrong signature does not compile; otherwise the header in include/ that lab32 gives programs.
#pragma GCC visibility push(default)
#include <cublas_v2.h>
#pragma GCC visibility pop

namespace lab32::cublas {

template <class T>
struct HostEquivalentType {
  using type = T;
};
template <>
struct HostEquivalentType<cuComplex> {
  using type = std::complex<float>;
};
template <>
struct HostEquivalentType<cuDoubleComplex> {
  using type = std::complex<double>;
};
template <>
struct HostEquivalentType<__half> {
  using type = sim::F16;
};
template <class T>
using Host = typename HostEquivalentType<T>::type;

template <class T>
constexpr bool kComplex = false;
template <class T>
constexpr bool kComplex<std::complex<T>> = true;

// The type in which a product of such elements is computed.
template <class T>
using Reckoned =
    std::conditional_t<std::is_same_v<T, sim::F16> || std::is_same_v<T, sim::BF16>, float,
                       std::conditional_t<std::is_same_v<T, int8_t>, double, T>>;

template <class T>
T promoted_for_arithmetic(T x) {
  return x;
}
inline float promoted_for_arithmetic(sim::F16 x) { return sim::to_float(x); }
inline float promoted_for_arithmetic(sim::BF16 x) { return sim::to_float(x); }
inline double promoted_for_arithmetic(int8_t x) { return x; }

template <class To, class From>
To rounded(From x) {
  if constexpr (std::is_same_v<To, sim::F16> || std::is_same_v<To, sim::BF16>)
    return sim::to_half<To>(static_cast<float>(x), sim::Rounding::rn);
  else
    return static_cast<To>(x);
}

template <class T>
T conjugate(T x) {
  if constexpr (kComplex<T>)
    return std::conj(x);
  else
    return x;
}

// The bits that a GPU writes: it has only one NaN of single precision. In double precision x86
// writes the same bits as the GPU.
template <class T>
T with_canonical_nan(T x) {
  if constexpr (std::is_same_v<T, float>)
    return x == x ? x : sim::bit_copy<float>(0x7fffffffu);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return {with_canonical_nan(x.real()), with_canonical_nan(x.imag())};
  else
    return x;
}

inline bool is_valid_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}
inline char operation_letter(cublasOperation_t op) {
  return op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : 'C';
}

}  // namespace lab32::cublas
