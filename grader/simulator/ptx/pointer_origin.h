// The kernel parameters from which the address of a memory access is computed. The address
// arithmetic is followed backwards through the registers, so that a message about a bad address can
// name the array of the pointer instead of the array that happens to be next to the address.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// The parameters from which `in`, an instruction of `function`, has its address in device memory,
// as byte offsets in the kernel's parameter block. An index may be among them: the caller knows the
// values of the parameters and must drop those that are no addresses. Empty if the pointer may come
// from elsewhere: a variable of the module, memory, or a call.
std::vector<uint32_t> pointer_parameters(const Function& function, const Instruction& in);

}  // namespace lab32::ptx
