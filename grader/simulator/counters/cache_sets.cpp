#include "simulator/counters/cache_sets.h"

#include <algorithm>

namespace lab32::counters {

CacheSets::CacheSets(uint64_t bytes, uint32_t ways)
    : ways_(std::max(ways, 1u)),
      sets_(std::max<uint64_t>(bytes / kLineBytes / ways_, 1)),
      lines_(sets_ * ways_) {}

CachedLine* CacheSets::find(uint64_t line) {
  CachedLine* const set = lines_.data() + hash_line(line) % sets_ * ways_;
  for (uint32_t way = 0; way < ways_; ++way)
    if (set[way].line == line && set[way].used != 0) return set + way;
  return nullptr;
}

CachedLine* CacheSets::use(uint64_t line) {
  CachedLine* const found = find(line);
  if (found != nullptr) found->used = ++now_;
  return found;
}

CachedLine* CacheSets::peek(uint64_t line) { return find(line); }

CachedLine& CacheSets::insert(uint64_t line, std::optional<CachedLine>& gone) {
  CachedLine* const set = lines_.data() + hash_line(line) % sets_ * ways_;
  CachedLine* const oldest = std::min_element(
      set, set + ways_, [](const CachedLine& a, const CachedLine& b) { return a.used < b.used; });
  gone = oldest->used != 0 ? std::optional(*oldest) : std::nullopt;
  *oldest = CachedLine{};
  oldest->line = line;
  oldest->used = ++now_;
  return *oldest;
}

}  // namespace lab32::counters
