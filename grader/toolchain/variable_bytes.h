// How much device memory the variables of a module take. (A cubin keeps 32 bits of a size.)
#pragma once

#include <cstdint>
#include <string>

namespace lab32::toolchain {

// Of all .global and .const variables of nvcc's PTX together; at most 2^64 - 1.
uint64_t variable_bytes(const std::string& ptx);

}  // namespace lab32::toolchain
