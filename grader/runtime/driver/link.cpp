#include "runtime/driver/link.h"

#include <cstdlib>

#include "base/error.h"
#include "simulator/ptx/link.h"

namespace lab32::driver {
namespace {

void add_text(CUlinkState_st& state, const std::string& ptx, const std::string& arch) {
  assembled(ptx, arch, toolchain::Linking::later);  // or says what is wrong with it
  state.texts.push_back(ptx);
}

}  // namespace

void add(CUlinkState_st& state, CUjitInputType type, const std::string& data,
         const std::string& name, const std::string& arch) {
  switch (type) {
    case CU_JIT_INPUT_PTX:
      add_text(state, data.substr(0, data.find('\0')), arch);
      return;
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_FATBINARY:
      add_text(state, read_image(data.data(), arch).ptx, arch);
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
  cudart::DeviceCode code;
  try {
    code.ptx = state.texts.empty()       ? ".version 8.0\n.target " + arch + "\n.address_size 64\n"
               : state.texts.size() == 1 ? state.texts[0]
                                         : ptx::link(state.texts).text;
  } catch (const Error& e) {
    throw BadImage{CUDA_ERROR_UNKNOWN, e.what()};  // what a GPU's driver says
  }
  try {
    code = assembled(code.ptx, arch);
  } catch (const BadImage& bad) {
    // Its texts are right one by one. ptxas is given as one what nvlink would be given in parts,
    // and may want another order, which is nobody's fault.
    if (state.texts.size() < 2 || bad.log.find("nresolved extern") != std::string::npos)
      throw BadImage{CUDA_ERROR_UNKNOWN, bad.log};
  }
  const auto number = std::strtoul(arch.c_str() + arch.find('_') + 1, nullptr, 10);
  state.image = cudart::write_fatbin(code.ptx, code.cubin, static_cast<uint32_t>(number));
}

}  // namespace lab32::driver
