// Device attributes and properties, from the device profile.
#pragma once

#include <optional>

#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// nullopt: not known.
std::optional<int> attribute(const Runtime& runtime, cudaDeviceAttr which, int device);
cudaDeviceProp properties(const Runtime& runtime, int device);

}  // namespace lab32::cudart
