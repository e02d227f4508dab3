// Tensor maps: the driver's cuTensorMapEncode functions convert a description to the 128 bytes that
// kernels use.

#include <cstring>
#include <optional>

#include "base/error.h"
#include "runtime/driver/call.h"
#include "simulator/core/memory/descriptors.h"

namespace lab32::driver {
namespace {

struct TensorMapArguments {
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

// nullopt: no such type.
std::optional<ptx::DataType> element_type_of(CUtensorMapDataType type) {
  using ptx::DataType;
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return DataType::u8;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
      return DataType::u16;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
      return DataType::f16;
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return DataType::bf16;
    case CU_TENSOR_MAP_DATA_TYPE_UINT32:
      return DataType::u32;
    case CU_TENSOR_MAP_DATA_TYPE_INT32:
      return DataType::s32;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
      return DataType::f32;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
      return DataType::u64;
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
      return DataType::s64;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return DataType::f64;
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ:
      throw Error("copies that round or flush what they move (tf32, ftz) are not simulated");
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B:
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B:
    case CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B:
      throw Error("tensors of elements of 4 and 6 bits are not simulated");
  }
  return std::nullopt;
}

bool is_float(CUtensorMapDataType type) {
  return type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 || type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ||
         type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 || type == CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
}

bool modes_are_valid(const TensorMapArguments& t) {
  return t.interleave >= CU_TENSOR_MAP_INTERLEAVE_NONE &&
         t.interleave <= CU_TENSOR_MAP_INTERLEAVE_32B && t.swizzle >= CU_TENSOR_MAP_SWIZZLE_NONE &&
         t.swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B &&
         t.promotion >= CU_TENSOR_MAP_L2_PROMOTION_NONE &&
         t.promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
         t.fill >= CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE &&
         t.fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA &&
         (t.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE || is_float(t.type));
}

// Returns CUDA_ERROR_INVALID_VALUE for descriptions that an H100's driver refuses. Throws Error for
// valid maps that the simulator does not support.
CUresult encode_tensor_map(const TensorMapArguments& t, sim::TensorMap* map) {
  constexpr cuuint64_t kMostSize = cuuint64_t{1} << 32, kStrideEnd = cuuint64_t{1} << 40;
  constexpr cuuint32_t kMostBox = 256, kMostStep = 8;
  if (t.rank == 0 || t.rank > sim::TensorMap::kMostDimensions || !t.size || !t.stride || !t.box ||
      !t.step || reinterpret_cast<uintptr_t>(t.address) % 16 != 0 || !modes_are_valid(t))
    return CUDA_ERROR_INVALID_VALUE;
  const std::optional<ptx::DataType> type = element_type_of(t.type);
  if (!type) return CUDA_ERROR_INVALID_VALUE;
  if (t.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
    throw Error("interleaved tensors are not simulated");
  if (t.swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
    throw Error("swizzle modes beyond 32, 64 and 128 bytes are not simulated");
  if (t.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    throw Error("filling with NaNs outside the tensor is not simulated");
  sim::TensorMap made;
  made.address = reinterpret_cast<uint64_t>(t.address);
  made.dimensions = static_cast<uint8_t>(t.rank);
  made.type = *type;
  made.element_bytes = static_cast<uint8_t>(ptx::bytes_of(*type));
  made.swizzle = static_cast<uint8_t>(t.swizzle);
  uint64_t box_bytes = made.element_bytes;
  for (cuuint32_t i = 0; i < t.rank; ++i) {
    if (t.size[i] == 0 || t.size[i] > kMostSize || t.box[i] == 0 || t.box[i] > kMostBox ||
        t.step[i] == 0 || t.step[i] > kMostStep)
      return CUDA_ERROR_INVALID_VALUE;
    made.size[i] = t.size[i];
    made.box[i] = static_cast<uint16_t>(t.box[i]);
    made.step[i] = static_cast<uint8_t>(t.step[i]);
    box_bytes *= t.box[i];
    if (i + 1 == t.rank) break;
    if (t.stride[i] % 16 != 0 || t.stride[i] >= kStrideEnd) return CUDA_ERROR_INVALID_VALUE;
    made.stride[i] = t.stride[i];
  }
  constexpr uint64_t kMostBoxBytes = 227 << 10;  // no block has more shared memory
  if (made.row_bytes() % 16 != 0 || box_bytes > kMostBoxBytes) return CUDA_ERROR_INVALID_VALUE;
  if (made.swizzle != 0 && made.row_bytes() > made.pitch()) return CUDA_ERROR_INVALID_VALUE;
  *map = made;
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace lab32::driver

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* size, const cuuint64_t* stride,
                                const cuuint32_t* box, const cuuint32_t* step,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  using namespace lab32::driver;
  return call("cuTensorMapEncodeTiled", Needs::nothing, Waits::no, [&](Runtime&) {
    if (!map) return CUDA_ERROR_INVALID_VALUE;
    lab32::sim::TensorMap made;
    const CUresult result = encode_tensor_map(
        {type, rank, address, size, stride, box, step, interleave, swizzle, promotion, fill},
        &made);
    if (result != CUDA_SUCCESS) return result;
    std::memset(map, 0, sizeof *map);
    std::memcpy(map, &made, sizeof made);
    return CUDA_SUCCESS;
  });
}
