// Where lab32 lies: data/, labs/, handouts/ and what else is read lie below it.
#pragma once

#include <filesystem>

namespace lab32 {

// A checkout, or an installed copy that is laid out as one: the nearest directory above this
// program (or above the runtime library that a user's program has loaded) that has data/limits and
// labs/include. It is looked for, not built in, so that it may be moved. The environment's
// LAB32_ROOT goes before it. Throws MachineError where there is none.
std::filesystem::path root();

}  // namespace lab32
