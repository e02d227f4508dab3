#include "simulator/ptx/memory_order.h"

namespace lab32::ptx {

MemoryOrder memory_order(const Instruction& in) {
  const Traits& traits = in.op->traits;
  const bool fence = traits.sync == Sync::fence;
  // By the copy engine, or through a surface, too.
  const bool update = traits.is_atomic() || in.has(Mod::reduce) || in.op->id == OpId::sured;
  MemoryOrder order;
  // Volatile is relaxed with system scope; so is memory-mapped I/O.
  const bool everywhere = in.has(Mod::op_volatile) || in.has(Mod::mmio);
  order.acquire = in.has(Mod::acquire) || in.has(Mod::acq_rel);
  order.release = in.has(Mod::release) || in.has(Mod::acq_rel);
  order.strong =
      fence || update || everywhere || order.acquire || order.release || in.has(Mod::relaxed);
  if (fence && !order.acquire && !order.release) order.acquire = order.release = true;
  if (in.has(Mod::cta))
    order.scope = Scope::block;
  else if (in.has(Mod::cluster))
    order.scope = Scope::cluster;
  else if (everywhere || in.has(Mod::sys))
    order.scope = Scope::system;
  return order;
}

}  // namespace lab32::ptx
