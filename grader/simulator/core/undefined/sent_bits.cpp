// What is undefined in registers goes with them where st.async sends them, and matters where
// red.async does.
#include <cstring>

#include "simulator/core/undefined/bit_flow.h"
#include "simulator/core/undefined/definedness.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

void Definedness::execute_sending(UndefinedBits& u, const Exec& x, const Inst& in,
                                  const BulkOp& op) {
  if (op.reduction)
    for (const Slot& slot : op.value) demand(u, slot, x.mask, ValueUse::atomic);
  BulkCopies& copies = warp_.block().bulk_copies();
  const size_t before = copies.size();
  in.exec(x, in);
  if (op.values == 0 || op.reduction) return;
  for (size_t i = before; i < copies.size(); ++i) {
    BulkCopy& sent = copies[i];
    if (sent.data.empty()) continue;
    for (unsigned v = 0; v < op.values; ++v) {
      const Slot& slot = op.value[v];
      const LaneBits bits = get_bits(u.registers.data(), slot, sent.lane);
      if (!bits.any()) continue;
      const Origins::Id from = u.origin.at(slot.offset)[static_cast<size_t>(sent.lane)];
      sent.origin = sent.undefined.empty() ? from : warp_.block().origins().join(sent.origin, from);
      sent.undefined.resize(sent.data.size());
      std::memcpy(sent.undefined.data() + size_t{v} * slot.bytes, &bits, slot.bytes);
    }
  }
}

}  // namespace lab32::sim
