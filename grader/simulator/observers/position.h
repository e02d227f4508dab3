// Where in the student's source an instruction came from.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "simulator/ptx/module.h"

namespace lab32::counters {

using Position = ptx::Module::Position;

// The position of a site; nullopt when the PTX carries no line for it.
using PositionOf = std::function<std::optional<Position>(uint32_t site)>;

}  // namespace lab32::counters
