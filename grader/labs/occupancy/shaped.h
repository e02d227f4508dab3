// A launch in the shape that a submission states, and what the shape makes of the multiprocessors.
#pragma once

#include <cstdint>
#include <string>

#include "device/device.h"
#include "grading/launch/launch.h"
#include "grading/words/names.h"

namespace lab32::checks::occupancy {

struct Residency {
  uint32_t fit = 0;           // blocks that a multiprocessor holds
  uint32_t blocks = 0;        // that reside on one at the start: no more than there are
  uint32_t warps = 0;         // of these
  double waves = 0;           // of the whole grid
  std::string words() const;  // "6 blocks of 8 warps reside on a multiprocessor: 48 warps; ..."
  uint32_t warps_per_block = 0;
};

// Loses the check, at the kernel's LAB32_LAUNCH, where not one block fits.
Residency residency(const std::string& kernel, const device::Shape& shape);

// The line of the kernel's LAB32_LAUNCH.
int line_of_shape(const std::string& kernel);

// Which share of its time a multiprocessor works, on average, until the busiest one is done: the
// blocks are dealt to them one after the other, each thread strides over n by the threads of the
// grid, and a warp of which one thread works is busy.
double balance(uint64_t n, const device::Shape& shape);

}  // namespace lab32::checks::occupancy
