// cp.async.bulk.tensor: boxes of a tensor that a map describes (memory/descriptors.h). The
// destination of a box, the values outside the tensor and the valid coordinates were measured on an
// H100 (runtime/tests/programs/clusters/tensor_maps.cu).
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "simulator/core/isa/bulk_copy.h"
#include "simulator/core/isa/memory_lanes.h"
#include "simulator/core/memory/descriptors.h"

namespace lab32::sim {
namespace {

using ptx::Modifier;

[[noreturn]] void bad_tensor_map(const BulkCopyLaneContext& c, uint64_t address,
                                 const char* cause) {
  TrapFacts facts = c.x.warp->facts(TrapReason::tensor_map, c.lane);
  facts.value = address;
  facts.cause = cause;
  c.x.warp->trap(c.in, std::move(facts));
}

TensorMap read_tensor_map(const BulkCopyLaneContext& c, uint64_t address, const BulkOp& op) {
  const Memory& memory = *c.block().launch().memory;
  const Allocation* const in = memory.find(address);
  if (in == nullptr || in->freed || !memory.can_access(*in) ||
      address + TensorMap::kBytes > in->end || !in->permits(address, TensorMap::kBytes, false))
    bad_tensor_map(c, address, "is not in device memory");
  if (address % TensorMap::kAlign != 0) bad_tensor_map(c, address, "is not at a multiple of 64");
  TensorMap map;
  std::memcpy(&map, memory.host(address), sizeof map);
  if (map.magic != TensorMap::kMagic)
    bad_tensor_map(c, address, "cuTensorMapEncodeTiled has not made");
  if (map.dimensions != op.dimensions)
    bad_tensor_map(c, address, "has another number of dimensions");
  return map;
}

struct TensorBoxOrigin {
  std::array<int64_t, TensorMap::kMostDimensions> first{};
};

TensorBoxOrigin checked_tensor_box_origin(const BulkCopyLaneContext& c, const BulkOp& op,
                                          const TensorMap& map, bool stores) {
  TensorBoxOrigin box;
  for (size_t i = 0; i < map.dimensions; ++i)
    box.first[i] = static_cast<int32_t>(c.slot_value(op.coordinate[i]));
  const auto refuse = [&](int64_t coordinate, const char* cause) {
    TrapFacts facts = c.x.warp->facts(TrapReason::tensor_coordinate, c.lane);
    facts.value = static_cast<uint64_t>(coordinate);
    facts.cause = cause;
    c.x.warp->trap(c.in, std::move(facts));
  };
  if (box.first[0] * map.element_bytes % 16 != 0)
    refuse(box.first[0], "along x that must be a multiple of 16 bytes");
  for (size_t i = 0; stores && i < map.dimensions; ++i)
    if (box.first[i] < 0) refuse(box.first[i], "a store may not begin before the tensor");
  return box;
}

// PTX ISA: a box in shared memory begins at a multiple of 128.
void check_box_alignment(const BulkCopyLaneContext& c, uint64_t at, AccessUse use) {
  constexpr unsigned kAlign = 128;
  if (at % kAlign == 0) return;
  BlockContext& block = c.block();
  TrapFacts facts =
      block.faults().facts_of_access(c.x.warp->index(), c.lane, AccessSpace::shared, use, kAlign);
  facts.reason = TrapReason::misaligned;
  facts.access->offset = static_cast<int64_t>(offset_in_block(at));
  facts.access->size = block.shared().size();
  c.x.warp->trap(c.in, std::move(facts));
}

// A row of a box: its number, and its elements [from, end) that are inside the tensor; from == end:
// none.
struct TensorBoxRow {
  uint32_t number;
  uint64_t address;  // address of element `from`
  uint32_t from = 0, end = 0;
};

template <class F>
void for_each_box_row(const TensorMap& map, const TensorBoxOrigin& box, F f) {
  for (uint32_t number = 0; number < map.rows_of_box(); ++number) {
    TensorBoxRow row{number, map.address};
    bool inside = true;
    uint32_t rest = number;
    for (size_t i = 1; i < map.dimensions; ++i) {
      const int64_t at = box.first[i] + int64_t{rest % map.along(i)} * map.step[i];
      rest /= map.along(i);
      inside &= at >= 0 && static_cast<uint64_t>(at) < map.size[i];
      if (inside) row.address += static_cast<uint64_t>(at) * map.stride[i - 1];
    }
    const int64_t from = std::max<int64_t>(-box.first[0], 0);
    const int64_t end =
        std::min<int64_t>(map.box[0], static_cast<int64_t>(map.size[0]) - box.first[0]);
    if (inside && from < end) {
      row.from = static_cast<uint32_t>(from);
      row.end = static_cast<uint32_t>(end);
      row.address += static_cast<uint64_t>(box.first[0] + from) * map.element_bytes;
    }
    f(row);
  }
}

// The largest piece size that divides a row in device memory.
unsigned piece_size_of_row(const TensorMap& map, uint64_t address, uint32_t bytes) {
  return (address | bytes) % 16 == 0 ? 16 : map.element_bytes;
}

void report_box_row_move(const BulkCopyLaneContext& c, const BulkOp& op, const TensorMap& map,
                         const TensorBoxRow& row, ContiguousBulkMove::Kind kind, uint64_t shared) {
  ContiguousBulkMove move;
  move.kind = kind;
  move.global = row.address;
  move.shared = shared + uint64_t{row.number} * map.pitch();
  move.bytes = map.row_bytes();
  move.before = row.from * map.element_bytes;
  move.inside = (row.end - row.from) * map.element_bytes;
  move.steps = map.has_element_strides();
  move.begins = row.number == 0;
  report_bulk_move(c, op, move);
}

// If the rows are shorter than those of the swizzle mode, there are gaps between them in shared
// memory.
void load_tensor_box(const ExecContext& x, const Inst& in) {
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const BulkCopyLaneContext c{x, in, __builtin_ctz(r)};
    const BulkOp& op = x.warp->program().bulk_ops[in.target];
    const TensorMap map = read_tensor_map(c, c.address(op.from), op);
    const TensorBoxOrigin box = checked_tensor_box_origin(c, op, map, false);
    PendingBulkCopy copy;
    copy.swizzle = map.swizzle;
    copy.row_bytes = map.row_bytes();
    copy.pitch = map.pitch();
    copy.data.resize(uint64_t{map.rows_of_box()} * map.row_bytes());  // zeros, outside the tensor
    for_each_box_row(map, box, [&](const TensorBoxRow& row) {
      report_box_row_move(c, op, map, row, ContiguousBulkMove::Kind::load, c.address(op.to));
      const uint32_t bytes = (row.end - row.from) * map.element_bytes;
      if (bytes == 0) return;
      read_source_of_bulk_copy(c, row.address, bytes, piece_size_of_row(map, row.address, bytes),
                               copy, row.number * map.row_bytes() + row.from * map.element_bytes);
    });
    check_box_alignment(c, c.address(op.to), AccessUse::write);
    make_bulk_copy_pending(c, op, std::move(copy), map.rows_of_box() * map.pitch());
  }
}

// The reduction that the instruction names, for elements of the map's type. Traps if the PTX ISA
// has no such reduction.
ReductionOp tensor_reduction_of(const BulkCopyLaneContext& c, uint64_t place,
                                const TensorMap& map) {
  const ptx::Instruction& in = *c.in.ptx;
  ptx::DataType type = map.type;
  const bool of_bits =
      in.has(Modifier::op_and) || in.has(Modifier::op_or) || in.has(Modifier::op_xor);
  if (of_bits && !ptx::is_float(type))
    type = map.element_bytes == 8   ? ptx::DataType::b64
           : map.element_bytes == 4 ? ptx::DataType::b32
                                    : ptx::DataType::none;
  const ReductionOp reduction = reduction_of(in, type);
  if (!reduction) bad_tensor_map(c, place, "has elements of a type without this reduction");
  return reduction;
}

void store_tensor_box(const ExecContext& x, const Inst& in) {
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const BulkCopyLaneContext c{x, in, __builtin_ctz(r)};
    const BulkOp& op = x.warp->program().bulk_ops[in.target];
    const uint64_t place = c.address(op.to), from = c.address(op.from);
    const TensorMap map = read_tensor_map(c, place, op);
    const bool reduces = in.ptx->has(Modifier::reduce);
    const ReductionOp reduction = reduces ? tensor_reduction_of(c, place, map) : ReductionOp{};
    const TensorBoxOrigin box = checked_tensor_box_origin(c, op, map, true);
    check_box_alignment(c, from, AccessUse::read);
    // Past the end of such a row an H100 writes up to the next multiple of an unknown number of
    // bytes.
    if (map.size[0] * map.element_bytes % 16 != 0 &&
        box.first[0] + map.box[0] > static_cast<int64_t>(map.size[0]))
      bad_tensor_map(c, place,
                     "has rows whose length is not a multiple of 16 bytes: the effect of a store "
                     "past their end is not known");
    std::vector<std::byte> values(map.row_bytes());
    for_each_box_row(map, box, [&](const TensorBoxRow& row) {
      report_box_row_move(
          c, op, map, row,
          reduces ? ContiguousBulkMove::Kind::reduce : ContiguousBulkMove::Kind::store, from);
      if (row.from == row.end) return;
      for (uint32_t at = 0; at < map.row_bytes(); at += 16)
        read_16_shared_bytes(c, swizzled(from + row.number * map.pitch() + at, map.swizzle),
                             values.data() + at, reduces ? ValueUse::atomic : ValueUse::output);
      const uint32_t bytes = (row.end - row.from) * map.element_bytes;
      write_device_memory(c, row.address, bytes, piece_size_of_row(map, row.address, bytes),
                          values.data() + row.from * map.element_bytes, reduction);
    });
  }
}

}  // namespace

ExecFn pick_tensor_load(const ptx::Instruction&) { return load_tensor_box; }
ExecFn pick_tensor_load_many(const ptx::Instruction&) { return load_tensor_box; }
ExecFn pick_tensor_store(const ptx::Instruction&) { return store_tensor_box; }
ExecFn pick_tensor_reduce(const ptx::Instruction&) { return store_tensor_box; }

}  // namespace lab32::sim
