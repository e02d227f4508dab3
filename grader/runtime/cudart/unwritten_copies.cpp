#include "runtime/cudart/unwritten_copies.h"

#include <algorithm>

#include "runtime/cudart/arrays.h"

namespace lab32::cudart {
namespace {

constexpr uint64_t kLargestMember = 16;
// Larger ones are rather the rows of a matrix, whose last element nothing has written.
constexpr uint64_t kLargestStructure = 64;

// Whether the structure that the gaps are in has a written member of this alignment and size.
bool has_member(const Gaps& gaps, size_t count, uint64_t structure, uint64_t size) {
  uint64_t begin = 0;
  for (size_t i = 0; i <= count; ++i) {
    const uint64_t end = i < count ? gaps[i].first : structure;
    if ((begin + size - 1) / size * size + size <= end) return true;
    if (i < count) begin = gaps[i].second;
  }
  return false;
}

// Whether the first gaps are the padding of one structure.
bool pads(const Gaps& gaps, size_t count, uint64_t structure) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t alignment = 2;
    while (alignment <= gaps[i].second - gaps[i].first) alignment *= 2;
    if (alignment > kLargestMember || gaps[i].second % alignment != 0 ||
        structure % alignment != 0 || !has_member(gaps, count, structure, alignment))
      return false;
  }
  return true;
}

// Whether the gaps repeat from structure to structure.
bool repeats(const Gaps& gaps, size_t count, uint64_t structure, uint64_t structures) {
  if (gaps.size() != count * structures) return false;
  for (size_t i = count; i < gaps.size(); ++i)
    if (gaps[i].first != gaps[i - count].first + structure ||
        gaps[i].second != gaps[i - count].second + structure)
      return false;
  return true;
}

}  // namespace

bool may_be_padding(const Gaps& gaps, uint64_t bytes) {
  for (uint64_t structure = 4; structure <= std::min(kLargestStructure, bytes); structure += 2) {
    if (bytes % structure != 0) continue;
    const auto count = static_cast<size_t>(
        std::partition_point(gaps.begin(), gaps.end(),
                             [&](const auto& gap) { return gap.second <= structure; }) -
        gaps.begin());
    if (count != 0 && repeats(gaps, count, structure, bytes / structure) &&
        pads(gaps, count, structure))
      return true;
  }
  return false;
}

std::optional<UnwrittenBytes> find_unwritten(const sim::Memory& memory, const sim::Allocation& in,
                                             const Box& box, const Extent& e) {
  if (in.initialised) return std::nullopt;
  std::optional<UnwrittenBytes> found;
  for (uint64_t z = 0; z < e.depth; ++z)
    for (uint64_t y = 0; y < e.height; ++y) {
      const uint64_t begin = box.begin + z * box.slice + y * box.pitch, end = begin + e.width;
      Gaps gaps;
      uint64_t sum = 0;
      for (uint64_t at = begin; (at = memory.first_unwritten(at, end)) < end;) {
        const uint64_t written = memory.first_written(at, end);
        gaps.emplace_back(at - begin, written - begin);
        sum += written - at;
        at = written;
      }
      if (gaps.empty() || may_be_padding(gaps, e.width)) continue;
      if (!found) found = {begin + gaps[0].first - in.begin, 0};
      found->bytes += sum;
    }
  return found;
}

}  // namespace lab32::cudart
