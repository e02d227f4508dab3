// The CPU BLAS that works matrix products out: OpenBLAS, loaded when the first product needs it.
#pragma once

#include <complex>

namespace lab32::cublas {

// C = alpha op(A) op(B) + beta C, columns one behind the other; `a` and `b` say which op: 'N', 'T'
// or 'C'. Where beta is 0, C is not read; where alpha is 0 or k is 0, A and B are not. Throws Error
// with the command that brings the library where there is none.
template <class T>
void gemm(char a, char b, int m, int n, int k, T alpha, const T* A, int lda, const T* B, int ldb,
          T beta, T* C, int ldc);

}  // namespace lab32::cublas
