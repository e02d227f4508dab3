// ld.param and st.param: parameters of kernels and of functions.
#include <cstring>

#include "simulator/core/isa/memory_lanes.h"

namespace lab32::sim {

namespace {

using ptx::DataType;

// The parameters of a kernel are constant and in device memory. The parameters of a function are in
// its frame, which has a copy for each lane.

std::byte* parameters_of_frame(const ExecContext& x, const Inst& in, size_t* stride) {
  const WarpSplit& split = x.warp->current();
  *stride = split.frame->function->param_bytes;
  return split.frame->params.data() + in.mem_offset;
}

template <class Mem>
void load_function_param(const ExecContext& x, const Inst& in) {
  size_t stride;
  std::byte* base = parameters_of_frame(x, in, &stride);
  static constexpr uint64_t kZero[kWarpSize] = {};
  for (uint8_t v = 0; v < in.dst_count; ++v)
    read_element<Mem>({base, stride}, kZero, v * sizeof(Mem), x, in.dst[v]);
}

template <class Mem>
void store_function_param(const ExecContext& x, const Inst& in) {
  size_t stride;
  std::byte* base = parameters_of_frame(x, in, &stride);
  static constexpr uint64_t kZero[kWarpSize] = {};
  for (uint8_t v = 0; v < in.src_count; ++v)
    write_element<Mem>({base, stride}, kZero, v * sizeof(Mem), x, in.src[v]);
}

// The parameter is one value for all lanes, at mem_offset of the kernel's parameter block.
template <class Mem, class Reg>
void broadcast_param(const ExecContext& x, const Inst& in) {
  const LaunchContext& launch = x.warp->block().launch();
  const std::byte* from =
      launch.memory->host(launch.param_address) + static_cast<size_t>(in.mem_offset);
  for (uint8_t v = 0; v < in.dst_count; ++v) {
    if (in.dst[v].bytes == 0) continue;
    Mem value;
    std::memcpy(&value, from + v * sizeof(Mem), sizeof value);
    std::byte* slot = x.regs + in.dst[v].offset;
    if (x.mask == kFullMask)
      for (int l = 0; l < kWarpSize; ++l) store_lane<Reg>(slot, l, static_cast<Reg>(value));
    else
      for (uint32_t r = x.mask; r; r &= r - 1)
        store_lane<Reg>(slot, __builtin_ctz(r), static_cast<Reg>(value));
  }
}

template <class Mem>
void load_kernel_param(const ExecContext& x, const Inst& in) {
  uint8_t bytes = 0;  // bytes of each register; all are equally wide, and some may be '_'
  for (uint8_t v = 0; v < in.dst_count; ++v) bytes = std::max(bytes, in.dst[v].bytes);
  switch (bytes) {
    case 2:
      return broadcast_param<Mem, uint16_t>(x, in);
    case 4:
      return broadcast_param<Mem, uint32_t>(x, in);
    default:
      return broadcast_param<Mem, uint64_t>(x, in);
  }
}

template <template <class> class Which>
ExecFn pick_instance_for_param_type(const ptx::Instruction& in) {
  check_vector_size(in);
  switch (in.type()) {
    case DataType::s8:
      return Which<int8_t>::fn;
    case DataType::s16:
      return Which<int16_t>::fn;
    case DataType::s32:
      return Which<int32_t>::fn;
    default:
      break;
  }
  switch (ptx::bytes_of(in.type())) {
    case 1:
      return Which<uint8_t>::fn;
    case 2:
      return Which<uint16_t>::fn;
    case 4:
      return Which<uint32_t>::fn;
    case 8:
      return Which<uint64_t>::fn;
    default:
      refuse(in, "parameters of this width are not supported");
  }
}

template <class T>
struct LoadCallParam {
  static constexpr ExecFn fn = load_function_param<T>;
};
template <class T>
struct LoadKernelParam {
  static constexpr ExecFn fn = load_kernel_param<T>;
};
template <class T>
struct StoreCallParam {
  static constexpr ExecFn fn = store_function_param<T>;
};

}  // namespace

// The decoder replaces this by pick_ld_kernel_param for a kernel's own parameters.
ExecFn pick_ld_param(const ptx::Instruction& in) {
  return pick_instance_for_param_type<LoadCallParam>(in);
}
ExecFn pick_ld_kernel_param(const ptx::Instruction& in) {
  return pick_instance_for_param_type<LoadKernelParam>(in);
}
ExecFn pick_st_param(const ptx::Instruction& in) {
  return pick_instance_for_param_type<StoreCallParam>(in);
}

}  // namespace lab32::sim
