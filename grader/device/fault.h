// Why a kernel did not finish, as facts. fault_text.h has the words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/shape.h"
#include "simulator/core/warp/trap.h"

namespace lab32::device {

// A launch that does not start, since the device cannot hold it.
struct LaunchRefusal {
  enum class Limit : uint8_t {
    empty,            // no block, or no thread
    threads,          // value per block; most
    grid,             // most_shape
    block,            // most_shape: threads along x, y, z
    shared_bytes,     // value per block; most
    required_block,   // most_shape: the only shape that the kernel may have
    resources,        // not one block fits a multiprocessor: value registers per thread
    resident_blocks,  // cooperative: value blocks; most
    cluster,          // most_shape: its blocks; the grid is no multiple of it
  } limit = Limit::empty;
  std::string kernel;
  Shape shape;
  uint64_t value = 0, most = 0;
  Dim3 most_shape;
};

// What the CUDA driver says of a kernel on a real GPU.
struct DriverError {
  std::string kernel;
  std::string name, text;  // "CUDA_ERROR_ASSERT", "device-side assert triggered"
};

// At most one of trap, refusal and driver is there, by where the fault comes from.
struct Fault {
  sim::TrapKind kind = sim::TrapKind::trap;
  std::string file;  // source position, empty/0 when unknown
  int line = 0;
  std::optional<sim::TrapFacts> trap;    // an instruction, on the simulator
  std::optional<LaunchRefusal> refusal;  // the simulator as a device
  std::optional<DriverError> driver;     // a GPU
  double seconds = 0;                    // kind time_limit
};

// The launch as a whole took too much, and may have been right so far.
inline bool is_limit_of_launch(const Fault& fault) {
  return fault.trap && (fault.trap->reason == sim::TrapReason::launch_limit ||
                        fault.trap->reason == sim::TrapReason::launch_seconds);
}

}  // namespace lab32::device
