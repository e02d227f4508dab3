// libcublasLt.so.13.
#define LAB32_NAMES "runtime/cublas/lt_api.def"
#include "runtime/cublas/library/entries.h"
