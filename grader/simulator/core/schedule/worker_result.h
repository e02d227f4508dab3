// What the blocks that one Block object has run bring home.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/schedule/block.h"

namespace lab32::sim {

// The runtime's FIFO of printf output holds 1 MiB; what comes after is dropped here. (There it
// pushes out the oldest.)
constexpr size_t kOutputLimit = 1 << 20;

struct WorkerResult {
  explicit WorkerResult(const std::vector<Observer*>& like) {
    for (Observer* o : like) observers.push_back(o->fork());
  }
  std::vector<Observer*> own_observers() const {
    std::vector<Observer*> own;
    for (const auto& o : observers) own.push_back(o.get());
    return own;
  }
  void keep_output(Block& block) {
    std::string text = block.take_output();
    // Blocks come in increasing order: with more than this before it, a block's text is beyond the
    // limit, and that some is lost is known without it.
    if (text.empty() || output_bytes > kOutputLimit) return;
    output_bytes += text.size();
    if (output_bytes > kOutputLimit) block.mute();
    output.emplace(block.info().index, std::move(text));
  }
  // Once, when no more blocks come.
  void take(Block& block) {
    block.settle_runs();
    tally = std::move(block.tally());
    longest_warp = block.longest_warp();
    busiest_warp = block.busiest_warp();
    longest_wait = block.longest_wait();
    warps = std::move(block.warp_tally());
    bad_access = block.first_bad_access();
    odd_amount = block.odd_amount();
  }

  std::vector<std::unique_ptr<Observer>> observers;
  std::vector<IssueTally> tally;
  std::map<uint64_t, std::string> output;
  size_t output_bytes = 0;
  std::exception_ptr error;  // neither trap nor order: the machine's fault, or ours
  std::optional<Trap> trap, bad_access;
  std::optional<OddAmount> odd_amount;
  uint64_t longest_warp = 0, busiest_warp = 0, longest_wait = 0;
  WarpTally warps;
};

}  // namespace lab32::sim
