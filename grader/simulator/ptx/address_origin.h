// Finds the variable from which the address of an access is computed. The machine checks only
// whether shared memory as a whole contains an access; the array that the program means is visible
// in the PTX: `mov.u32 %r1, tile; add.s32 %r2, %r1, %r9; st.shared.f32 [%r2], %f1;`.
#pragma once

#include <string>
#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// By instruction: the only variable from which its first address is computed. "": there are
// several, or the address comes from elsewhere (memory, a parameter, another function).
std::vector<std::string> address_origins(const Function& function);

}  // namespace lab32::ptx
