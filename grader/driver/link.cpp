#include "driver/link.h"

#include <cstdlib>

#include "base/error.h"
#include "simulator/ptx/link.h"

namespace lab32::driver {

void add(CUlinkState_st& state, CUjitInputType type, const std::string& data,
         const std::string& name, const std::string& arch) {
  switch (type) {
    case CU_JIT_INPUT_PTX:
      state.texts.push_back(data.substr(0, data.find('\0')));
      return;
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_FATBINARY:
      state.texts.push_back(read_image(data.data(), arch).ptx);
      return;
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
      throw Error("objects and libraries of device code are not linked here: " + name);
    case CU_JIT_INPUT_NVVM:
      throw Error("LTO code (NVVM IR) is not simulated, PTX is: " + name);
    default:
      throw BadImage{CUDA_ERROR_INVALID_VALUE, ""};
  }
}

void complete(CUlinkState_st& state, const std::string& arch) {
  if (state.texts.empty()) throw BadImage{CUDA_ERROR_INVALID_VALUE, ""};
  cudart::DeviceCode code;
  if (state.texts.size() == 1) {
    code = assembled(state.texts[0], arch);
  } else {
    code.ptx = ptx::link(state.texts).text;
    try {
      code = assembled(code.ptx, arch);
    } catch (const BadImage&) {
      // ptxas is given as one what nvlink would be given in parts: it may want the order to be
      // another. What is wrong with the text, the simulator's reader says, too.
    }
  }
  const auto number = std::strtoul(arch.c_str() + arch.find('_') + 1, nullptr, 10);
  state.image = cudart::write_fatbin(code.ptx, code.cubin, static_cast<uint32_t>(number));
}

}  // namespace lab32::driver
