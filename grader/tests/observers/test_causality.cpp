// The order across blocks, compared with an exhaustive search in a graph of all events.
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "simulator/observers/races/happens_before.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using counters::Causality;
using counters::GridThread;

namespace {

constexpr uint32_t kBlocks = 3, kWarps = 2;  // one thread of each warp takes part

enum class EventKind : uint8_t { access, fence, barrier, store, update, load };

struct Event {
  EventKind kind = EventKind::access;
  GridThread by;  // barrier: any thread of the block
  uint64_t address = 0;
  ptx::MemoryOrder order{};
  uint32_t stamp = 0;
  // Direct predecessors: in program order or through a barrier, and others.
  std::set<size_t> in_block, released;
};

bool same(const GridThread& a, const GridThread& b) {
  return a.block == b.block && a.thread == b.thread;
}
bool block_only(const Event& e) { return e.order.scope == ptx::Scope::block; }

class Graph {
 public:
  void add(Event e) {
    const size_t now = events_.size();
    // Adds program order and the barriers of the block.
    for (size_t i = 0; i < now; ++i)
      if (events_[i].by.block == e.by.block &&
          (same(events_[i].by, e.by) || e.kind == EventKind::barrier ||
           events_[i].kind == EventKind::barrier))
        e.in_block.insert(i);
    const bool reads = e.kind == EventKind::load || e.kind == EventKind::update;
    if (reads) {
      // The releases at the address, with the thread and event of each.
      Pending& mine = pending_[now];
      mine.seen = written_[e.address];
    }
    // An earlier read gives order from its thread's fence, from its block's barrier, or at once.
    for (auto& [read, pending] : pending_) {
      const Event& r = read == now ? e : events_[read];
      const bool own_fence = e.kind == EventKind::fence && same(r.by, e.by);
      const bool barrier = e.kind == EventKind::barrier && r.by.block == e.by.block;
      const bool at_once = read == now && e.order.acquire;
      if (!own_fence && !barrier && !at_once) continue;
      const bool narrow = block_only(r) || (own_fence && block_only(e));
      for (const auto& [write, release] : pending.seen) {
        const Event &w = events_[write], &f = events_[release];
        const bool scoped = narrow || block_only(w) || block_only(f);
        if (scoped && w.by.block != r.by.block) continue;
        e.released.insert(release);
      }
    }
    events_.push_back(e);
    if (e.kind == EventKind::store) written_[e.address].clear();
    if (e.kind == EventKind::store || e.kind == EventKind::update) {
      std::set<std::pair<size_t, size_t>>& here = written_[e.address];
      if (e.order.release) here.emplace(now, now);
      for (size_t f = 0; f < now; ++f)
        if (events_[f].kind == EventKind::fence && events_[f].by.block == e.by.block &&
            in_block_before(f, now))
          here.emplace(now, f);
    }
  }
  bool before(size_t a, size_t b) const {
    std::set<size_t> seen;
    return search(a, b, seen, false);
  }
  const std::vector<Event>& events() const { return events_; }

 private:
  struct Pending {
    std::set<std::pair<size_t, size_t>> seen;  // a write, and the fence or release behind it
  };
  bool in_block_before(size_t a, size_t b) const {
    std::set<size_t> seen;
    return search(a, b, seen, true);
  }
  bool search(size_t a, size_t b, std::set<size_t>& seen, bool one_block) const {
    if (a == b) return true;
    if (!seen.insert(b).second) return false;
    for (size_t i : events_[b].in_block)
      if (search(a, i, seen, one_block)) return true;
    if (one_block) return false;
    for (size_t i : events_[b].released)
      if (search(a, i, seen, one_block)) return true;
    return false;
  }
  std::vector<Event> events_;
  std::map<size_t, Pending> pending_;
  std::map<uint64_t, std::set<std::pair<size_t, size_t>>> written_;
};

}  // namespace

TEST_CASE(
    "counters: causality: the order equals that of an exhaustive search in a graph of all events" *
    kSlow) {
  std::mt19937 random(3);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  size_t across = 0, apart = 0;
  for (int round = 0; round < 6000; ++round) {
    Causality causality;
    Graph graph;
    for (uint64_t block = 0; block < kBlocks; ++block) {
      sim::BlockInfo info{};
      info.index = block;
      info.threads = kWarps * 32;
      causality.begin_block(info);
    }
    for (int i = 0; i < 36; ++i) {
      Event e;
      e.kind = static_cast<EventKind>(below(6));
      e.by = {below(kBlocks), below(kWarps) * 32};
      e.address = below(2);
      e.order.strong = e.kind >= EventKind::store || e.kind == EventKind::fence;
      if (round % 2 != 0 && below(2) == 0) e.order.scope = ptx::Scope::block;
      e.stamp = causality.stamp(e.by);
      const std::vector<Event>& all = graph.events();
      switch (e.kind) {
        case EventKind::access:
          graph.add(e);
          for (size_t a = 0; a + 1 < all.size(); ++a) {
            if (all[a].kind != EventKind::access) continue;
            const bool want = graph.before(a, all.size() - 1);
            CHECK(causality.is_ordered_before(all[a].by, all[a].stamp, e.by) == want);
            if (all[a].by.block != e.by.block) ++(want ? across : apart);
          }
          break;
        case EventKind::fence:
          e.order.acquire = e.order.release = true;
          graph.add(e);
          causality.fence(e.by, e.order);
          break;
        case EventKind::barrier: {
          graph.add(e);
          const std::array<uint32_t, kWarps> lanes{0xffffffff, 0xffffffff};
          causality.block_barrier(e.by.block, lanes.data(), kWarps, true);
          break;
        }
        default:
          e.order.acquire = e.kind != EventKind::store && below(3) == 0;
          e.order.release = e.kind != EventKind::load && below(3) == 0;
          graph.add(e);
          causality.order_by_strong_access(e.by, e.address,
                                           e.kind == EventKind::store    ? sim::AccessKind::store
                                           : e.kind == EventKind::update ? sim::AccessKind::atom
                                                                         : sim::AccessKind::load,
                                           e.order);
      }
    }
  }
  CHECK(across > 1000);
  CHECK(apart > 1000);
}

TEST_CASE("counters: causality: fences and atomics of block scope do not order other blocks") {
  const auto ordered = [](ptx::Scope fence, ptx::Scope atomic, uint64_t reader) {
    Causality causality;
    sim::BlockInfo info{};
    info.threads = 64;
    for (info.index = 0; info.index < 2; ++info.index) causality.begin_block(info);
    const GridThread a{0, 0}, b{reader, 32};
    const uint32_t stamp = causality.stamp(a);
    causality.fence(a, {true, true, true, false, fence});
    causality.order_by_strong_access(a, 64, sim::AccessKind::red,
                                     {true, false, false, false, atomic});
    causality.order_by_strong_access(b, 64, sim::AccessKind::load,
                                     {true, true, false, false, ptx::Scope::device});
    return causality.is_ordered_before(a, stamp, b);
  };
  using ptx::Scope;
  for (const Scope fence : {Scope::block, Scope::device, Scope::system})
    for (const Scope atomic : {Scope::block, Scope::device, Scope::system}) {
      CHECK(ordered(fence, atomic, 0));
      CHECK(ordered(fence, atomic, 1) == (fence != Scope::block && atomic != Scope::block));
    }
}
