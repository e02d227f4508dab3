#include "simulator/observers/caches/l2.h"

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

// Returns the first place below `used` whose byte equals `mark` and for which `is_it` returns true.
// Several lines of a set may have the same mark, so `is_it` compares the lines.
template <class IsIt>
std::optional<uint32_t> find_place_with_mark(const uint8_t* row, uint32_t used, uint8_t mark,
                                             IsIt is_it) {
  for (uint32_t at = 0; at < used; at += kWord) {
    // `equal` gets the top bit of each byte that equals the mark. The top bits of other bytes may
    // be set, too, but only above an equal byte, so the lowest one is right.
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

// Moves the byte at `place` to the front and shifts the bytes before it.
void move_to_front(uint8_t* row, uint32_t place, uint8_t byte) {
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

std::optional<uint32_t> CacheSets::find_place_in_set(const LineKey& key) {
  return find_place_with_mark(marks(key.set), heads_[key.set].used, key.mark, [&](uint32_t place) {
    return line_at(key.set, place).line == key.line;
  });
}

void CacheSets::prefetch_set_into_host_cache(const LineKey& key) const {
  prefetch_into_host_cache(&heads_[key.set]);
  prefetch_into_host_cache(marks(key.set));
  prefetch_into_host_cache(slots(key.set));
}

bool CacheSets::probe_and_warm_host_cache(const LineKey& key) {
  const std::optional<uint32_t> place = find_place_with_mark(
      marks(key.set), heads_[key.set].used, key.mark, [](uint32_t) { return true; });
  if (place)
    prefetch_into_host_cache(&line_at(key.set, *place));
  else
    prefetch_into_host_cache(&line_in(key.set, slot_for_insertion(key.set)));
  return place.has_value();
}

uint32_t CacheSets::slot_for_insertion(uint64_t set_number) const {
  const CacheSetFill& set = heads_[set_number];
  const uint32_t place = std::min<uint32_t>(set.used, places_ - 1);
  return place < set.opened ? slots(set_number)[place] : place;
}

CachedLine* CacheSets::find_and_touch(const LineKey& key) {
  const std::optional<uint32_t> place = find_place_in_set(key);
  if (!place) return nullptr;
  if (*place > 0) {
    move_to_front(slots(key.set), *place, slots(key.set)[*place]);
    move_to_front(marks(key.set), *place, key.mark);
  }
  return &line_at(key.set, 0);
}

CachedLine* CacheSets::peek(const LineKey& key) {
  const std::optional<uint32_t> place = find_place_in_set(key);
  return place ? &line_at(key.set, *place) : nullptr;
}

CachedLine& CacheSets::insert(const LineKey& key, std::optional<CachedLine>& evicted) {
  CacheSetFill& set = heads_[key.set];
  const bool full = set.used == places_;
  const auto slot = static_cast<uint8_t>(slot_for_insertion(key.set));
  if (!full) set.opened = std::max(set.opened, ++set.used);
  move_to_front(slots(key.set), set.used - 1u, slot);
  move_to_front(marks(key.set), set.used - 1u, key.mark);
  CachedLine& at = line_in(key.set, slot);
  evicted = full ? std::optional(at) : std::nullopt;
  if (full && places_ > near_)
    set.held = static_cast<uint16_t>(set.held - __builtin_popcount(at.valid));
  at = CachedLine{};
  at.line = key.line;
  return at;
}

void CacheSets::make_room_for_sectors(const LineKey& key, uint32_t sectors) {
  CacheSetFill& set = heads_[key.set];
  set.held = static_cast<uint16_t>(set.held + sectors);
  while (set.held > sectors_ && set.used > 0) {
    const CachedLine& oldest = line_at(key.set, set.used - 1u);
    if (oldest.line == key.line) return;
    set.held = static_cast<uint16_t>(set.held - __builtin_popcount(oldest.valid));
    --set.used;
  }
}

namespace {

// The map of addresses to slices (measured: data/measured/model/h200-slices.csv). 256 bytes lie in
// one slice and the next 256 in another one; the following 512 bytes lie in these two slices again.
// 16 KiB thus fill the 32 slices of a group, and the following 16 KiB fill them again. The next 32
// KiB lie in the next group.
constexpr uint64_t kGranule = 256, kPairBytes = 1024, kGroup = 32, kGroupBytes = 32768;
// The cost of a warp's additions to distinct words of one line, in units of one lane's addition. It
// is the same for floats and integers (measured: data/measured/model/h200-atomics.csv, `line`).
constexpr double kWholeLine = 3.2;
// The number of lines that the 132 * 2048 threads of a large GPU write at about the same time.
constexpr size_t kLinesInFlight = 270000;

uint32_t count(uint8_t sectors) { return static_cast<uint32_t>(__builtin_popcount(sectors)); }

}  // namespace

L2::L2(const L2Shape& shape)
    : shape_(shape),
      dram_access_sectors_(std::clamp(shape.dram_access_bytes / kSectorBytes, 1u, kSectorsPerLine)),
      sides_(shape.bytes / shape.sides, shape.ways, 1, shape.sides),
      slice_work_(std::max(shape.slices, 1u)),
      last_updated_(std::max(shape.slices, 1u)),
      read_(std::max(shape.dram_banks, 1u)),
      written_(read_.size()) {
  for (std::vector<DramBank>* banks : {&read_, &written_})
    for (DramBank& bank : *banks) bank.pages.fill(UINT64_MAX);
}

void L2::reset_counters() {
  counters_ = {};
  in_flight_.clear();
  completed_ = 0;
  std::fill(slice_work_.begin(), slice_work_.end(), 0.0);
}

double L2::busiest_slice_atomic_work() const {
  double most = 0;
  for (const double work : slice_work_) most = std::max(most, work);
  return most;
}

// Uses the high bits of the hash, because the low bits choose the set.
uint32_t L2::home_side(uint64_t line) const {
  return static_cast<uint32_t>((hash_line(line) >> 48) % shape_.sides);
}

void L2::prefetch_sets_into_host_cache(uint32_t side, uint64_t line) {
  const uint32_t at_home = home_side(line);
  sides_.prefetch_set_into_host_cache(sides_.key_of(line, at_home));
  if (side != at_home) sides_.prefetch_set_into_host_cache(sides_.key_of(line, side));
}

void L2::prefetch_lines_into_host_cache(uint32_t side, uint64_t line) {
  const uint32_t at_home = home_side(line);
  sides_.probe_and_warm_host_cache(sides_.key_of(line, at_home));
  if (side != at_home) sides_.probe_and_warm_host_cache(sides_.key_of(line, side));
}

size_t L2::slice_of(uint64_t line) const {
  const uint64_t at = line * kLineBytes, slices = slice_work_.size();
  uint64_t group = kGroup;
  while (group > slices && group > 2) group /= 2;
  const uint64_t groups = (slices + group - 1) / group;
  const uint64_t chunk = at / kGroupBytes;
  const uint64_t pair = (at / kPairBytes ^ hash_line(chunk)) % (group / 2);
  const uint64_t slice = chunk % groups * group + 2 * pair + at / kGranule % 2;
  // The formula above assumes full groups. Addresses of slices that the card lacks are spread over
  // all other slices, line by line.
  const uint64_t all = groups * group, absent = all - slices;
  if (slice * absent / all == (slice + 1) * absent / all) return slice - slice * absent / all;
  return hash_line(line) % slices;
}

void L2::count_lookup(uint32_t sectors, uint32_t hits, uint64_t CacheCounters::*kind) {
  counters_.*kind += sectors;
  ++(kind == &CacheCounters::l2_write ? counters_.l2_write_lines : counters_.l2_read_lines);
  counters_.l2.sectors += sectors;
  counters_.l2.hits += hits;
}

// The sectors that device memory returns when `sectors` are requested: it is read in accesses of
// dram_access_sectors_ neighbouring sectors.
uint8_t L2::sectors_returned_by_dram(uint8_t sectors) const {
  uint8_t all = 0;
  for (uint32_t first = 0; first < kSectorsPerLine; first += dram_access_sectors_) {
    const auto group = static_cast<uint8_t>(((1u << dram_access_sectors_) - 1) << first);
    if ((sectors & group) != 0) all |= group;
  }
  return all;
}

// Single words stored all over 64, 256 and 1024 MiB take as long as if an access found its page
// among the last four of its bank (measured: data/measured/model/h200-spread.csv).
void L2::open_dram_page(std::vector<DramBank>& banks, uint64_t line) {
  const uint64_t page = line * kLineBytes / shape_.dram_page_bytes;
  DramBank& bank = banks[(hash_line(page) >> 20) % banks.size()];
  if (std::find(bank.pages.begin(), bank.pages.end(), page) != bank.pages.end()) return;
  bank.pages[bank.next++ % kRecentPages] = page;
  ++counters_.dram_pages;
}

// Returns a random one of the partly written lines that left L2 lately, and adds `line` to them. It
// stands for `line` when DRAM pages are counted: such lines come from all running threads in no
// order, and neighbouring lines of one warp share a page hardly more often than randomly chosen
// lines do (measured: single words 64 to 4160 bytes apart).
uint64_t L2::exchange_with_evicted_line(uint64_t line) {
  const size_t n = completed_++;
  if (in_flight_.size() < kLinesInFlight)
    in_flight_.push_back(line);
  else
    in_flight_[n % kLinesInFlight] = line;
  return in_flight_[hash_line(n) % in_flight_.size()];
}

CachedLine& L2::find_or_insert_line(uint32_t side, uint64_t line) {
  const CacheSets::LineKey key = sides_.key_of(line, side);
  if (CachedLine* found = sides_.find_and_touch(key)) return *found;
  std::optional<CachedLine> evicted;
  CachedLine& fresh = sides_.insert(key, evicted);
  if (evicted && evicted->dirty != 0) write_back(*evicted);
  return fresh;
}

uint32_t L2::fetch_and_count_hits(uint32_t side, uint64_t line, uint8_t sectors) {
  const bool at_home = side == home_side(line);
  CachedLine& at = find_or_insert_line(side, line);
  const uint32_t hits = count(at.valid & sectors);
  const auto missing = static_cast<uint8_t>(sectors & ~at.valid);
  if (missing == 0) return hits;
  const uint8_t wanted = sectors_returned_by_dram(missing);
  if (at_home) {
    const auto come = static_cast<uint8_t>(wanted & ~at.valid);
    counters_.dram_read += uint64_t{count(wanted)} * kSectorBytes;
    ++counters_.l2_fills;
    open_dram_page(read_, line);
    // Reading a partly written sector completes it.
    const auto completed = static_cast<uint8_t>(at.partial & come);
    partial_.sectors -= count(completed);
    at.partial &= static_cast<uint8_t>(~completed);
    at.valid |= come;
    return hits;
  }
  const uint32_t far_hits = fetch_and_count_hits(home_side(line), line, wanted);
  count_lookup(count(wanted), far_hits, &CacheCounters::l2_read);
  at.valid |= wanted;
  return hits;
}

void L2::read(uint32_t side, uint64_t line, uint8_t sectors) {
  const uint32_t hits = fetch_and_count_hits(side, line, sectors);
  count_lookup(count(sectors), hits, &CacheCounters::l2_read);
}

void L2::mark_dirty(CachedLine& at, uint8_t sectors) {
  const auto fresh = static_cast<uint8_t>(sectors & ~at.dirty);
  if (fresh == 0) return;
  at.dirty |= fresh;
  dirty_.sectors += count(fresh);
  dirty_.lines.push_back(at.line);
}

void L2::write(uint32_t side, uint64_t line, uint8_t sectors, const CountPerSector& bytes) {
  // A write counts as a hit whether or not L2 has the line.
  count_lookup(count(sectors), count(sectors), &CacheCounters::l2_write);
  const uint32_t at_home = home_side(line);
  uint8_t whole = 0;
  for (uint32_t s = 0; s < kSectorsPerLine; ++s)
    if ((sectors >> s & 1) != 0 && bytes[s] >= kSectorBytes) whole |= static_cast<uint8_t>(1u << s);
  if (side != at_home) {
    count_lookup(count(sectors), count(sectors), &CacheCounters::l2_write);
    find_or_insert_line(side, line).valid |= whole;
  }
  CachedLine& at = find_or_insert_line(at_home, line);
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
  write_back_excess();
}

void L2::update_atomically(uint32_t side, uint64_t line, uint8_t sectors,
                           const CountPerSector& times, bool result, double weight, bool alone) {
  uint32_t asked = 0;
  for (uint32_t s = 0; s < kSectorsPerLine; ++s)
    if ((sectors >> s & 1) != 0) asked += times[s];
  const auto kind = result ? &CacheCounters::l2_atom : &CacheCounters::l2_red;
  const uint32_t at_home = home_side(line);
  if (side != at_home) count_lookup(asked, asked, kind);  // passed on
  const uint32_t missing = count(sectors) - fetch_and_count_hits(at_home, line, sectors);
  count_lookup(asked, asked - std::min(missing, asked), kind);
  mark_dirty(find_or_insert_line(at_home, line), sectors);
  write_back_excess();
  // A float addition waits for the one before it if both add to one word, by lanes of a warp or by
  // warps in turn (measured: add_to_one compared with sum_by_key, whose keys are spread).
  const size_t slice = slice_of(line);
  uint64_t& last = last_updated_[slice];
  const uint64_t here = line << kSectorsPerLine | sectors;
  const double work = asked, first = std::min<double>(work, count(sectors));
  // Lanes that add to distinct words of one line are served in parallel.
  slice_work_[slice] += alone && asked == count(sectors) && work > kWholeLine
                            ? kWholeLine
                            : (last == here ? first * weight : first) + (work - first) * weight;
  last = here;
}

void L2::write_back(CachedLine& at) {
  counters_.dram_read += uint64_t{count(at.partial)} * kSectorBytes;
  counters_.dram_written += uint64_t{count(at.dirty)} * kSectorBytes;
  uint64_t reached = at.line;
  if (at.partial != 0) {
    reached = exchange_with_evicted_line(at.line);
    open_dram_page(read_, reached);  // the missing bytes
  }
  if (at.dirty != 0) open_dram_page(written_, reached);
  dirty_.sectors -= count(at.dirty);
  partial_.sectors -= count(at.partial);
  at.valid |= at.partial;
  at.dirty = at.partial = 0;
  at.written = {};
}

void L2::write_back_excess() {
  const auto keep = [this](DirtyQueue& waiting, uint64_t limit, auto needs_write_back) {
    while (!waiting.lines.empty()) {
      const uint64_t line = waiting.lines.front();
      CachedLine* at = sides_.peek(sides_.key_of(line, home_side(line)));
      // Since the line was queued, it may have been written back or completed.
      const bool still = at != nullptr && needs_write_back(*at);
      if (still && waiting.sectors * kSectorBytes <= limit) break;
      waiting.lines.pop_front();
      if (still) write_back(*at);
    }
  };
  keep(partial_, shape_.partial_dirty_limit, [](const CachedLine& at) { return at.partial != 0; });
  keep(dirty_, shape_.dirty_limit, [](const CachedLine& at) { return at.dirty != 0; });
}

}  // namespace lab32::counters
