// Blocks and warps of a launch have no order, and the simulator has one. So one launch of each
// check of results is run once more in another, and if that gives other bits, the check is judged
// by these, too: a sum of floats may differ within its tolerance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "device/device.h"

namespace lab32::grading {

// Of the check that runs. A check that draws from Check::random() makes the same launches when
// it is run again.
class ScheduleTrial {
 public:
  ScheduleTrial() = default;
  explicit ScheduleTrial(uint64_t seed) : seed_(seed) {}

  // At the beginning of a launch: the seed of the order that it is to run in; none: its own.
  // `trial`: the check is one of results.
  std::optional<uint64_t> begin(const device::Shape& shape, bool trial);
  // Whether that launch is to be tried in another order, too, by try_again(), from `before` on.
  bool wants_trial() const { return wants_trial_; }
  void try_again(device::Device& device, device::Kernel& kernel, const device::Shape& shape,
                 const std::vector<device::Arg>& args, device::SavedMemory& before,
                 device::LaunchOptions limits);

  // Some launch gave something else.
  bool differs() const { return judged_ != 0; }
  // The check runs again, and that launch in the other order only.
  void judge() { launches_ = 0, judging_ = true; }
  bool judging() const { return judging_; }
  // What a check says that is lost while judging.
  static const char* explanation();
  // While judging: that launch has been made. Once its result is found right, nothing is left that
  // has not been judged already.
  bool judged() const { return judging_ && launches_ >= judged_; }

 private:
  uint64_t seed_ = 0;
  size_t launches_ = 0, judged_ = 0;
  bool judging_ = false, wants_trial_ = false, tried_blocks_ = false, tried_warps_ = false;
};

}  // namespace lab32::grading
