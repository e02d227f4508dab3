#include "cudart/timeline.h"

namespace lab32::cudart {
namespace {

// PCI Express 5.0 x16, each direction: 32 GT/s x 16 lanes x 128/130, in bytes.
constexpr double kLinkBytesPerSecond = 63e9;

}  // namespace

double copy_seconds(const model::Profile& profile, uint64_t bytes, bool link) {
  // Within device memory every byte is read and written.
  const double rate = link ? kLinkBytesPerSecond : profile.time.dram_bytes_per_second / 2;
  return profile.time.warm_launch_seconds + static_cast<double>(bytes) / rate;
}

double fill_seconds(const model::Profile& profile, uint64_t bytes) {
  return profile.time.warm_launch_seconds +
         static_cast<double>(bytes) / profile.time.dram_bytes_per_second;
}

double launch_seconds(const model::Profile& profile, const device::Run& run) {
  if (run.predicted) return run.predicted->seconds;
  const uint64_t sectors = run.counters ? run.counters->l2_sectors : 0;
  return profile.time.warm_launch_seconds +
         static_cast<double>(sectors) * 32 / profile.time.dram_bytes_per_second;
}

}  // namespace lab32::cudart
