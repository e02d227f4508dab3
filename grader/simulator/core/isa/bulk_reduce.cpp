// cp.reduce.async.bulk: as a bulk copy out of shared memory, but what lies there is updated, each
// element by itself; and st.async, red.async: registers that arrive as bulk copies do.
#include <cstring>
#include <utility>

#include "simulator/core/isa/bulk_copy.h"

namespace lab32::sim {
namespace {

void reduce_bulk(const Exec& x, const Inst& in) {
  each_copier(x, in, [](const Copier& c, const BulkOp& op) {
    const uint32_t bytes = bulk_bytes_of(c, op);
    const uint64_t from = c.address(op.from), to = c.address(op.to);
    report_whole(c, op, BulkMove::Kind::reduce, to, from, bytes);
    std::vector<std::byte> values(bytes);
    constexpr unsigned kPiece = 16;
    for (uint32_t at = 0; at < bytes; at += kPiece)
      read_shared(c, from + at, values.data() + at, ValueUse::atomic);
    write_device(c, to, bytes, kPiece, values.data(), op.reduction);
  });
}

void reduce_to_block(const Exec& x, const Inst& in) {
  each_copier(x, in, [](const Copier& c, const BulkOp& op) {
    BulkCopy copy;
    copy.data.resize(bulk_bytes_of(c, op));
    copy.reduction = op.reduction;
    const uint64_t from = c.address(op.from);
    const auto span = static_cast<uint32_t>(copy.data.size());
    report_whole(c, op, BulkMove::Kind::to_block, 0, from, span);
    read_for_block(c, from, copy);
    if (!copy.undefined.empty()) {
      BlockContext& block = c.block();
      block.origins().each(copy.origin, [&](const Origin& origin) {
        block.value_matters(origin, ValueUse::atomic, 1u << c.lane);
      });
      copy.undefined.clear();
    }
    send(c, op, std::move(copy), span);
  });
}

void send_registers(const Exec& x, const Inst& in) {
  each_copier(x, in, [](const Copier& c, const BulkOp& op) {
    const unsigned each = op.value[0].bytes;
    BulkCopy copy;
    copy.data.resize(size_t{each} * op.values);
    copy.reduction = op.reduction;
    copy.piece = static_cast<uint8_t>(copy.data.size());
    copy.by_thread = true;
    for (unsigned v = 0; v < op.values; ++v)
      std::memcpy(copy.data.data() + v * each,
                  c.x.regs + op.value[v].offset + static_cast<unsigned>(c.lane) * each, each);
    report_whole(c, op, BulkMove::Kind::to_block, 0, c.address(op.to), copy.piece);
    const uint32_t span = copy.piece;
    send(c, op, std::move(copy), span);
  });
}

}  // namespace

ExecFn pick_bulk_reduce(const ptx::Instruction&) { return reduce_bulk; }
ExecFn pick_bulk_reduce_to_block(const ptx::Instruction&) { return reduce_to_block; }
ExecFn pick_st_async(const ptx::Instruction&) { return send_registers; }
ExecFn pick_red_async(const ptx::Instruction&) { return send_registers; }

}  // namespace lab32::sim
