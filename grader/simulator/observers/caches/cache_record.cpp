#include "simulator/observers/caches/cache_record.h"

#include <algorithm>
#include <array>

#include "simulator/observers/lanes.h"
#include "simulator/observers/traffic/banks.h"

namespace lab32::counters {
namespace {

constexpr uint32_t kWordBytes = 4, kWordsPerLine = kLineBytes / kWordBytes;

// For atomics only: the number of lanes on each word of each line gathered so far, at most 32
// lines.
using WordCounts = std::array<std::array<uint8_t, kWordsPerLine>, kWarpSize>;

bool is_atomic(const sim::IssuedWarpAccess& access) {
  return access.kind == sim::AccessKind::red || access.kind == sim::AccessKind::atom;
}

CacheLineAccess line_access_without_sectors(const sim::IssuedWarpAccess& access, uint64_t line,
                                            bool skips_l1, bool on_float) {
  return {line, 0, static_cast<uint64_t>(access.kind), skips_l1, on_float, 0, 0, 0, 0, {}};
}

// True if neighbouring lanes access neighbouring elements, as in nearly every coalesced access.
bool is_contiguous(const sim::IssuedWarpAccess& access) {
  int64_t stride;
  return access.mask == kAllLanes && access.address[0] % access.bytes == 0 &&
         is_affine(access.address, &stride) && stride == access.bytes;
}

void append_lines_of_contiguous_access(const sim::IssuedWarpAccess& access, bool skips_l1,
                                       bool on_float, std::vector<CacheLineAccess>& to) {
  uint64_t at = access.address[0];
  for (const uint64_t end = at + kWarpSize * access.bytes; at < end;) {
    CacheLineAccess entry =
        line_access_without_sectors(access, at / kLineBytes, skips_l1, on_float);
    for (const uint64_t line_end = std::min((at / kLineBytes + 1) * kLineBytes, end);
         at < line_end;) {
      const uint64_t sector_end = std::min((at / kSectorBytes + 1) * kSectorBytes, line_end);
      const uint64_t sector = at % kLineBytes / kSectorBytes;
      entry.sectors |= uint64_t{1} << sector;
      entry.amount[sector] = static_cast<uint8_t>(sector_end - at);
      at = sector_end;
    }
    to.push_back(entry);
  }
}

void append_lines_of_scattered_access(const sim::IssuedWarpAccess& access, bool skips_l1,
                                      bool on_float, std::vector<CacheLineAccess>& to) {
  const size_t first = to.size();
  const bool atomic = is_atomic(access);
  WordCounts words;
  uint64_t highest = 0;  // highest line gathered so far; a higher line is new
  for (uint32_t lanes = access.mask; lanes != 0; lanes &= lanes - 1) {
    const uint64_t address = access.address[__builtin_ctz(lanes)];
    const uint64_t line = address / kLineBytes;
    size_t at = line > highest ? first : to.size();
    while (at > first && to[at - 1].line != line) --at;
    if (at == first) {
      to.push_back(line_access_without_sectors(access, line, skips_l1, on_float));
      at = to.size();
      highest = std::max(highest, line);
      if (atomic) words[at - 1 - first] = {};
    }
    CacheLineAccess& entry = to[at - 1];
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
}

}  // namespace

namespace {

// The part of the tags, one of four, in which a line is looked up: two parities of its bits. The
// first ten bits explain the cycles of 38 load patterns to half a percent; the next nine are less
// certain (data/measured/model/h200-probe.csv, `scattered`).
uint32_t tag_bank_of_line(uint64_t line) {
  constexpr uint64_t kFirst = 0x6a9da, kSecond = 0x756b5;
  return static_cast<uint32_t>(__builtin_parityll(line & kFirst) << 1 |
                               __builtin_parityll(line & kSecond));
}

}  // namespace

uint64_t l1_busy_cycles(const sim::IssuedWarpAccess& access, const CacheLineAccess* lines,
                        uint64_t count) {
  if (access.kind == sim::AccessKind::load) {
    std::array<uint64_t, 4> looked_up{};
    for (uint64_t i = 0; i < count; ++i) ++looked_up[tag_bank_of_line(lines[i].line)];
    return std::max<uint64_t>(shared_wavefronts(access).actual,
                              *std::max_element(looked_up.begin(), looked_up.end()));
  }
  uint64_t sectors = 0;
  for (uint64_t i = 0; i < count; ++i)
    sectors += static_cast<uint64_t>(__builtin_popcountll(lines[i].sectors));
  return sectors + count - 1;
}

void append_lines_of_sectors(const uint64_t* first, const uint64_t* end, bool stores,
                             std::vector<CacheLineAccess>& to) {
  const size_t before = to.size();
  for (const uint64_t* at = first; at != end; ++at) {
    const uint64_t line = *at / kLineBytes, sector = *at % kLineBytes / kSectorBytes;
    if (to.size() == before || to.back().line != line) {
      to.push_back({});
      to.back().line = line;
      to.back().kind =
          static_cast<uint64_t>(stores ? sim::AccessKind::store : sim::AccessKind::load);
    }
    to.back().sectors |= uint64_t{1} << sector;
    to.back().amount[sector] = kSectorBytes;
  }
  if (to.size() > before) to.back().last = 1;
}

void append_copy_engine_lines(uint64_t begin, uint32_t bytes, bool stores,
                              std::vector<CacheLineAccess>& to) {
  const size_t before = to.size();
  for (uint64_t at = begin; at < begin + bytes;) {
    const uint64_t end = std::min((at / kSectorBytes + 1) * kSectorBytes, begin + bytes);
    const uint64_t sector = at / kSectorBytes * kSectorBytes;
    if (to.size() == before || to.back().line != at / kLineBytes)
      append_lines_of_sectors(&sector, &sector + 1, stores, to);
    CacheLineAccess& entry = to.back();
    entry.engine = entry.last = 1;
    entry.sectors |= uint64_t{1} << at % kLineBytes / kSectorBytes;
    entry.amount[at % kLineBytes / kSectorBytes] = static_cast<uint8_t>(end - at);
    at = end;
  }
}

void append_lines(const sim::IssuedWarpAccess& access, bool skips_l1, bool on_float,
                  std::vector<CacheLineAccess>& to, uint8_t group) {
  const size_t first = to.size();
  if (!is_atomic(access) && is_contiguous(access))
    append_lines_of_contiguous_access(access, skips_l1, on_float, to);
  else
    append_lines_of_scattered_access(access, skips_l1, on_float, to);
  for (size_t i = first; i < to.size(); ++i) to[i].group = group;
  if (to.size() > first) to.back().last = 1;
  if (to.size() == first + 1) to.back().alone = 1;
}

}  // namespace lab32::counters
