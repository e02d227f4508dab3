#include "simulator/counters/cache_sets.h"

#include <algorithm>
#include <cstring>

namespace lab32::counters {
namespace {

constexpr uint32_t kMostWays = 128;

uint16_t held_by(const CachedLine& line) {
  return static_cast<uint16_t>(__builtin_popcount(line.valid));
}

// Other bits of the hash than those that choose the set.
uint8_t mark_of(uint64_t line) { return static_cast<uint8_t>(hash_line(line) >> 40 | 1); }

}  // namespace

CacheSets::CacheSets(uint64_t bytes, uint32_t ways, uint32_t tags)
    : ways_(std::clamp(ways * tags, 1u, kMostWays)),
      sectors_(std::max(ways, 1u) * kSectorsPerLine),
      shared_(tags > 1),
      sets_(std::max<uint64_t>(bytes / kLineBytes / std::max(ways, 1u), 1)),
      order_(sets_ * ways_ * 2),
      lines_(sets_ * ways_),
      held_(sets_) {
  for (uint64_t set = 0; set < sets_; ++set)
    for (uint32_t i = 0; i < ways_; ++i)
      order_[(2 * set + 1) * ways_ + i] = static_cast<uint8_t>(i);
}

uint64_t CacheSets::number_of_set(uint64_t line) const { return hash_line(line) % sets_; }

CacheSets::Set CacheSets::set_of(uint64_t line) {
  const uint64_t set = number_of_set(line);
  uint8_t* const marks = order_.data() + 2 * set * ways_;
  return {marks, marks + ways_, lines_.data() + set * ways_, held_.data() + set};
}

uint32_t CacheSets::find(const Set& set, uint64_t line) const {
  const uint8_t mark = mark_of(line);
  for (uint32_t from = 0; from < ways_;) {
    const void* const found = std::memchr(set.marks + from, mark, ways_ - from);
    if (found == nullptr) break;
    const auto place = static_cast<uint32_t>(static_cast<const uint8_t*>(found) - set.marks);
    if (set.lines[set.slots[place]].key == line + 1) return place;
    from = place + 1;
  }
  return ways_;
}

void CacheSets::prefetch_set(uint64_t line) const {
  constexpr uint64_t kHostLine = 64;
  const uint8_t* const order = order_.data() + 2 * number_of_set(line) * ways_;
  for (uint64_t byte = 0; byte < uint64_t{2} * ways_; byte += kHostLine) fetch_ahead(order + byte);
}

bool CacheSets::prefetch_line(uint64_t line) const {
  const uint64_t set = number_of_set(line);
  const uint8_t* const marks = order_.data() + 2 * set * ways_;
  const void* const found = std::memchr(marks, mark_of(line), ways_);
  if (found == nullptr) return false;
  const auto place = static_cast<const uint8_t*>(found) - marks;
  fetch_ahead(lines_.data() + set * ways_ + marks[ways_ + place]);
  return true;
}

CachedLine& CacheSets::move_to_front(const Set& set, uint32_t place) {
  for (uint8_t* row : {set.marks, set.slots}) {
    const uint8_t moved = row[place];
    std::memmove(row + 1, row, place);
    row[0] = moved;
  }
  return set.lines[set.slots[0]];
}

CachedLine* CacheSets::use(uint64_t line) {
  const Set set = set_of(line);
  const uint32_t place = find(set, line);
  if (place == ways_) return nullptr;
  return place == 0 ? &set.lines[set.slots[0]] : &move_to_front(set, place);
}

CachedLine* CacheSets::peek(uint64_t line) {
  const Set set = set_of(line);
  const uint32_t place = find(set, line);
  return place == ways_ ? nullptr : &set.lines[set.slots[place]];
}

CachedLine& CacheSets::insert(uint64_t line, std::optional<CachedLine>& gone) {
  const Set set = set_of(line);
  const void* const free = std::memchr(set.marks, 0, ways_);
  CachedLine& at = move_to_front(
      set, free == nullptr ? ways_ - 1
                           : static_cast<uint32_t>(static_cast<const uint8_t*>(free) - set.marks));
  gone = free == nullptr ? std::optional(at) : std::nullopt;
  if (gone && shared_) *set.held = static_cast<uint16_t>(*set.held - held_by(at));
  set.marks[0] = mark_of(line);
  at = CachedLine{};
  at.key = line + 1;
  return at;
}

void CacheSets::make_room(uint64_t line, uint32_t sectors) {
  const Set set = set_of(line);
  *set.held = static_cast<uint16_t>(*set.held + sectors);
  if (*set.held <= sectors_) return;
  for (uint32_t place = ways_; *set.held > sectors_ && place-- > 0;) {
    if (set.marks[place] == 0) continue;
    CachedLine& at = set.lines[set.slots[place]];
    if (at.key == line + 1) return;
    *set.held = static_cast<uint16_t>(*set.held - held_by(at));
    at = CachedLine{};
    set.marks[place] = 0;
  }
}

}  // namespace lab32::counters
