// Numbers as readers see them.
#pragma once

#include <cstdint>
#include <string>

namespace lab32 {

// "1,048,576": large counts are read in groups of three.
std::string grouped(uint64_t value);

}  // namespace lab32
