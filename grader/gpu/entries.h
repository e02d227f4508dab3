// The kernels of a PTX text and what they take, read without understanding their instructions: a
// GPU runs programs whose instructions the simulator does not have.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lab32::device {

struct Entry {
  std::string symbol;  // as in the PTX
  std::vector<uint32_t> parameter_bytes;
};

std::vector<Entry> read_entries(const std::string& ptx);

}  // namespace lab32::device
