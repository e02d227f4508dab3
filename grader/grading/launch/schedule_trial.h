// Finds kernels that rely on an order of blocks and warps. A GPU runs these in any order, and the
// simulator in one. In a check of results, one launch is therefore repeated in a random order. If
// its output differs, the whole check runs once more with that launch in the random order, and the
// result of that run decides: a float sum may differ within its tolerance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "device/device.h"

namespace lab32::grading {

// The trial of one check. A check that uses Check::random() makes the same launches when it is
// repeated.
class ScheduleTrial {
 public:
  ScheduleTrial() = default;
  explicit ScheduleTrial(uint64_t seed) : seed_(seed) {}

  // Called before each launch. Returns the seed of the order in which it must run; nullopt: the
  // simulator's own order. `trial`: the check is about results.
  std::optional<uint64_t> begin(const device::Shape& shape, bool trial);
  // Whether the launch must be repeated with try_again(), starting from the memory as it was before
  // it.
  bool wants_trial() const { return wants_trial_; }
  void try_again(device::Device& device, device::Kernel& kernel, const device::Shape& shape,
                 const std::vector<device::Arg>& args, device::SavedMemory& before,
                 device::LaunchOptions limits);

  // Whether some launch gave a different output.
  bool differs() const { return differing_launch_ != 0; }
  // Starts the repetition of the check: the launch that differed runs in the random order.
  void repeat() { launches_ = 0, repeating_ = true; }
  bool repeating() const { return repeating_; }
  // Added to the message of a check that fails in its repetition.
  static const char* explanation();
  // In the repetition: the launch that differed has been made. If its result is right, the check
  // can end, since its other launches were right before.
  bool repeated_launch_done() const { return repeating_ && launches_ >= differing_launch_; }

 private:
  uint64_t seed_ = 0;
  size_t launches_ = 0, differing_launch_ = 0;
  bool repeating_ = false, wants_trial_ = false, tried_blocks_ = false, tried_warps_ = false;
};

}  // namespace lab32::grading
