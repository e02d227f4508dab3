// Lists the kernels of a PTX text with the sizes of their parameters, without parsing instructions:
// a GPU runs programs whose instructions the simulator does not support. Throws Error for a
// parameter that it does not understand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lab32::device {

struct EntryPoint {
  std::string symbol;  // mangled, as in the PTX
  std::vector<uint32_t> parameter_bytes;
};

std::vector<EntryPoint> read_entries(const std::string& ptx);

}  // namespace lab32::device
