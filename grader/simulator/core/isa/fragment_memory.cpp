// wmma.load and wmma.store: move a fragment between memory and registers. Register parts that are
// contiguous in memory form one access of the warp. Halves that are neighbours in a register but
// not in memory are moved as the transpose of their 8x8 piece, and the lanes then exchange them
// (MOVM). ptxas does this for sm_90, and the counts equal Nsight Compute's for all of
// `programs/tensor_cores`.
#include <cstring>

#include "simulator/core/isa/fragments.h"
#include "simulator/core/isa/memory_lanes.h"

namespace lab32::sim {
namespace {

// A part of the registers that an access moves: `bytes` bytes of each of `count` registers, from
// register `first` on. In each register the part begins at byte `shift`.
struct ByteSliceOfRegisters {
  const RegisterSlot* first;
  unsigned count, bytes, shift;
  bool transposed = false;  // each lane moves two halves that belong to other lanes
};

std::byte* register_part_address(const ByteSliceOfRegisters& part, std::byte* regs, int lane,
                                 unsigned i) {
  if (part.transposed) {
    const int group = lane / 4, owner = (lane % 4 * 2 + static_cast<int>(i)) * 4 + group / 2;
    return regs + part.first->offset + owner * 4 + group % 2 * 2;
  }
  const RegisterSlot& slot = part.first[i];
  return regs + slot.offset + lane * slot.bytes + part.shift;
}

template <bool store>
void load_or_store_register_part(const ByteSliceOfRegisters& part, std::byte* regs, uint32_t lanes,
                                 std::byte* memory, const uint64_t* address, size_t stride) {
  for (uint32_t r = lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    std::byte* at = memory + address[l] + static_cast<size_t>(l) * stride;
    for (unsigned i = 0; i < part.count; ++i, at += part.bytes) {
      std::byte* const own = register_part_address(part, regs, l, i);
      std::memcpy(store ? at : own, store ? own : at, part.bytes);
    }
  }
}

// Marks the stored bytes of undefined elements as undefined again. Called after a store to shared
// memory, which has marked all bytes as defined.
void mark_stored_bits_undefined(Warp& w, const ByteSliceOfRegisters& part, uint32_t lanes,
                                const uint64_t* address) {
  FrameUndefinedBits* const u = w.current().frame->undefined.get();
  if (u == nullptr) return;
  for (uint32_t r = lanes; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    for (unsigned i = 0; i < part.count; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, register_part_address(part, u->registers.data(), l, i), part.bytes);
      const uint64_t at = address[l] + i * part.bytes;
      std::byte* const to =
          bits != 0 ? w.block().shared().undefined_bits_at(at, part.bytes) : nullptr;
      if (to == nullptr) continue;
      std::memcpy(to, &bits, part.bytes);
      const RegisterSlot& slot = part.first[part.transposed ? 0 : i];
      w.block().undefined_origins().note_store(UndefinedOrigins::shared_word(at),
                                               u->origin[slot.offset][static_cast<size_t>(l)]);
    }
  }
}

template <bool store>
void move_register_part(const ExecContext& x, const Inst& in, ptx::Space where, uint64_t* address,
                        const ByteSliceOfRegisters& part) {
  Warp& w = *x.warp;
  BlockContext& block = w.block();
  const unsigned bytes = part.count * part.bytes;
  const auto kind = store ? AccessKind::store : AccessKind::load;
  const StridedLaneMemory place = check_and_report_access(x, in, where, address, bytes, store);
  UndefinedBitsOfWarpRead read;
  if (block.checks_reads() && store && where != ptx::Space::global)
    w.mark_defined(access_space_of(where), address, x.mask, bytes);
  if (block.checks_reads() && store && where == ptx::Space::shared)
    mark_stored_bits_undefined(w, part, x.mask, address);
  if (block.checks_reads() && !store &&
      w.find_undefined_bytes(access_space_of(where), address, x.mask, bytes, &read)) {
    Inst own = in;  // like the instruction, but with these registers as its results
    const unsigned registers = part.transposed ? 1 : part.count;
    own.dst_count = static_cast<uint8_t>(registers);
    for (unsigned i = 0; i < registers; ++i) own.dst[i] = part.first[i];
    FrameUndefinedBits::OfLanes origins = w.origins_of_undefined_read(own, read, bytes);
    // The values go to other lanes, so the origin of the first undefined lane is used for all.
    if (part.transposed) origins.fill(origins[static_cast<size_t>(__builtin_ctz(read.lanes))]);
    const ExecContext to = w.value_tracker().shadow_context_of_undefined_load(
        x, own, part.transposed ? kFullMask : read.lanes, origins);
    load_or_store_register_part<false>(part, to.regs, read.lanes, read.bits, read.address,
                                       read.stride);
  }
  load_or_store_register_part<store>(part, x.regs, x.mask, place.base, address, place.stride);
  const bool shared = where == ptx::Space::shared && block.reports().observes_shared_ptx_accesses();
  const bool ordered = where == ptx::Space::global && block.reports().observes_order();
  if (store && (shared || ordered))
    for (uint32_t r = x.mask; r; r &= r - 1) {
      const int l = __builtin_ctz(r);
      std::memcpy(w.values + l * 16,
                  place.base + address[l] + static_cast<size_t>(l) * place.stride, bytes);
    }
  const std::byte* const values = store ? w.values : nullptr;
  if (shared)
    block.reports().shared_ptx_access(
        w.index(), {in.site, kind, static_cast<uint8_t>(bytes), x.mask, address, values});
  if (ordered)
    block.reports().strong_or_suspect_access(w.index(), in, kind, bytes, x.mask, address, values);
}

template <bool store>
void load_or_store_fragment(const ExecContext& x, const Inst& in) {
  require_whole_warp(x, in);
  const FragmentOp& op = fragment_op(x, in);
  const MatrixFragment& matrix = op.moved;
  const int bits = matrix.bits();
  uint64_t base[kWarpSize];
  lane_addresses(x, in.mem_base, in.mem_offset, base);
  const auto natural = static_cast<uint32_t>(op.by_columns ? matrix.rows : matrix.columns);
  // The position in the matrix of lane l's part of register r, from element e on.
  const auto place = [&](int r, int l, int e, bool transposed) -> MatrixPosition {
    if (!transposed) return matrix.position_of_element(r, l, e);
    const MatrixPosition first = matrix.position_of_element(r, 0, 0),
                         beside = matrix.position_of_element(r, 4, 0),
                         along = matrix.position_of_element(r, 0, 1);
    const int group = l / 4, own = l % 4 * 2;
    return {first.row + (along.row - first.row) * group + (beside.row - first.row) * own,
            first.column + (along.column - first.column) * group +
                (beside.column - first.column) * own};
  };
  const auto move = [&](int r, int e, const ByteSliceOfRegisters& part) {
    uint64_t* const address = x.warp->address;
    for (int l = 0; l < kWarpSize; ++l) {
      const MatrixPosition at = place(r, l, e, part.transposed);
      const uint64_t stride =
          op.stride.bytes == 0 ? natural : load_lane<uint32_t>(x.regs + op.stride.offset, l);
      const auto row = static_cast<uint64_t>(at.row), column = static_cast<uint64_t>(at.column);
      const uint64_t index = op.by_columns ? column * stride + row : row * stride + column;
      address[l] = base[l] + index * static_cast<uint64_t>(bits) / 8;
    }
    const ptx::Space where = space_of(*in.ptx);
    if (where != ptx::Space::generic) return move_register_part<store>(x, in, where, address, part);
    for_each_window(x, address,
                    [&](const ExecContext& lanes, ptx::Space own, uint64_t* own_address) {
                      move_register_part<store>(lanes, in, own, own_address, part);
                    });
  };
  const auto element = static_cast<unsigned>(bits) / 8;
  for (const FragmentRegisterSlice& part : op.parts)
    move(part.first, part.element,
         {matrix.slots.data() + part.first, part.count, part.bytes,
          part.transposed ? 0 : static_cast<unsigned>(part.element) * element, part.transposed});
  if (store) return;
  // Registers that duplicate others.
  const auto differ = static_cast<size_t>(matrix.registers());
  for (size_t i = differ; i < matrix.slots.size(); ++i)
    std::memcpy(x.regs + matrix.slots[i].offset, x.regs + matrix.slots[i % differ].offset,
                static_cast<size_t>(matrix.slots[i].bytes) * kWarpSize);
}

}  // namespace

std::vector<FragmentRegisterSlice> access_parts_of(const FragmentOp& op) {
  const MatrixFragment& matrix = op.moved;
  const int per = matrix.per_register();
  const auto element = static_cast<unsigned>(matrix.bits()) / 8;
  const auto neighbours = [&](const MatrixPosition& a, const MatrixPosition& b) {
    return op.by_columns ? a.column == b.column && b.row == a.row + 1
                         : a.row == b.row && b.column == a.column + 1;
  };
  std::vector<FragmentRegisterSlice> parts;
  for (int r = 0; r < matrix.registers(); ++r) {
    if (per > 1 &&
        neighbours(matrix.position_of_element(r, 0, 0), matrix.position_of_element(r, 0, 1))) {
      parts.push_back({r, 0, 1, 4, false});
    } else if (per == 2) {
      parts.push_back({r, 0, 2, 2, true});
    } else if (per > 1) {
      for (int e = 0; e < per; ++e) parts.push_back({r, e, 1, element, false});
    } else if (matrix.role == MatrixFragment::Role::sum &&
               neighbours(matrix.position_of_element(r, 0, 0),
                          matrix.position_of_element(r + 1, 0, 0))) {
      parts.push_back({r, 0, 2, element, false});
      ++r;
    } else {
      parts.push_back({r, 0, 1, element, false});
    }
  }
  return parts;
}

ExecFn pick_wmma_load(const ptx::Instruction& in) {
  fragment_op_of(in);  // throws if the form is not supported
  return load_or_store_fragment<false>;
}
ExecFn pick_wmma_store(const ptx::Instruction& in) {
  fragment_op_of(in);
  return load_or_store_fragment<true>;
}

}  // namespace lab32::sim
