// The declarations of what libcublas.so.13 exports: the toolkit's own where it has them, so that a
// wrong signature does not compile, else those that lab32 gives programs (include/).
#pragma once

#pragma GCC visibility push(default)
#include <cublas_v2.h>
#pragma GCC visibility pop
