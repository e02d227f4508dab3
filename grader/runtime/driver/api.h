// The toolkit's own declarations of the driver's functions, so that a wrong signature does not
// compile: each under the name by which libcuda.so.1 exports it (cuMemAlloc_v2, ...), and not the
// one by which programs write it.
#pragma once

#include "runtime/cudart/api.h"

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#undef __CUDA_API_VERSION_INTERNAL

// cudaProfiler.h, which not every installation of the toolkit has.
extern "C" {
CUresult cuProfilerStart();
CUresult cuProfilerStop();
}
