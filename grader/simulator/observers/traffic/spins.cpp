#include "simulator/observers/traffic/spins.h"

#include "simulator/observers/lanes.h"

namespace lab32::counters {

std::unique_ptr<sim::Observer> SpinObserver::fork() const {
  return std::make_unique<SpinObserver>();
}

void SpinObserver::merge(sim::Observer& observer) {
  const auto& other = static_cast<SpinObserver&>(observer);
  lanes_ += other.lanes_;
  meetings_ += other.meetings_;
  loops_ += other.loops_;
  in_last_ += other.in_last_;
}

void SpinObserver::block_begin(const sim::BlockInfo& block) {
  words_.clear();
  rounds_.assign((block.threads + 31) / 32, 0);
  trying_.assign(rounds_.size(), 0);
}

void SpinObserver::access(uint32_t warp, const sim::Access& access) {
  if (access.form != sim::AtomicForm::spin_swap || access.kind != sim::AccessKind::atom) return;
  ++rounds_[warp];
  if (!access.again) end_loop(warp);
  trying_[warp] = lane_count(access.mask);
  if (access.again) return;
  for (uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    Word& word = words_[access.address[__builtin_ctz(rest)]];
    ++word.all;
    ++word.of_warp[warp];
  }
}

void SpinObserver::block_barrier(const uint32_t* /*lane_mask_of_warp*/, uint32_t /*warps*/,
                                 bool /*whole_block*/) {
  end_phase();
}

void SpinObserver::end_loop(uint32_t warp) {
  loops_ += trying_[warp] > 0;
  in_last_ += trying_[warp];
  trying_[warp] = 0;
}

void SpinObserver::end_phase() {
  if (words_.empty()) return;
  for (uint32_t warp = 0; warp < trying_.size(); ++warp) end_loop(warp);
  uint64_t rounds = 0;
  for (const uint64_t of_warp : rounds_) rounds += of_warp;
  for (const auto& [address, word] : words_) {
    lanes_ += word.all;
    for (const auto& [warp, updates] : word.of_warp)
      if (word.all > updates)
        meetings_ += static_cast<double>(updates) * (word.all - updates) /
                     static_cast<double>(rounds - rounds_[warp]);
  }
  words_.clear();
  rounds_.assign(rounds_.size(), 0);
}

}  // namespace lab32::counters
