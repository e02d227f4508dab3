// Which instructions stand for a load or a store: its own, a neighbour's (merged), several (split),
// or none.
#pragma once

#include "simulator/sass/draft.h"

namespace lab32::sass {

// Fills in issues and copies of all plain accesses of the draft that have not failed.
void group_accesses(Draft& draft);

}  // namespace lab32::sass
