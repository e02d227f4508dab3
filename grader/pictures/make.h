// From what a launch gave (device::Run), or from a swizzle, to the facts of its pictures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

// ---- a swizzle: a table of groups of 2^M elements, and the column where each of them lies

// Swizzle<bits, base, shift>, as CUTLASS has it: YYY, bits of the offset, are XORed onto ZZZ.
struct SwizzleShape {
  int bits = 0, base = 0, shift = 0;
  std::string name() const;
  uint64_t columns() const { return uint64_t{1} << (shift < 0 ? -shift : shift); }
  uint64_t rows() const { return uint64_t{1} << bits; }
};

// "3,4,3". Throws Error where it is none, or where CuTe's Swizzle<B, M, S> does not compile.
SwizzleShape read_swizzle(const std::string& text);

uint32_t swizzled(const SwizzleShape& shape, uint32_t offset);

// The offsets at which the groups begin that are drawn, row by row; and the table of what `to` says
// of them.
std::vector<uint32_t> group_offsets(const SwizzleShape& shape);
Mapping mapping_of(const SwizzleShape& shape, const std::vector<uint32_t>& to);

}  // namespace lab32::pictures
