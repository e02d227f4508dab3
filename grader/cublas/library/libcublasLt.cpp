// libcublasLt.so.13.
#define LAB32_NAMES "cublas/lt_api.def"
#include "cublas/library/entries.h"
