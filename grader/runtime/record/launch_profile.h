// What a tool learns of a program that runs in another process (recording.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::record {

// One launch and all that it gave. Of `run`, `worst`, `seconds` and `output` do not travel: they
// are a grading's.
struct LaunchProfile {
  uint64_t id = 0;  // from 0, in the order of the process' launches
  int64_t process_id = 0;
  std::string process_name;           // the program's file name, without directories
  std::string symbol;                 // of the kernel, mangled
  uint64_t context = 1;               // Nsight Compute's numbers: the first context is 1,
  uint64_t stream = 7;                // its default stream 7
  int32_t device = 0;                 // ordinal
  std::string device_name;            // "sim:h200"
  std::string compute_capability;     // "9.0"
  uint32_t multiprocessors = 0;       // of the device
  device::Shape shape;                // dynamic shared memory in it
  uint32_t static_shared = 0;         // bytes a block
  std::optional<uint32_t> registers;  // a thread; absent: no cubin
  device::Run run;
};

// A call of a library whose work is done on the host and not simulated.
struct LibraryCall {
  struct Finding {
    enum class Kind : uint8_t { memory, initialisation };
    Kind kind = Kind::memory;
    std::string text;
  };
  std::string name;       // as the program calls it: "cublasSgemm"
  std::string arguments;  // "N T, 5 x 4 x 6"
  uint64_t launches = 0;  // of the process, before it
  uint64_t stream = 7;
  int32_t device = 0;
  std::vector<Finding> findings;
};

}  // namespace lab32::record
