// From what a launch gave (device::Run) to the facts of its pictures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/source_file.h"
#include "device/device.h"
#include "pictures/picture.h"

namespace lab32::pictures {

struct Names {
  std::string kernel, setting;
  std::string file;  // as positions name it: `source`'s
  const SourceFile& source;
  // What the host calls an address in device memory: "in[17]"; for an access of so many bytes.
  std::function<std::string(uint64_t address, uint32_t bytes)> element;
};

// `run` must come from a launch with LaunchOptions::close_up; of one that faulted there is the
// fault, or the race, alone.
Launch make(const device::Run& run, const device::Shape& shape, const Names& names);

// How much the launch wasted, in parts of a second that are all alike: to find the worst launch.
uint64_t waste(const Launch& launch);

// What the device's numbers of an access say: "32 sectors where 4 would do".
std::string cost_of(const Access& access, const Request& request);

}  // namespace lab32::pictures
