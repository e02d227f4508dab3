// The modelled clock of a device, on which all work lies one behind the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "device/device.h"
#include "simulator/core/memory/memory.h"
#include "simulator/timing/profile.h"

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
// Alike but for which part of the same arrays each works on, as where a loop deals pieces to
// streams: addresses count as their allocation's, but for where they lie in a sector of L2's lines.
std::string pieces_key(const std::string& symbol, const device::Shape& shape,
                       std::vector<device::Arg> arguments, const sim::Memory& memory);

class KnownTimes {
 public:
  struct Found {
    KnownTime* time;
    bool model;  // or it is given what is known by now
  };
  // By launch_key() and pieces_key(). Of launches that are alike but for their pieces only those of
  // the first are modelled.
  Found of(const std::string& launch, const std::string& pieces);

 private:
  std::map<std::string, KnownTime> known_;
  std::map<std::string, std::string> first_;  // by pieces_key(): launch_key()
};

}  // namespace lab32::cudart
