#include <fmt/format.h>

#include "base/error.h"
#include "device/device.h"
#include "device/sim_device.h"

namespace lab32::device {
namespace {

// The card whose records data/measured holds.
constexpr const char* kDefaultProfile = "h200";

}  // namespace

std::unique_ptr<Device> open_device(const std::string& spec) {
  // Points are decided by counters, which a GPU does not give: where there is one it adds its clock
  // (open_timer), beside the simulator and not instead of it.
  if (spec == "auto" || spec == "sim" || spec == "gpu") return make_sim_device(kDefaultProfile);
  if (spec.rfind("sim:", 0) == 0) return make_sim_device(spec.substr(4));
  throw Error(fmt::format("there is no device `{}`; there are auto, sim, sim:NAME and gpu", spec));
}

}  // namespace lab32::device
