// Measured on an H100, copy by copy: data/measured/moves.
#include "simulator/counters/bulk.h"

#include <algorithm>

#include "simulator/counters/sectors.h"

namespace lab32::counters {
namespace {

uint32_t sectors_between(uint64_t begin, uint64_t end) {
  return static_cast<uint32_t>((end - 1) / kSectorBytes - begin / kSectorBytes + 1);
}

}  // namespace

BulkSectors bulk_sectors(const sim::BulkMove& move) {
  BulkSectors found;
  using Kind = sim::BulkMove::Kind;
  const bool many = move.blocks != 0;
  found.known = (move.kind == Kind::load || move.kind == Kind::store) && !move.irregular &&
                !(many && move.inside < move.bytes) &&
                !(move.kind == Kind::load && move.inside > 0 && move.inside < move.bytes);
  for (uint32_t done = 0; done < move.bytes;) {
    const auto left = static_cast<uint32_t>(kLineBytes - (move.shared + done) % kLineBytes);
    uint32_t piece = std::min(left, move.bytes - done);
    if (many)
      piece =
          std::min(piece, static_cast<uint32_t>(kLineBytes - (move.global + done) % kLineBytes));
    const uint32_t inside = move.inside > done ? std::min(move.inside - done, piece) : 0;
    uint32_t sectors = 0;
    if (inside > 0) sectors = sectors_between(move.global + done, move.global + done + inside);
    if (move.kind == Kind::load && inside < piece)
      sectors += sectors_between(move.shared + done + inside, move.shared + done + piece);
    found.sectors += many ? std::max(sectors, 2u) : sectors;
    found.lines += sectors > 0;
    done += piece;
  }
  return found;
}

}  // namespace lab32::counters
