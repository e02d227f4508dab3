// The kernel parameters from which the address of a memory access is computed. The address
// arithmetic is followed backwards through the registers, so that a message about a bad address can
// name the array of the pointer instead of the array that happens to be next to the address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// The parameters from which `in`, an instruction of `function`, has its address in device memory,
// as byte offsets in the kernel's parameter block. An index may be among them: the caller knows the
// values of the parameters and must drop those that are no addresses. Empty if the pointer may come
// from elsewhere: a variable of the module, memory, or a call.
std::vector<uint32_t> address_origin_param_offsets(const Function& function, const Instruction& in);

// ---------------------------------------------------------------------------------------------
// Finds the variable from which the address of an access is computed. The machine checks only
// whether shared memory as a whole contains an access; the array that the program means is visible
// in the PTX: `mov.u32 %r1, tile; add.s32 %r2, %r1, %r9; st.shared.f32 [%r2], %f1;`.

// By instruction: the only variable from which its first address is computed. "": there are
// several, or the address comes from elsewhere (memory, a parameter, another function).
std::vector<std::string> base_variable_by_instruction(const Function& function);

}  // namespace lab32::ptx
