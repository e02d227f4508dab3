#include "simulator/counters/cache_sets.h"

#include <algorithm>

namespace lab32::counters {
namespace {

constexpr size_t kNowhere = SIZE_MAX;

}  // namespace

CacheSets::CacheSets(uint64_t bytes, uint32_t ways)
    : ways_(std::max(ways, 1u)),
      sets_(std::max<uint64_t>(bytes / kLineBytes / ways_, 1)),
      tags_(sets_ * ways_),
      used_(sets_ * ways_),
      lines_(sets_ * ways_) {}

size_t CacheSets::first_of_set(uint64_t line) const { return hash_line(line) % sets_ * ways_; }

size_t CacheSets::find(uint64_t line) const {
  const size_t set = first_of_set(line);
  for (uint32_t way = 0; way < ways_; ++way)
    if (tags_[set + way] == line + 1) return set + way;
  return kNowhere;
}

CachedLine* CacheSets::use(uint64_t line) {
  const size_t at = find(line);
  if (at == kNowhere) return nullptr;
  used_[at] = ++now_;
  return &lines_[at];
}

CachedLine* CacheSets::peek(uint64_t line) {
  const size_t at = find(line);
  return at == kNowhere ? nullptr : &lines_[at];
}

CachedLine& CacheSets::insert(uint64_t line, std::optional<CachedLine>& gone) {
  const uint64_t* const set = used_.data() + first_of_set(line);
  const auto at = static_cast<size_t>(std::min_element(set, set + ways_) - used_.data());
  gone = tags_[at] != 0 ? std::optional(lines_[at]) : std::nullopt;
  tags_[at] = line + 1;
  used_[at] = ++now_;
  lines_[at] = CachedLine{};
  lines_[at].line = line;
  return lines_[at];
}

}  // namespace lab32::counters
