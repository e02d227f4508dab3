// Builds the data of pictures: from the result of a launch (device::LaunchResult), or from a
// swizzle. The renderers (text.h, json.cpp, the Python package) draw only what picture.h describes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/source_file.h"
#include "device/device.h"
#include "pictures/picture.h"

namespace lab32::pictures {

struct LaunchNames {
  std::string kernel, setting;
  std::string file;  // the name that line information gives `source`
  const SourceFile& source;
  // The host's name for `bytes` bytes at an address of device memory: "in[17]".
  std::function<std::string(uint64_t address, uint32_t bytes)> element;
};

// `run` must come from a launch with LaunchOptions::launch_detail. If it faulted, the result has
// only the fault or the race.
PicturedLaunch make_pictured_launch(const device::LaunchResult& run,
                                    const device::LaunchShape& shape, const LaunchNames& names);

// The picture of one request of a source line; and that of the recorded shuffles, nullopt if none
// were recorded.
PicturedLineRequests single_request_picture(const counters::LineDetail& line,
                                            const counters::RequestDetail& request,
                                            const LaunchNames& names);
std::optional<PicturedShuffles> recorded_shuffles_picture(const counters::LaunchDetail& seen,
                                                          const LaunchNames& names);
// The race between the two accesses of a finding.
PicturedRace race_of(const counters::Finding& finding, const LaunchNames& names);

// The sectors and wavefronts that a launch wastes, weighted by the time that each costs, to find
// the launch that wastes most.
uint64_t time_weighted_access_waste(const PicturedLaunch& launch);

// The cost of an access in words: "32 sectors where 4 would do".
std::string cost_of(const PicturedLineRequests& access, const PicturedRequest& request);

// ---- a swizzle: a table of groups of 2^M elements, with the new column of each group

// Swizzle<bits, base, shift> of CUTLASS: the bits YYY of the offset are XORed onto ZZZ.
struct CuteSwizzle {
  int bits = 0, base = 0, shift = 0;
  std::string name() const;
  uint64_t columns() const { return uint64_t{1} << (shift < 0 ? -shift : shift); }
  uint64_t rows() const { return uint64_t{1} << bits; }
};

// Parses "3,4,3". Throws Error for an invalid text, and for values with which CuTe's Swizzle<B, M,
// S> does not compile.
CuteSwizzle read_swizzle(const std::string& text);

uint32_t swizzled_offset(const CuteSwizzle& shape, uint32_t offset);

// The offsets of the first elements of the groups that are drawn, row by row; and the table that
// results if `to` gives the new offset of each.
std::vector<uint32_t> offsets_of_drawn_groups(const CuteSwizzle& shape);
SwizzleMapping mapping_of(const CuteSwizzle& shape, const std::vector<uint32_t>& to);

}  // namespace lab32::pictures
