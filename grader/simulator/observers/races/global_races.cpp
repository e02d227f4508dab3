#include "simulator/observers/races/global_races.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <utility>

namespace lab32::counters {
namespace {

using Kind = sim::AccessKind;

bool writes(Kind kind) { return kind != Kind::load; }

// How far apart two threads are. An example between blocks is preferred, then one between warps,
// because whatever orders these also orders closer threads.
constexpr int kBetweenBlocks = 2;
int warp_block_distance(const GridThread& a, const GridThread& b) {
  return a.block != b.block ? kBetweenBlocks : a.thread / 32 != b.thread / 32 ? 1 : 0;
}

}  // namespace

GlobalMemoryRaceObserver::GlobalMemoryRaceObserver(const sim::Memory& memory)
    : CausalityObserverBase(std::make_shared<SharedCausality>(), false),
      memory_(memory),
      state_(std::make_shared<RunState>()) {}

std::unique_ptr<sim::Observer> GlobalMemoryRaceObserver::fork() const {
  auto other = std::make_unique<GlobalMemoryRaceObserver>(memory_);
  other->order_ = order_;
  other->state_ = state_;
  return other;
}

void GlobalMemoryRaceObserver::begin_ordered_run() {
  state_->races_of_earlier_runs.merge(state_->races);
  state_->races.clear();
  state_->words.clear();
  state_->last_word = nullptr;
  order_->causality = std::make_unique<Causality>();
}

void GlobalMemoryRaceObserver::strong_or_suspect_access(uint32_t warp,
                                                        const sim::StrongOrSuspectAccess& access) {
  ++state_->sequence;
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    const uint64_t at = access.address[lane];
    AccessRecord now;
    now.by = thread(warp, lane);
    now.site = access.site;
    now.sequence = state_->sequence;
    now.bytes = access.bytes;
    now.element = access.element;
    now.kind = access.kind;
    now.strong = access.order.strong;
    now.volatile_store = access.order.is_volatile && access.kind == Kind::store;
    now.polls = access.order.polls;
    now.read_only = access.order.read_only;
    now.block_only = access.order.scope == ptx::Scope::block;
    now.stamp = causality().stamp(now.by);
    if ((access.suspect >> lane & 1) != 0)
      for (uint64_t word = at / 4 * 4; word < at + access.bytes; word += 4) {
        const uint64_t first = std::max(word, at), end = std::min(word + 4, at + access.bytes);
        now.touched = static_cast<uint8_t>(((1u << (end - first)) - 1) << (first - word));
        record_access(
            now, word,
            access.values == nullptr ? nullptr : access.values + lane * 16 + (first - at));
      }
    if (now.strong) causality().order_by_strong_access(now.by, at, access.kind, access.order);
  }
}

bool GlobalMemoryRaceObserver::sizes_differ(const AccessRecord& a, const AccessRecord& b) {
  return a.element != 0 && b.element != 0 && a.element != b.element;
}

// True if the memory model gives the two accesses a defined result without further order.
bool GlobalMemoryRaceObserver::are_morally_strong(const AccessRecord& before,
                                                  const AccessRecord& now) {
  return before.strong && now.strong && !sizes_differ(before, now) &&
         (!before.volatile_store || now.polls) && (!now.volatile_store || before.polls) &&
         (before.by.block == now.by.block || (!before.block_only && !now.block_only));
}

// True if nothing orders the two accesses and one of them changes what the other one reads or
// writes.
bool GlobalMemoryRaceObserver::is_race(const WordState& word, const AccessRecord& before,
                                       const AccessRecord& now) const {
  if ((before.touched & now.touched) == 0 || (!writes(before.kind) && !writes(now.kind)))
    return false;
  if (before.by.block == now.by.block && before.by.thread == now.by.thread) return false;
  if (before.read_only || now.read_only) return true;  // whatever orders them
  if (are_morally_strong(before, now)) return false;
  if (causality().is_ordered_before(before.by, before.stamp, now.by)) return false;
  // All threads agree on the order of the strong writes to one word. A thread that has observed one
  // is therefore ordered after it and those before it.
  if (!before.strong || !writes(before.kind)) return true;
  const auto own = word.last_strong.find(now.by.block);
  if (own == word.last_strong.end() || own->second.sequence <= before.sequence) return true;
  return !causality().is_ordered_before(own->second.by, own->second.stamp, now.by);
}

// The newest access of a thread replaces its older ones.
void GlobalMemoryRaceObserver::EarlierAccesses::add(const AccessRecord& now) {
  one_site =
      records.empty() || (one_site && records[0].site == now.site && records[0].kind == now.kind);
  if (const AccessRecord* last =
          last_of_instruction < records.size() ? &records[last_of_instruction] : nullptr;
      last != nullptr && last->sequence == now.sequence && last->touched == now.touched) {
    records[last_of_instruction] = now;
    return;
  }
  last_of_instruction = kMost;
  // accesses of other threads of the warp to the same bytes
  AccessRecord *newest = nullptr, *oldest = nullptr;
  for (AccessRecord& record : records) {
    if (record.by.block != now.by.block || record.by.thread / 32 != now.by.thread / 32 ||
        writes(record.kind) != writes(now.kind) || (record.block_only && !now.block_only) ||
        record.volatile_store != now.volatile_store || record.polls != now.polls ||
        record.read_only != now.read_only)
      continue;
    if (record.by.thread == now.by.thread && (record.touched & ~now.touched) == 0) {
      record = now;
      return;
    }
    if (record.touched != now.touched) continue;
    if (newest == nullptr || record.sequence >= newest->sequence) newest = &record;
    if (oldest == nullptr || record.sequence < oldest->sequence) oldest = &record;
  }
  // Two threads of an instruction are kept: its first and its last.
  if (oldest != newest) {
    const bool has_first = newest->sequence == now.sequence && oldest->sequence == now.sequence;
    if (has_first) last_of_instruction = static_cast<size_t>(newest - records.data());
    *(has_first ? newest : oldest) = now;
    return;
  }
  if (records.size() >= kMost) drop_oldest_of_busiest_block();
  records.push_back(now);
}

void GlobalMemoryRaceObserver::EarlierAccesses::drop_oldest_of_busiest_block() {
  // Blocks whose numbers differ by a multiple of the table's length are counted together.
  std::array<uint8_t, 256> records_of_block{};
  const auto count_of = [&](const AccessRecord& record) -> uint8_t& {
    return records_of_block[record.by.block % records_of_block.size()];
  };
  uint8_t most = 0;
  for (const AccessRecord& record : records) most = std::max(most, ++count_of(record));
  records.erase(std::find_if(records.begin(), records.end(),
                             [&](const AccessRecord& record) { return count_of(record) == most; }));
}

void GlobalMemoryRaceObserver::EarlierAccesses::remove_covered_records(uint8_t bytes) {
  records.erase(
      std::remove_if(records.begin(), records.end(),
                     [&](const AccessRecord& record) { return (record.touched & ~bytes) == 0; }),
      records.end());
  last_of_instruction = kMost;
}

void GlobalMemoryRaceObserver::record_access(const AccessRecord& now, uint64_t address,
                                             const std::byte* value) {
  // Successive accesses are often to one word.
  if (state_->last_word == nullptr || state_->last_address != address)
    state_->last_word = &state_->words[address];
  state_->last_address = address;
  WordState& word = *state_->last_word;
  ++state_->accesses;
  bool raced = false;
  const bool stores = now.kind == Kind::store;
  bool same = stores && (now.touched & ~word.known) == 0;
  if (stores)
    for (int b = 0, from = 0; b < 4; ++b)
      if ((now.touched >> b & 1) != 0) same &= word.value[b] == static_cast<uint8_t>(value[from++]);
  // A word that all threads write has many records of one instruction. The access counts once for
  // that instruction, so the other records are skipped, unless one gives a better example.
  const Race* counted = nullptr;
  const auto is_counted = [&](const AccessRecord& before) {
    return counted != nullptr && counted->earlier.site == before.site &&
           counted->earlier.kind == before.kind &&
           warp_block_distance(before.by, now.by) <=
               warp_block_distance(counted->earlier.by, counted->later.by);
  };
  const auto is_best_example = [](const Race& race) {
    return warp_block_distance(race.earlier.by, race.later.by) == kBetweenBlocks;
  };
  const auto compare_with = [&](const EarlierAccesses& owners) {
    for (const AccessRecord& before : owners.records) {
      if (is_counted(before) || !is_race(word, before, now)) continue;
      raced = true;
      counted = &report(before, now, address, same && before.kind == Kind::store);
      if (owners.one_site && is_best_example(*counted)) break;
    }
  };
  if (now.strong) {
    word.strong_may_race |= now.block_only || now.volatile_store ||
                            (word.strong_element != 0 && word.strong_element != now.element);
    word.strong_element = now.element;
  }
  compare_with(word.writes);
  if (writes(now.kind)) compare_with(word.reads);
  if (!now.strong || word.strong_may_race) compare_with(word.strong);

  EarlierAccesses& own = now.strong ? word.strong : writes(now.kind) ? word.writes : word.reads;
  if (now.strong) word.last_strong[now.by.block] = now;
  // Any later access that races with an access ordered before this write also races with this
  // write, so the older records can go.
  if (!now.strong && writes(now.kind) && !raced)
    for (EarlierAccesses* older : {&word.reads, &word.writes, &word.strong})
      older->remove_covered_records(now.touched);
  if (stores) {
    for (int b = 0, from = 0; b < 4; ++b)
      if ((now.touched >> b & 1) != 0) word.value[b] = static_cast<uint8_t>(value[from++]);
    word.known |= now.touched;
  } else if (writes(now.kind)) {
    word.known = 0;
  }
  own.add(now);
}

const GlobalMemoryRaceObserver::Race& GlobalMemoryRaceObserver::report(const AccessRecord& before,
                                                                       const AccessRecord& now,
                                                                       uint64_t word,
                                                                       bool same_value) {
  Race& race = state_->races[{same_value, before.site, now.site}];
  const bool first = race.count == 0;
  if (std::exchange(race.last, state_->accesses) != state_->accesses) ++race.count;
  if (!first &&
      warp_block_distance(before.by, now.by) <= warp_block_distance(race.earlier.by, race.later.by))
    return race;
  race.earlier = before;
  race.later = now;
  race.address = word + static_cast<uint64_t>(__builtin_ctz(before.touched & now.touched));
  return race;
}

Finding GlobalMemoryRaceObserver::finding_of(const Race& race, const PositionOf& position) const {
  const AccessRecord &a = race.earlier, &b = race.later;
  Finding f = finding_of_pair({a.by, a.site, a.kind, a.bytes}, {b.by, b.site, b.kind, b.bytes},
                              race.address, order_->shape, memory_, position);
  f.count = race.count;
  f.one_instruction = a.sequence == b.sequence;
  f.read_only = a.read_only || b.read_only;
  const bool atomic = a.strong && b.strong && !f.read_only;
  f.sizes = atomic && sizes_differ(a, b);
  f.is_volatile = atomic && !f.sizes && (a.volatile_store || b.volatile_store);
  f.scope = atomic && !f.is_volatile && !f.sizes;
  const bool both_store = a.kind == Kind::store && b.kind == Kind::store;
  f.update &= !f.one_instruction && !f.read_only && !both_store &&
              (f.is_volatile || (!a.strong && !b.strong));
  return f;
}

std::vector<Finding> GlobalMemoryRaceObserver::findings(const PositionOf& position) const {
  using Lines = std::tuple<std::string, int, std::string, int, bool>;
  std::map<Lines, Race> by_line;
  const auto line_of = [&](uint32_t site) {
    const auto at = position(site);
    return at ? std::pair{at->file, at->line} : std::pair{std::string(), 0};
  };
  const auto is_better = [](const Race& a, const Race& b) {
    const int of_a = warp_block_distance(a.earlier.by, a.later.by),
              of_b = warp_block_distance(b.earlier.by, b.later.by);
    return of_a != of_b ? of_a > of_b : a.later.sequence < b.later.sequence;
  };
  const auto lines_of = [&](const RaceKey& key) {
    auto a = line_of(key.earlier), b = line_of(key.later);
    if (b < a) std::swap(a, b);
    return Lines{a.first, a.second, b.first, b.second, key.note};
  };
  const auto add = [&](const Race& race, Race& to) {
    const uint64_t count = to.count + race.count;
    if (to.count == 0 || is_better(race, to)) to = race;
    to.count = count;
  };
  for (const auto& [key, race] : state_->races) add(race, by_line[lines_of(key)]);
  // Races of earlier runs are added only for pairs of lines that this run does not report.
  std::map<Lines, Race> others;
  for (const auto& [key, race] : state_->races_of_earlier_runs) add(race, others[lines_of(key)]);
  by_line.merge(others);
  std::vector<Finding> all;
  for (const auto& [lines, race] : by_line) {
    const auto& [file_a, line_a, file_b, line_b, note] = lines;
    if (note && by_line.count({file_a, line_a, file_b, line_b, false}) != 0) continue;
    all.push_back(finding_of(race, position));
    all.back().note = note;
  }
  return all;
}

}  // namespace lab32::counters
