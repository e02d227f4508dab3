// Remembers the effects of launches (LaunchMemo).
#include <algorithm>
#include <chrono>

#include "device/sim_device.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {
namespace {

// The speed of the last comparison, in bytes of memory per second.
double& memory_compare_bytes_per_second() {
  static double bytes_per_second = 4e9;
  return bytes_per_second;
}

// Digests of all allocations. They remain valid until memory changes, except for memory that the
// host writes without a call.
std::optional<std::vector<sim::AllocationDigest>>& last_digests() {
  static std::optional<std::vector<sim::AllocationDigest>> digest;
  return digest;
}

// The valid digest of an allocation; nullptr for memory that the host writes without a call.
const sim::AllocationDigest* digest_of(const sim::Allocation& allocation) {
  if (!last_digests() || allocation.shared_with_host) return nullptr;
  const auto at = std::lower_bound(
      last_digests()->begin(), last_digests()->end(), allocation.index,
      [](const sim::AllocationDigest& d, uint32_t index) { return d.allocation < index; });
  return at != last_digests()->end() && at->allocation == allocation.index ? &*at : nullptr;
}

// The last fill of an allocation, and the allocation's digest after it.
struct LastFillWithDigest {
  LaunchMemo::Fill fill;
  uint64_t digest;
};
std::map<uint32_t, LastFillWithDigest>& last_fills_by_allocation() {
  static std::map<uint32_t, LastFillWithDigest> known;
  return known;
}

// The bytes that the next comparison has to read.
uint64_t bytes_next_comparison_reads(const sim::Memory& memory) {
  if (!last_digests()) return sim::bytes_to_digest(memory);
  uint64_t bytes = 0;
  for (const auto& known : *last_digests())
    if (const auto& a = *memory.allocations()[known.allocation]; a.shared_with_host)
      bytes += (a.end - a.begin) * 9 / 8;
  return bytes;
}

std::vector<sim::AllocationDigest> digest_memory(const sim::Memory& memory) {
  if (last_digests()) {
    for (sim::AllocationDigest& known : *last_digests())
      if (const sim::Allocation& a = *memory.allocations()[known.allocation]; a.shared_with_host)
        known = sim::digest(memory, a, device::requested_host_threads());
    return *last_digests();
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::vector<sim::AllocationDigest> digest = sim::digest(memory, device::requested_host_threads());
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const auto bytes = static_cast<double>(sim::bytes_to_digest(memory));
  if (bytes > 1e6 && seconds > 0) memory_compare_bytes_per_second() = bytes / seconds;
  last_digests() = digest;
  return digest;
}

}  // namespace

void LaunchMemo::forget_digests() { last_digests().reset(); }
bool LaunchMemo::has_digests() { return last_digests().has_value(); }

bool LaunchMemo::is_known_filled_with(const sim::Allocation& allocation, const Fill& fill) {
  const sim::AllocationDigest* const found = digest_of(allocation);
  const auto known = last_fills_by_allocation().find(allocation.index);
  return found != nullptr && known != last_fills_by_allocation().end() &&
         known->second.fill == fill && known->second.digest == found->digest;
}

void LaunchMemo::record_fill(const sim::Allocation& allocation, const Fill& fill) {
  if (const sim::AllocationDigest* const found = digest_of(allocation))
    last_fills_by_allocation().insert_or_assign(allocation.index,
                                                LastFillWithDigest{fill, found->digest});
}

bool LaunchMemo::RememberedLaunch::comparison_is_worthwhile(const sim::Memory& memory) const {
  // Limits of a comparison's cost, as a part of the time spent and as a part of a run's time. The
  // first limit is lower, because two comparisons are wasted if memory turns out to differ.
  constexpr double kPartOfSpent = 0.05, kPartOfRun = 0.5;
  // The list of allocations grows with every allocation of the program, and so does the cost of a
  // comparison.
  constexpr size_t kMost = 20'000;
  if (seconds_ == 0 || memory.allocations().size() >= kMost) return false;
  const double look =
      static_cast<double>(bytes_next_comparison_reads(memory)) / memory_compare_bytes_per_second();
  return before_ ? look < seconds_ * kPartOfRun : look < seconds_since_mismatch_ * kPartOfSpent;
}

std::optional<uint64_t> LaunchMemo::RememberedLaunch::replay(sim::Memory& memory) {
  found_.reset();
  if (!comparison_is_worthwhile(memory)) return std::nullopt;
  found_ = digest_memory(memory);
  if (!before_ || *found_ != *before_) return std::nullopt;
  for (const auto& [allocation, piece] : effects_)
    memory.put_back(*memory.allocations()[allocation], piece);
  last_digests() = after_;
  return warp_instructions_;
}

bool LaunchMemo::RememberedLaunch::remember_result(const sim::Memory& memory) {
  // The limit of bytes stored for a launch, such that restoring them takes at most a tenth of the
  // launch's time.
  constexpr double kAlways = 64 << 20, kPerSecond = 256 << 20, kMost = 1 << 30;
  const auto most = static_cast<uint64_t>(std::min(kAlways + kPerSecond * seconds_, kMost));
  forget_digests();
  const Digest after = digest_memory(memory);
  if (after.size() != found_->size()) return false;
  effects_.clear();
  uint64_t kept = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] == (*found_)[i]) continue;
    const sim::Allocation& changed = *memory.allocations()[after[i].allocation];
    kept += changed.end - changed.begin;
    if (kept > most) return false;
    effects_.emplace_back(changed.index, memory.take_snapshot(changed));
  }
  after_ = after;
  return true;
}

void LaunchMemo::RememberedLaunch::record_run(const sim::Memory& memory,
                                              const device::LaunchResult& run, double seconds,
                                              bool silent) {
  // The first run includes the preparation of the kernel, so the shortest run is used.
  seconds_ = seconds_ == 0 ? seconds : std::min(seconds_, seconds);
  seconds_since_mismatch_ += seconds;
  forget_digests();
  if (!found_) return;
  const bool in_vain = before_.has_value();
  before_.reset();
  effects_.clear();
  seconds_since_mismatch_ = 0;
  if (in_vain || !silent || !run.warp_instructions || !remember_result(memory)) return;
  before_ = std::move(found_);
  warp_instructions_ = *run.warp_instructions;
  hazards_ = run.hazards;
}

LaunchMemo::RememberedLaunch& LaunchMemo::launch_of_key(const std::string& key) {
  // A program whose launches all differ gains nothing, so the number of entries is limited.
  constexpr size_t kMost = 1024;
  if (known_.size() >= kMost && known_.count(key) == 0) known_.clear();
  return known_[key];
}

}  // namespace lab32::cudart
