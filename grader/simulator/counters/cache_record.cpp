#include "simulator/counters/cache_record.h"

#include <algorithm>
#include <array>

#include "simulator/counters/banks.h"

namespace lab32::counters {
namespace {

constexpr uint32_t kWordBytes = 4, kWordsPerLine = kLineBytes / kWordBytes;

// For atomics: how many lanes hit each word of the lines gathered so far.
using WordCounts = std::array<std::array<uint8_t, kWordsPerLine>, sim::kWarpSize>;

}  // namespace

uint64_t busy_cycles(const sim::Access& access, const LineAccess* lines, uint64_t count) {
  if (access.kind == sim::AccessKind::load) {
    return std::max<uint64_t>(shared_wavefronts(access).actual, (count + 3) / 4);
  }
  uint64_t sectors = 0;
  for (uint64_t i = 0; i < count; ++i)
    sectors += static_cast<uint64_t>(__builtin_popcountll(lines[i].sectors));
  return sectors + count - 1;
}

void append_lines(const sim::Access& access, bool skips_l1, bool on_float,
                  std::vector<LineAccess>& to) {
  const size_t first = to.size();
  const bool atomic = access.kind == sim::AccessKind::red || access.kind == sim::AccessKind::atom;
  WordCounts words;
  for (uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const uint64_t address = access.address[__builtin_ctz(lanes)];
    const uint64_t line = address / kLineBytes;
    size_t at = to.size();
    while (at > first && to[at - 1].line != line) --at;
    if (at == first) {
      to.push_back({line, 0, static_cast<uint64_t>(access.kind), skips_l1, on_float, 0, 0, {}});
      at = to.size();
      if (atomic) words[at - 1 - first] = {};
    }
    LineAccess& entry = to[at - 1];
    const uint32_t sector = address % kLineBytes / kSectorBytes;
    entry.sectors |= uint64_t{1} << sector;
    uint8_t& amount = entry.amount[sector];
    if (atomic) {
      uint8_t& hits = words[at - 1 - first][address % kLineBytes / kWordBytes];
      amount = std::max(amount, ++hits);
    } else {
      amount = static_cast<uint8_t>(std::min<uint32_t>(amount + access.bytes, kSectorBytes));
    }
  }
  if (to.size() > first) to.back().last = 1;
  if (to.size() == first + 1) to.back().alone = 1;
}

}  // namespace lab32::counters
