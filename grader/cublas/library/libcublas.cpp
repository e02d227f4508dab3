// libcublas.so.13.
#define LAB32_NAMES "cublas/api.def"
#include "cublas/library/entries.h"
