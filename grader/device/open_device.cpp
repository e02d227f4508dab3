#include <fmt/format.h>

#include "base/error.h"
#include "device/device.h"
#include "device/gpu_device.h"
#include "device/sim_device.h"

namespace lab32::device {
namespace {

// The card whose records data/measured holds.
constexpr const char* kDefaultProfile = "h200";

}  // namespace

std::unique_ptr<Device> open_device(const std::string& spec) {
  // Points are decided by counters, which a GPU does not give; where a GPU adds its clock, that is
  // beside the simulator, not instead of it.
  if (spec == "auto" || spec == "sim") return make_sim_device(kDefaultProfile);
  if (spec.rfind("sim:", 0) == 0) return make_sim_device(spec.substr(4));
  if (spec == "gpu") {
    GpuSearch search = find_gpu();
    if (!search.device) throw Error(search.reason);
    return std::move(search.device);
  }
  throw Error(fmt::format("there is no device `{}`; there are auto, sim, sim:NAME and gpu", spec));
}

}  // namespace lab32::device
