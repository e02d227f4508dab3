// What is on its way to shared memory: from when it was issued until somebody asks the barrier
// object that counts its bytes.
#include <cstring>
#include <utility>

#include "simulator/core/isa/bulk_copy.h"
#include "simulator/core/memory/tensor_map.h"

namespace lab32::sim {
namespace {

void deliver_copy(const BulkCopy& copy, Warp& asking) {
  BlockContext& block = asking.block();
  ClusterContext* const cluster = block.cluster();
  // Who has ended tells nothing any more.
  const bool gone = cluster != nullptr && (cluster->exited() >> copy.by->info().rank & 1) != 0;
  BlockContext& teller = gone ? block : *copy.by;
  const uint32_t warp = gone ? asking.index() : copy.warp;
  const int lane = gone ? 0 : copy.lane;
  Inst issued;
  issued.site = copy.site;
  for (size_t at = 0; at < copy.data.size(); at += copy.piece) {
    const uint64_t place = at / copy.row_bytes * copy.pitch + at % copy.row_bytes;
    const uint64_t to = swizzled(copy.to + place, copy.swizzle);
    const std::byte* const value = copy.data.data() + at;
    uint64_t address[kWarpSize] = {};
    address[lane] = to;
    if (copy.reduction) {
      // What it updates must have a value, and has one then.
      if (block.checks_reads()) asking.update_shared(issued, address, 1u << lane, copy.piece);
      for (unsigned e = 0; e < copy.piece; e += copy.reduction.bytes)
        copy.reduction.apply(block.shared() + to + e, value + e);
    } else {
      std::memcpy(block.shared() + to, value, copy.piece);
    }
    if (block.checks_reads() && !copy.reduction) {
      UndefinedBytes& undefined = block.undefined_shared();
      if (copy.undefined.empty())
        undefined.define(to, copy.piece);
      else
        std::memcpy(undefined.data() + to, copy.undefined.data() + at, copy.piece);
      if (!copy.undefined.empty() && copy.by == &block)
        for (uint64_t b = 0; b < copy.piece; b += 4)
          block.origins().note_store(Origins::shared_word(to + b), copy.origin);
    }
    if (!teller.observes_raw_shared()) continue;
    std::memcpy(asking.values + lane * 16, value, copy.piece);
    teller.report_raw_shared(warp, issued, copy.reduction ? AccessKind::red : AccessKind::store,
                             copy.piece, 1u << lane, address,
                             copy.reduction ? nullptr : asking.values);
    if (!copy.by_thread)
      teller.report_engine(
          warp, {EngineEvent::Kind::writes, copy.site, 1u << lane, address[lane], copy.piece, 0});
  }
  const bool completes = complete_bytes(block.shared() + copy.barrier, copy.bytes);
  teller.report_mbarrier_arrive(warp, 1u << lane, copy.barrier, completes);
}

}  // namespace

void send(const Copier& c, const BulkOp& op, BulkCopy copy, uint32_t span) {
  BlockContext& block = c.block();
  const uint64_t window = op.generic ? kSharedBase : 0;
  const uint64_t to = c.address(op.to) - window, barrier = c.address(op.barrier) - window;
  const auto use = copy.reduction ? BlockContext::Use::update : BlockContext::Use::write;
  copy.by = &block;
  copy.site = c.in.site;
  copy.warp = c.x.warp->index();
  copy.lane = c.lane;
  copy.bytes = static_cast<uint32_t>(copy.data.size());
  const auto send_to = [&](BulkCopy one) {
    if (!is_there(c, one.barrier, 8, BlockContext::Use::update)) return;
    const bool fits = one.data.empty() || (is_there(c, one.to, one.piece, use) &&
                                           is_there(c, one.to + span - one.piece, one.piece, use));
    if (!fits) one.data.clear();
    block.bulk_copies().push_back(std::move(one));
  };
  if (op.blocks.bytes == 0) {
    copy.to = to;
    copy.barrier = barrier;
    return send_to(std::move(copy));
  }
  // To the same place in each of them.
  for (uint32_t r = c.word(op.blocks); r; r &= r - 1) {
    const uint64_t base = base_of_rank(static_cast<uint32_t>(__builtin_ctz(r)));
    BulkCopy one = copy;
    one.to = base + offset_in_block(to);
    one.barrier = base + offset_in_block(barrier);
    send_to(std::move(one));
  }
}

void deliver_copies(Warp& asking, uint64_t barrier) {
  BulkCopies& copies = asking.block().bulk_copies();
  size_t kept = 0;
  for (BulkCopy& copy : copies) {
    if (copy.barrier == barrier)
      deliver_copy(copy, asking);
    else if (BulkCopy& to = copies[kept++]; &to != &copy)
      to = std::move(copy);
  }
  copies.resize(kept);
}

}  // namespace lab32::sim
