// Decodes the operands of bulk copies, and delivers pending copies when a thread tests their
// mbarrier.
#include <algorithm>
#include <cstring>
#include <utility>

#include "simulator/core/isa/bulk_copy.h"
#include "simulator/core/isa/bulk_op.h"
#include "simulator/core/memory/descriptors.h"
#include "simulator/core/warp/function_slots.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

namespace {

using ptx::Modifier;

// Refuses combinations that match the row of opcodes.def but that the PTX ISA (9.0) lacks.
void check_bulk_reduction(const ptx::Instruction& in, const BulkOp& op) {
  const bool add = in.has(Modifier::add), of_64 = op.reduction.bytes == 8;
  if (!op.reduction) refuse(in);
  if (in.op->id == ptx::OpId::red_async && of_64 && !add) refuse(in);
  if (in.op->id == ptx::OpId::bulk_reduce_to_block && of_64 && !add) refuse(in);
  if (in.op->id == ptx::OpId::bulk_reduce) {
    if (in.type() == ptx::DataType::s64 && add) refuse(in);
    const bool half = in.type() == ptx::DataType::f16 || in.type() == ptx::DataType::bf16;
    if (in.has(Modifier::noftz) != (half && add)) refuse(in);
  }
}

}  // namespace

BulkOp bulk_op_of(const ptx::Instruction& in, RegisterFileLayout& slots) {
  BulkOp op;
  const bool sends = in.op->id == ptx::OpId::st_async || in.op->id == ptx::OpId::red_async;
  BulkOp::BulkAddressOperand* const copied[] = {&op.to, &op.from, &op.barrier};
  BulkOp::BulkAddressOperand* const sent[] = {&op.to, &op.barrier};
  size_t next = 0;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    const ptx::Operand& operand = in.operands[i];
    const std::string& kind = in.op->operands[i].name;
    if (operand.kind == ptx::Operand::Kind::address) {
      BulkOp::BulkAddressOperand& address = *(sends ? sent : copied)[next++];
      slots.decode_address(operand, in, address.base, address.offset);
      op.dimensions = std::max(op.dimensions, static_cast<uint8_t>(operand.elements.size()));
      for (size_t e = 0; e < operand.elements.size(); ++e)
        op.coordinate[e] = slots.value_slot(operand.elements[e], 4, ptx::DataType::s32, in);
    } else if (kind == "u32") {
      op.bytes = slots.value_slot(operand, 4, ptx::DataType::u32, in);
    } else if (kind == "b16") {
      op.blocks = slots.value_slot(operand, 2, ptx::DataType::b16, in);
    } else if (kind == "vec" || kind == "T") {
      const auto bytes = static_cast<uint8_t>(ptx::bytes_of(in.type()));
      const auto add = [&](const ptx::Operand& v) {
        op.value[op.values++] = slots.value_slot(v, bytes, in.type(), in);
      };
      if (operand.kind == ptx::Operand::Kind::vector)
        std::for_each(operand.elements.begin(), operand.elements.end(), add);
      else
        add(operand);
      if (bytes * op.values > 16) refuse(in, "a vector of more than 16 bytes");
    }
  }
  op.generic = sends && !in.has(Modifier::shared_cluster);
  const bool by_map = in.has(Modifier::tensor);
  if ((in.has(Modifier::reduce) && !by_map) || in.op->id == ptx::OpId::red_async) {
    op.reduction = reduction_of(in, in.type());
    check_bulk_reduction(in, op);
  }
  return op;
}

std::vector<RegisterSlot> sources_of(const BulkOp& op) {
  std::vector<RegisterSlot> slots = {op.to.base, op.from.base, op.barrier.base, op.bytes,
                                     op.blocks};
  slots.insert(slots.end(), op.coordinate.begin(), op.coordinate.end());
  return slots;
}

// ---------------------------------------------------------------------------------------------
// A copy is pending from its issue until a thread tests the mbarrier that counts its bytes.

namespace {

void deliver_bulk_copy(const PendingBulkCopy& copy, Warp& asking) {
  BlockContext& block = asking.block();
  ClusterContext* const cluster = block.cluster();
  // A block that has exited reports nothing, so the testing block reports the copy.
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
      // The updated value must be defined, and is defined afterwards.
      if (block.checks_reads())
        asking.check_shared_atomic_reads_defined(issued, address, 1u << lane, copy.piece);
      for (unsigned e = 0; e < copy.piece; e += copy.reduction.bytes)
        copy.reduction.apply(block.shared().bytes() + to + e, value + e);
    } else {
      std::memcpy(block.shared().bytes() + to, value, copy.piece);
    }
    if (block.checks_reads() && !copy.reduction) {
      UndefinedBitsOfMemory& undefined = block.shared().undefined();
      if (copy.undefined.empty())
        undefined.mark_defined(to, copy.piece);
      else
        std::memcpy(undefined.data() + to, copy.undefined.data() + at, copy.piece);
      if (!copy.undefined.empty() && copy.by == &block)
        for (uint64_t b = 0; b < copy.piece; b += 4)
          block.undefined_origins().note_store(UndefinedOrigins::shared_word(to + b), copy.origin);
    }
    if (!teller.reports().observes_shared_ptx_accesses()) continue;
    std::memcpy(asking.values + lane * 16, value, copy.piece);
    teller.reports().shared_ptx_access(
        warp, {issued.site, copy.reduction ? AccessKind::red : AccessKind::store,
               static_cast<uint8_t>(copy.piece), 1u << lane, address,
               copy.reduction ? nullptr : asking.values});
    if (!copy.by_thread)
      teller.reports().copy_engine_event(warp, {CopyEngineEvent::Kind::writes, copy.site,
                                                1u << lane, address[lane], copy.piece, 0});
  }
  const bool completes = complete_mbarrier_bytes(block.shared().bytes() + copy.barrier, copy.bytes);
  teller.reports().mbarrier_arrive(warp, 1u << lane, copy.barrier, completes);
}

}  // namespace

void make_bulk_copy_pending(const BulkCopyLaneContext& c, const BulkOp& op, PendingBulkCopy copy,
                            uint32_t span) {
  BlockContext& block = c.block();
  const uint64_t window = op.generic ? kSharedBase : 0;
  const uint64_t to = c.address(op.to) - window, barrier = c.address(op.barrier) - window;
  const auto use = copy.reduction ? AccessUse::update : AccessUse::write;
  copy.by = &block;
  copy.site = c.in.site;
  copy.warp = c.x.warp->index();
  copy.lane = c.lane;
  copy.bytes = static_cast<uint32_t>(copy.data.size());
  const auto send_to = [&](PendingBulkCopy one) {
    if (!check_shared_range(c, one.barrier, 8, AccessUse::update)) return;
    const bool fits =
        one.data.empty() || (check_shared_range(c, one.to, one.piece, use) &&
                             check_shared_range(c, one.to + span - one.piece, one.piece, use));
    if (!fits) one.data.clear();
    block.bulk_copies().push_back(std::move(one));
  };
  if (op.blocks.bytes == 0) {
    copy.to = to;
    copy.barrier = barrier;
    return send_to(std::move(copy));
  }
  // A multicast copy goes to the same offset in each destination block.
  for (uint32_t r = c.slot_value(op.blocks); r; r &= r - 1) {
    const uint64_t base = base_of_rank(static_cast<uint32_t>(__builtin_ctz(r)));
    PendingBulkCopy one = copy;
    one.to = base + offset_in_block(to);
    one.barrier = base + offset_in_block(barrier);
    send_to(std::move(one));
  }
}

void deliver_copies_of_mbarrier(Warp& asking, uint64_t barrier) {
  PendingBulkCopies& copies = asking.block().bulk_copies();
  size_t kept = 0;
  for (PendingBulkCopy& copy : copies) {
    if (copy.barrier == barrier)
      deliver_bulk_copy(copy, asking);
    else if (PendingBulkCopy& to = copies[kept++]; &to != &copy)
      to = std::move(copy);
  }
  copies.resize(kept);
}

}  // namespace lab32::sim
