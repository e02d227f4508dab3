#include "runtime/cudart/timeline.h"

#include <algorithm>
#include <cstring>

namespace lab32::cudart {
namespace {

// PCI Express 5.0 x16, each direction: 32 GT/s x 16 lanes x 128/130, in bytes.
constexpr double kLinkBytesPerSecond = 63e9;

// Two H100 joined by 18 NVLinks, each direction (data/measured/h100x2-peers.csv).
constexpr double kPeerBytesPerSecond = 392e9, kPeerSeconds = 7.4e-6;
constexpr double kStagedBytesPerSecond = 36.4e9, kStagedSeconds = 18.9e-6;

}  // namespace

double copy_seconds(const model::Profile& profile, uint64_t bytes, Route route) {
  const auto seconds = [&](double first, double rate) {
    return first + static_cast<double>(bytes) / rate;
  };
  const double first = profile.time.warm_launch_seconds;
  switch (route) {
    case Route::host:
      return seconds(first, kLinkBytesPerSecond);
    case Route::peer:
      return seconds(kPeerSeconds, kPeerBytesPerSecond);
    case Route::staged:
      return seconds(kStagedSeconds, kStagedBytesPerSecond);
    case Route::memory:
      break;
  }
  // Every byte is read and written.
  return seconds(first, profile.time.dram_bytes_per_second / 2);
}

double fill_seconds(const model::Profile& profile, uint64_t bytes) {
  return profile.time.warm_launch_seconds +
         static_cast<double>(bytes) / profile.time.dram_bytes_per_second;
}

double launch_seconds(const model::Profile& profile, const device::Run& run) {
  if (run.predicted) return run.predicted->seconds;
  uint64_t sectors = 0;
  if (run.counters) {
    const counters::OtherWays& w = run.counters->other;
    sectors = run.counters->l2_sectors + w.texture.sectors + w.surface_load.sectors +
              w.surface_store.sectors + w.bulk_load.sectors + w.bulk_store.sectors;
  }
  return profile.time.warm_launch_seconds +
         static_cast<double>(sectors) * 32 / profile.time.dram_bytes_per_second;
}

double KnownTime::seconds(const model::Profile& profile, const device::Run& run) {
  // Of textures, clusters and their like there is no prediction, but there are sectors.
  const bool modelled = !run.fault && (run.predicted || run.counters);
  if (modelled) {
    ++modelled_;
    seconds_ = launch_seconds(profile, run);
    warp_instructions_ = run.warp_instructions.value_or(0);
  }
  if (modelled || run.fault || !run.warp_instructions || warp_instructions_ == 0)
    return launch_seconds(profile, run);
  const double overhead = std::min(seconds_, profile.time.warm_launch_seconds);
  return overhead + (seconds_ - overhead) * static_cast<double>(*run.warp_instructions) /
                        static_cast<double>(warp_instructions_);
}

std::string launch_key(const std::string& symbol, const device::Shape& shape,
                       const std::vector<device::Arg>& arguments) {
  std::string key = symbol + '\0';
  const auto add = [&key](const void* bytes, size_t size) {
    key.append(static_cast<const char*>(bytes), size);
  };
  add(&shape, sizeof shape);
  for (const device::Arg& argument : arguments)
    add(argument.bytes().data(), argument.bytes().size());
  return key;
}

std::string pieces_key(const std::string& symbol, const device::Shape& shape,
                       std::vector<device::Arg> arguments, const sim::Memory& memory) {
  constexpr uint64_t kAligned = 256;  // as cudaMalloc's, so that lines and sectors are cut alike
  for (device::Arg& argument : arguments) {
    std::vector<std::byte> bytes = argument.bytes();
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, &bytes[at], sizeof word);
      const sim::Allocation* const in = memory.holds(word) ? memory.find(word) : nullptr;
      if (in == nullptr) continue;
      word = in->begin + (word - in->begin) % kAligned;
      std::memcpy(&bytes[at], &word, sizeof word);
    }
    argument = device::Arg::of_bytes(bytes.data(), bytes.size());
  }
  return launch_key(symbol, shape, arguments);
}

KnownTimes::Found KnownTimes::of(const std::string& launch, const std::string& pieces) {
  // Programs whose launches all differ gain nothing from being remembered.
  constexpr size_t kMost = 4096;
  if (first_.size() >= kMost && first_.count(pieces) == 0) {
    known_.clear();
    first_.clear();
  }
  const std::string& first = first_.try_emplace(pieces, launch).first->second;
  KnownTime& time = known_[first];
  return {&time, first == launch && !time.settled()};
}

}  // namespace lab32::cudart
