// Parses PTX text into a Module (module.h). module_parser.h has the implementation.
#pragma once

#include <string>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// Parses the output of `nvcc -ptx` for one translation unit. Throws lab32::Error, with line,
// excerpt and caret, if the text is no PTX module or declares something at module scope that the
// simulator does not support. An unsupported instruction in the body of a function refuses only
// that function: see Function::refusal.
Module parse(std::string ptx_text);

}  // namespace lab32::ptx
