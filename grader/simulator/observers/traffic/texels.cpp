// Measured on an H100, pattern by pattern: data/measured/moves.
#include "simulator/observers/traffic/texels.h"

#include <algorithm>

#include "simulator/observers/lanes.h"
#include "simulator/observers/traffic/sectors.h"

namespace lab32::counters {
namespace {

using TexelKind = sim::TexelAccess::Kind;

// Which level of the array holds an element; null: none of them.
const sim::TexelGrid* grid_of(const sim::TexelArray& array, uint64_t address) {
  for (const sim::TexelGrid& grid : array.levels) {
    if (array.linear) return &grid;
    const uint64_t slice = grid.slice_bytes != 0 ? grid.slice_bytes : grid.pitch * grid.height;
    if (address >= grid.begin && address < grid.begin + grid.slices * slice) return &grid;
  }
  return nullptr;
}

// Blocks take more room than the rows that they hold, so they are kept further apart: a row of one
// byte has 512 there.
constexpr unsigned kRoom = 9;

uint64_t sector_in_blocks(const sim::TexelGrid& grid, uint64_t address, unsigned texel) {
  const uint64_t at = address - grid.begin;
  const uint64_t slice = grid.slice_bytes != 0 ? at / grid.slice_bytes : 0;
  const uint64_t in_slice = at - slice * grid.slice_bytes;
  const uint64_t y = grid.pitch != 0 ? in_slice / grid.pitch : 0;
  const uint64_t x = in_slice - y * grid.pitch;
  const uint64_t across = (uint64_t{grid.width} * texel + 63) / 64;
  const uint64_t down = (uint64_t{grid.height} + 7) / 8;
  const uint64_t block = (slice * down + y / 8) * across + x / 64;
  const uint64_t inside = x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32;
  return (grid.begin << kRoom) + block * 512 + inside;
}

// Lanes of one request.
unsigned lanes_together(const sim::TexelAccess& access) {
  switch (access.kind) {
    case TexelKind::index:
      return access.bytes == 16 ? 4 : 8;
    case TexelKind::load:
    case TexelKind::store: {
      const sim::TexelArray& array = access.object->array;
      return array.dimensions == 3 || array.layered || array.cube ? 4 : 8;
    }
    default:
      return 4;
  }
}

// Filters of three dimensions or of texels of 16 bytes take several passes that share what they
// need in a way that was not found, and derivatives reach further than their lanes' texels.
// Reductions were not measured.
bool has_rule(const sim::TexelAccess& access) {
  if (access.object == nullptr || access.kind == TexelKind::gradient ||
      access.kind == TexelKind::reduce)
    return false;
  const sim::TextureObject& t = *access.object;
  if (access.kind == TexelKind::load || access.kind == TexelKind::store) return true;
  const sim::Sampler& s = t.sampler;
  if (access.kind == TexelKind::gather) return access.bytes == 4 || access.bytes == 16;
  const bool filters = s.linear && access.kind == TexelKind::fetch;
  return !filters || (access.bytes < 16 && (t.array.dimensions < 3 || t.array.cube));
}

}  // namespace

TexelRequests texel_requests(const sim::TexelAccess& access) {
  TexelRequests found;
  found.known = has_rule(access);
  if (access.object == nullptr) return found;
  // What an index finds outside costs a request its turn, and no sector. Of borders no rule is
  // known.
  const bool by_index = access.kind == TexelKind::index || access.kind == TexelKind::load ||
                        access.kind == TexelKind::store;
  const unsigned together = lanes_together(access);
  for (unsigned first = 0; first < kWarpSize; first += together) {
    const uint32_t lanes = access.mask >> first & ((1u << together) - 1);
    if (lanes == 0) continue;
    const size_t begin = found.sectors.size();
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const unsigned lane = first + static_cast<unsigned>(__builtin_ctz(rest));
      const sim::TexelGrid* level = nullptr;
      for (unsigned k = 0; k < access.count[lane]; ++k) {
        const uint64_t at = access.address[lane * sim::TexelAccess::kMostTexels + k];
        if (at == 0) {  // outside
          found.known &= by_index;
          continue;
        }
        const sim::TexelArray& array = access.object->array;
        const sim::TexelGrid* const grid = grid_of(array, at);
        if (grid == nullptr || (level != nullptr && grid != level)) found.known = false;
        if (grid == nullptr) continue;
        level = grid;
        found.sectors.push_back(array.in_rows ? at / kSectorBytes * kSectorBytes
                                              : sector_in_blocks(*grid, at, array.format.bytes()));
      }
    }
    const auto from = found.sectors.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(from, found.sectors.end());
    found.sectors.erase(std::unique(from, found.sectors.end()), found.sectors.end());
    found.ends.push_back(static_cast<uint32_t>(found.sectors.size()));
  }
  return found;
}

}  // namespace lab32::counters
