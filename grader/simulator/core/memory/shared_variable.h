// A variable in shared memory: where it lies in the block's window.
#pragma once

#include <cstdint>
#include <string>

namespace lab32::sim {

struct SharedVariable {
  std::string name;
  uint32_t offset = 0;
  uint32_t bytes = 0;  // 0: dynamic, to the end of what the launch has
};

}  // namespace lab32::sim
