// Asynchronous copies (cp.async) and the 8x8 matrix moves of a whole warp (ldmatrix, stmatrix).
#include <cstring>

#include "simulator/core/isa/bulk_copy.h"
#include "simulator/core/isa/memory_lanes.h"

namespace lab32::sim {
namespace {

using ptx::Modifier;

// --- cp.async -----------------------------------------------------------------------------------
// The bytes leave global memory when the copy is issued and arrive in shared memory when the thread
// waits for it, so that a kernel that forgets to wait reads uninitialised shared memory here.

void issue_async_copy(const ExecContext& x, const Inst& in) {
  Warp& w = *x.warp;
  BlockContext& block = w.block();
  const uint32_t bytes = load_lane<uint32_t>(x.regs + in.src[0].offset, __builtin_ctz(x.mask));
  lane_addresses(x, in.mem_base, in.mem_offset, w.address);
  lane_addresses(x, in.mem_base2, in.mem_offset2, w.address2);
  block.accesses().check_shared(w.index(), in, w.address, x.mask, bytes, AccessUse::write);
  PendingAsyncCopy copy;
  copy.site = in.site;
  copy.mask = x.mask;
  copy.bytes = static_cast<uint8_t>(bytes);
  uint32_t reading =
      0;  // lanes that read at least one byte; the other bytes of the copy are filled with zeros
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    const uint32_t wanted =
        in.src_count > 1 ? load_lane<uint32_t>(x.regs + in.src[1].offset, l) : bytes;
    if (wanted > 0) reading |= 1u << l;
    copy.group[static_cast<size_t>(l)] = w.copy_group()[static_cast<size_t>(l)];
    copy.to[static_cast<size_t>(l)] = w.address[l];
    copy.data[static_cast<size_t>(l)].fill(std::byte{0});
  }
  if (reading) {
    // A lane may read fewer bytes than it copies, at the very end of its array. Each lane is
    // therefore checked with its own number of bytes.
    for (uint32_t r = reading; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      uint32_t wanted =
          in.src_count > 1 ? load_lane<uint32_t>(x.regs + in.src[1].offset, l) : bytes;
      if (wanted > bytes) wanted = bytes;
      const bool whole = wanted == bytes;
      uint64_t lane_address[kWarpSize];
      std::memcpy(lane_address, w.address2, sizeof lane_address);
      for (uint32_t at = 0; at < wanted; at += whole ? bytes : 1) {
        lane_address[l] = w.address2[l] + at;
        const std::byte* base = block.accesses().check_global(w.index(), in, lane_address, 1u << l,
                                                              whole ? bytes : 1, AccessUse::read);
        if (block.accesses().take_unwritten() != 0) {
          copy.undefined |= 1u << l;
          copy.origin = block.undefined_origins().origin_id_of_read(in.site, false, [&] {
            return block.accesses().facts_of_unwritten_read(
                in.site, w.index(), l, AccessSpace::global, lane_address[l], whole ? bytes : 1);
          });
        }
        std::memcpy(copy.data[static_cast<size_t>(l)].data() + at, base + lane_address[l],
                    whole ? bytes : 1);
      }
    }
    if (block.reports().observes_order())
      block.reports().strong_or_suspect_access(w.index(), in, AccessKind::load, bytes, reading,
                                               w.address2, nullptr);
    if (block.reports().reports_accesses())
      block.reports().access(
          w.index(), in,
          {AccessSpace::global, AccessKind::load, bytes, reading, w.address2, false, w.address});
  }
  if (block.reports().reports_accesses())
    block.reports().access(
        w.index(), in,
        {AccessSpace::shared, AccessKind::store, bytes, x.mask, w.address, false, w.address2});
  if (block.reports().observes_shared_ptx_accesses())
    block.reports().async_copy_begins(
        w.index(), {in.site, AccessKind::store, copy.bytes, x.mask, w.address, nullptr});
  w.copies().push_back(copy);
}

// Completes the copies of the lanes in x.mask, except those of the newest `pending` groups.
void finish_async_copies(const ExecContext& x, const Inst& in, bool all, uint32_t pending,
                         uint32_t mbarrier = 0) {
  Warp& w = *x.warp;
  BlockContext& block = w.block();
  auto& copies = w.copies();
  for (PendingAsyncCopy& copy : copies) {
    uint32_t done = 0;
    for (uint32_t r = copy.mask & x.mask; r; r &= r - 1) {
      const auto l = static_cast<size_t>(__builtin_ctz(r));
      if (all || copy.group[l] + pending < w.copy_group()[l]) done |= 1u << l;
    }
    if (!done) continue;
    for (uint32_t r = done; r; r &= r - 1) {
      const auto l = static_cast<size_t>(__builtin_ctz(r));
      std::memcpy(block.shared().bytes() + copy.to[l], copy.data[l].data(), copy.bytes);
      std::memcpy(w.values + l * 16, copy.data[l].data(), 16);
      w.address[l] = copy.to[l];
    }
    if (block.checks_reads()) {
      w.mark_defined(AccessSpace::shared, w.address, done, copy.bytes);
      for (uint32_t r = done & copy.undefined; r; r &= r - 1) {
        const uint64_t to = w.address[__builtin_ctz(r)];
        if (std::byte* const bits = block.shared().undefined_bits_at(to, copy.bytes))
          std::memset(bits, 0xff, copy.bytes);
        for (uint64_t b = 0; b < copy.bytes; b += 4)
          block.undefined_origins().note_store(UndefinedOrigins::shared_word(to + b), copy.origin);
      }
    }
    Inst issued = in;  // the access is reported under the line of the copy, not of the wait
    issued.site = copy.site;
    if (block.reports().observes_shared_ptx_accesses())
      block.reports().async_copy_ends(
          w.index(), {issued.site, AccessKind::store, static_cast<uint8_t>(copy.bytes), done,
                      w.address, w.values, nullptr, mbarrier});
    copy.mask &= ~done;
  }
  size_t kept = 0;
  for (PendingAsyncCopy& copy : copies)
    if (copy.mask) copies[kept++] = copy;
  copies.resize(kept);
}

void commit_async_copy_group(const ExecContext& x, const Inst&) {
  for (uint32_t r = x.mask; r; r &= r - 1)
    ++x.warp->copy_group()[static_cast<size_t>(__builtin_ctz(r))];
}

void wait_for_async_copy_group(const ExecContext& x, const Inst& in) {
  finish_async_copies(x, in, false,
                      load_lane<uint32_t>(x.regs + in.src[0].offset, __builtin_ctz(x.mask)));
}

void wait_all(const ExecContext& x, const Inst& in) { finish_async_copies(x, in, true, 0); }

// --- ldmatrix, stmatrix -------------------------------------------------------------------------
// Lanes 8i .. 8i+7 give the row addresses of matrix i; lane l holds elements 2(l%4) and 2(l%4)+1 of
// row l/4 (PTX ISA, "ldmatrix"), transposed: of column l/4.

constexpr int kRows = 8, kRowBytes = 16;

struct LaneMatrixPositions {
  int row[2], byte[2];  // position of the lane's two 16-bit elements in the matrix
};

LaneMatrixPositions element_positions_of_lane(int lane, bool transposed) {
  LaneMatrixPositions f;
  for (int e = 0; e < 2; ++e) {
    const int row = lane / 4, column = lane % 4 * 2 + e;
    f.row[e] = transposed ? column : row;
    f.byte[e] = 2 * (transposed ? row : column);
  }
  return f;
}

// Every lane receives elements of several rows, so the origin of the first undefined row is used
// for all lanes.
FrameUndefinedBits::OfLanes origins_of_first_undefined_row(Warp& w, const Inst& in,
                                                           const UndefinedBitsOfWarpRead& read) {
  FrameUndefinedBits::OfLanes origins = w.origins_of_undefined_read(in, read, kRowBytes);
  origins.fill(origins[static_cast<size_t>(__builtin_ctz(read.lanes))]);
  return origins;
}

template <bool store>
void load_or_store_matrices(const ExecContext& x, const Inst& in) {
  Warp& w = *x.warp;
  BlockContext& block = w.block();
  const int matrices = store ? in.src_count : in.dst_count;
  const bool transposed = in.ptx->has(Modifier::trans);
  lane_addresses(x, in.mem_base, in.mem_offset, w.address);
  const bool generic = !in.ptx->has(Modifier::shared) && !in.ptx->has(Modifier::shared_cta);
  if (generic)
    for (int l = 0; l < kWarpSize; ++l) w.address[l] -= kSharedBase;
  const uint32_t rows = matrices == 4 ? kFullMask : (1u << (matrices * kRows)) - 1;
  if (x.mask != kFullMask) {
    TrapFacts facts = w.facts(TrapReason::warp_divided);
    facts.name = in.ptx->op->base;
    facts.warp->lanes = x.mask;
    w.trap(in, std::move(facts));
  }
  block.accesses().check_shared(w.index(), in, w.address, rows, kRowBytes,
                                store ? AccessUse::write : AccessUse::read);
  if (block.reports().reports_accesses())
    block.reports().access(w.index(), in,
                           {AccessSpace::shared, store ? AccessKind::store : AccessKind::load,
                            kRowBytes, rows, w.address, true});
  const auto move = [&](std::byte* shared, std::byte* regs) {
    for (int m = 0; m < matrices; ++m) {
      const RegisterSlot& slot = store ? in.src[m] : in.dst[m];
      for (int l = 0; l < kWarpSize; ++l) {
        const LaneMatrixPositions f = element_positions_of_lane(l, transposed);
        for (int e = 0; e < 2; ++e) {
          std::byte* element = shared + w.address[m * kRows + f.row[e]] + f.byte[e];
          std::byte* in_register = regs + slot.offset + l * 4 + e * 2;
          std::memcpy(store ? element : in_register, store ? in_register : element, 2);
        }
      }
    }
  };
  std::byte* const shared = block.shared().bytes();
  move(shared, x.regs);
  if (block.checks_reads()) {
    UndefinedBitsOfWarpRead read;
    if (store)
      w.mark_defined(AccessSpace::shared, w.address, rows, kRowBytes);
    else if (w.find_undefined_bytes(AccessSpace::shared, w.address, rows, kRowBytes, &read))
      move(read.bits, w.value_tracker()
                          .shadow_context_of_undefined_load(
                              x, in, kFullMask, origins_of_first_undefined_row(w, in, read))
                          .regs);
  }
  if (block.reports().observes_shared_ptx_accesses()) {
    if (store)
      for (uint32_t r = rows; r; r &= r - 1) {
        const int l = __builtin_ctz(r);
        std::memcpy(w.values + l * 16, shared + w.address[l], kRowBytes);
      }
    block.reports().shared_ptx_access(
        w.index(), {in.site, store ? AccessKind::store : AccessKind::load,
                    static_cast<uint8_t>(kRowBytes), rows, w.address, store ? w.values : nullptr});
  }
}

// Each lane gets the two elements of the transposed matrix that ldmatrix would give it.
void transpose_matrix(const ExecContext& x, const Inst& in) {
  if (x.mask != kFullMask) {
    TrapFacts facts = x.warp->facts(TrapReason::warp_divided);
    facts.name = in.ptx->op->base;
    facts.warp->lanes = x.mask;
    x.warp->trap(in, std::move(facts));
  }
  std::byte elements[kRows * kRowBytes];
  std::memcpy(elements, x.regs + in.src[0].offset, sizeof elements);  // lane l: row l/4, 2(l%4)
  if (in.dst[0].bytes == 0) return;
  for (int l = 0; l < kWarpSize; ++l) {
    const LaneMatrixPositions f = element_positions_of_lane(l, true);
    for (int e = 0; e < 2; ++e)
      std::memcpy(x.regs + in.dst[0].offset + l * 4 + e * 2,
                  elements + f.row[e] * kRowBytes + f.byte[e], 2);
  }
}

}  // namespace

void finish_all_async_copies(const ExecContext& x, const Inst& in, uint32_t mbarrier) {
  finish_async_copies(x, in, true, 0, mbarrier);
}

ExecFn pick_cp_async(const ptx::Instruction&) { return issue_async_copy; }
ExecFn pick_cp_async_commit(const ptx::Instruction&) { return commit_async_copy_group; }
ExecFn pick_cp_async_wait(const ptx::Instruction&) { return wait_for_async_copy_group; }
ExecFn pick_cp_async_wait_all(const ptx::Instruction&) { return wait_all; }
ExecFn pick_ldmatrix(const ptx::Instruction&) { return load_or_store_matrices<false>; }
ExecFn pick_movmatrix(const ptx::Instruction&) { return transpose_matrix; }
ExecFn pick_stmatrix(const ptx::Instruction&) { return load_or_store_matrices<true>; }

}  // namespace lab32::sim
