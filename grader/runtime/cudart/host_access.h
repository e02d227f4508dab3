// The host's own accesses to the memory of the simulated devices. An access to device memory ends
// the program with a segmentation fault, which a message names. Under `check`, an access to managed
// or pinned memory is a finding if a kernel or a copy writes it and no call has waited for them.
#pragma once

namespace lab32::cudart {

// Handles segmentation faults from now on, unless the program does so itself. Returns whether it
// does.
bool watch_host_accesses();

}  // namespace lab32::cudart
