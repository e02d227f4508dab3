#include "simulator/core/warp/block_context.h"

#include <algorithm>
#include <cstring>

namespace lab32::sim {
namespace {

// More than a whole launch may print (launch.cpp).
constexpr size_t kKeptOutput = 2 << 20;

}  // namespace

BlockContext::BlockContext(const LaunchContext& launch, std::vector<Observer*> observers,
                           OrderGuard::Worker* guard, const TouchMap* suspects,
                           ClusterContext* cluster, uint32_t rank)
    : launch_(launch),
      observers_(std::move(observers)),
      guard_(guard),
      suspects_(suspects),
      checks_reads_(launch.trap_uninitialised || launch.keep_going),
      cluster_(cluster),
      shared_base_(base_of_rank(rank)) {
  for (Observer* o : observers_) {
    if (o->wants_accesses()) access_observers_.push_back(o);
    if (o->wants_raw_shared()) raw_observers_.push_back(o);
    if (o->wants_shuffles()) shuffle_observers_.push_back(o);
  }
  tally_.resize(launch_.program->sites.size());
  runs_.resize(tally_.size());
  if (cluster_ == nullptr) shared_.resize(shared_sink() + kWarpSize * kSinkBytes);
  shared_data_ = cluster_ == nullptr ? shared_.data() : cluster_->memory().bytes();
  if (cluster_ != nullptr && checks_reads_)
    undefined_shared_.lie_at(cluster_->memory().undefined());
  if (launch_.keep_going) told_.resize(launch_.program->sites.size());
  info_.threads = static_cast<uint32_t>(launch_.block.count());
  info_.shared_bytes = launch_.shared_bytes;
  info_.dim_x = launch_.block.x;
  info_.dim_y = launch_.block.y;
  info_.dim_z = launch_.block.z;
  info_.grid_x = launch_.grid.x;
  info_.grid_y = launch_.grid.y;
  info_.rank = rank;
  info_.cluster_blocks = cluster_ == nullptr ? 0 : cluster_->blocks();
}

void BlockContext::settle_runs() {
  for (const CodeFunction& function : launch_.program->functions)
    for (const Inst& in : function.code) {
      RunTally& run = runs_[in.site];
      for (uint32_t i = 0; run.warps != 0 && i < in.run; ++i) {
        tally_[in.site + i].warps += run.warps;
        tally_[in.site + i].lanes += run.lanes;
      }
      run = {};
    }
}

uint64_t BlockContext::issued_at(uint32_t site) const {
  const Site& at = launch_.program->sites[site];
  const std::vector<Inst>& code = launch_.program->functions[at.function].code;
  uint64_t warps = tally_[site].warps;
  // All runs that reach it begin one before the other.
  for (uint32_t back = 0; back <= at.index && code[at.index - back].run > back; ++back)
    warps += runs_[site - back].warps;
  return warps;
}

void BlockContext::start(uint64_t index) {
  info_.index = index;
  info_.x = static_cast<uint32_t>(index % launch_.grid.x);
  info_.y = static_cast<uint32_t>(index / launch_.grid.x % launch_.grid.y);
  info_.z = static_cast<uint32_t>(index / launch_.grid.x / launch_.grid.y);
  const Dim3 &c = launch_.cluster, &g = launch_.grid;
  info_.cluster =
      (uint64_t{info_.z / c.z} * (g.y / c.y) + info_.y / c.y) * (g.x / c.x) + info_.x / c.x;
  // Poison: what a kernel reads without having written it is NaN or -1 here.
  std::memset(shared_data_ + shared_base_, 0xff, launch_.shared_bytes);
  if (checks_reads_) {
    if (cluster_ == nullptr)
      undefined_shared_.reset(launch_.shared_bytes, shared_.size());
    else
      std::memset(undefined_shared_.data() + shared_base_, 0xff, launch_.shared_bytes);
    origins_.clear();
  }
  if (launch_.reserves_shared()) {
    const uint32_t at = shared_base_ + launch_.reserved_at();
    std::memset(shared_data_ + at, 0, LaunchContext::kReservedShared);
    if (checks_reads_) undefined_shared_.define(at, LaunchContext::kReservedShared);
  }
  bulk_copies_.clear();
  stored_ = {};
  epoch_ = 0;
  output_.clear();
}

bool BlockContext::prints_no_more() const { return muted_ || output_.size() >= kKeptOutput; }

void BlockContext::take_local(uint32_t warp, uint64_t more, bool in_call) {
  const uint64_t bytes = local_bytes_ + more;
  if (launch_.meter != nullptr && !launch_.meter->allows_local(bytes)) {
    TrapFacts full =
        facts(in_call ? TrapReason::block_call_memory : TrapReason::block_local_memory, warp);
    full.value = bytes;
    full.limit = launch_.meter->most_local_bytes();
    throw Trap{std::move(full), 0};
  }
  local_bytes_ = bytes;
}

void BlockContext::print(const std::string& text) {
  if (!prints_no_more()) output_ += text;
}

ThreadId BlockContext::thread_id(uint32_t warp, int lane) const {
  const Dim3& b = launch_.block;
  const uint32_t t = warp * kWarpSize + static_cast<uint32_t>(lane);
  return {{info_.x, info_.y, info_.z}, {t % b.x, t / b.x % b.y, t / b.x / b.y}};
}

TrapFacts BlockContext::facts(TrapReason reason, uint32_t warp) const {
  TrapFacts facts;
  facts.reason = reason;
  facts.block = info_.index;
  facts.warp.emplace().warp = warp;
  return facts;
}

TrapFacts BlockContext::facts(TrapReason reason, uint32_t warp, int lane) const {
  TrapFacts facts = this->facts(reason, warp);
  facts.thread = thread_id(warp, lane);
  return facts;
}

std::byte* BlockContext::global(uint32_t warp, const Inst& in, uint64_t* address, uint32_t mask,
                                unsigned bytes, Use use, uint8_t operation) {
  Memory& memory = *launch_.memory;
  uint64_t low = ~uint64_t{0}, high = 0, bits = 0;
  if (mask == kFullMask) {
    for (int l = 0; l < kWarpSize; ++l) {
      low = std::min(low, address[l]);
      high = std::max(high, address[l]);
      bits |= address[l];
    }
  } else {
    for (uint32_t r = mask; r; r &= r - 1) {
      const uint64_t a = address[__builtin_ctz(r)];
      low = std::min(low, a);
      high = std::max(high, a);
      bits |= a;
    }
  }
  Recent& recent = recent_[in.site % recent_.size()];
  Allocation *const before = recent.site == in.site ? recent.allocation : nullptr,
                    *a = recent.allocation;
  if (!a || low < a->begin || low >= a->end) a = memory.find(low);
  // Not high + bytes > end: a wild address may lie so high that the sum wraps.
  if (!a || a->freed || !memory.reaches(*a) || low < a->begin || high > a->end - bytes ||
      (bits & (bytes - 1)) != 0 || (use != Use::read && a->read_only) ||
      !a->lets(low, high + bytes - low, use != Use::read)) {
    // Lanes may lie in different allocations, or one is wrong: look at each. What is meant is where
    // the first right one lies: those behind it may have strayed into the next array.
    uint32_t wrong = 0;
    const Allocation* meant = nullptr;
    for (uint32_t r = mask; r; r &= r - 1) {
      const uint64_t at = address[__builtin_ctz(r)];
      const Allocation* own = memory.find(at);
      if (!own || own->freed || !memory.reaches(*own) || at + bytes > own->end ||
          (at & (bytes - 1)) != 0 || (use != Use::read && own->read_only) ||
          !own->lets(at, bytes, use != Use::read))
        wrong |= r & (~r + 1);
      else if (meant == nullptr)
        meant = own;
    }
    if (wrong) bad_global(warp, in, address, wrong, bytes, use, meant ? meant : before);
    for (uint32_t r = mask & ~wrong; r; r &= r - 1)
      global(warp, in, address, r & (~r + 1), bytes, use, operation);
    return memory.host(0);
  }
  recent = {in.site, a};
  if (a->reached_by != nullptr && a->device != memory.device()) ++tally_[in.site].peer;
  // The guard first: whether something was written may depend on the order of the blocks too.
  if (guard_) {
    const OrderGuard::By by{{info_.index, epoch_, warp},
                            in.order.strong && in.order.scope != ptx::Scope::block};
    switch (use) {
      case Use::read:
        guard_->read(*a, address, mask, bytes, by);
        break;
      case Use::write:
        guard_->write(*a, address, mask, bytes, by);
        break;
      case Use::update:
        guard_->update(*a, operation, address, mask, bytes, by);
        break;
    }
  }
  if (use != Use::write && !a->initialised && checks_reads_) {
    uint32_t unwritten = 0;
    for (uint32_t r = mask; r; r &= r - 1)
      if (!memory.written(address[__builtin_ctz(r)], bytes)) unwritten |= r & (~r + 1);
    if (use == Use::read)
      unwritten_ |= unwritten;
    else if (unwritten)
      unwritten_global(warp, in, address, unwritten, bytes);
  }
  if (use == Use::write && !a->initialised) memory.mark_lanes(address, mask, bytes);
  if (use != Use::read && !guard_ && a->pristine) a->pristine = false;
  return memory.host(0);
}

std::byte* BlockContext::global_row(uint32_t warp, const Inst& in, const WarpRow& row,
                                    unsigned bytes, Use use) {
  Memory& memory = *launch_.memory;
  const uint64_t beyond_first = (kWarpSize / 2 - 1) * row.stride;
  const uint64_t low = std::min(row.first[0], row.first[1]),
                 high = std::max(row.first[0], row.first[1]) + beyond_first;
  Recent& recent = recent_[in.site % recent_.size()];
  Allocation* const a = recent.allocation;
  if (!a || low < a->begin || low > high || high >= a->end || high > a->end - bytes ||
      ((row.first[0] | row.first[1]) & (bytes - 1)) != 0 || a->freed || a->reached_by != nullptr ||
      (use == Use::read ? !a->initialised && checks_reads_ : a->read_only) ||
      !a->lets(low, high + bytes - low, use != Use::read))
    return nullptr;
  recent.site = in.site;
  if (guard_ && (use == Use::write || !guard_->may_read(*a))) {
    const OrderGuard::By by{{info_.index, epoch_, warp},
                            in.order.strong && in.order.scope != ptx::Scope::block};
    if (use == Use::read)
      guard_->read_row(*a, row, bytes, by);
    else
      guard_->write_row(*a, row, bytes, by);
  }
  if (use == Use::write) {
    if (!a->initialised) {
      memory.mark_span(row.first[0], row.first[0] + beyond_first + bytes);
      memory.mark_span(row.first[1], row.first[1] + beyond_first + bytes);
    }
    if (!guard_ && a->pristine) a->pristine = false;
  }
  return memory.host(0);
}

void BlockContext::check_shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask,
                                unsigned bytes, Use use) {
  if (cluster_ != nullptr) return check_cluster_shared(warp, in, offset, mask, bytes, use);
  const uint64_t size = launch_.shared_bytes;
  uint64_t high = 0, bits = 0;
  if (mask == kFullMask && size >= bytes) {  // the sign says which is too far
    uint64_t beyond = 0;
    for (int l = 0; l < kWarpSize; ++l) {
      beyond |= (size - bytes - offset[l]) | offset[l];
      bits |= offset[l];
    }
    if (beyond >> 63 == 0 && (bits & (bytes - 1)) == 0) return;
  }
  for (uint32_t r = mask; r; r &= r - 1) {
    const uint64_t a = offset[__builtin_ctz(r)];
    high = std::max(high, a);
    bits |= a;
  }
  if (high <= size && high + bytes <= size && (bits & (bytes - 1)) == 0) return;
  bad_shared(warp, in, offset, mask, bytes, use);
}

}  // namespace lab32::sim
