// PossibleRaceDetector: which words of device memory become suspect.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "simulator/core/memory/memory.h"
#include "simulator/core/memory/race_filter.h"
#include "simulator/core/warp/instruction.h"

using namespace lab32;
using sim::RaceAccess;

namespace {

constexpr uint64_t kBase = sim::kGlobalBase + 4096;

struct Map {
  sim::PossibleRaceDetector map{1 << 20};
  // Lane 0 of the warp makes one access.
  bool record_access(RaceAccess how, const sim::WarpEpoch& who, uint64_t offset,
                     unsigned bytes = 4) {
    const std::array<uint64_t, 32> address{kBase + offset};
    return map.record_access(how, who, address.data(), 1, bytes);
  }
  bool suspect(uint64_t offset) const { return map.is_suspect(kBase + offset); }
};

}  // namespace

TEST_CASE("core: race filter: a thread's own words and words that are only read are not suspect") {
  Map m;
  CHECK_FALSE(m.record_access(RaceAccess::read, {0, 0, 0}, 0));
  CHECK_FALSE(m.record_access(RaceAccess::write, {0, 0, 0}, 0));
  CHECK_FALSE(m.record_access(RaceAccess::read, {0, 1, 0}, 0));
  for (uint64_t block = 0; block < 3; ++block)
    for (uint32_t warp = 0; warp < 3; ++warp)
      CHECK_FALSE(m.record_access(RaceAccess::read, {block, 0, warp}, 8));
  CHECK_FALSE(m.map.any_suspect());
  CHECK(m.record_access(RaceAccess::write, {2, 7, 2}, 8));
  CHECK(m.suspect(8));
  CHECK_FALSE(m.suspect(4));
  m.map.clear();
  CHECK_FALSE(m.map.any_suspect());
  CHECK_FALSE(m.record_access(RaceAccess::write, {2, 7, 2}, 8));
}

TEST_CASE("core: race filter: a barrier orders accesses within a block") {
  Map m;
  CHECK_FALSE(m.record_access(RaceAccess::write, {5, 0, 0}, 0));
  CHECK_FALSE(m.record_access(RaceAccess::read, {5, 1, 1}, 0));
  CHECK_FALSE(m.record_access(RaceAccess::read, {5, 1, 2}, 0));
  CHECK_FALSE(m.record_access(RaceAccess::write, {5, 2, 3}, 0));
  CHECK(m.record_access(RaceAccess::read, {5, 2, 4}, 0));
  // A written word stays written for other blocks, however many barriers later.
  CHECK_FALSE(m.record_access(RaceAccess::write, {5, 0, 0}, 4));
  CHECK_FALSE(m.record_access(RaceAccess::read, {5, 9, 1}, 4));
  CHECK(m.record_access(RaceAccess::read, {6, 0, 1}, 4));
}

TEST_CASE("core: race filter: atomics race with plain accesses but not with atomics") {
  Map m;
  CHECK_FALSE(m.record_access(RaceAccess::strong, {0, 0, 0}, 0));
  CHECK_FALSE(m.record_access(RaceAccess::strong, {1, 0, 0}, 0));
  CHECK(m.record_access(RaceAccess::read, {2, 0, 0}, 0));
  CHECK_FALSE(m.record_access(RaceAccess::write, {0, 0, 0}, 4));
  CHECK(m.record_access(RaceAccess::strong, {0, 0, 0}, 4));
}

TEST_CASE("core: race filter: neighbouring bytes are separate, and a word includes all four") {
  Map m;
  CHECK_FALSE(m.record_access(RaceAccess::write, {0, 0, 0}, 0, 1));
  CHECK_FALSE(m.record_access(RaceAccess::write, {1, 0, 0}, 1, 1));
  CHECK_FALSE(m.record_access(RaceAccess::write, {2, 0, 0}, 2, 2));
  CHECK(m.record_access(RaceAccess::read, {2, 0, 0}, 0, 4));
  CHECK_FALSE(m.record_access(RaceAccess::write, {0, 0, 0}, 8, 8));
  CHECK(m.record_access(RaceAccess::read, {1, 0, 0}, 15, 1));
  CHECK(m.suspect(12));
  CHECK_FALSE(m.suspect(8));
}

TEST_CASE("core: race filter: rows of a whole warp, aligned and shifted") {
  const auto row = [](uint64_t first) {
    std::array<uint64_t, 32> address;
    for (uint64_t l = 0; l < 32; ++l) address[l] = kBase + 4 * (first + l);
    return address;
  };
  Map m;
  const auto record_access = [&](RaceAccess how, const sim::WarpEpoch& who, uint64_t first) {
    return m.map.record_access(how, who, row(first).data(), 0xffffffff, 4);
  };
  CHECK_FALSE(record_access(RaceAccess::read, {4, 1, 3}, 0));
  CHECK_FALSE(record_access(RaceAccess::write, {4, 1, 3}, 0));
  CHECK_FALSE(record_access(RaceAccess::read, {4, 1, 3}, 0));
  CHECK_FALSE(record_access(RaceAccess::write, {4, 1, 4}, 32));
  CHECK_FALSE(record_access(RaceAccess::write, {5, 0, 0}, 64));
  CHECK(record_access(RaceAccess::read, {4, 1, 3}, 1));  // each lane reads its neighbour's word
  for (uint64_t word = 0; word < 40; ++word)
    CHECK(m.suspect(4 * word) == (word >= 1 && word <= 32));
  CHECK(record_access(RaceAccess::write, {6, 0, 0}, 64));
  for (uint64_t word = 64; word < 96; ++word) CHECK(m.suspect(4 * word));
}

// Compared with all pairs of accesses: every word with a possible race is suspect.
TEST_CASE("core: race filter: every possible race is found") {
  struct Access {
    sim::WarpEpoch who;
    RaceAccess how;
    uint64_t offset;
    unsigned bytes;
  };
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    Map m;
    std::vector<Access> all;
    std::array<uint32_t, 3> epoch{};
    const uint32_t blocks = 1 + below(3);
    for (int i = 0; i < 12; ++i) {
      const uint32_t block = below(blocks);
      epoch[block] += below(3) == 0;
      const unsigned bytes = 1u << below(4);
      const uint32_t kind = below(6);
      const Access one{{block, epoch[block], below(2)},
                       kind < 3   ? RaceAccess::read
                       : kind < 5 ? RaceAccess::write
                                  : RaceAccess::strong,
                       uint64_t{below(16 / bytes)} * bytes,
                       bytes};
      m.record_access(one.how, one.who, one.offset, one.bytes);
      for (const Access& other : all) {
        const bool apart =
            other.offset + other.bytes <= one.offset || one.offset + one.bytes <= other.offset;
        const bool same = other.who.block == one.who.block;
        if (apart || (other.how == RaceAccess::read && one.how == RaceAccess::read)) continue;
        if (other.how == RaceAccess::strong && one.how == RaceAccess::strong) continue;
        if (same && (other.who.warp == one.who.warp || other.who.epoch != one.who.epoch)) continue;
        bool suspect = false;
        for (uint64_t at = std::max(other.offset, one.offset);
             at < std::min(other.offset + other.bytes, one.offset + one.bytes); ++at)
          suspect |= m.suspect(at);
        CHECK(suspect);
      }
      all.push_back(one);
    }
  }
}
