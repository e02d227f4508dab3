// libcublas.so.13.
#define LAB32_NAMES "runtime/cublas/api.def"
#include "runtime/cublas/library/entries.h"
