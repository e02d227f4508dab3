// Views of arrays: the same texels in another format, and some of the levels or layers alone.
#pragma once

#include <optional>

#include "runtime/cudart/arrays.h"

namespace lab32::cudart {

// Of texels that a view has; none: there is no such format, or it is a compressed one.
std::optional<cudaChannelFormatDesc> format_of_view(cudaResourceViewFormat format);

// What a texture object reads that was made with a view. Throws Error for what is not simulated.
cudaError_t apply_view(const Arrays& arrays, const cudaResourceDesc& resource,
                       const cudaResourceViewDesc& view, sim::TexelArray* texels);

}  // namespace lab32::cudart
