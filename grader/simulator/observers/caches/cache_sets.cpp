#include "simulator/observers/caches/cache_sets.h"

#include <algorithm>
#include <cstring>

#include "base/memory.h"

namespace lab32::counters {
namespace {

constexpr uint32_t kMostPlaces = 128;
// Rows of bytes are read and written eight at a time.
constexpr uint32_t kWord = 8;
constexpr uint64_t kEachByte = 0x0101'0101'0101'0101;

uint64_t read_word(const uint8_t* from) {
  uint64_t word = 0;
  std::memcpy(&word, from, kWord);
  return word;
}

// The first place of `used` with that mark, and of these the first that `is_it`.
template <class IsIt>
std::optional<uint32_t> place_of_mark(const uint8_t* row, uint32_t used, uint8_t mark, IsIt is_it) {
  for (uint32_t at = 0; at < used; at += kWord) {
    // The top bit of each byte that is equal; of others, too, but only behind one that is.
    const uint64_t differs = read_word(row + at) ^ kEachByte * mark;
    uint64_t equal = (differs - kEachByte) & ~differs & kEachByte << 7;
    for (; equal != 0; equal &= equal - 1) {
      const uint32_t place = at + static_cast<uint32_t>(__builtin_ctzll(equal)) / 8;
      if (place >= used) break;
      if (is_it(place)) return place;
    }
  }
  return std::nullopt;
}

// The byte at `place` goes to the front, those before it make room.
void to_front(uint8_t* row, uint32_t place, uint8_t byte) {
  uint64_t carried = byte;
  uint32_t at = 0;
  for (; at + kWord <= place; at += kWord) {
    const uint64_t word = read_word(row + at);
    const uint64_t moved = word << 8 | carried;
    std::memcpy(row + at, &moved, kWord);
    carried = word >> 56;
  }
  const uint64_t word = read_word(row + at);
  const uint64_t behind = ~uint64_t{0xff} << 8 * (place - at);  // the bytes that stay
  const uint64_t moved = (word & behind) | ((word << 8 | carried) & ~behind);
  std::memcpy(row + at, &moved, kWord);
}

}  // namespace

CacheSets::CacheSets(uint64_t bytes, uint32_t ways, uint32_t tags, uint32_t caches)
    : sets_(std::max<uint64_t>(bytes / kLineBytes / std::max(ways, 1u), 1)),
      inverse_(~uint64_t{0} / sets_),
      near_(std::clamp(ways, 1u, kMostPlaces)),
      places_(std::clamp(ways * tags, 1u, kMostPlaces)),
      sectors_(std::max(ways, 1u) * kSectorsPerLine),
      row_(align_up(places_, kWord)),
      heads_(sets_ * caches),
      rows_(heads_.size() * 2 * row_),
      lines_(heads_.size() * near_),
      far_lines_(heads_.size() * (places_ - near_)) {}

std::optional<uint32_t> CacheSets::find(const Key& key) {
  return place_of_mark(marks(key.set), heads_[key.set].used, key.mark,
                       [&](uint32_t place) { return line_at(key.set, place).line == key.line; });
}

void CacheSets::prefetch_set(const Key& key) const {
  fetch_ahead(&heads_[key.set]);
  fetch_ahead(marks(key.set));
  fetch_ahead(slots(key.set));
}

bool CacheSets::prefetch_line(const Key& key) {
  const std::optional<uint32_t> place =
      place_of_mark(marks(key.set), heads_[key.set].used, key.mark, [](uint32_t) { return true; });
  if (place)
    fetch_ahead(&line_at(key.set, *place));
  else
    fetch_ahead(&line_in(key.set, next_slot(key.set)));
  return place.has_value();
}

uint32_t CacheSets::next_slot(uint64_t number) const {
  const Set& set = heads_[number];
  const uint32_t place = std::min<uint32_t>(set.used, places_ - 1);
  return place < set.opened ? slots(number)[place] : place;
}

CachedLine* CacheSets::use(const Key& key) {
  const std::optional<uint32_t> place = find(key);
  if (!place) return nullptr;
  if (*place > 0) {
    to_front(slots(key.set), *place, slots(key.set)[*place]);
    to_front(marks(key.set), *place, key.mark);
  }
  return &line_at(key.set, 0);
}

CachedLine* CacheSets::peek(const Key& key) {
  const std::optional<uint32_t> place = find(key);
  return place ? &line_at(key.set, *place) : nullptr;
}

CachedLine& CacheSets::insert(const Key& key, std::optional<CachedLine>& gone) {
  Set& set = heads_[key.set];
  const bool full = set.used == places_;
  const auto slot = static_cast<uint8_t>(next_slot(key.set));
  if (!full) set.opened = std::max(set.opened, ++set.used);
  to_front(slots(key.set), set.used - 1u, slot);
  to_front(marks(key.set), set.used - 1u, key.mark);
  CachedLine& at = line_in(key.set, slot);
  gone = full ? std::optional(at) : std::nullopt;
  if (full && places_ > near_)
    set.held = static_cast<uint16_t>(set.held - __builtin_popcount(at.valid));
  at = CachedLine{};
  at.line = key.line;
  return at;
}

void CacheSets::make_room(const Key& key, uint32_t sectors) {
  Set& set = heads_[key.set];
  set.held = static_cast<uint16_t>(set.held + sectors);
  while (set.held > sectors_ && set.used > 0) {
    const CachedLine& oldest = line_at(key.set, set.used - 1u);
    if (oldest.line == key.line) return;
    set.held = static_cast<uint16_t>(set.held - __builtin_popcount(oldest.valid));
    --set.used;
  }
}

}  // namespace lab32::counters
