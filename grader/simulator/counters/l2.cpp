#include "simulator/counters/l2.h"

#include <algorithm>

namespace lab32::counters {
namespace {

constexpr uint64_t kSliceBytes =
    512;                         // that lie in one slice (measured: count_into, 16 to 4096 words)
constexpr uint64_t kDealt = 32;  // neighbouring stretches of as many bytes go to as many slices
// What a warp's additions to the words of one line cost, each lane its own, in additions of one
// lane (measured: tally_in_turn with 64 words).
constexpr double kWholeLine = 1.33;

uint32_t count(uint8_t sectors) { return static_cast<uint32_t>(__builtin_popcount(sectors)); }

}  // namespace

L2::L2(const L2Shape& shape)
    : shape_(shape),
      together_(std::clamp(shape.dram_access_bytes / kSectorBytes, 1u, kSectorsPerLine)),
      sides_(shape.sides, CacheSets(shape.bytes / shape.sides, shape.ways)),
      slice_work_(std::max(shape.slices, 1u)),
      last_updated_(std::max(shape.slices, 1u)),
      open_page_(std::max(shape.dram_banks, 1u), UINT64_MAX) {}

void L2::reset_counters() {
  counters_ = {};
  std::fill(slice_work_.begin(), slice_work_.end(), 0.0);
}

double L2::busiest_slice() const {
  double most = 0;
  for (const double work : slice_work_) most = std::max(most, work);
  return most;
}

// The high bits: the low ones choose the set.
uint32_t L2::home(uint64_t line) const {
  return static_cast<uint32_t>((hash_line(line) >> 48) % shape_.sides);
}

// Neighbouring stretches are dealt to neighbouring slices; where the next few go is a hash.
size_t L2::slice_of(uint64_t line) const {
  const uint64_t stretch = line * kLineBytes / kSliceBytes;
  const uint64_t hands = std::max<uint64_t>(slice_work_.size() / kDealt, 1);
  return (hash_line(stretch / kDealt) >> 32) % hands * kDealt % slice_work_.size() +
         stretch % std::min<uint64_t>(kDealt, slice_work_.size());
}

void L2::look_up(uint32_t sectors, uint32_t hits, uint64_t CacheCounters::*kind) {
  counters_.*kind += sectors;
  ++(kind == &CacheCounters::l2_write ? counters_.l2_write_lines : counters_.l2_read_lines);
  counters_.l2.sectors += sectors;
  counters_.l2.hits += hits;
}

// All sectors that come along when these are read from device memory.
uint8_t L2::whole_accesses(uint8_t sectors) const {
  uint8_t all = 0;
  for (uint32_t first = 0; first < kSectorsPerLine; first += together_) {
    const auto group = static_cast<uint8_t>(((1u << together_) - 1) << first);
    if ((sectors & group) != 0) all |= group;
  }
  return all;
}

uint32_t L2::accesses(uint8_t sectors) const { return count(whole_accesses(sectors)) / together_; }

uint64_t L2::page_of(uint64_t line) const { return line * kLineBytes / shape_.dram_page_bytes; }

uint64_t& L2::bank_of(uint64_t page) {
  return open_page_[(hash_line(page) >> 20) % open_page_.size()];
}

void L2::close_page(uint64_t line) { bank_of(page_of(line)) = UINT64_MAX; }

void L2::reach_dram(uint64_t line, uint32_t accesses) {
  if (accesses == 0) return;
  counters_.dram_accesses += accesses;
  const uint64_t page = page_of(line);
  uint64_t& open = bank_of(page);
  if (open == page) return;
  open = page;
  ++counters_.dram_pages;
}

CachedLine& L2::place(uint32_t side, uint64_t line) {
  if (CachedLine* found = sides_[side].use(line)) return *found;
  std::optional<CachedLine> gone;
  CachedLine& fresh = sides_[side].insert(line, gone);
  if (gone && gone->dirty != 0) write_back(*gone);
  return fresh;
}

uint32_t L2::fetch(uint32_t side, uint64_t line, uint8_t sectors) {
  const bool at_home = side == home(line);
  CachedLine& at = place(side, line);
  const uint32_t hits = count(at.valid & sectors);
  const auto missing = static_cast<uint8_t>(sectors & ~at.valid);
  if (missing == 0) return hits;
  const uint8_t wanted = whole_accesses(missing);
  if (at_home) {
    const auto come = static_cast<uint8_t>(wanted & ~at.valid);
    counters_.dram_read += uint64_t{count(wanted)} * kSectorBytes;
    ++counters_.l2_fills;
    reach_dram(line, accesses(wanted));
    // A partly written sector is whole now.
    const auto completed = static_cast<uint8_t>(at.partial & come);
    partial_.sectors -= count(completed);
    at.partial &= static_cast<uint8_t>(~completed);
    at.valid |= come;
    return hits;
  }
  const uint32_t far_hits = fetch(home(line), line, wanted);
  look_up(count(wanted), far_hits, &CacheCounters::l2_read);
  at.valid |= wanted;
  return hits;
}

void L2::read(uint32_t side, uint64_t line, uint8_t sectors) {
  const uint32_t hits = fetch(side, line, sectors);
  look_up(count(sectors), hits, &CacheCounters::l2_read);
}

void L2::mark_dirty(CachedLine& at, uint8_t sectors) {
  const auto fresh = static_cast<uint8_t>(sectors & ~at.dirty);
  if (fresh == 0) return;
  at.dirty |= fresh;
  dirty_.sectors += count(fresh);
  dirty_.lines.push_back(at.line());
}

void L2::write(uint32_t side, uint64_t line, uint8_t sectors, const SectorBytes& bytes) {
  // A write finds its place always: it counts as a hit.
  look_up(count(sectors), count(sectors), &CacheCounters::l2_write);
  const uint32_t at_home = home(line);
  uint8_t whole = 0;
  for (uint32_t s = 0; s < kSectorsPerLine; ++s)
    if ((sectors >> s & 1) != 0 && bytes[s] >= kSectorBytes) whole |= static_cast<uint8_t>(1u << s);
  if (side != at_home) {
    look_up(count(sectors), count(sectors), &CacheCounters::l2_write);
    place(side, line).valid |= whole;
  }
  CachedLine& at = place(at_home, line);
  for (uint32_t s = 0; s < kSectorsPerLine; ++s) {
    const auto bit = static_cast<uint8_t>(1u << s);
    if ((sectors & bit) == 0 || (at.valid & bit) != 0) continue;
    at.written[s] = static_cast<uint8_t>(std::min<uint32_t>(at.written[s] + bytes[s], 255));
    const bool was_partial = (at.partial & bit) != 0;
    if (at.written[s] >= kSectorBytes) {
      at.valid |= bit;
      if (was_partial) --partial_.sectors;
      at.partial &= static_cast<uint8_t>(~bit);
    } else if (!was_partial) {
      at.partial |= bit;
      ++partial_.sectors;
      partial_.lines.push_back(line);
    }
  }
  mark_dirty(at, sectors);
  keep_limits();
}

void L2::update(uint32_t side, uint64_t line, uint8_t sectors, const SectorBytes& times,
                bool result, double weight, bool alone) {
  uint32_t asked = 0;
  for (uint32_t s = 0; s < kSectorsPerLine; ++s)
    if ((sectors >> s & 1) != 0) asked += times[s];
  const auto kind = result ? &CacheCounters::l2_atom : &CacheCounters::l2_red;
  const uint32_t at_home = home(line);
  if (side != at_home) look_up(asked, asked, kind);  // passed on
  const uint32_t missing = count(sectors) - fetch(at_home, line, sectors);
  look_up(asked, asked - std::min(missing, asked), kind);
  mark_dirty(place(at_home, line), sectors);
  keep_limits();
  // Lanes in step with the words of one line are added side by side.
  const bool together = alone && asked == count(sectors);
  // A float waits for the one before it where both are added to one word: by lanes of a warp, or by
  // warps in turn (measured: add_to_one beside sum_by_key, whose keys are spread).
  const size_t slice = slice_of(line);
  const double work = together ? std::min<double>(asked, kWholeLine) : asked;
  uint64_t& last = last_updated_[slice];
  const uint64_t here = line << kSectorsPerLine | sectors;
  const double first = std::min<double>(work, count(sectors));
  slice_work_[slice] += (last == here ? first * weight : first) + (work - first) * weight;
  last = here;
}

void L2::write_back(CachedLine& at) {
  counters_.dram_read += uint64_t{count(at.partial)} * kSectorBytes;
  counters_.dram_written += uint64_t{count(at.dirty)} * kSectorBytes;
  if (at.partial != 0) {
    // What was missing is read first, and by the time it is there the page has been closed.
    reach_dram(at.line(), accesses(at.partial));
    close_page(at.line());
  }
  reach_dram(at.line(), accesses(at.dirty));
  dirty_.sectors -= count(at.dirty);
  partial_.sectors -= count(at.partial);
  at.valid |= at.partial;
  at.dirty = at.partial = 0;
  at.written = {};
}

void L2::keep_limits() {
  const auto keep = [this](Waiting& waiting, uint64_t limit, auto waits) {
    while (!waiting.lines.empty()) {
      const uint64_t line = waiting.lines.front();
      CachedLine* at = sides_[home(line)].peek(line);
      // It may have been written back, or completed, since.
      const bool still = at != nullptr && waits(*at);
      if (still && waiting.sectors * kSectorBytes <= limit) break;
      waiting.lines.pop_front();
      if (still) write_back(*at);
    }
  };
  keep(partial_, shape_.partial_dirty_limit, [](const CachedLine& at) { return at.partial != 0; });
  keep(dirty_, shape_.dirty_limit, [](const CachedLine& at) { return at.dirty != 0; });
}

}  // namespace lab32::counters
