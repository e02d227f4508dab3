#include "simulator/core/isa/fragment_sparsity.h"

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

constexpr int kRowsOfA = 16, kLanesOfGroup = 4;
constexpr int kChunksOfLane = 8;

// Elements of a chunk that are there.
int kept_of_chunk(const FragmentOp& op) {
  if (op.form.a == ptx::Type::tf32) return 1;
  return op.a.bits() == 4 ? 4 : 2;
}
int chunks_of_row(const FragmentOp& op) { return op.form.kept() / kept_of_chunk(op); }

// Of elements of 16 bits and more a lane has four chunks of both of its rows.
bool has_both_rows(const FragmentOp& op) { return op.a.bits() >= 16; }

int lanes_needed(const FragmentOp& op) {
  const int of_row = kChunksOfLane / (has_both_rows(op) ? 2 : 1);
  return chunks_of_row(op) / of_row * (has_both_rows(op) ? 1 : 2);
}

uint32_t metadata_of(const FragmentOp& op, const std::byte* regs, int row, int chunk) {
  const int below = row / (kRowsOfA / 2), first = op.selector * lanes_needed(op);
  const bool both = has_both_rows(op);
  const int own = both ? chunk / 4 : chunk / kChunksOfLane * 2 + below;
  const int place = both ? below * 4 + chunk % 4 : chunk % kChunksOfLane;
  const int lane = row % (kRowsOfA / 2) * kLanesOfGroup + first + own;
  return load_lane<uint32_t>(regs + op.metadata.offset, lane) >> (4 * place) & 0xf;
}

}  // namespace

int selectors_of(const FragmentOp& op) { return kLanesOfGroup / lanes_needed(op); }

void read_sparsity(const FragmentOp& op, const std::byte* regs, uint16_t* meets) {
  const int kept = kept_of_chunk(op);
  for (int row = 0; row < kRowsOfA; ++row)
    for (int chunk = 0; chunk < chunks_of_row(op); ++chunk) {
      const uint32_t indices = metadata_of(op, regs, row, chunk);
      for (int i = 0; i < kept; ++i) {
        const auto first = static_cast<int>(indices & 3), second = static_cast<int>(indices >> 2);
        const int place = kept == 1   ? first / 2
                          : kept == 2 ? (i == 0 ? first : second)
                                      : (i < 2 ? first : second) * 2 + i % 2;
        *meets++ = static_cast<uint16_t>(chunk * kept * 2 + place);
      }
    }
}

uint32_t rows_of_undefined_metadata(const FragmentOp& op, const std::byte* undefined) {
  uint32_t rows = 0;
  for (int row = 0; row < kRowsOfA; ++row)
    for (int chunk = 0; chunk < chunks_of_row(op); ++chunk)
      if (metadata_of(op, undefined, row, chunk) != 0) rows |= 1u << row;
  return rows;
}

}  // namespace lab32::sim
