#include "simulator/observers/races/engine_use.h"

#include <algorithm>

namespace lab32::counters {
namespace {

using Told = sim::EngineEvent;

constexpr uint64_t kEngineWord = 4;

}  // namespace

void EngineUse::block_begin(const sim::BlockInfo& block) {
  block_ = block;
  // Addresses of a cluster are several blocks'; what is ordered between them is not followed.
  watched_ = block.cluster_blocks <= 1;
  now_ = meetings_ = last_fence_meeting_ = 0;
  fenced_ = false;
  words_.assign((block.shared_bytes + kEngineWord - 1) / kEngineWord, {});
  const size_t threads = (block.threads + 31) / 32 * 32;
  fence_of_thread_.assign(threads, 0);
  groups_of_thread_.assign(threads, 0);
  readings_.clear();
}

void EngineUse::meet() {
  ++meetings_;
  readings_.erase(
      std::remove_if(readings_.begin(), readings_.end(), [](const Reading& r) { return r.waited; }),
      readings_.end());
}

void EngineUse::raw_shared(uint32_t warp, const sim::RawAccess& access) {
  if (!watched_ || access.kind == sim::AccessKind::load) return;
  // An atomic may be how threads tell each other.
  if (access.kind != sim::AccessKind::store) meet();
  ++now_;
  uint64_t of_row[kWarpSize];
  if (access.row != nullptr) access.row->write_to(of_row);
  const uint64_t* const address = access.row != nullptr ? of_row : access.address;
  for (uint32_t r = access.mask; r != 0; r &= r - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(r));
    const uint32_t thread = warp * 32 + lane;
    const uint64_t begin = address[lane], end = begin + access.bytes;
    for (uint64_t word = begin / kEngineWord; word * kEngineWord < end && word < words_.size();
         ++word)
      words_[word] = {now_, meetings_, thread};
    for (const Reading& reading : readings_)
      if (begin < reading.end && reading.begin < end &&
          !(reading.waited && reading.thread == thread))
        found(sim::TrapReason::bulk_overwritten, access.site, thread, reading.thread, begin,
              access.bytes, sim::AccessUse::write);
  }
}

void EngineUse::read(uint32_t warp, const Told& event) {
  const uint32_t thread = warp * 32 + static_cast<uint32_t>(__builtin_ctz(event.mask));
  const uint64_t end = event.address + event.bytes;
  for (uint64_t word = event.address / kEngineWord;
       word * kEngineWord < end && word < words_.size(); ++word) {
    const Write& write = words_[word];
    if (write.when == 0 || fence_of_thread_[write.thread] > write.when) continue;
    // A fence by whoever came after the writer.
    if (fenced_ && last_fence_meeting_ > write.meeting) continue;
    found(sim::TrapReason::proxy_fence, event.site, thread, write.thread, word * kEngineWord,
          kEngineWord, sim::AccessUse::read);
    break;
  }
  const uint32_t group = groups_of_thread_[thread];
  if (!readings_.empty()) {
    Reading& last = readings_.back();
    if (last.site == event.site && last.thread == thread && last.group == group && !last.waited &&
        last.end == event.address) {
      last.end = end;
      return;
    }
  }
  readings_.push_back({event.site, thread, group, event.address, end});
}

void EngineUse::engine(uint32_t warp, const Told& event) {
  if (!watched_) return;
  ++now_;
  if (event.kind == Told::Kind::reads) return read(warp, event);
  if (event.kind == Told::Kind::writes) {
    for (uint64_t word = event.address / kEngineWord;
         word * kEngineWord < event.address + event.bytes && word < words_.size(); ++word)
      words_[word] = {};
    return;
  }
  for (uint32_t r = event.mask; r != 0; r &= r - 1) {
    const uint32_t thread = warp * 32 + static_cast<uint32_t>(__builtin_ctz(r));
    switch (event.kind) {
      case Told::Kind::fences:
        fence_of_thread_[thread] = now_;
        fenced_ = true;
        last_fence_meeting_ = meetings_;
        break;
      case Told::Kind::commits:
        ++groups_of_thread_[thread];
        break;
      case Told::Kind::waits:
        for (Reading& reading : readings_)
          if (reading.thread == thread && reading.group + event.pending < groups_of_thread_[thread])
            reading.waited = true;
        break;
      default:
        break;
    }
  }
}

void EngineUse::block_end() {
  if (!watched_) return;
  for (const Reading& reading : readings_)
    if (!reading.waited)
      found(sim::TrapReason::bulk_at_end, reading.site, reading.thread, reading.thread,
            reading.begin, static_cast<uint32_t>(reading.end - reading.begin),
            sim::AccessUse::read);
  readings_.clear();
}

sim::ThreadId EngineUse::name_of(uint32_t thread) const {
  return {{block_.x, block_.y, block_.z},
          {thread % block_.dim_x, thread / block_.dim_x % block_.dim_y,
           thread / block_.dim_x / block_.dim_y}};
}

void EngineUse::found(sim::TrapReason reason, uint32_t site, uint32_t thread, uint32_t other,
                      uint64_t offset, uint32_t bytes, sim::AccessUse use) {
  const auto [at, fresh] = seen_.try_emplace({reason, site});
  Hazard& hazard = at->second;
  ++hazard.count;
  if (!fresh) return;
  hazard.kind = Finding::Kind::barrier;
  hazard.block = block_;
  hazard.later.site = site;
  hazard.later.thread = thread;
  hazard.later.bytes = static_cast<uint8_t>(std::min(bytes, 16u));
  hazard.offset = offset;
  sim::TrapFacts& facts = hazard.fault.emplace();
  facts.reason = reason;
  facts.block = block_.index;
  facts.thread = name_of(thread);
  facts.waiting = name_of(other);
  sim::MemoryAccess& access = facts.access.emplace();
  access.space = sim::AccessSpace::shared;
  access.use = use;
  access.bytes = bytes;
  access.offset = static_cast<int64_t>(offset);
  access.size = block_.shared_bytes;
}

void EngineUse::merge(sim::Observer& other) {
  for (const auto& [key, hazard] : static_cast<EngineUse&>(other).seen_) {
    const auto [at, fresh] = seen_.try_emplace(key, hazard);
    if (fresh) continue;
    // The example is the first block's.
    const uint64_t count = at->second.count + hazard.count;
    if (hazard.block.index < at->second.block.index) at->second = hazard;
    at->second.count = count;
  }
}

std::vector<Finding> EngineUse::findings(const PositionOf& position) const {
  std::vector<Finding> all;
  for (const auto& [key, hazard] : seen_) all.push_back(finding_of(hazard, {}, position));
  return all;
}

}  // namespace lab32::counters
