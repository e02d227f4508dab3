// Memory mapped by hand (virtual_memory.cpp).
#pragma once

#include <cstdint>

namespace lab32::driver {

// The piece of memory that is mapped at the address; false: there is none.
bool find_mapped(uint64_t address, uint64_t* begin, uint64_t* bytes);

}  // namespace lab32::driver
