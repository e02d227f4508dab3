#include "simulator/observers/caches/caches.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "simulator/observers/caches/cache_record.h"
#include "simulator/observers/traffic/sectors.h"

namespace lab32::counters {

struct CacheReplayObserver::Recorded : RecordedBlockAccesses {};

namespace {

using sim::AccessKind;

}  // namespace

struct CacheReplayObserver::Launch {
  Launch(const CacheHierarchyConfig& shape, std::vector<CacheTreatmentOfInstruction> uses,
         const std::optional<L2>& l2)
      : shape(shape),
        uses(std::move(uses)),
        initial(l2),
        l1s(shape.l1_bytes, shape.l1_ways, kSectorsPerLine, shape.multiprocessors),
        time(shape.multiprocessors),
        reaches_l2(shape.multiprocessors),
        l2(l2 ? *l2 : L2(shape.l2)) {
    this->l2.reset_counters();
  }

  double recorded_fraction() const {
    return recorded == 0 ? 1
                         : static_cast<double>(recorded) / static_cast<double>(recorded + dropped);
  }
  uint64_t wave() const { return uint64_t{shape.multiprocessors} * shape.resident_blocks; }

  void add_block(std::unique_ptr<Recorded> block);
  void replay();  // replays the recorded blocks of the next wave
  // The turn by which a sector that is requested now has arrived. In a turn, one warp issues one
  // access. A sector has arrived when all `warps` warps have issued one more access and the first
  // one is due again. Turns count from one.
  uint64_t turn_of_sector_arrival(uint32_t multiprocessor, uint64_t warps) const {
    return ((time[multiprocessor] - 1) / warps + 1) * warps + 1;
  }
  // True if the line is being read from device memory to L2.
  bool track_dram_fetch_in_flight(uint64_t line, bool asked_now, uint64_t now, uint64_t arrival);
  void count_l2_and_dram_waits(const CacheLineAccess& access, LoadGroupCacheCounts& group,
                               bool first);
  void look_up(uint32_t multiprocessor, const CacheLineAccess& access, uint64_t warps, bool first);
  void append_pending_store(uint32_t side, const CacheLineAccess& access);
  void flush_pending_stores();
  void prefetch_tables_into_host_cache(const std::vector<RoundRobinAccessReplay>& queues,
                                       uint32_t multiprocessor);
  void prefetch_tables_into_host_cache(uint32_t multiprocessor, const CacheLineAccess* next,
                                       const CacheLineAccess* end);

  const CacheHierarchyConfig shape;
  const std::vector<CacheTreatmentOfInstruction> uses;
  const std::optional<L2> initial;

  std::mutex mutex;
  bool started = false;
  std::map<uint64_t, std::unique_ptr<Recorded>> waiting;  // recorded blocks, by index
  // index of the first block of the next wave
  uint64_t next = 0;
  // number of recorded blocks of the next wave
  uint64_t recorded_in_wave = 0;
  CacheSets l1s;               // one cache for each multiprocessor
  std::vector<uint64_t> time;  // by multiprocessor: accesses replayed
  // By multiprocessor: whether the next access probably needs L2.
  std::vector<uint8_t> reaches_l2;
  L2 l2;
  HitCount load, store, atomic;
  uint64_t recorded = 0, dropped = 0;
  uint64_t l1_store_cycles = 0;  // L1 cycles of all stores, recorded or not
  std::array<LoadGroupCacheCounts, kLoadGroups> groups;
  std::array<uint64_t, kLoadGroups> fills{};  // sectors that missed
  // A line that was lately requested from device memory, and the turn by which it arrives.
  // Multiprocessors advance together, so a turn of one can be compared with that of another.
  struct DramFetch {
    uint64_t line = ~uint64_t{0}, arrival = 0;
  };
  std::vector<DramFetch> fetches = std::vector<DramFetch>(1 << 14);
  // Whether the access whose lines are being looked up waits for L2, and for device memory.
  bool waits_for_l2 = false, waits_for_dram = false;
  // Consecutive stores of a warp. Two stores leave L1 as one write for each line; three or more are
  // not merged (measured: scan_in_registers, best_two_of_rows and scan_tree compared with
  // inverses_of_threes and push in h200-model-counters.csv, with as many bytes as L2 holds).
  struct PendingStore {
    uint32_t side = 0;
    uint64_t line = 0;
    uint8_t sectors = 0;
    CountPerSector bytes{};
  };
  std::vector<PendingStore> pending_stores;
  std::vector<size_t> pending_store_ends;  // end of each store in `pending_stores`
};

void CacheReplayObserver::Launch::add_block(std::unique_ptr<Recorded> block) {
  const std::lock_guard<std::mutex> lock(mutex);
  recorded += block->lines;
  dropped += block->dropped;
  for (size_t g = 0; g < kLoadGroups; ++g) groups[g].cycles += block->l1_load_cycles[g];
  l1_store_cycles += block->l1_store_cycles;
  const uint64_t index = block->index;
  waiting.emplace(index, std::move(block));
  if (index < next + wave()) ++recorded_in_wave;
  while (recorded_in_wave == wave()) replay();
}

// The tables of the modelled caches do not fit in the host's caches, and each turn of the replay
// belongs to another multiprocessor. The data of later turns are therefore prefetched into the
// host's caches. A lookup needs four of them, each to find the next: the recorded access, the marks
// of its set in L1, the line's entry in L1, and the set and entry in L2. The turn that is furthest
// ahead prefetches the first of these, the nearest one the last.
void CacheReplayObserver::Launch::prefetch_tables_into_host_cache(
    const std::vector<RoundRobinAccessReplay>& queues, uint32_t multiprocessor) {
  constexpr uint32_t kAccess = 24, kSet = 16, kLine = 8, kFar = 4;  // multiprocessors ahead
  const auto ahead = [&](uint32_t by) { return (multiprocessor + by) % shape.multiprocessors; };
  if (const RoundRobinAccessReplay& t = queues[ahead(kAccess)]; !t.done())
    prefetch_into_host_cache(&t.next());
  uint32_t m = ahead(kSet);
  if (const RoundRobinAccessReplay& t = queues[m]; !t.done())
    l1s.prefetch_set_into_host_cache(l1s.key_of(t.next().line, m));
  m = ahead(kLine);
  const auto is_load = [](const CacheLineAccess& access) {
    return static_cast<AccessKind>(access.kind) == AccessKind::load;
  };
  if (const RoundRobinAccessReplay& t = queues[m]; !t.done()) {
    const CacheLineAccess& access = t.next();
    const bool there = l1s.probe_and_warm_host_cache(l1s.key_of(access.line, m));
    reaches_l2[m] = !there || !is_load(access);
    if (reaches_l2[m]) l2.prefetch_sets_into_host_cache(m % shape.l2.sides, access.line);
  }
  m = ahead(kFar);
  if (const RoundRobinAccessReplay& t = queues[m]; !t.done() && reaches_l2[m])
    l2.prefetch_lines_into_host_cache(m % shape.l2.sides, t.next().line);
}

// Prefetches the table entries of the further lines of an access, which are [next, end).
void CacheReplayObserver::Launch::prefetch_tables_into_host_cache(uint32_t multiprocessor,
                                                                  const CacheLineAccess* next,
                                                                  const CacheLineAccess* end) {
  constexpr std::ptrdiff_t kSet = 8, kLine = 4, kFar = 2;
  const auto key = [&](std::ptrdiff_t by) { return l1s.key_of(next[by].line, multiprocessor); };
  const uint32_t side = multiprocessor % shape.l2.sides;
  const std::ptrdiff_t left = end - next;
  if (left > kSet) l1s.prefetch_set_into_host_cache(key(kSet));
  if (left > kLine) {
    l1s.probe_and_warm_host_cache(key(kLine));
    l2.prefetch_sets_into_host_cache(side, next[kLine].line);
  }
  if (left > kFar) l2.prefetch_lines_into_host_cache(side, next[kFar].line);
}

void CacheReplayObserver::Launch::replay() {
  std::vector<RoundRobinAccessReplay> queues(shape.multiprocessors);
  const auto end = waiting.lower_bound(next + wave());
  for (auto block = waiting.begin(); block != end; ++block)
    for (const auto& warp : block->second->warps)
      queues[block->first % shape.multiprocessors].add_warp(warp);
  for (bool any = true; any;) {
    any = false;
    for (uint32_t m = 0; m < shape.multiprocessors; ++m) {
      prefetch_tables_into_host_cache(queues, m);
      if (queues[m].done()) continue;
      any = true;
      ++time[m];
      queues[m].issue_next_access(
          [&](const auto* next, const auto* end) { prefetch_tables_into_host_cache(m, next, end); },
          [&](const CacheLineAccess& access, uint64_t warps, bool first) {
            look_up(m, access, warps, first);
          });
      flush_pending_stores();
    }
  }
  waiting.erase(waiting.begin(), end);
  next += wave();
  recorded_in_wave =
      static_cast<uint64_t>(std::distance(waiting.begin(), waiting.lower_bound(next + wave())));
}

bool CacheReplayObserver::Launch::track_dram_fetch_in_flight(uint64_t line, bool asked_now,
                                                             uint64_t now, uint64_t arrival) {
  DramFetch& fetch = fetches[line % fetches.size()];
  if (asked_now) fetch = {line, arrival};
  return asked_now || (fetch.line == line && now < fetch.arrival);
}

void CacheReplayObserver::Launch::append_pending_store(uint32_t side,
                                                       const CacheLineAccess& access) {
  pending_stores.push_back(
      {side, access.line, static_cast<uint8_t>(access.sectors), access.amount});
  if (access.last != 0) pending_store_ends.push_back(pending_stores.size());
}

void CacheReplayObserver::Launch::flush_pending_stores() {
  size_t end = pending_stores.size();
  if (pending_store_ends.size() == 2) {
    const auto second = pending_stores.begin() + static_cast<std::ptrdiff_t>(pending_store_ends[0]);
    const auto join = [&](const PendingStore& later) {
      const auto at = std::find_if(pending_stores.begin(), second, [&](const PendingStore& first) {
        return first.line == later.line;
      });
      if (at == second) return false;
      at->sectors |= later.sectors;
      for (uint32_t s = 0; s < kSectorsPerLine; ++s)
        at->bytes[s] =
            static_cast<uint8_t>(std::min<uint32_t>(kSectorBytes, at->bytes[s] + later.bytes[s]));
      return true;
    };
    end = static_cast<size_t>(std::remove_if(second, pending_stores.end(), join) -
                              pending_stores.begin());
  }
  for (size_t i = 0; i < end; ++i)
    l2.write(pending_stores[i].side, pending_stores[i].line, pending_stores[i].sectors,
             pending_stores[i].bytes);
  pending_stores.clear();
  pending_store_ends.clear();
}

// Call after each line of a load. Counts the access after its last line.
void CacheReplayObserver::Launch::count_l2_and_dram_waits(const CacheLineAccess& access,
                                                          LoadGroupCacheCounts& group, bool first) {
  if (access.last == 0) return;
  if (first) {
    ++group.first;
    group.first_waits_for_l2 += waits_for_l2;
    group.first_waits_for_dram += waits_for_dram;
  }
  ++group.accesses;
  group.waits_for_l2 += waits_for_l2;
  group.waits_for_dram += waits_for_dram;
  waits_for_l2 = waits_for_dram = false;
}

void CacheReplayObserver::Launch::look_up(uint32_t multiprocessor, const CacheLineAccess& access,
                                          uint64_t warps, bool first) {
  const uint32_t side = multiprocessor % shape.l2.sides;
  const uint64_t line = access.line;
  const auto sectors = static_cast<uint8_t>(access.sectors);
  const auto asked = static_cast<uint64_t>(__builtin_popcount(sectors));
  const auto kind = static_cast<AccessKind>(access.kind);
  std::optional<CachedLine> evicted;

  if (kind == AccessKind::red || kind == AccessKind::atom) {
    uint64_t times = 0;
    for (uint8_t t : access.amount) times += t;
    atomic.sectors += times;
    l2.update_atomically(side, line, sectors, access.amount, kind == AccessKind::atom,
                         access.on_float ? shape.float_atomic : 1, access.alone != 0);
    return;
  }
  if (access.engine) {
    if (kind == AccessKind::store)
      l2.write(side, line, sectors, access.amount);
    else
      l2.read(side, line, sectors);
    return;
  }
  const CacheSets::LineKey key = l1s.key_of(line, multiprocessor);
  CachedLine* at = l1s.find_and_touch(key);
  if (kind == AccessKind::store) {
    // L1 is write-through. A store hits if L1 has the line, whichever sectors are valid (measured:
    // copy_bytes, whose warps store one sector each, hits 72 %).
    store.sectors += asked;
    if (at != nullptr) store.hits += asked;
    if (at == nullptr) l1s.insert(key, evicted);
    append_pending_store(side, access);
    return;
  }
  load.sectors += asked;
  LoadGroupCacheCounts& group = groups[access.group];
  group.asked += asked;
  const uint64_t read_before = l2.counters().dram_read;
  if (access.skips_l1) {
    fills[access.group] += asked;
    l2.read(side, line, sectors);
    waits_for_l2 = true;
    waits_for_dram |= track_dram_fetch_in_flight(line, l2.counters().dram_read > read_before,
                                                 time[multiprocessor],
                                                 turn_of_sector_arrival(multiprocessor, warps));
    count_l2_and_dram_waits(access, group, first);
    return;
  }
  if (at == nullptr) at = &l1s.insert(key, evicted);
  const auto missing = static_cast<uint8_t>(sectors & ~at->valid);
  if (missing != 0)
    l1s.make_room_for_sectors(key, static_cast<uint32_t>(__builtin_popcount(missing)));
  const uint64_t hits = asked - static_cast<uint64_t>(__builtin_popcount(missing));
  load.hits += hits;
  group.hits += hits;
  if (time[multiprocessor] < at->arrival) {
    waits_for_l2 |= hits > 0;
    waits_for_dram |= hits > 0 && at->from_dram;
  }
  if (missing == 0) return count_l2_and_dram_waits(access, group, first);
  waits_for_l2 = true;
  at->arrival = static_cast<uint32_t>(turn_of_sector_arrival(multiprocessor, warps));
  fills[access.group] += asked - hits;
  l2.read(side, line, missing);
  at->from_dram = track_dram_fetch_in_flight(line, l2.counters().dram_read > read_before,
                                             time[multiprocessor], at->arrival);
  waits_for_dram |= at->from_dram;
  at->valid |= missing;
  count_l2_and_dram_waits(access, group, first);
}

CacheReplayObserver::CacheReplayObserver(const CacheHierarchyConfig& shape,
                                         std::vector<CacheTreatmentOfInstruction> uses,
                                         std::optional<L2> l2)
    : launch_(std::make_shared<Launch>(shape, std::move(uses), l2)) {}

CacheReplayObserver::CacheReplayObserver(std::shared_ptr<Launch> launch)
    : launch_(std::move(launch)) {}

CacheReplayObserver::~CacheReplayObserver() = default;

std::unique_ptr<sim::Observer> CacheReplayObserver::fork() const {
  if (launch_->started && launch_.use_count() == 1)
    launch_ = std::make_shared<Launch>(launch_->shape, launch_->uses, launch_->initial);
  return std::unique_ptr<CacheReplayObserver>(new CacheReplayObserver(launch_));
}

void CacheReplayObserver::merge(sim::Observer& other) {
  launch_ = static_cast<CacheReplayObserver&>(other).launch_;
}

void CacheReplayObserver::block_begin(const sim::BlockInfo& block) {
  {
    const std::lock_guard<std::mutex> lock(launch_->mutex);
    launch_->started = true;
  }
  block_ = std::make_unique<Recorded>();
  block_->index = block.index;
  block_->warps.resize((block.threads + kWarpSize - 1) / kWarpSize);
}

void CacheReplayObserver::access(uint32_t warp, const sim::IssuedWarpAccess& access) {
  if (access.space != sim::AccessSpace::global || access.mask == 0) return;
  const CacheTreatmentOfInstruction use = access.site < launch_->uses.size()
                                              ? launch_->uses[access.site]
                                              : CacheTreatmentOfInstruction{};
  auto& accesses = block_->warps[warp];
  const size_t before = accesses.size();
  append_lines(access, use.skips_l1, use.on_float, accesses, use.group);
  const uint64_t lines = accesses.size() - before;
  (access.kind == AccessKind::load ? block_->l1_load_cycles[use.group] : block_->l1_store_cycles) +=
      l1_busy_cycles(access, accesses.data() + before, lines);
  drop_if_block_share_is_full(accesses, before);
}

// Drops the accesses that exceed the block's share of the record.
void CacheReplayObserver::drop_if_block_share_is_full(std::vector<CacheLineAccess>& accesses,
                                                      size_t before) {
  const uint64_t lines = accesses.size() - before;
  if (block_->lines + lines >
      std::max<uint64_t>(launch_->shape.accesses_recorded / launch_->wave(), 64)) {
    accesses.resize(before);
    block_->dropped += lines;
  } else {
    block_->lines += lines;
  }
}

void CacheReplayObserver::texel_access(uint32_t warp, const sim::WarpTexelAccess& access) {
  const TexelSectorAddresses requests = texel_sector_addresses(access);
  if (!requests.known) return;
  const bool stores = access.kind == sim::WarpTexelAccess::Kind::store;
  auto& accesses = block_->warps[warp];
  const size_t before = accesses.size();
  uint32_t begin = 0;
  for (const uint32_t end : requests.ends) {
    append_lines_of_sectors(requests.sectors.data() + begin, requests.sectors.data() + end, stores,
                            accesses);
    begin = end;
  }
  drop_if_block_share_is_full(accesses, before);
}

void CacheReplayObserver::bulk_move(uint32_t warp, const sim::ContiguousBulkMove& move) {
  if (!bulk_sectors(move).known) return;
  auto& accesses = block_->warps[warp];
  const size_t before = accesses.size();
  append_copy_engine_lines(move.global, move.inside,
                           move.kind == sim::ContiguousBulkMove::Kind::store, accesses);
  drop_if_block_share_is_full(accesses, before);
}

void CacheReplayObserver::block_end() { launch_->add_block(std::move(block_)); }

CacheCounters CacheReplayObserver::counters() {
  Launch& launch = *launch_;
  while (!launch.waiting.empty()) launch.replay();
  CacheCounters c = launch.l2.counters();
  c.l1_load = launch.load;
  c.l1_store = launch.store;
  c.l1.sectors = launch.load.sectors + launch.store.sectors + launch.atomic.sectors;
  c.l1.hits = launch.load.hits + launch.store.hits;
  for (const LoadGroupCacheCounts& group : load_counts_by_instruction_group())
    c.l1_load_cycles += group.cycles;
  c.l1_store_cycles = launch.l1_store_cycles;
  if (launch.dropped == 0) return c;
  c.recorded = launch.recorded_fraction();
  for (uint64_t* count :
       {&c.l1.sectors, &c.l1.hits, &c.l1_load.sectors, &c.l1_load.hits, &c.l1_store.sectors,
        &c.l1_store.hits, &c.l2.sectors, &c.l2.hits, &c.l2_read, &c.l2_write, &c.l2_red, &c.l2_atom,
        &c.l2_read_lines, &c.l2_write_lines, &c.l2_fills, &c.dram_pages, &c.dram_read,
        &c.dram_written})
    *count = static_cast<uint64_t>(static_cast<double>(*count) / c.recorded);
  return c;
}

std::array<LoadGroupCacheCounts, kLoadGroups>
CacheReplayObserver::load_counts_by_instruction_group() const {
  std::array<LoadGroupCacheCounts, kLoadGroups> groups = launch_->groups;
  for (size_t g = 0; g < kLoadGroups; ++g)
    groups[g].cycles += static_cast<uint64_t>(static_cast<double>(launch_->fills[g]) /
                                              (kSectorsPerLine * launch_->recorded_fraction()));
  return groups;
}

double CacheReplayObserver::busiest_slice_atomic_work() const {
  const uint64_t all = launch_->recorded + launch_->dropped;
  if (launch_->recorded == 0) return 0;
  return launch_->l2.busiest_slice_atomic_work() * static_cast<double>(all) /
         static_cast<double>(launch_->recorded);
}

L2 CacheReplayObserver::take_l2() { return std::move(launch_->l2); }

}  // namespace lab32::counters
