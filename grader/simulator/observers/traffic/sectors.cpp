#include "simulator/observers/traffic/sectors.h"

#include <algorithm>
#include <cstdlib>

#include "simulator/observers/lanes.h"

namespace lab32::counters {
namespace {

uint64_t sector_of(uint64_t address) { return address / kSectorBytes; }

// The L1 set, one of four, in which a line (address / 128) is looked up. The set is linear over the
// line's bits; two of them choose within an aligned group of four lines. The coefficients are
// solved from the measured patterns, which reach bit 16 of the line, so lines 16 MB apart may
// differ in unknown bits. The two highest bits, in which the blocks of a cluster differ, are those
// of an H100 (histogram of data/measured/moves).
uint32_t l1_set_of_line(uint64_t line, bool in_cluster = false) {
  static constexpr uint8_t kFlip[17] = {1, 2, 3, 1, 2, 3, 2, 1, 2, 1, 3, 1, 3, 2, 2, 1, 2};
  uint32_t set = line & 3;
  for (uint32_t bit = 0; bit < (in_cluster ? 17 : 15); ++bit) {
    if ((line >> (bit + 2) & 1) != 0) set ^= kFlip[bit];
  }
  return set;
}

// Strides below a sector touch every sector between the first and the last lane; larger strides
// touch one sector for each lane.
uint32_t affine_sectors(const uint64_t* address, int64_t stride) {
  if (std::llabs(stride) >= kSectorBytes) return kWarpSize;
  const uint64_t a = sector_of(address[0]), b = sector_of(address[kWarpSize - 1]);
  return static_cast<uint32_t>(std::max(a, b) - std::min(a, b)) + 1;
}

// Counts sectors in lane order, where each change is a new sector as long as the sectors do not
// decrease. Returns 0 if they decrease.
uint32_t count_sectors_if_ascending(const uint64_t* address, uint32_t n) {
  uint32_t count = 1;
  for (uint32_t i = 1; i < n; ++i) {
    const uint64_t before = sector_of(address[i - 1]), now = sector_of(address[i]);
    if (now < before) return 0;
    count += now != before;
  }
  return count;
}

}  // namespace

uint32_t distinct_sectors(const uint64_t* address, uint32_t /*bytes*/, uint32_t mask) {
  if (mask == 0) return 0;
  int64_t stride;
  if (mask == kAllLanes && is_affine(address, &stride)) return affine_sectors(address, stride);
  uint64_t active[kWarpSize];
  const uint32_t n = pack_active_addresses(address, mask, active);
  if (const uint32_t count = count_sectors_if_ascending(active, n)) return count;

  // Permutations and swizzles touch few neighbouring sectors, which one bit each can represent.
  const auto [low, high] = std::minmax_element(active, active + n);
  const uint64_t first = sector_of(*low);
  if (sector_of(*high) - first < 64) {
    uint64_t touched = 0;
    for (uint32_t i = 0; i < n; ++i) touched |= uint64_t{1} << (sector_of(active[i]) - first);
    return static_cast<uint32_t>(__builtin_popcountll(touched));
  }
  HashSetOfUpTo64Keys sectors;
  for (uint32_t i = 0; i < n; ++i) sectors.add(sector_of(active[i]));
  return sectors.size();
}

uint32_t distinct_bytes(const uint64_t* address, uint32_t bytes, uint32_t mask) {
  int64_t stride;
  if (mask == kAllLanes && is_affine(address, &stride))
    return stride == 0 ? bytes : kWarpSize * bytes;
  uint64_t active[kWarpSize];
  const uint32_t n = pack_active_addresses(address, mask, active);
  std::sort(active, active + n);
  return static_cast<uint32_t>(std::unique(active, active + n) - active) * bytes;
}

// L1 looks up four lines at once, one in each of four sets. In each turn every set serves the line
// of its first waiting lane, but only those lanes of it that no earlier waiting lane of the set
// shadows. An earlier lane shadows a later one at the same offset within its line, on the same word
// or on another line's word. This explains the occasional additional sector in a scatter: a
// shadowed lane is served a turn later than its neighbours in the sector.
//
// Found on an H200, where it gives the sectors of all 383 atomic patterns in
// data/measured/counters, and the wavefronts and L2 requests measured with them. Only patterns in
// which a lane shadows another line's lane depend on the hash of lines to sets, which may differ on
// other GPUs.
uint32_t atomic_sectors(const uint64_t* address, uint32_t bytes, uint32_t mask, bool compare_swap,
                        bool in_cluster) {
  if (mask == 0) return 0;
  int64_t stride;
  if (mask == kAllLanes && is_affine(address, &stride)) {
    return stride == 0 ? kWarpSize : affine_sectors(address, stride);
  }
  uint32_t waiting[4] = {};
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
    waiting[l1_set_of_line(address[lane] / kLineBytes, in_cluster)] |= 1u << lane;
  }
  const uint64_t unit = compare_swap ? kLineBytes / 2 : kLineBytes;
  uint32_t sectors = 0;
  for (uint32_t& set : waiting) {
    while (set != 0) {
      const uint64_t served = address[__builtin_ctz(set)] / unit;
      uint64_t taken = 0;  // offsets within the line that are served in this turn, in elements
      uint32_t touched = 0;
      for (uint32_t left = set; left != 0; left &= left - 1) {
        const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
        const uint64_t place = uint64_t{1} << address[lane] % kLineBytes / std::max(bytes, 2u);
        if ((taken & place) != 0) continue;
        taken |= place;
        if (address[lane] / unit != served) continue;
        touched |= 1u << sector_of(address[lane]) % 4;
        set &= ~(1u << lane);
      }
      sectors += lane_count(touched);
    }
  }
  return sectors;
}

// The rule was found on an H200 with patterns of the source, of the destination and of both. It is
// exact for 113 of 113 patterns in data/measured/counters.
L1BypassCopySectors l1_bypass_copy_sectors(const uint64_t* from, const uint64_t* to, uint32_t bytes,
                                           uint32_t mask) {
  constexpr uint32_t kPlaceBits = 13;  // 256 KiB of shared memory have 2^13 sectors
  HashSetOfUpTo64Keys moved, theoretical;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
    const uint64_t place = to[lane] / kSectorBytes;
    const bool different_offset = (from[lane] - to[lane]) % kSectorBytes != 0;
    moved.add(from[lane] / kLineBytes << kPlaceBits | place);
    theoretical.add((from[lane] / kSectorBytes << 1 | different_offset) << kPlaceBits | place);
  }
  return {moved.size(), theoretical.size(), ideal_sectors(kWarpSize, bytes, mask)};
}

uint32_t ideal_sectors(uint32_t distinct, uint32_t bytes, uint32_t mask) {
  const uint32_t asked = lane_count(mask) * bytes;
  return std::min(distinct, (asked + kSectorBytes - 1) / kSectorBytes);
}

// The rules below were measured on an H100, pattern by pattern (data/measured/moves).

namespace {

using TexelKind = sim::WarpTexelAccess::Kind;

// The level of the array that contains the address; null if none does.
const sim::MipmapLevel* level_with_address(const sim::TexelArray& array, uint64_t address) {
  for (const sim::MipmapLevel& grid : array.levels) {
    if (array.linear) return &grid;
    const uint64_t slice = grid.slice_bytes != 0 ? grid.slice_bytes : grid.pitch * grid.height;
    if (address >= grid.begin && address < grid.begin + grid.slices * slice) return &grid;
  }
  return nullptr;
}

// Artificial block addresses take more room than the rows: 512 bytes for each byte of the array.
constexpr unsigned kBlockSpacing = 9;

uint64_t tiled_sector_address(const sim::MipmapLevel& grid, uint64_t address, unsigned texel) {
  const uint64_t at = address - grid.begin;
  const uint64_t slice = grid.slice_bytes != 0 ? at / grid.slice_bytes : 0;
  const uint64_t in_slice = at - slice * grid.slice_bytes;
  const uint64_t y = grid.pitch != 0 ? in_slice / grid.pitch : 0;
  const uint64_t x = in_slice - y * grid.pitch;
  const uint64_t across = (uint64_t{grid.width} * texel + 63) / 64;
  const uint64_t down = (uint64_t{grid.height} + 7) / 8;
  const uint64_t block = (slice * down + y / 8) * across + x / 64;
  const uint64_t inside = x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32;
  return (grid.begin << kBlockSpacing) + block * 512 + inside;
}

// The number of lanes whose accesses form one request.
unsigned lanes_per_request(const sim::WarpTexelAccess& access) {
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

// Linear filters in three dimensions or of 16-byte texels take several passes, whose shared sectors
// follow no known rule, and derivatives reach texels beyond those of their lanes. Reductions were
// not measured.
bool has_known_sectors(const sim::WarpTexelAccess& access) {
  if (access.object == nullptr || access.kind == TexelKind::gradient ||
      access.kind == TexelKind::reduce)
    return false;
  const sim::TextureObject& t = *access.object;
  if (access.kind == TexelKind::load || access.kind == TexelKind::store) return true;
  const sim::TextureSamplingSettings& s = t.sampler;
  if (access.kind == TexelKind::gather) return access.bytes == 4 || access.bytes == 16;
  const bool filters = s.linear && access.kind == TexelKind::fetch;
  return !filters || (access.bytes < 16 && (t.array.dimensions < 3 || t.array.cube));
}

}  // namespace

TexelSectorAddresses texel_sector_addresses(const sim::WarpTexelAccess& access) {
  TexelSectorAddresses found;
  found.known = has_known_sectors(access);
  if (access.object == nullptr) return found;
  // An index outside the array costs a request but no sector. Accesses to borders follow no known
  // rule.
  const bool by_index = access.kind == TexelKind::index || access.kind == TexelKind::load ||
                        access.kind == TexelKind::store;
  const unsigned together = lanes_per_request(access);
  for (unsigned first = 0; first < kWarpSize; first += together) {
    const uint32_t lanes = access.mask >> first & ((1u << together) - 1);
    if (lanes == 0) continue;
    const size_t begin = found.sectors.size();
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const unsigned lane = first + static_cast<unsigned>(__builtin_ctz(rest));
      const sim::MipmapLevel* level = nullptr;
      for (unsigned k = 0; k < access.count[lane]; ++k) {
        const uint64_t at = access.address[lane * sim::WarpTexelAccess::kMostTexels + k];
        if (at == 0) {  // outside
          found.known &= by_index;
          continue;
        }
        const sim::TexelArray& array = access.object->array;
        const sim::MipmapLevel* const grid = level_with_address(array, at);
        if (grid == nullptr || (level != nullptr && grid != level)) found.known = false;
        if (grid == nullptr) continue;
        level = grid;
        found.sectors.push_back(array.in_rows
                                    ? at / kSectorBytes * kSectorBytes
                                    : tiled_sector_address(*grid, at, array.format.bytes()));
      }
    }
    const auto from = found.sectors.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(from, found.sectors.end());
    found.sectors.erase(std::unique(from, found.sectors.end()), found.sectors.end());
    found.ends.push_back(static_cast<uint32_t>(found.sectors.size()));
  }
  return found;
}

// The rules below were measured on an H100, copy by copy (data/measured/moves).

namespace {

uint32_t sectors_between(uint64_t begin, uint64_t end) {
  return begin >= end ? 0
                      : static_cast<uint32_t>((end - 1) / kSectorBytes - begin / kSectorBytes + 1);
}

// Sectors of shared memory that a piece [begin, end) of a copy fills with zeros. Elements inside
// the tensor are moved in units of 16 bytes.
uint32_t zero_filled_sectors(const sim::ContiguousBulkMove& move, uint32_t begin, uint32_t end) {
  if (move.inside == 0) return sectors_between(move.shared + begin, move.shared + end);
  const uint32_t last = (move.before + move.inside + 15) / 16 * 16;
  return sectors_between(move.shared + begin, move.shared + std::min(end, move.before)) +
         sectors_between(move.shared + std::max(begin, last), move.shared + end);
}

}  // namespace

BulkSectors bulk_sectors(const sim::ContiguousBulkMove& move) {
  BulkSectors found;
  using Kind = sim::ContiguousBulkMove::Kind;
  const bool many = move.blocks != 0;
  // A multicast of a box partly outside the tensor follows another, unknown rule. Reductions were
  // not measured.
  found.known = move.kind != Kind::to_block && move.kind != Kind::reduce && !move.steps &&
                !(many && move.inside < move.bytes);
  for (uint32_t done = 0; done < move.bytes;) {
    uint32_t piece = std::min(static_cast<uint32_t>(kLineBytes - (move.shared + done) % kLineBytes),
                              move.bytes - done);
    if (many)
      piece =
          std::min(piece, static_cast<uint32_t>(kLineBytes - (move.global + done) % kLineBytes));
    const uint32_t begin = std::max(done, move.before),
                   end = std::min(done + piece, move.before + move.inside);
    uint32_t sectors = 0;
    if (begin < end)
      sectors = sectors_between(move.global + begin - move.before, move.global + end - move.before);
    if (move.kind == Kind::load) sectors += zero_filled_sectors(move, done, done + piece);
    found.sectors += many ? std::max(sectors, 2u) : sectors;
    found.lines += sectors > 0;
    done += piece;
  }
  return found;
}

}  // namespace lab32::counters
