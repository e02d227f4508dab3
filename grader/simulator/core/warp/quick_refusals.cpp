#include "simulator/core/warp/quick_refusals.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "simulator/core/warp/binding.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

namespace {

void look_at(const ptx::Module& module, const ptx::Function& f, const ptx::Instruction& in,
             bool heap) {
  pick(in);
  if (in.op->traits.transfer != ptx::ControlTransfer::call) return;
  const ptx::Operand& target = f.calls[static_cast<size_t>(in.call)].target;
  if (target.kind != ptx::Operand::Kind::reg)
    call_target(target.name, module.find_function(target.name), heap);
}

std::string refusal_of(const ptx::Module& module, const ptx::Function& f, bool heap) {
  for (const ptx::Instruction& in : f.body) {
    try {
      look_at(module, f, in, heap);
    } catch (const Error& e) {
      return refusal_with_position(module, in, e.what());
    }
  }
  return f.refusal;
}

}  // namespace

std::map<std::string, std::string> quick_refusals(const ptx::Module& module, bool heap) {
  std::map<const ptx::Function*, std::string> refused;
  for (const ptx::Function& f : module.functions)
    if (std::string why = refusal_of(module, f, heap); !why.empty()) refused[&f] = std::move(why);
  std::map<std::string, std::string> kernels;
  if (refused.empty()) return kernels;
  for (const ptx::Function& kernel : module.functions) {
    if (!kernel.is_entry) continue;
    // The parser has propagated a function's refusal to all its callers.
    if (!kernel.refusal.empty()) {
      kernels[kernel.name] = kernel.refusal;
      continue;
    }
    const ReachableFunctions reach = find_functions(module, kernel);
    for (size_t i = 0; i < reach.by_name; ++i)
      if (const auto found = refused.find(reach.functions[i]); found != refused.end()) {
        kernels[kernel.name] = found->second;
        break;
      }
  }
  return kernels;
}

}  // namespace lab32::sim
