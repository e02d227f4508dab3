#include "simulator/counters/cache_sets.h"

#include <algorithm>

namespace lab32::counters {
namespace {

constexpr uint32_t kSlotAt = 57;  // an address / 128, and one more, has as many bits
constexpr uint64_t kTag = (uint64_t{1} << kSlotAt) - 1;
constexpr uint32_t kMostWays = 128;

}  // namespace

CacheSets::CacheSets(uint64_t bytes, uint32_t ways, uint32_t tags)
    : ways_(std::clamp(ways * tags, 1u, kMostWays)),
      sectors_(std::max(ways, 1u) * kSectorsPerLine),
      sets_(std::max<uint64_t>(bytes / kLineBytes / std::max(ways, 1u), 1)),
      tags_(sets_ * ways_),
      lines_(sets_ * ways_) {
  for (size_t i = 0; i < tags_.size(); ++i) tags_[i] = i % ways_ << kSlotAt;
}

uint64_t* CacheSets::set_of(uint64_t line) {
  return tags_.data() + hash_line(line) % sets_ * ways_;
}

CachedLine& CacheSets::used_now(uint64_t* set, uint64_t* way) {
  const uint64_t tag = *way;
  std::copy_backward(set, way, way + 1);
  *set = tag;
  return lines_[static_cast<size_t>(set - tags_.data()) + (tag >> kSlotAt)];
}

CachedLine* CacheSets::use(uint64_t line) {
  uint64_t* const set = set_of(line);
  for (uint64_t* way = set; way < set + ways_; ++way)
    if ((*way & kTag) == line + 1) return &used_now(set, way);
  return nullptr;
}

CachedLine* CacheSets::peek(uint64_t line) {
  uint64_t* const set = set_of(line);
  for (const uint64_t* way = set; way < set + ways_; ++way)
    if ((*way & kTag) == line + 1)
      return &lines_[static_cast<size_t>(set - tags_.data()) + (*way >> kSlotAt)];
  return nullptr;
}

CachedLine& CacheSets::insert(uint64_t line, std::optional<CachedLine>& gone) {
  uint64_t* const set = set_of(line);
  uint64_t* const last = set + ways_ - 1;
  const bool taken = (*last & kTag) != 0;
  *last = (*last & ~kTag) | (line + 1);
  CachedLine& at = used_now(set, last);
  gone = taken ? std::optional(at) : std::nullopt;
  at = CachedLine{};
  at.line = line;
  return at;
}

void CacheSets::make_room(uint64_t line, uint32_t sectors) {
  uint64_t* const set = set_of(line);
  const auto held = [&](uint64_t tag) {
    const CachedLine& at = lines_[static_cast<size_t>(set - tags_.data()) + (tag >> kSlotAt)];
    return (tag & kTag) == 0 ? 0 : static_cast<uint32_t>(__builtin_popcount(at.valid));
  };
  for (const uint64_t* way = set; way < set + ways_; ++way) sectors += held(*way);
  // Free places are the last ones, and stay so.
  for (uint64_t* way = set + ways_; sectors > sectors_ && way > set;) {
    --way;
    if ((*way & kTag) == line + 1) return;
    sectors -= held(*way);
    *way &= ~kTag;
  }
}

}  // namespace lab32::counters
