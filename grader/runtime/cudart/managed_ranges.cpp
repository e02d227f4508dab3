#include "runtime/cudart/managed_ranges.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

namespace lab32::cudart {
namespace {

constexpr uint64_t kPage = 4096;
constexpr unsigned kHost = 63;

unsigned bit_of(const cudaMemLocation& location) {
  return location.type == cudaMemLocationTypeDevice ? static_cast<unsigned>(location.id) : kHost;
}

bool same(const cudaMemLocation& a, const cudaMemLocation& b) {
  return a.type == b.type && (a.type == cudaMemLocationTypeHost || a.id == b.id);
}

// The names that a place had before it had a type.
int number_of(const std::optional<cudaMemLocation>& place) {
  if (!place) return cudaInvalidDeviceId;
  if (place->type == cudaMemLocationTypeDevice) return place->id;
  return place->type == cudaMemLocationTypeHost ? cudaCpuDeviceId : cudaInvalidDeviceId;
}

}  // namespace

ManagedRanges::Range ManagedRanges::pages(uint64_t allocation, uint64_t allocation_end,
                                          uint64_t begin, uint64_t end) {
  const uint64_t first = (begin - allocation) / kPage * kPage;
  const uint64_t last = (end - allocation + kPage - 1) / kPage * kPage;
  return {allocation + first, std::min(allocation + last, allocation_end)};
}

template <class F>
void ManagedRanges::change(Range range, F f) {
  const auto split = [&](uint64_t at) {
    auto part = parts_.upper_bound(at);
    if (part == parts_.begin()) return;
    --part;
    if (part->first == at || part->second.end <= at) return;
    parts_[at] = part->second;
    part->second.end = at;
  };
  split(range.begin);
  split(range.end);
  for (uint64_t at = range.begin; at < range.end;) {
    const auto next = parts_.lower_bound(at);
    if (next == parts_.end() || next->first != at) {
      const uint64_t end = next == parts_.end() ? range.end : std::min(range.end, next->first);
      parts_[at] = {end, {}};
    }
    Part& part = parts_[at];
    f(part.facts);
    at = part.end;
  }
}

template <class F>
void ManagedRanges::each(Range range, F f) const {
  auto part = parts_.upper_bound(range.begin);
  if (part != parts_.begin() && std::prev(part)->second.end > range.begin) --part;
  uint64_t at = range.begin;
  for (; part != parts_.end() && part->first < range.end; ++part) {
    if (part->first > at) f(RangeFacts{});
    f(part->second.facts);
    at = part->second.end;
  }
  if (at < range.end) f(RangeFacts{});
}

template <class F>
std::optional<cudaMemLocation> ManagedRanges::common(Range range, F place_of) const {
  std::optional<cudaMemLocation> found;
  bool first = true, all = true;
  each(range, [&](const RangeFacts& facts) {
    const std::optional<cudaMemLocation>& own = place_of(facts);
    all &= own && (first || same(*own, *found));
    if (first) found = own;
    first = false;
  });
  return all ? found : std::nullopt;
}

bool ManagedRanges::advise(Range range, cudaMemoryAdvise advice, const cudaMemLocation& location) {
  const uint64_t bit = uint64_t{1} << bit_of(location);
  const bool named = location.type == cudaMemLocationTypeDevice ||
                     location.type == cudaMemLocationTypeHost ||
                     location.type == cudaMemLocationTypeHostNuma;
  switch (advice) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
      change(range, [&](RangeFacts& f) { f.read_mostly = advice == cudaMemAdviseSetReadMostly; });
      return true;
    case cudaMemAdviseSetPreferredLocation:
      if (!named) return false;
      change(range, [&](RangeFacts& f) { f.preferred = location; });
      return true;
    case cudaMemAdviseUnsetPreferredLocation:
      change(range, [](RangeFacts& f) { f.preferred.reset(); });
      return true;
    case cudaMemAdviseSetAccessedBy:
      if (!named) return false;
      change(range, [&](RangeFacts& f) { f.accessed_by |= bit; });
      return true;
    case cudaMemAdviseUnsetAccessedBy:
      if (!named) return false;
      change(range, [&](RangeFacts& f) { f.accessed_by &= ~bit; });
      return true;
  }
  return false;
}

void ManagedRanges::prefetch(Range range, const cudaMemLocation& location) {
  change(range, [&](RangeFacts& f) { f.prefetched = location; });
}

bool ManagedRanges::read(Range range, cudaMemRangeAttribute attribute, void* data,
                         size_t size) const {
  const auto give = [&](int value) {
    if (size != sizeof value) return false;
    std::memcpy(data, &value, sizeof value);
    return true;
  };
  const auto preferred = [&] {
    return common(
        range, [](const RangeFacts& f) -> auto& { return f.preferred; });
  };
  const auto prefetched = [&] {
    return common(
        range, [](const RangeFacts& f) -> auto& { return f.prefetched; });
  };
  const auto type = [](const std::optional<cudaMemLocation>& place) {
    return place ? static_cast<int>(place->type) : cudaMemLocationTypeInvalid;
  };
  const auto id = [](const std::optional<cudaMemLocation>& place) { return place ? place->id : 0; };
  switch (attribute) {
    case cudaMemRangeAttributeReadMostly: {
      bool all = true;
      each(range, [&](const RangeFacts& f) { all &= f.read_mostly; });
      return give(all);
    }
    case cudaMemRangeAttributePreferredLocation:
      return give(number_of(preferred()));
    case cudaMemRangeAttributeLastPrefetchLocation:
      return give(number_of(prefetched()));
    case cudaMemRangeAttributePreferredLocationType:
      return give(type(preferred()));
    case cudaMemRangeAttributePreferredLocationId:
      return give(id(preferred()));
    case cudaMemRangeAttributeLastPrefetchLocationType:
      return give(type(prefetched()));
    case cudaMemRangeAttributeLastPrefetchLocationId:
      return give(id(prefetched()));
    case cudaMemRangeAttributeAccessedBy: {
      if (size == 0 || size % sizeof(int) != 0) return false;
      uint64_t all = ~uint64_t{0};
      each(range, [&](const RangeFacts& f) { all &= f.accessed_by; });
      std::vector<int> numbers(size / sizeof(int), cudaInvalidDeviceId);
      size_t next = 0;
      for (unsigned bit = 0; bit <= kHost; ++bit)
        if ((all >> bit & 1) != 0 && next < numbers.size())
          numbers[next++] = bit == kHost ? cudaCpuDeviceId : static_cast<int>(bit);
      std::memcpy(data, numbers.data(), size);
      return true;
    }
  }
  return false;
}

}  // namespace lab32::cudart
