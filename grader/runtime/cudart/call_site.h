// Where the program calls the runtime.
#pragma once

#include <string>

namespace lab32::cudart {

// "a.cu:12: " of the call under way, where the program's line information tells it; "" elsewhere:
// no line rather than a wrong one. Asks addr2line, which takes some hundredths of a second.
std::string call_site();

}  // namespace lab32::cudart
