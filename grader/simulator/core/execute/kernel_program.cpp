#include "simulator/core/execute/kernel_program.h"

namespace lab32::sim {

bool CodeFunction::is_in(int loop, uint32_t pc) const {
  int l = loop_of[pc];
  while (l > loop) l = loops[static_cast<size_t>(l)].parent;  // outer ones stand before inner ones
  return l == loop;
}

int CodeFunction::loop_left(uint32_t from, uint32_t to) const {
  int left = -1;
  for (int l = loop_of[from]; l >= 0 && !is_in(l, to); l = loops[static_cast<size_t>(l)].parent)
    left = l;
  return left;
}

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
