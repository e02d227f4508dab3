#include "simulator/observers/races/stale_values.h"

#include <algorithm>
#include <cstring>

namespace lab32::counters {
namespace {

using Kind = sim::AccessKind;

// How many successive loads of a block from one word may miss its newest value.
constexpr uint32_t kMissedByPolls = 4, kMissedByLoads = 64;
// The number of reads of a word that are remembered, each of another block.
constexpr size_t kReads = 16;
// Limits of the work for fences. Above them a fence comes after all that the run has executed.
constexpr size_t kStoredByBlock = 16, kMovedFences = 4096;
// Elements of 1 and 2 bytes have keys of their own, beside their word's.
constexpr uint64_t kPartKeys = uint64_t{1} << 63;

uint64_t hash_of(uint64_t word) { return (word >> 2 ^ word >> 18) & 0xffff; }

bool is_strong_global_load(const sim::InstructionSite& site, const ptx::MemoryOrder& order) {
  const ptx::InstructionTraits& traits = site.ptx->op->traits;
  if (traits.memory_count != 1 || traits.memory[0].kind != ptx::AddressUse::Kind::load ||
      traits.is_atomic() || !order.strong)
    return false;
  const ptx::Space space = ptx::memory_space(*site.ptx, 0);
  return space == ptx::Space::global || space == ptx::Space::generic;
}

}  // namespace

bool StaleGlobalValueInjector::has_loads_of_old_values(const sim::KernelProgram& program) {
  return std::any_of(
      program.sites.begin(), program.sites.end(), [&](const sim::InstructionSite& site) {
        return is_strong_global_load(site, program.functions[site.function].code[site.index].order);
      });
}

StaleGlobalValueInjector::StaleGlobalValueInjector(const sim::Memory& memory, SiteOrders orders,
                                                   Choice choice, uint64_t seed)
    : StaleGlobalValueInjector(memory, std::make_shared<SharedCausality>(),
                               std::make_shared<StateSharedByForks>()) {
  state_->strong_shared = std::any_of(orders.begin(), orders.end(),
                                      [](const ptx::MemoryOrder& order) { return order.strong; });
  state_->orders = std::move(orders);
  state_->choice = choice;
  state_->random = Random(seed);
}

StaleGlobalValueInjector::StaleGlobalValueInjector(const sim::Memory& memory,
                                                   std::shared_ptr<SharedCausality> order,
                                                   std::shared_ptr<StateSharedByForks> state)
    : CausalityObserverBase(std::move(order), true), memory_(memory), state_(std::move(state)) {}

std::unique_ptr<sim::Observer> StaleGlobalValueInjector::fork() const {
  return std::unique_ptr<sim::Observer>(new StaleGlobalValueInjector(memory_, order_, state_));
}

void StaleGlobalValueInjector::block_begin(const sim::BlockInfo& block) {
  CausalityObserverBase::block_begin(block);
  state_->running[block_];
}

void StaleGlobalValueInjector::block_end() {
  CausalityObserverBase::block_end();
  state_->running.erase(block_);
}

void StaleGlobalValueInjector::note_stored_by_block(Element& element) {
  std::vector<Element*>& stored = state_->running[block_].stored;
  if (stored.size() <= kStoredByBlock &&
      std::find(stored.begin(), stored.end(), &element) == stored.end())
    stored.push_back(&element);
}

// The number of executed fences that a fence must come after: a load behind each of them may have
// missed a store that comes before the fence.
size_t StaleGlobalValueInjector::earliest_position_for_fence(GridThread by) const {
  const std::vector<Element*>& stored = state_->running.at(by.block).stored;
  if (state_->choice != Choice::oldest || stored.size() > kStoredByBlock ||
      state_->moved_fences > kMovedFences)
    return state_->fences.size();
  size_t least = state_->fences_at_unknown_read;
  for (const Element* element : stored) {
    const std::vector<ElementVersion>& versions = element->versions;
    size_t newest = versions.size() - 1;
    while (newest > 0 && !is_version_ordered_before(versions[newest], by)) --newest;
    for (size_t i = 0; i < newest; ++i) least = std::max(least, versions[i].fences_at_last_read);
  }
  return least;
}

// Places a fence in the total order of fences. Threads whose fences it comes before are ordered
// after it. Fences of one block keep the order of the run.
void StaleGlobalValueInjector::place_in_total_fence_order(GridThread by,
                                                          const ptx::MemoryOrder& update) {
  std::vector<Causality::LogPrefix>& fences = state_->fences;
  const size_t before = earliest_position_for_fence(by);
  if (before > 0) causality().observe_releases(by, fences[before - 1], update);
  causality().order_by_strong_access(by, kFenceKeys, Kind::red, update);
  fences.push_back(causality().releases_at(kFenceKeys));
  const uint64_t own_key = kFenceKeys | kSharedKeys | fences.size();
  bool alone = true;
  for (const auto& [block, running] : state_->running)
    for (const auto& [thread, executed] : running.fences_of_thread) {
      if (executed <= before || block == by.block) continue;
      if (alone) causality().order_by_strong_access(by, own_key, Kind::red, update);
      alone = false;
      causality().observe_releases({block, thread}, causality().releases_at(own_key), update);
      ++state_->moved_fences;
    }
  state_->running[by.block].fences_of_thread[by.thread] = fences.size();
}

// A fence of sequential consistency acts as an atomic update of a word that belongs to its block.
// Those of device scope also have an order in the grid.
void StaleGlobalValueInjector::fence(uint32_t warp, uint32_t mask, uint32_t site,
                                     const ptx::MemoryOrder& order) {
  CausalityObserverBase::fence(warp, mask, site, order);
  if (!order.sequential) return;
  ptx::MemoryOrder update = order;
  update.strong = update.acquire = update.release = true;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const GridThread by = thread(warp, static_cast<uint32_t>(__builtin_ctz(left)));
    causality().order_by_strong_access(by, kFenceKeys | (block_ + 1), Kind::atom, update);
    if (order.scope != ptx::Scope::block) place_in_total_fence_order(by, update);
  }
}

// Flags in shared memory order accesses to device memory, too.
void StaleGlobalValueInjector::shared_ptx_access(uint32_t warp,
                                                 const sim::PtxSharedAccessEvent& access) {
  const ptx::MemoryOrder& order = state_->orders[access.site];
  if (!order.strong) return;
  uint64_t row[32];
  if (access.row != nullptr) access.row->expand_to_addresses(row);
  const uint64_t* const address = access.row != nullptr ? row : access.address;
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    causality().order_by_strong_access(
        thread(warp, lane), kSharedKeys | block_ << 24 | address[lane], access.kind, order);
  }
}

std::shared_ptr<StaleGlobalValueInjector::Element> StaleGlobalValueInjector::new_element(
    uint64_t address, unsigned bytes) {
  auto element = std::make_shared<Element>();
  element->address = address;
  element->bytes = bytes;
  element->versions.resize(1);
  return element;
}

// Returns the element of these bytes; null if there is none, or one without a history. A word that
// is accessed in parts has an element that only marks it as such, with the size of its parts.
StaleGlobalValueInjector::Element* StaleGlobalValueInjector::find_or_create_element(
    uint64_t address, unsigned bytes, bool create) {
  auto& elements = state_->elements;
  const bool part = bytes < 4;
  const uint64_t first = address / 4 * 4, end = address + bytes;
  std::shared_ptr<Element> found;
  bool fits = true, all_new = true;
  for (uint64_t word = first; word < end; word += 4) {
    const auto at = state_->may_hold[hash_of(word)] ? elements.find(word) : elements.end();
    if (at == elements.end()) continue;
    all_new = false;
    found = at->second;
    fits &= found->address == (part ? first : address) && found->bytes == bytes;
    if (!fits) found->mixed = true;
  }
  if (all_new && (!create || elements.size() >= kElements)) return nullptr;
  if (all_new) {
    found = new_element(part ? first : address, bytes);
    for (uint64_t word = first; word < end; word += 4) {
      elements[word] = found;
      state_->may_hold[hash_of(word)] = true;
    }
  }
  if (found->mixed) return nullptr;
  if (!part) return found.get();
  std::shared_ptr<Element>& own = elements[kPartKeys | address];
  if (own == nullptr) own = new_element(address, bytes);
  return own.get();
}

// Called before the value is written.
void StaleGlobalValueInjector::write(Element& element, GridThread by,
                                     const sim::StrongOrSuspectAccess& access) {
  const uint32_t lane = uint32_t{1} << by.thread % 32;
  std::vector<ElementVersion>& versions = element.versions;
  if (element.sequence != state_->sequence) {
    element.sequence = state_->sequence;
    std::memcpy(versions.back().value.data(), memory_.host(element.address), element.bytes);
    if (access.kind == Kind::atom) versions.back().fences_at_last_read = state_->fences.size();
    ElementVersion next;
    next.number = versions.back().number + 1;
    next.write = {by, access.site, access.kind, static_cast<uint8_t>(element.bytes)};
    next.stamp = causality().stamp(by);
    if (versions.size() == kVersions) {
      size_t& kept = versions[1].fences_at_last_read;
      kept = std::max(kept, versions[0].fences_at_last_read);
      versions.erase(versions.begin());
    }
    versions.push_back(std::move(next));
  }
  note_stored_by_block(element);
  versions.back().lanes |= lane;
  if (access.order.strong)
    causality().order_by_strong_access(by, element.address, access.kind, access.order);
  versions.back().releases = causality().releases_at(element.address);
}

void StaleGlobalValueInjector::strong_or_suspect_access(uint32_t warp,
                                                        const sim::StrongOrSuspectAccess& access) {
  if (access.kind == Kind::load) return;  // replace_loaded_values() handles strong loads
  ++state_->sequence;
  const bool strong = access.order.strong;
  const unsigned step = access.element != 0 ? access.element : access.bytes;
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    for (unsigned at = 0; at < access.bytes; at += step) {
      const uint64_t address = access.address[lane] + at;
      if (Element* const element = find_or_create_element(address, step, strong))
        write(*element, thread(warp, lane), access);
      else if (strong)
        order_untracked_access(thread(warp, lane), address, access);
    }
  }
}

// An access to a word without a history.
void StaleGlobalValueInjector::order_untracked_access(GridThread by, uint64_t address,
                                                      const sim::StrongOrSuspectAccess& access) {
  if (access.kind == Kind::load || access.kind == Kind::atom)
    state_->fences_at_unknown_read = state_->fences.size();
  causality().order_by_strong_access(by, address, access.kind, access.order);
}

bool StaleGlobalValueInjector::is_version_ordered_before(const ElementVersion& version,
                                                         GridThread thread) const {
  if (version.number == 0) return true;
  for (uint32_t left = version.lanes; left != 0; left &= left - 1) {
    GridThread by = version.write.by;
    by.thread = by.thread / 32 * 32 + static_cast<uint32_t>(__builtin_ctz(left));
    if (causality().is_ordered_before(by, version.stamp, thread)) return true;
  }
  return false;
}

size_t StaleGlobalValueInjector::choose_version(Element& element, GridThread by, bool polls) {
  const std::vector<ElementVersion>& versions = element.versions;
  const size_t newest = versions.size() - 1;
  if (newest == 0) return 0;
  NewestVersionReadByBlock& own = element.by_block[by.block];
  if (own.missed >= (polls ? kMissedByPolls : kMissedByLoads)) return newest;
  uint64_t least = std::max(own.number, element.least);
  for (size_t i = newest; i > 0 && versions[i].number > least; --i)
    if (is_version_ordered_before(versions[i], by)) least = versions[i].number;
  for (const VersionRead& read : element.reads)
    if (read.number > least && causality().is_ordered_before(read.by, read.stamp, by))
      least = read.number;
  size_t oldest = 0;
  while (versions[oldest].number < least) ++oldest;
  if (state_->choice == Choice::oldest) return oldest;
  return oldest + state_->random.below(static_cast<uint32_t>(newest - oldest + 1));
}

void StaleGlobalValueInjector::note_version_read(Element& element, GridThread by, uint64_t number) {
  NewestVersionReadByBlock& own = element.by_block[by.block];
  own.number = std::max(own.number, number);
  own.missed = number == element.versions.back().number ? 0 : own.missed + 1;
  const VersionRead now{by, causality().stamp(by), own.number};
  for (VersionRead& read : element.reads)
    if (read.by.block == by.block) {
      if (read.number < now.number) read = now;
      return;
    }
  if (element.reads.size() == kReads) {
    element.least = std::max(element.least, element.reads.front().number);
    element.reads.erase(element.reads.begin());
  }
  element.reads.push_back(now);
}

void StaleGlobalValueInjector::replace_loaded_value(Element& element, GridThread by,
                                                    const sim::StrongOrSuspectAccess& access,
                                                    std::byte* value) {
  const size_t chosen = choose_version(element, by, access.order.polls);
  ElementVersion& version = element.versions[chosen];
  version.fences_at_last_read = state_->fences.size();
  if (chosen + 1 < element.versions.size()) {
    std::memcpy(value, version.value.data(), element.bytes);
    const ElementVersion& next = element.versions[chosen + 1];
    LoadsThatMissedStore& missed = state_->missed[{access.site, next.write.site}];
    if (missed.count++ == 0)
      missed = {1,
                state_->sequence,
                access.order.polls,
                {by, access.site, Kind::load, static_cast<uint8_t>(element.bytes)},
                next.write,
                element.address};
    causality().observe_releases(by, version.releases, access.order);
  } else {
    causality().order_by_strong_access(by, element.address, Kind::load, access.order);
  }
  note_version_read(element, by, version.number);
}

void StaleGlobalValueInjector::replace_loaded_values(uint32_t warp,
                                                     const sim::StrongOrSuspectAccess& access,
                                                     std::byte* values) {
  ++state_->sequence;
  const unsigned step = access.element != 0 ? access.element : access.bytes;
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    for (unsigned at = 0; at < access.bytes; at += step) {
      const uint64_t address = access.address[lane] + at;
      if (Element* const element = find_or_create_element(address, step, true))
        replace_loaded_value(*element, thread(warp, lane), access, values + lane * 16 + at);
      else
        order_untracked_access(thread(warp, lane), address, access);
    }
  }
}

std::vector<Finding> StaleGlobalValueInjector::findings(const PositionOf& position) const {
  std::vector<LoadsThatMissedStore> all;
  for (const auto& [sites, missed] : state_->missed) all.push_back(missed);
  std::sort(all.begin(), all.end(),
            [](const LoadsThatMissedStore& a, const LoadsThatMissedStore& b) {
              return std::pair{a.polls, a.first} < std::pair{b.polls, b.first};
            });
  std::vector<Finding> found;
  for (const LoadsThatMissedStore& missed : all) {
    found.push_back(finding_of_pair(missed.store, missed.load, missed.address, order_->shape,
                                    memory_, position));
    found.back().stale = true;
    found.back().count = missed.count;
  }
  return found;
}

}  // namespace lab32::counters
