// The rules for global memory, on the patterns of a lecture with expected values by hand, and
// against a plain implementation with sets on thousands of random patterns.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "simulator/core/warp/instruction.h"
#include "simulator/observers/traffic/sectors.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using namespace lab32::counters;

namespace {

constexpr uint64_t kBase = 0x7f0000000000;

struct Warp {
  std::array<uint64_t, 32> address{};
  uint32_t bytes = 4;
  uint32_t mask = sim::kFullMask;

  Warp(uint32_t bytes_, const std::function<uint64_t(uint64_t)>& offset,
       uint32_t mask_ = sim::kFullMask)
      : bytes(bytes_), mask(mask_) {
    for (uint64_t lane = 0; lane < 32; ++lane) address[lane] = kBase + offset(lane);
  }
  uint32_t distinct() const { return distinct_sectors(address.data(), bytes, mask); }
  uint32_t ideal() const { return ideal_sectors(distinct(), bytes, mask); }
  uint32_t atomic() const { return atomic_sectors(address.data(), bytes, mask); }
};

uint32_t plain_distinct(const Warp& w) {
  std::set<uint64_t> sectors;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((w.mask >> lane & 1) == 0) continue;
    for (uint32_t byte = 0; byte < w.bytes; ++byte) sectors.insert((w.address[lane] + byte) / 32);
  }
  return static_cast<uint32_t>(sectors.size());
}

// The set of a line as two parities over its bits.
int plain_set(uint64_t line) {
  return __builtin_parityll(line & 0x7ab5) + 2 * __builtin_parityll(line & 0x1d5da);
}

uint32_t plain_atomic(const Warp& w, bool compare_swap) {
  std::map<int, std::vector<uint64_t>> waiting;  // addresses in lane order
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((w.mask >> lane & 1) != 0)
      waiting[plain_set(w.address[lane] / 128)].push_back(w.address[lane]);
  }
  const uint64_t unit = compare_swap ? 64 : 128;
  uint32_t total = 0;
  for (auto& [set, lanes] : waiting) {
    while (!lanes.empty()) {
      const uint64_t line = lanes.front() / unit;
      std::set<uint64_t> places, sectors;
      std::vector<uint64_t> later;
      for (uint64_t a : lanes) {
        const bool first_there = places.insert(a % 128).second;
        if (first_there && a / unit == line) {
          sectors.insert(a / 32);
        } else {
          later.push_back(a);
        }
      }
      total += static_cast<uint32_t>(sectors.size());
      lanes = later;
    }
  }
  return total;
}

// The textbook's rule, a lower bound: the most lanes on one word, summed over the sectors.
uint32_t textbook_atomic(const Warp& w) {
  std::map<uint64_t, std::map<uint64_t, uint32_t>> lanes;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((w.mask >> lane & 1) != 0) ++lanes[w.address[lane] / 32][w.address[lane]];
  }
  uint32_t total = 0;
  for (const auto& [sector, words] : lanes) {
    uint32_t most = 0;
    for (const auto& [word, n] : words) most = std::max(most, n);
    total += most;
  }
  return total;
}

Warp random_warp(std::mt19937& rng) {
  const uint32_t bytes = 1u << rng() % 5;
  const uint64_t span = uint64_t{1} << rng() % 17;
  const uint64_t stride = rng() % 40, first = rng() % 1024;
  const uint32_t shape = rng() % 4, flip = rng() % 32;
  Warp w(bytes, [&](uint64_t lane) -> uint64_t {
    if (shape == 0) return (first + lane * stride) * bytes;
    if (shape == 1) return (first + (lane ^ flip)) * bytes;
    if (shape == 2) return (first + lane / 4 * stride + lane % 4) * bytes;
    return rng() % span * bytes;
  });
  const uint32_t some = rng() % 3;
  w.mask = some == 0 ? sim::kFullMask : some == 1 ? static_cast<uint32_t>(rng()) : rng() & rng();
  for (uint32_t lane = 0; lane < 32; ++lane) {  // addresses of idle lanes are arbitrary
    if ((w.mask >> lane & 1) == 0) w.address[lane] = rng();
  }
  return w;
}

}  // namespace

TEST_CASE("counters: sectors: neighbouring lanes touch as many sectors as their bytes fill") {
  CHECK(Warp(1, [](uint64_t l) { return l; }).distinct() == 1);
  CHECK(Warp(2, [](uint64_t l) { return 2 * l; }).distinct() == 2);
  CHECK(Warp(4, [](uint64_t l) { return 4 * l; }).distinct() == 4);
  CHECK(Warp(8, [](uint64_t l) { return 8 * l; }).distinct() == 8);
  CHECK(Warp(16, [](uint64_t l) { return 16 * l; }).distinct() == 16);  // a float4 each
}

TEST_CASE(
    "counters: sectors: the order of lanes does not matter and misalignment costs one sector") {
  CHECK(Warp(4, [](uint64_t l) { return 4 * (31 - l); }).distinct() == 4);
  CHECK(Warp(4, [](uint64_t l) { return 4 * (l ^ 13); }).distinct() == 4);
  CHECK(Warp(4, [](uint64_t l) { return 4 * (l * 7 % 32); }).distinct() == 4);
  CHECK(Warp(4, [](uint64_t l) { return 4 * (l + 1); }).distinct() == 5);  // a[i + 1]
  CHECK(Warp(4, [](uint64_t l) { return 4 * (l + 8); }).distinct() == 4);
  CHECK(Warp(16, [](uint64_t l) { return 16 * (l + 1); }).distinct() == 17);
}

TEST_CASE("counters: sectors: a stride touches more sectors up to one per lane") {
  const uint32_t expected[][2] = {{0, 1}, {1, 4}, {2, 8}, {4, 16}, {8, 32}, {16, 32}, {33, 32}};
  for (const auto& [stride, sectors] : expected) {
    const uint64_t step = stride * 4;
    CHECK(Warp(4, [&](uint64_t l) { return l * step; }).distinct() == sectors);
    CHECK(Warp(4, [&](uint64_t l) { return (31 - l) * step; }).distinct() == sectors);
  }
  CHECK(Warp(4, [](uint64_t l) { return l * 12; }).distinct() == 12);  // x of float3
}

TEST_CASE("counters: sectors: the ideal is the requested bytes, limited by the touched sectors") {
  CHECK(Warp(4, [](uint64_t l) { return 4 * l; }).ideal() == 4);
  CHECK(Warp(4, [](uint64_t l) { return 32 * l; }).ideal() == 4);
  CHECK(Warp(4, [](uint64_t l) { return 4 * (l + 1); }).ideal() == 4);
  CHECK(Warp(4, [](uint64_t) { return 0; }).ideal() == 1);
  CHECK(Warp(16, [](uint64_t l) { return 16 * l; }).ideal() == 16);
  CHECK(Warp(
            4, [](uint64_t l) { return 32 * l; }, 0x000000ff)
            .ideal() == 1);
  CHECK(Warp(
            4, [](uint64_t l) { return 32 * l; }, 0x000001ff)
            .ideal() == 2);
  CHECK(Warp(1, [](uint64_t l) { return 32 * l; }).ideal() == 1);
}

TEST_CASE("counters: sectors: idle lanes do not count, whatever their address") {
  Warp w(
      4, [](uint64_t l) { return l < 8 ? 4 * l : 1000 * l; }, 0x000000ff);
  CHECK(w.distinct() == 1);
  w.mask = 0;
  CHECK(w.distinct() == 0);
  CHECK(w.ideal() == 0);
  CHECK(w.atomic() == 0);
  w.mask = 1u << 31;
  CHECK(w.distinct() == 1);
}

TEST_CASE("counters: sectors: each lane of an atomic on one word moves the sector again") {
  CHECK(Warp(4, [](uint64_t) { return 0; }).atomic() == 32);
  CHECK(Warp(8, [](uint64_t) { return 8; }).atomic() == 32);
  CHECK(Warp(
            4, [](uint64_t) { return 0; }, 0xffff)
            .atomic() == 16);
  CHECK(Warp(4, [](uint64_t l) { return 4 * l; }).atomic() == 4);
  CHECK(Warp(4, [](uint64_t l) { return 128 * l; }).atomic() == 32);
  CHECK(Warp(4, [](uint64_t l) { return 4 * (l / 2); }).atomic() == 4);  // 2 + 2 turns
  CHECK(Warp(4, [](uint64_t l) { return l < 24 ? 0 : 4 * (l - 24); }).atomic() == 25);
  CHECK(Warp(4, [](uint64_t l) { return l < 31 ? 0 : 4096; }).atomic() == 32);
}

TEST_CASE(
    "counters: sectors: an atomic waits for an earlier lane at the same offset in a line of its "
    "set") {
  // Lines 0 and 5 are in one set. Lane 1 (line 5) shadows lane 3, which then leaves a turn after
  // its neighbour, lane 2, and moves their sector again.
  const auto scatter = [](uint64_t l) -> uint64_t {
    const uint64_t at[] = {0, 5 * 128 + 4, 8, 4};
    return at[l % 4];
  };
  CHECK(Warp(4, scatter, 0xf).atomic() == 3);
  // Lines 0 and 1 are in different sets, so their lanes do not shadow each other.
  const auto apart = [](uint64_t l) -> uint64_t {
    const uint64_t at[] = {0, 1 * 128 + 4, 8, 4};
    return at[l % 4];
  };
  CHECK(Warp(4, apart, 0xf).atomic() == 2);
}

TEST_CASE("counters: sectors: the fast paths agree with sets on random patterns" * kSlow) {
  std::mt19937 rng(32);
  for (int i = 0; i < 20000; ++i) {
    const Warp w = random_warp(rng);
    INFO("pattern " << i);
    REQUIRE(w.distinct() == plain_distinct(w));
    const uint32_t asked = static_cast<uint32_t>(__builtin_popcount(w.mask)) * w.bytes;
    REQUIRE(w.ideal() == std::min(plain_distinct(w), (asked + 31) / 32));
    if (w.bytes < 4 || w.bytes > 8) continue;
    REQUIRE(w.atomic() == plain_atomic(w, false));
    REQUIRE(atomic_sectors(w.address.data(), w.bytes, w.mask, true) == plain_atomic(w, true));
    REQUIRE(w.atomic() >= textbook_atomic(w));
  }
}
