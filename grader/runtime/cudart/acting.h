// The device that a call works on.
#pragma once

#include <cstddef>

namespace lab32::cudart {

constexpr int kMostDevices = 8;  // as many as one may have peers (CUDA C++ Programming Guide)

// Of the call under way; its number. Under the runtime's lock.
inline size_t& acting_device() {
  static size_t number = 0;
  return number;
}

}  // namespace lab32::cudart
