// PTX text -> Module.
#pragma once

#include <string>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// Reads what `nvcc -ptx` emits for one translation unit. Throws lab32::Error, with line, excerpt
// and caret, when the text is no PTX module or declares something the simulator does not know at
// module scope. What a function's body has that the simulator does not know refuses that function
// only: see Function::refusal.
Module parse(std::string ptx_text);

}  // namespace lab32::ptx
