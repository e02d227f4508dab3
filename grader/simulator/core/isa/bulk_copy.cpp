// cp.async.bulk: the copy engine moves pieces of 16 bytes and more asynchronously. Copies to shared
// memory become visible when a thread tests their mbarrier (bulk_op.h). Copies to device memory are
// written at once, so waiting for a group of them has nothing to do.
#include "simulator/core/isa/bulk_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "simulator/core/isa/memory_lanes.h"

namespace lab32::sim {

using ptx::Modifier;

BlockContext& BulkCopyLaneContext::block() const { return x.warp->block(); }

uint64_t BulkCopyLaneContext::address(const BulkOp::BulkAddressOperand& of) const {
  uint64_t all[kWarpSize];
  lane_addresses(x, of.base, of.offset, all);
  return all[lane];
}

uint32_t BulkCopyLaneContext::slot_value(const RegisterSlot& slot) const {
  const std::byte* const at = x.regs + slot.offset;
  return slot.bytes == 2 ? load_lane<uint16_t>(at, lane) : load_lane<uint32_t>(at, lane);
}

namespace {

constexpr unsigned kBulkPiece = 16;

// Calls f for up to 32 pieces at a time, as if they were the lanes of a warp.
template <class F>
void for_each_32_pieces(uint64_t begin, uint32_t bytes, unsigned piece, F f) {
  for (uint32_t done = 0; done < bytes;) {
    const uint32_t count = std::min<uint32_t>(kWarpSize, (bytes - done) / piece);
    uint64_t address[kWarpSize];
    for (uint32_t i = 0; i < kWarpSize; ++i) address[i] = begin + done + i * piece;
    f(address, count == kWarpSize ? kFullMask : (1u << count) - 1, done);
    done += count * piece;
  }
}

// Whether the whole range is valid and aligned. Otherwise the pieces are checked one by one, so
// that a fault names the copying lane.
bool is_valid_and_aligned_range(const BulkCopyLaneContext& c, uint64_t begin, uint32_t bytes,
                                unsigned piece) {
  const Memory& memory = *c.block().launch().memory;
  const Allocation* const in = memory.find(begin);
  return in != nullptr && !in->freed && memory.can_access(*in) && begin + bytes <= in->end &&
         in->permits(begin, bytes, true) && begin % piece == 0;
}

std::byte* check_piece_accesses(const BulkCopyLaneContext& c, uint64_t* address, uint32_t pieces,
                                unsigned piece, bool right, AccessUse use) {
  BlockContext& block = c.block();
  const uint32_t warp = c.x.warp->index();
  if (right) return block.accesses().check_global(warp, c.in, address, pieces, piece, use);
  std::byte* base = nullptr;
  for (uint32_t r = pieces; r; r &= r - 1) {
    uint64_t own[kWarpSize] = {};
    uint64_t& at = address[__builtin_ctz(r)];
    own[c.lane] = at;
    base = block.accesses().check_global(warp, c.in, own, 1u << c.lane, piece, use);
    at = own[c.lane];
  }
  return base;
}

void report_piece(const BulkCopyLaneContext& c, AccessKind kind, unsigned piece, uint64_t at,
                  const std::byte* values) {
  uint64_t address[kWarpSize] = {};
  address[c.lane] = at;
  if (values != nullptr) std::memcpy(c.x.warp->values + c.lane * 16, values, piece);
  c.block().reports().strong_or_suspect_access(c.x.warp->index(), c.in, kind, piece, 1u << c.lane,
                                               address,
                                               values != nullptr ? c.x.warp->values : nullptr);
}

void bulk_copy_to_shared(const ExecContext& x, const Inst& in) {
  for_each_copy_lane(x, in, [](const BulkCopyLaneContext& c, const BulkOp& op) {
    PendingBulkCopy copy;
    copy.data.resize(checked_bulk_bytes(c, op));
    report_whole_bulk_copy(c, op, ContiguousBulkMove::Kind::load, c.address(op.from),
                           c.address(op.to), static_cast<uint32_t>(copy.data.size()));
    read_source_of_bulk_copy(c, c.address(op.from), static_cast<uint32_t>(copy.data.size()),
                             kBulkPiece, copy, 0);
    const auto span = static_cast<uint32_t>(copy.data.size());
    make_bulk_copy_pending(c, op, std::move(copy), span);
  });
}

void copy_to_cluster_block(const ExecContext& x, const Inst& in) {
  for_each_copy_lane(x, in, [](const BulkCopyLaneContext& c, const BulkOp& op) {
    PendingBulkCopy copy;
    copy.data.resize(checked_bulk_bytes(c, op));
    const uint64_t from = c.address(op.from);
    const auto span = static_cast<uint32_t>(copy.data.size());
    report_whole_bulk_copy(c, op, ContiguousBulkMove::Kind::to_block, 0, from, span);
    read_shared_into_copy(c, from, copy);
    make_bulk_copy_pending(c, op, std::move(copy), span);
  });
}

void bulk_copy_to_global(const ExecContext& x, const Inst& in) {
  for_each_copy_lane(x, in, [](const BulkCopyLaneContext& c, const BulkOp& op) {
    const uint32_t bytes = checked_bulk_bytes(c, op);
    const uint64_t from = c.address(op.from), to = c.address(op.to);
    report_whole_bulk_copy(c, op, ContiguousBulkMove::Kind::store, to, from, bytes);
    std::vector<std::byte> values(bytes);
    for (uint32_t at = 0; at < bytes; at += kBulkPiece)
      read_16_shared_bytes(c, from + at, values.data() + at);
    write_device_memory(c, to, bytes, kBulkPiece, values.data());
  });
}

void nothing_to_do(const ExecContext&, const Inst&) {}

// Reports an event of the copy engine. The order of groups and fences does not affect the
// execution.
void report_copy_engine_event(const ExecContext& x, const Inst& in, CopyEngineEvent::Kind kind,
                              uint32_t pending = 0) {
  BlockContext& block = x.warp->block();
  if (block.reports().observes_shared_ptx_accesses())
    block.reports().copy_engine_event(x.warp->index(), {kind, in.site, x.mask, 0, 0, pending});
}

void commit_bulk_group(const ExecContext& x, const Inst& in) {
  report_copy_engine_event(x, in, CopyEngineEvent::Kind::commits);
}

void wait_for_bulk_group(const ExecContext& x, const Inst& in) {
  report_copy_engine_event(x, in, CopyEngineEvent::Kind::waits,
                           load_lane<uint32_t>(x.regs + in.src[0].offset, __builtin_ctz(x.mask)));
}

void fence_proxy(const ExecContext& x, const Inst& in) {
  report_copy_engine_event(x, in, CopyEngineEvent::Kind::fences);
}

}  // namespace

bool check_shared_range(const BulkCopyLaneContext& c, uint64_t at, unsigned bytes, AccessUse use) {
  uint64_t address[kWarpSize] = {};
  address[c.lane] = at;
  c.block().accesses().check_shared(c.x.warp->index(), c.in, address, 1u << c.lane, bytes, use);
  return address[c.lane] == at;
}

uint32_t checked_bulk_bytes(const BulkCopyLaneContext& c, const BulkOp& op) {
  const uint32_t bytes = c.slot_value(op.bytes);
  if (bytes % kBulkPiece != 0) {
    TrapFacts facts = c.x.warp->facts(TrapReason::bulk_bytes, c.lane);
    facts.value = bytes;
    c.x.warp->trap(c.in, std::move(facts));
  }
  return bytes;
}

void report_whole_bulk_copy(const BulkCopyLaneContext& c, const BulkOp& op,
                            ContiguousBulkMove::Kind kind, uint64_t global, uint64_t shared,
                            uint32_t bytes) {
  ContiguousBulkMove move;
  move.kind = kind;
  move.global = global;
  move.shared = shared;
  move.bytes = move.inside = bytes;
  report_bulk_move(c, op, move);
}

void report_bulk_move(const BulkCopyLaneContext& c, const BulkOp& op, ContiguousBulkMove move) {
  BlockContext& block = c.block();
  if (!block.reports().reports_accesses()) return;
  move.site = c.in.site;
  move.shared = offset_in_block(move.shared);
  if (op.blocks.bytes != 0)
    move.blocks = static_cast<uint32_t>(__builtin_popcount(c.slot_value(op.blocks)));
  block.reports().bulk_move(c.x.warp->index(), move);
}

void read_source_of_bulk_copy(const BulkCopyLaneContext& c, uint64_t from, uint32_t bytes,
                              unsigned piece, PendingBulkCopy& copy, uint32_t at) {
  BlockContext& block = c.block();
  const Memory& memory = *block.launch().memory;
  const bool right = is_valid_and_aligned_range(c, from, bytes, piece);
  block.accesses().take_unwritten();
  for_each_32_pieces(from, bytes, piece, [&](uint64_t* address, uint32_t pieces, uint32_t done) {
    const std::byte* const base =
        check_piece_accesses(c, address, pieces, piece, right, AccessUse::read);
    const uint32_t unwritten = block.accesses().take_unwritten();
    for (uint32_t r = pieces; r; r &= r - 1) {
      const int i = __builtin_ctz(r);
      const uint32_t to = at + done + static_cast<uint32_t>(i) * piece;
      std::memcpy(copy.data.data() + to, base + address[i], piece);
      if (block.reports().observes_order())
        report_piece(c, AccessKind::load, piece, address[i], nullptr);
      if (unwritten == 0) continue;
      copy.undefined.resize(copy.data.size());
      for (unsigned b = 0; b < piece; ++b)
        if (!memory.is_written(address[i] + b, 1)) copy.undefined[to + b] = std::byte{0xff};
      copy.origin = block.undefined_origins().origin_id_of_read(c.in.site, false, [&] {
        return block.accesses().facts_of_unwritten_read(c.in.site, c.x.warp->index(), c.lane,
                                                        AccessSpace::global, address[i], piece);
      });
    }
  });
}

void write_device_memory(const BulkCopyLaneContext& c, uint64_t to, uint32_t bytes, unsigned piece,
                         const std::byte* values, const ReductionOp& reduction) {
  BlockContext& block = c.block();
  const bool right = is_valid_and_aligned_range(c, to, bytes, piece);
  for_each_32_pieces(to, bytes, piece, [&](uint64_t* address, uint32_t pieces, uint32_t done) {
    const auto use = reduction ? AccessUse::update : AccessUse::write;
    std::byte* const base = check_piece_accesses(c, address, pieces, piece, right, use);
    for (uint32_t r = pieces; r; r &= r - 1) {
      const int i = __builtin_ctz(r);
      const std::byte* const value = values + done + static_cast<uint32_t>(i) * piece;
      if (block.reports().observes_order() && reduction)
        report_piece(c, AccessKind::red, piece, address[i], nullptr);
      else if (block.reports().observes_order())
        report_piece(c, AccessKind::store, piece, address[i], value);
      if (!reduction) std::memcpy(base + address[i], value, piece);
      for (unsigned e = 0; reduction && e < piece; e += reduction.bytes)
        reduction.apply(base + address[i] + e, value + e);
    }
  });
}

void read_16_shared_bytes(const BulkCopyLaneContext& c, uint64_t from, std::byte* to,
                          ValueUse use) {
  BlockContext& block = c.block();
  const uint32_t lane = 1u << c.lane;
  uint64_t address[kWarpSize] = {};
  address[c.lane] = from;
  block.accesses().check_shared(c.x.warp->index(), c.in, address, lane, kBulkPiece,
                                AccessUse::read);
  std::memcpy(to, block.shared().bytes() + address[c.lane], kBulkPiece);
  if (block.reports().observes_shared_ptx_accesses()) {
    block.reports().shared_ptx_access(
        c.x.warp->index(),
        {c.in.site, AccessKind::load, static_cast<uint8_t>(kBulkPiece), lane, address, nullptr});
    block.reports().copy_engine_event(c.x.warp->index(), {CopyEngineEvent::Kind::reads, c.in.site,
                                                          lane, address[c.lane], kBulkPiece, 0});
  }
  // A value that is stored to device memory, or updates it, must be defined.
  UndefinedBitsOfWarpRead read;
  if (!block.checks_reads() ||
      !c.x.warp->find_undefined_bytes(AccessSpace::shared, address, lane, kBulkPiece, &read))
    return;
  const UndefinedOrigins::Id id =
      c.x.warp->origins_of_undefined_read(c.in, read, kBulkPiece)[static_cast<size_t>(c.lane)];
  block.undefined_origins().for_each_origin(id, [&](const UndefinedOrigin& origin) {
    block.faults().report_undefined_use(origin, use, lane);
  });
}

void read_shared_into_copy(const BulkCopyLaneContext& c, uint64_t from, PendingBulkCopy& copy) {
  BlockContext& block = c.block();
  for (size_t at = 0; at < copy.data.size(); at += kBulkPiece) {
    uint64_t address[kWarpSize] = {};
    address[c.lane] = from + at;
    const uint32_t lane = 1u << c.lane;
    block.accesses().check_shared(c.x.warp->index(), c.in, address, lane, kBulkPiece,
                                  AccessUse::read);
    std::memcpy(copy.data.data() + at, block.shared().bytes() + address[c.lane], kBulkPiece);
    if (block.reports().observes_shared_ptx_accesses())
      block.reports().shared_ptx_access(
          c.x.warp->index(),
          {c.in.site, AccessKind::load, static_cast<uint8_t>(kBulkPiece), lane, address, nullptr});
    UndefinedBitsOfWarpRead read;
    if (!block.checks_reads() ||
        !c.x.warp->find_undefined_bytes(AccessSpace::shared, address, lane, kBulkPiece, &read))
      continue;
    copy.undefined.resize(copy.data.size());
    std::memcpy(copy.undefined.data() + at, read.bits + address[c.lane], kBulkPiece);
    copy.origin =
        c.x.warp->origins_of_undefined_read(c.in, read, kBulkPiece)[static_cast<size_t>(c.lane)];
  }
}

ExecFn pick_bulk_load(const ptx::Instruction&) { return bulk_copy_to_shared; }
ExecFn pick_bulk_load_many(const ptx::Instruction&) { return bulk_copy_to_shared; }
ExecFn pick_bulk_to_block(const ptx::Instruction&) { return copy_to_cluster_block; }
ExecFn pick_bulk_store(const ptx::Instruction&) { return bulk_copy_to_global; }
ExecFn pick_bulk_commit(const ptx::Instruction&) { return commit_bulk_group; }
ExecFn pick_bulk_wait(const ptx::Instruction&) { return wait_for_bulk_group; }
ExecFn pick_bulk_prefetch(const ptx::Instruction&) { return nothing_to_do; }
ExecFn pick_tensor_prefetch(const ptx::Instruction&) { return nothing_to_do; }
ExecFn pick_prefetch_map(const ptx::Instruction&) { return nothing_to_do; }
// In the simulator the copy engine and the threads see the same shared memory, so the fence has no
// effect on values. Observers report missing fences.
ExecFn pick_fence_proxy(const ptx::Instruction& in) {
  return in.has(Modifier::async) && !in.has(Modifier::global) ? fence_proxy : nothing_to_do;
}
ExecFn pick_fence_mbarrier_init(const ptx::Instruction&) { return nothing_to_do; }

// ---------------------------------------------------------------------------------------------
// cp.reduce.async.bulk: a bulk copy out of shared memory that updates each element of the
// destination separately. st.async and red.async: values of registers that complete on an mbarrier
// like bulk copies.

namespace {

void bulk_reduce_to_global(const ExecContext& x, const Inst& in) {
  for_each_copy_lane(x, in, [](const BulkCopyLaneContext& c, const BulkOp& op) {
    const uint32_t bytes = checked_bulk_bytes(c, op);
    const uint64_t from = c.address(op.from), to = c.address(op.to);
    report_whole_bulk_copy(c, op, ContiguousBulkMove::Kind::reduce, to, from, bytes);
    std::vector<std::byte> values(bytes);
    constexpr unsigned kPiece = 16;
    for (uint32_t at = 0; at < bytes; at += kPiece)
      read_16_shared_bytes(c, from + at, values.data() + at, ValueUse::atomic);
    write_device_memory(c, to, bytes, kPiece, values.data(), op.reduction);
  });
}

void bulk_reduce_to_cluster_block(const ExecContext& x, const Inst& in) {
  for_each_copy_lane(x, in, [](const BulkCopyLaneContext& c, const BulkOp& op) {
    PendingBulkCopy copy;
    copy.data.resize(checked_bulk_bytes(c, op));
    copy.reduction = op.reduction;
    const uint64_t from = c.address(op.from);
    const auto span = static_cast<uint32_t>(copy.data.size());
    report_whole_bulk_copy(c, op, ContiguousBulkMove::Kind::to_block, 0, from, span);
    read_shared_into_copy(c, from, copy);
    if (!copy.undefined.empty()) {
      BlockContext& block = c.block();
      block.undefined_origins().for_each_origin(copy.origin, [&](const UndefinedOrigin& origin) {
        block.faults().report_undefined_use(origin, ValueUse::atomic, 1u << c.lane);
      });
      copy.undefined.clear();
    }
    make_bulk_copy_pending(c, op, std::move(copy), span);
  });
}

void store_registers_remotely(const ExecContext& x, const Inst& in) {
  for_each_copy_lane(x, in, [](const BulkCopyLaneContext& c, const BulkOp& op) {
    const unsigned each = op.value[0].bytes;
    PendingBulkCopy copy;
    copy.data.resize(size_t{each} * op.values);
    copy.reduction = op.reduction;
    copy.piece = static_cast<uint8_t>(copy.data.size());
    copy.by_thread = true;
    for (unsigned v = 0; v < op.values; ++v)
      std::memcpy(copy.data.data() + v * each,
                  c.x.regs + op.value[v].offset + static_cast<unsigned>(c.lane) * each, each);
    report_whole_bulk_copy(c, op, ContiguousBulkMove::Kind::to_block, 0, c.address(op.to),
                           copy.piece);
    const uint32_t span = copy.piece;
    make_bulk_copy_pending(c, op, std::move(copy), span);
  });
}

}  // namespace

ExecFn pick_bulk_reduce(const ptx::Instruction&) { return bulk_reduce_to_global; }
ExecFn pick_bulk_reduce_to_block(const ptx::Instruction&) { return bulk_reduce_to_cluster_block; }
ExecFn pick_st_async(const ptx::Instruction&) { return store_registers_remotely; }
ExecFn pick_red_async(const ptx::Instruction&) { return store_registers_remotely; }

}  // namespace lab32::sim
