#include "grading/launch/schedule_trial.h"

#include "base/grid.h"

namespace lab32::grading {
namespace {}  // namespace

std::optional<uint64_t> ScheduleTrial::begin(const device::Shape& shape, bool trial) {
  ++launches_;
  wants_trial_ = false;
  if (repeating_) return launches_ == differing_launch_ ? std::optional(seed_) : std::nullopt;
  if (!trial || differs()) return std::nullopt;
  // Try the first launch of several blocks and, before there is one, the first of several warps.
  const bool blocks = shape.grid.count() > 1, warps = shape.block.count() > kWarpSize;
  wants_trial_ = (blocks && !tried_blocks_) || (warps && !tried_blocks_ && !tried_warps_);
  tried_blocks_ |= blocks;
  tried_warps_ |= warps;
  return std::nullopt;
}

void ScheduleTrial::try_again(device::Device& device, device::Kernel& kernel,
                              const device::Shape& shape, const std::vector<device::Arg>& args,
                              device::SavedMemory& before, device::LaunchOptions options) {
  const std::unique_ptr<device::SavedMemory> after = device.save();
  before.put_back();
  options.count = options.check_hazards = false;
  options.schedule = seed_;
  const std::optional<device::Fault> fault = device.launch(kernel, shape, args, options).fault;
  // A launch in random order runs a few instructions of each warp in turn and takes longer, so
  // reaching a limit does not count as a difference.
  if (!(fault && is_limit_of_launch(*fault)) && (fault || !after->same()))
    differing_launch_ = launches_;
  after->put_back();
}

const char* ScheduleTrial::explanation() {
  return "The result is right when blocks and warps run one after the other, and "
         "wrong when they run in a random order, as they may on a GPU. Which work "
         "of another block or warp does a thread here rely on, without waiting "
         "for it?";
}

}  // namespace lab32::grading
