// Tensor maps: what the driver's cuTensorMapEncodeTiled makes of a description.
#pragma once

#include "runtime/driver/api.h"
#include "simulator/core/memory/tensor_map.h"

namespace lab32::driver {

struct TensorDescription {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t *size, *stride;
  const cuuint32_t *box, *step;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

// CUDA_ERROR_INVALID_VALUE for what an H100's driver refuses. Throws Error for what it may make,
// and the simulator cannot copy by.
CUresult encode(const TensorDescription& tensor, sim::TensorMap* map);

}  // namespace lab32::driver
