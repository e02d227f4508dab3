// Measured on an H100, copy by copy: data/measured/moves.
#include "simulator/observers/traffic/bulk.h"

#include <algorithm>

#include "simulator/observers/traffic/sectors.h"

namespace lab32::counters {
namespace {

uint32_t sectors_between(uint64_t begin, uint64_t end) {
  return begin >= end ? 0
                      : static_cast<uint32_t>((end - 1) / kSectorBytes - begin / kSectorBytes + 1);
}

// Sectors of shared memory that a piece [begin, end) of a move fills with zeros: what is in the
// tensor is moved in units of 16 bytes.
uint32_t zero_sectors(const sim::BulkMove& move, uint32_t begin, uint32_t end) {
  if (move.inside == 0) return sectors_between(move.shared + begin, move.shared + end);
  const uint32_t last = (move.before + move.inside + 15) / 16 * 16;
  return sectors_between(move.shared + begin, move.shared + std::min(end, move.before)) +
         sectors_between(move.shared + std::max(begin, last), move.shared + end);
}

}  // namespace

BulkSectors bulk_sectors(const sim::BulkMove& move) {
  BulkSectors found;
  using Kind = sim::BulkMove::Kind;
  const bool many = move.blocks != 0;
  // A multicast of what is partly outside has a rule of its own, which was not found; reductions
  // were not measured.
  found.known = move.kind != Kind::to_block && move.kind != Kind::reduce && !move.steps &&
                !(many && move.inside < move.bytes);
  for (uint32_t done = 0; done < move.bytes;) {
    uint32_t piece = std::min(static_cast<uint32_t>(kLineBytes - (move.shared + done) % kLineBytes),
                              move.bytes - done);
    if (many)
      piece =
          std::min(piece, static_cast<uint32_t>(kLineBytes - (move.global + done) % kLineBytes));
    const uint32_t begin = std::max(done, move.before),
                   end = std::min(done + piece, move.before + move.inside);
    uint32_t sectors = 0;
    if (begin < end)
      sectors = sectors_between(move.global + begin - move.before, move.global + end - move.before);
    if (move.kind == Kind::load) sectors += zero_sectors(move, done, done + piece);
    found.sectors += many ? std::max(sectors, 2u) : sectors;
    found.lines += sectors > 0;
    done += piece;
  }
  return found;
}

}  // namespace lab32::counters
