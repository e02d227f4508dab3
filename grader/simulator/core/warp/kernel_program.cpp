#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

std::optional<ptx::Module::Position> KernelProgram::position(uint32_t site) const {
  return module->position(sites[site].ptx->loc);
}

std::vector<SharedVariable> KernelProgram::shared_in(uint32_t shared_bytes) const {
  std::vector<SharedVariable> all = shared;
  for (SharedVariable& v : all)
    if (v.bytes == 0) v.bytes = shared_bytes - v.offset;
  return all;
}

}  // namespace lab32::sim
