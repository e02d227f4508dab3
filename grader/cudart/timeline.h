// The modelled clock of the device, on which all work lies one behind the other.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "model/profile.h"

namespace lab32::cudart {

class Timeline {
 public:
  double now() const { return now_; }  // seconds
  void advance(double seconds) { now_ += seconds; }

 private:
  double now_ = 0;
};

// Seconds. `link`: over the host's link, else within device memory.
double copy_seconds(const model::Profile& profile, uint64_t bytes, bool link);
double fill_seconds(const model::Profile& profile, uint64_t bytes);
// The model's prediction where the launch has one, else its sectors over peak bandwidth.
double launch_seconds(const model::Profile& profile, const device::Run& run);

}  // namespace lab32::cudart
