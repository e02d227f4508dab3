// The modelled clock of a device, on which all work lies one behind the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/device.h"
#include "simulator/model/profile.h"

namespace lab32::cudart {

class Timeline {
 public:
  // Nothing begins before the program has asked for it: `host`, to which it has waited, is that of
  // all devices. It must outlive the timeline.
  explicit Timeline(double& host) : host_(host) {}

  double now() const { return std::max(now_, host_); }  // seconds
  void advance(double seconds) { now_ = now() + seconds; }
  void wait_for(double at) { now_ = std::max(now(), at); }
  // The program waits until all is done.
  void wait() { host_ = now(); }

 private:
  double& host_;
  double now_ = 0;
};

// Within device memory, over the host's link, between two devices, and by way of the host where
// neither has access to the other.
enum class Route : uint8_t { memory, host, peer, staged };

// Seconds.
double copy_seconds(const model::Profile& profile, uint64_t bytes, Route route);
double fill_seconds(const model::Profile& profile, uint64_t bytes);
// The model's prediction where the launch has one, else its sectors over peak bandwidth.
double launch_seconds(const model::Profile& profile, const device::Run& run);

// What is known of a launch that a program repeats, as loops that take the time do. The caches are
// modelled for the first (which may find them cold) and for the second; those that follow are given
// the second's time, in proportion to the instructions that they issue. Modelling each costs
// several times as much as running it.
class KnownTime {
 public:
  bool settled() const { return modelled_ >= 2; }
  // Of a launch, modelled unless settled().
  double seconds(const model::Profile& profile, const device::Run& run);

 private:
  int modelled_ = 0;
  double seconds_ = 0;
  uint64_t warp_instructions_ = 0;
};

// Alike: kernel, shape and arguments, bit by bit.
std::string launch_key(const std::string& symbol, const device::Shape& shape,
                       const std::vector<device::Arg>& arguments);

class KnownTimes {
 public:
  // `key`: launch_key().
  KnownTime& of(const std::string& key);

 private:
  std::map<std::string, KnownTime> known_;
};

}  // namespace lab32::cudart
