// cuLink*: several pieces of PTX made one, with its machine code.
#pragma once

#include <string>
#include <vector>

#include "runtime/driver/image.h"

struct CUlinkState_st {
  lab32::driver::JitOptions options;
  std::vector<std::string> texts;  // of PTX, in the order in which they were added
  std::string image;               // once complete: a fat binary, which modules are loaded from
};

namespace lab32::driver {

// Throws BadImage and Error as read_image() does, and Error for what is no PTX and holds none.
void add(CUlinkState_st& state, CUjitInputType type, const std::string& data,
         const std::string& name, const std::string& arch);
void complete(CUlinkState_st& state, const std::string& arch);

}  // namespace lab32::driver
