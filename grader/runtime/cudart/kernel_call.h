// A launch that is done later: its arguments are those of when it was asked for, and may be read
// and changed where they are kept.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "runtime/cudart/api.h"

namespace lab32::cudart {

struct KernelEntry;

struct KernelCall {
  KernelEntry* entry = nullptr;
  const void* function = nullptr;  // as the program names it
  dim3 grid, block;
  size_t shared = 0;
  bool cooperative = false;
  std::optional<dim3> cluster = {};
  int device = 0;
  std::vector<std::vector<std::byte>> values = {};
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> hints = {};  // they change nothing

  // To each value, for as long as this lives.
  void** arguments() {
    pointers_.clear();
    for (std::vector<std::byte>& value : values) pointers_.push_back(value.data());
    return pointers_.data();
  }

 private:
  std::vector<void*> pointers_ = {};
};

}  // namespace lab32::cudart
