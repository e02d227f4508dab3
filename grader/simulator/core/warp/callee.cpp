#include "simulator/core/warp/callee.h"

#include <fmt/format.h>

#include "base/error.h"
#include "simulator/core/isa/device_runtime.h"

namespace lab32::sim {

CallSite::Target target_of(const std::string& name, const ptx::Function* callee, bool heap) {
  using Target = CallSite::Target;
  if (name == "vprintf") return Target::vprintf;
  if (name == "__assertfail") return Target::assertfail;
  if (heap) {
    if (name == "malloc") return Target::malloc;
    if (name == "free") return Target::free;
    if (name == "__cudaCDP2GetParameterBufferV2") return Target::prepare_launch;
    if (name == "__cudaCDP2LaunchDeviceV2") return Target::launch;
    if (is_device_runtime(name)) return Target::runtime;
    if (name == "cudaGraphSetConditional") return Target::set_condition;
  }
  if (callee && !callee->is_declaration) return Target::function;
  if (name.rfind("cuda", 0) == 0 || name.rfind("__cudaCDP", 0) == 0)
    throw Error(
        fmt::format("the runtime on the device is not simulated, but for launches: `{}`", name));
  throw Error(fmt::format("the device function `{}` is not supported by the simulator", name));
}

}  // namespace lab32::sim
