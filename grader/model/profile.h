// What the simulator needs to know of a GPU: data/devices/NAME.toml, read and checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lab32::model {

struct Profile {
  std::string id;    // "h200": the file's name
  std::string name;  // "NVIDIA H200"
  std::string arch;  // "sm_90"
  uint32_t multiprocessors = 0;
  uint32_t max_threads_per_block = 0;
  uint32_t shared_bytes_opt_in = 0;  // the most shared memory a block can have
  std::array<uint32_t, 3> max_grid{}, max_block{};
  uint64_t dram_bytes = 0;
};

// Throws Error naming the file and the key when something is missing, or the profiles that there
// are when there is none of this name.
Profile read_profile(const std::string& id);
std::vector<std::string> profile_ids();

}  // namespace lab32::model
