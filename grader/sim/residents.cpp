#include "sim/residents.h"

#include <fmt/format.h>

#include <algorithm>

namespace lab32::sim {
namespace {

// Instructions of a warp's turn once blocks are known to wait for each other: few, since a turn
// that only polls is lost.
constexpr uint64_t kPollSlice = 200;
// So many rounds in which nobody did a deed: 2 million instructions of each polling warp.
constexpr uint64_t kIdleRounds = 10'000;

bool is_deed(const KernelProgram& program, const Site& site) {
  using ptx::OpId;
  const Inst& in = program.functions[site.function].code[site.index];
  switch (site.ptx->op->id) {
    case OpId::st:
    case OpId::red:
    case OpId::red_vector:
    case OpId::bar_sync:
    case OpId::bar_arrive:
    case OpId::barrier_sync:
    case OpId::barrier_arrive:
    case OpId::exit:
    case OpId::ret:
      return true;
    case OpId::atom:
      return in.dst[0].bytes == 0;  // whoever reads the result may be polling by it
    default:
      return false;
  }
}

}  // namespace

Residents::Residents(const LaunchContext& launch, const std::vector<Observer*>& observers)
    : launch_(launch), observers_(observers) {
  for (size_t s = 0; s < launch.program->sites.size(); ++s)
    if (is_deed(*launch.program, launch.program->sites[s]))
      deed_sites_.push_back(static_cast<uint32_t>(s));
  // All blocks of a cooperative launch are expected to meet.
  if (launch.grid_workspace != 0) slice_ = kPollSlice;
}

void Residents::go_on(Slot& slot) {
  try {
    slot.busy = slot.block.go_on(slice_) == Block::State::polls;
  } catch (Trap& trap) {
    trap.block = slot.block.info().index;
    slot.share.trap = std::move(trap);
  }
  if (!slot.busy || slot.share.trap) slot.share.keep_output(slot.block);
}

Residents::Slot& Residents::free_slot() {
  for (auto& slot : slots_)
    if (!slot->busy) return *slot;
  slots_.push_back(std::make_unique<Slot>(launch_, observers_));
  return *slots_.back();
}

void Residents::run(uint64_t first) {
  run_blocks(first);
  for (auto& slot : slots_) slot->share.take(slot->block);
}

// Until all blocks have ended, or one has trapped.
void Residents::run_blocks(uint64_t first) {
  const uint64_t blocks = launch_.grid.count();
  const uint64_t room = std::max<uint64_t>(launch_.resident_blocks, 1);
  uint64_t next = first, idle = 0, deeds_before = 0;
  while (next < blocks || !residents_.empty()) {
    bool moved = false;
    while (next < blocks && residents_.size() < room) {
      Slot& slot = free_slot();
      slot.block.begin(next++);
      moved = true;
      go_on(slot);
      if (slot.share.trap) return;
      if (!slot.busy) continue;
      residents_.push_back(&slot);
      slice_ = kPollSlice;
    }
    for (size_t i = 0; i < residents_.size();) {
      Slot& slot = *residents_[i];
      go_on(slot);
      if (slot.share.trap) return;
      if (slot.busy) {
        ++i;
      } else {
        residents_.erase(residents_.begin() + static_cast<std::ptrdiff_t>(i));
        moved = true;
      }
    }
    const uint64_t now = deeds();
    idle = moved || now != deeds_before ? 0 : idle + 1;
    deeds_before = now;
    if (idle > kIdleRounds) return nobody_moves(next);
  }
}

uint64_t Residents::deeds() const {
  uint64_t n = 0;
  for (const auto& slot : slots_)
    for (uint32_t site : deed_sites_) n += slot->block.tally()[site].warps;
  return n;
}

void Residents::nobody_moves(uint64_t next) {
  Slot& slot = *residents_.front();
  const uint64_t blocks = launch_.grid.count();
  std::string who = residents_.size() == 1
                        ? fmt::format("block {} waits", slot.block.info().index)
                        : fmt::format("{} blocks, the first of them block {}, wait",
                                      residents_.size(), slot.block.info().index);
  const std::string late =
      next == blocks ? ""
                     : fmt::format(
                           " (no more than {} fit the device at once: block {} starts when "
                           "one of them ends)",
                           residents_.size(), next);
  slot.share.trap = Trap{"budget",
                         fmt::format("{} for something in device memory that none of them will "
                                     "write{}",
                                     who, late),
                         slot.block.polling_site(), true, slot.block.info().index};
  for (Slot* s : residents_) s->share.keep_output(s->block);
}

std::vector<Share*> Residents::shares() {
  std::vector<Share*> all;
  for (auto& slot : slots_) all.push_back(&slot->share);
  return all;
}

}  // namespace lab32::sim
