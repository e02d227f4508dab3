#include "grading/spending.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace lab32::grading {
namespace {

// The largest launch of a reference solution issues 18 million instructions, all those of a lab 200
// million. They take a second and five.
constexpr uint64_t kLaunchInstructions = 200'000'000, kLabInstructions = 1'000'000'000;

// Sanitizers make a launch that much slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kSlower = 40;
#else
constexpr double kSlower = 1;
#endif
constexpr double kLaunchSeconds = 8 * kSlower, kLabSeconds = 20 * kSlower;
// Of a block's threads together: 64 KiB for each of 1024.
constexpr uint64_t kBlockLocalBytes = 64 << 20;
// With its compilation.
constexpr double kWholeSeconds = 28 * kSlower;

}  // namespace

Spending::Spending(double seconds)
    : seconds_(std::clamp(kWholeSeconds - seconds, 1.0, kLabSeconds)) {}

void Spending::limit(device::LaunchOptions& options) const {
  if (used_up()) return;
  options.launch_budget = std::min(kLaunchInstructions, kLabInstructions - all_.instructions);
  options.block_local_bytes = kBlockLocalBytes;
  options.seconds = std::min(kLaunchSeconds, seconds_ - all_.seconds);
}

bool Spending::used_up() const {
  return all_.instructions >= kLabInstructions || all_.seconds >= seconds_;
}

void Spending::add(const std::string& check, uint64_t instructions, double seconds) {
  for (Spent* spent : {&all_, &by_check_[check]}) {
    spent->instructions += instructions;
    spent->seconds += seconds;
  }
}

std::string Spending::why() const {
  const bool instructions = all_.instructions >= kLabInstructions;
  const auto most =
      std::max_element(by_check_.begin(), by_check_.end(), [&](const auto& a, const auto& b) {
        return instructions ? a.second.instructions < b.second.instructions
                            : a.second.seconds < b.second.seconds;
      });
  const std::string all = instructions ? grouped(kLabInstructions) + " instructions"
                                       : fmt::format("{:.0f} seconds of simulation", seconds_);
  return fmt::format(
      "Not launched: the launches before this check have used up the {} that a lab has, most of "
      "them "
      "in \"{}\".",
      all, most == by_check_.end() ? "" : most->first);
}

}  // namespace lab32::grading
