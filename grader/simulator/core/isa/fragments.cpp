#include "simulator/core/isa/fragments.h"

#include <algorithm>
#include <cstring>

#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {
namespace {

using Role = Fragment::Role;

constexpr int kPiece = 8;  // rows of a piece

// Calls f(element's index in a[row * k + i], b[column * k + i] or c[row * n + column], register of
// all lanes, lane, position of its lowest bit).
template <class F>
void each_element(const Fragment& fragment, F f) {
  const int per = fragment.per_register();
  const uint16_t* place = fragment.places.data();
  for (int r = 0; r < fragment.registers(); ++r)
    for (int lane = 0; lane < kWarpSize; ++lane)
      for (int e = 0; e < per; ++e) f(*place++, r, lane, e * fragment.bits());
}

uint64_t mask_of(const Fragment& fragment) {
  return fragment.bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << fragment.bits()) - 1;
}

uint64_t read(const std::byte* regs, const Slot& slot, int lane) {
  const std::byte* const from = regs + slot.offset;
  return slot.bytes == 8 ? load_lane<uint64_t>(from, lane) : load_lane<uint32_t>(from, lane);
}

}  // namespace

void gather(const Fragment& fragment, const std::byte* regs, uint64_t* to) {
  const uint64_t mask = mask_of(fragment);
  each_element(fragment, [&](int index, int r, int lane, int bit) {
    to[index] = read(regs, fragment.slots[static_cast<size_t>(r)], lane) >> bit & mask;
  });
}

void scatter(const Fragment& fragment, const uint64_t* from, std::byte* regs) {
  uint64_t values[32][kWarpSize] = {};
  each_element(fragment,
               [&](int index, int r, int lane, int bit) { values[r][lane] |= from[index] << bit; });
  for (int r = 0; r < fragment.registers(); ++r) {
    const Slot& slot = fragment.slots[static_cast<size_t>(r)];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (slot.bytes == 8)
        store_lane<uint64_t>(regs + slot.offset, lane, values[r][lane]);
      else
        store_lane<uint32_t>(regs + slot.offset, lane, static_cast<uint32_t>(values[r][lane]));
    }
  }
}

void Fragment::place() {
  for (int r = 0; r < registers(); ++r)
    for (int lane = 0; lane < kWarpSize; ++lane)
      for (int e = 0; e < per_register(); ++e) {
        const Cell at = cell(r, lane, e);
        const int index =
            role == Role::right ? at.column * rows + at.row : at.row * columns + at.column;
        places.push_back(static_cast<uint16_t>(index));
      }
}

Cell Fragment::cell(int r, int lane, int e) const {
  if (in_quads) return cell_in_quads(r, lane, e);
  if (transposed) {
    Fragment other;
    other.role = role == Role::left ? Role::right : role == Role::right ? Role::left : Role::sum;
    other.rows = columns, other.columns = rows, other.type = type;
    const Cell at = other.cell(r, lane, e);
    return {at.column, at.row};
  }
  const int group = lane / 4, own = lane % 4, per = per_register();
  if (role == Role::sum) {
    const int pieces = rows / kPiece, piece = (r * per + e) / 2;
    return {piece % pieces * kPiece + group, piece / pieces * kPiece + own * 2 + (r * per + e) % 2};
  }
  const int depth = 4 * per, along = (role == Role::left ? columns : rows) / depth;
  if (role == Role::right) {
    return {r % along * depth + own * per + e, r / along * kPiece + group};
  }
  // Two pieces of rows side by side, then along k, then the next two.
  const int beside = std::min(rows / kPiece, 2), chunk = r / (beside * along),
            rest = r % (beside * along);
  return {(chunk * beside + rest % beside) * kPiece + group, rest / beside * depth + own * per + e};
}

// The matrices of quad q belong to lanes 4q … 4q + 3 and the same 16 further, which have the rows
// of A, columns of B and rows of the sum from 4 on.
Cell Fragment::cell_in_quads(int r, int lane, int e) const {
  const int i = r * per_register() + e, own = lane % 4, half = lane / 16 * 4;
  const int before = lane % 16 / 4 * 8;  // rows, or columns of B, of the matrices before it
  switch (role) {
    case Role::left:
      return by_columns ? Cell{before + half + i, own} : Cell{before + half + own, i};
    case Role::right:
      return by_columns ? Cell{own, before + half + i} : Cell{i, before + half + own};
    default:
      if (bits() == 16) return {before + half + own, i};
      return {before + half + (own & 1) + (i & 2), (i & 4) + (own & 2) + (i & 1)};
  }
}

}  // namespace lab32::sim
