// Which source lines the PTX in a cubin comes from.
#pragma once

#include <string>

#include "toolchain/artifact.h"

namespace lab32::driver {

// From the cubin's listing (nvdisasm -gi -gp), which says both lines of each instruction. Empty
// where there is no nvdisasm. The PTX itself, as it lies in the cubin, has no line information.
toolchain::Places places_in(const std::string& listing);

}  // namespace lab32::driver
