#include "labs/coalescing/patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "grading/launch/patterns.h"
#include "simulator/observers/traffic/sectors.h"

namespace lab32::checks::coalescing {
namespace {

constexpr uint64_t kBase = 0x7f5e00000000;  // more than 32 bits, like real addresses
constexpr uint64_t kSector = 32;
constexpr uint32_t kWidths[] = {1, 2, 4, 8, 16};

GlobalAccessPattern strided_pattern(uint32_t bytes, uint64_t stride, uint64_t offset,
                                    uint32_t active = 0xffffffff) {
  GlobalAccessPattern p;
  p.bytes = bytes;
  p.active = active;
  for (uint64_t lane = 0; lane < 32; ++lane) p.address[lane] = kBase + offset + lane * stride;
  return p;
}

std::vector<GlobalAccessPattern> edge_case_patterns() {
  std::vector<GlobalAccessPattern> found;
  for (uint32_t bytes : kWidths) {
    found.push_back(strided_pattern(bytes, bytes, 0));
    found.push_back(
        strided_pattern(bytes, bytes, bytes));  // one element beyond the beginning of a line
    found.push_back(strided_pattern(bytes, bytes, 0, 0));   // no active lane
    found.push_back(strided_pattern(bytes, bytes, 96, 1));  // one lane
    found.push_back(strided_pattern(bytes, bytes, 0, 0x80000000));
    found.push_back(strided_pattern(bytes, 0, 64));  // one address for all
    found.push_back(strided_pattern(bytes, 32, 0));  // each lane in a sector of its own
    found.push_back(strided_pattern(bytes, 4096, 0));
    found.push_back(strided_pattern(bytes, bytes, 0, 0x0000ffff));
    found.push_back(strided_pattern(bytes, 2 * bytes, 0, 0x55555555));
    GlobalAccessPattern swapped = strided_pattern(bytes, bytes, 0);
    for (int lane = 0; lane < 32; lane += 2)
      std::swap(swapped.address[lane], swapped.address[lane + 1]);
    found.push_back(swapped);
    GlobalAccessPattern reversed = strided_pattern(bytes, bytes, 0);
    std::reverse(reversed.address.begin(), reversed.address.end());
    found.push_back(reversed);
    for (int bit : {32, 37, 41, 46}) {
      // Even and odd lanes access two sectors whose addresses differ in one high bit.
      GlobalAccessPattern twins = strided_pattern(bytes, 0, 0);
      for (int lane = 1; lane < 32; lane += 2) twins.address[lane] ^= uint64_t{1} << bit;
      found.push_back(twins);
    }
  }
  return found;
}

GlobalAccessPattern random_pattern(Random& random) {
  GlobalAccessPattern p;
  p.bytes = kWidths[random.below(5)];
  switch (random.below(4)) {
    case 0:
      p.active = 0xffffffff;
      break;
    case 1:
      p.active = static_cast<uint32_t>(random.bits());
      break;
    case 2:
      p.active = static_cast<uint32_t>(random.bits() & random.bits() & random.bits());
      break;
    case 3:
      p.active = static_cast<uint32_t>(random.bits() | random.bits());
      break;
  }
  // The random addresses lie in a window of so many bytes. In the smallest window many lanes share
  // a sector; in the largest one hardly any do.
  const uint32_t windows[] = {64, 256, 1024, 8192, 1u << 30};
  const uint32_t elements = windows[random.below(5)] / p.bytes;
  const uint64_t start = kBase + uint64_t{p.bytes} * random.below(1024);
  const uint32_t step = random.below(9);
  switch (random.below(3)) {
    case 0:  // scattered
      for (uint64_t& a : p.address) a = start + uint64_t{p.bytes} * random.below(elements);
      break;
    case 1:  // strided addresses, shuffled over the lanes
      for (int lane = 0; lane < 32; ++lane)
        p.address[lane] = start + uint64_t{p.bytes} * step * lane;
      for (int lane = 31; lane > 0; --lane)
        std::swap(p.address[lane], p.address[random.below(lane + 1)]);
      break;
    case 2:  // groups of neighbouring lanes with one address each
      for (int lane = 0; lane < 32; ++lane)
        p.address[lane] = start + uint64_t{p.bytes} * step * (lane / (1 + random.below(4)));
      break;
  }
  return p;
}

uint32_t distinct_aligned_units(const GlobalAccessPattern& p, uint32_t active, uint64_t granule) {
  std::set<uint64_t> seen;
  for (int lane = 0; lane < 32; ++lane)
    if (active >> lane & 1) seen.insert(p.address[lane] / granule);
  return static_cast<uint32_t>(seen.size());
}

// The sectors from the lowest to the highest address, including those in between that no lane
// accesses.
uint32_t sectors_spanned(const GlobalAccessPattern& p) {
  uint64_t low = ~uint64_t{0}, high = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(p.active >> lane & 1)) continue;
    low = std::min(low, p.address[lane] / 32);
    high = std::max(high, p.address[lane] / 32);
  }
  return p.active ? static_cast<uint32_t>(high - low + 1) : 0;
}

// The number of runs of successive active lanes in one sector: each lane is compared with the
// previous one only.
uint32_t sector_runs(const GlobalAccessPattern& p) {
  uint32_t count = 0;
  uint64_t last = ~uint64_t{0};
  for (int lane = 0; lane < 32; ++lane) {
    if (!(p.active >> lane & 1)) continue;
    count += p.address[lane] / 32 != last;
    last = p.address[lane] / 32;
  }
  return count;
}

struct Misconception {
  uint32_t (*answer)(const GlobalAccessPattern&);
  const char* hint;
};

constexpr Misconception kMisconceptions[] = {
    {[](const GlobalAccessPattern& p) { return distinct_aligned_units(p, 0xffffffff, 32); },
     "It seems to count inactive lanes, too: they have no address."},
    {[](const GlobalAccessPattern& p) { return distinct_aligned_units(p, p.active, 128); },
     "It seems to count lines of 128 bytes; a line has four sectors, each fetched "
     "only if a lane needs it."},
    {[](const GlobalAccessPattern& p) { return distinct_aligned_units(p, p.active, 64); },
     "It seems to count pieces of 64 bytes; a sector is smaller."},
    {[](const GlobalAccessPattern& p) { return static_cast<uint32_t>(p.lanes()); },
     "It seems to count lanes: lanes that access the same sector share it."},
    {[](const GlobalAccessPattern& p) { return (p.lanes() * p.bytes + 31) / 32; },
     "It seems to count bytes without regard to their addresses."},
    {sectors_spanned, "It seems to count also the sectors in between, which no lane accesses."},
    {sector_runs,
     "It seems to compare each lane with the previous one only: a later lane may "
     "access a sector again."},
};

}  // namespace

uint32_t GlobalAccessPattern::sectors() const {
  return counters::distinct_sectors(address.data(), bytes, active);
}

std::string GlobalAccessPattern::show() const {
  if (active == 0)
    return fmt::format("{} byte{} per lane, and no lane is active", bytes, bytes == 1 ? "" : "s");
  uint64_t base = ~uint64_t{0};
  for (int lane = 0; lane < 32; ++lane)
    if (active >> lane & 1) base = std::min(base, address[lane] / 128 * 128);
  std::string text = fmt::format("{} byte{} per lane, active {:#010x}; bytes from {:#x} on:", bytes,
                                 bytes == 1 ? "" : "s", active, base);
  if (lanes() <= 4) {
    const char* separator = " ";
    for (int lane = 0; lane < 32; ++lane) {
      if (!(active >> lane & 1)) continue;
      text += fmt::format("{}lane {} at {}", separator, lane, address[lane] - base);
      separator = ", ";
    }
    return text + ".";
  }
  for (int lane = 0; lane < 32; ++lane) {
    if (lane % 8 == 0) text += fmt::format("\n    lane {:>2}:", lane);
    text += active >> lane & 1 ? fmt::format(" {:>6}", address[lane] - base)
                               : fmt::format(" {:>6}", "-");
  }
  return text;
}

std::vector<GlobalAccessPattern> random_and_edge_patterns(Random& random, int count) {
  std::vector<GlobalAccessPattern> found;
  for (const GlobalAccessPattern& edge : edge_case_patterns()) {
    const bool some = edge.active != 0 && edge.active != 0xffffffff;
    for (uint32_t kind = 0; kind < (some ? kDecoys : 1); ++kind) {
      found.push_back(edge);
      set_inactive_addresses(found.back(), kind, random, 0, kSector);
    }
  }
  for (int i = 0; i < count; ++i) {
    found.push_back(random_pattern(random));
    set_inactive_addresses(found.back(), static_cast<uint32_t>(i) % kDecoys, random, 0, kSector);
  }
  return found;
}

std::vector<GlobalAccessPattern> lane_variants_of_global_pattern(const GlobalAccessPattern& p) {
  return grading::lane_permuted_patterns(p, 0, kSector);
}

std::string misconception_hint(const std::vector<GlobalAccessPattern>& patterns,
                               const std::vector<int>& sectors) {
  for (const Misconception& idea : kMisconceptions) {
    bool all = true;
    for (size_t i = 0; i < patterns.size() && all; ++i)
      all = static_cast<int>(idea.answer(patterns[i])) == sectors[i];
    if (all) return idea.hint;
  }
  return "";
}

}  // namespace lab32::checks::coalescing
