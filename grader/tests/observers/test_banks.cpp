// The rules for shared memory, on the patterns of a lecture with expected values by hand, and
// against a plain implementation with sets on thousands of random patterns.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "simulator/observers/traffic/banks.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using namespace lab32::counters;

namespace {

using Offsets = std::array<uint64_t, 32>;

Offsets offsets(const std::function<uint64_t(uint64_t)>& f) {
  Offsets o{};
  for (uint64_t lane = 0; lane < 32; ++lane) o[lane] = f(lane);
  return o;
}

// One word per lane, at the given index.
uint32_t load4(const std::function<uint64_t(uint64_t)>& word, uint32_t mask = sim::kFullMask) {
  const Offsets o = offsets([&](uint64_t l) { return 4 * word(l); });
  const Wavefronts w = load_wavefronts(o.data(), 4, mask);
  CHECK(w.ideal == 1);
  CHECK(store_wavefronts(o.data(), 4, mask).actual == w.actual);
  return w.actual;
}

bool operator==(const Wavefronts& a, const Wavefronts& b) {
  return a.actual == b.actual && a.ideal == b.ideal;
}

Wavefronts load(uint32_t bytes, const Offsets& o, uint32_t mask = sim::kFullMask) {
  return load_wavefronts(o.data(), bytes, mask);
}
Wavefronts store(uint32_t bytes, const Offsets& o, uint32_t mask = sim::kFullMask) {
  return store_wavefronts(o.data(), bytes, mask);
}
Wavefronts atomic(uint32_t bytes, const Offsets& o, sim::SharedAtomicForm form,
                  uint32_t mask = sim::kFullMask) {
  return atomic_wavefronts(o.data(), bytes, mask, form);
}

// ---- the plain implementation ----

uint32_t fullest_bank(const Offsets& o, uint32_t bytes, uint32_t mask) {
  std::map<uint64_t, std::set<uint64_t>> words;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    for (uint64_t byte = o[lane]; byte < o[lane] + bytes; ++byte)
      words[byte / 4 % 32].insert(byte / 4);
  }
  size_t most = 0;
  for (const auto& [bank, set] : words) most = std::max(most, set.size());
  return static_cast<uint32_t>(most);
}

bool agree(const Offsets& o, uint32_t mask, uint32_t distance) {
  for (uint32_t a = 0; a < 32; ++a) {
    const uint32_t b = a ^ distance;
    if ((mask >> a & 1) != 0 && (mask >> b & 1) != 0 && o[a] != o[b]) return false;
  }
  return true;
}

Wavefronts plain(const Offsets& o, uint32_t bytes, uint32_t mask, bool is_load) {
  uint32_t lanes = bytes <= 4 ? 32 : 128 / bytes;
  if (is_load && lanes < 32 && (agree(o, mask, 1) || agree(o, mask, 2))) lanes *= 2;
  Wavefronts w;
  for (uint32_t first = 0; first < 32; first += lanes) {
    uint32_t phase = 0;
    for (uint32_t lane = first; lane < first + lanes; ++lane) phase |= mask & 1u << lane;
    w.actual += fullest_bank(o, bytes, phase);
    w.ideal += phase != 0;
  }
  const uint32_t active = static_cast<uint32_t>(__builtin_popcount(mask));
  if (bytes >= 8) w.ideal = std::min(w.ideal, (active * bytes + 127) / 128);
  return w;
}

}  // namespace

TEST_CASE(
    "counters: banks: one word per lane takes as many wavefronts as the fullest bank has words") {
  CHECK(load4([](uint64_t l) { return l; }) == 1);
  CHECK(load4([](uint64_t l) { return l + 5; }) == 1);
  CHECK(load4([](uint64_t l) { return 31 - l; }) == 1);
  CHECK(load4([](uint64_t l) { return l ^ 21; }) == 1);
  CHECK(load4([](uint64_t) { return 77; }) == 1);            // broadcast
  CHECK(load4([](uint64_t l) { return l / 2; }) == 1);       // multicast
  CHECK(load4([](uint64_t l) { return l % 2 * 32; }) == 2);  // two words in one bank
}

TEST_CASE("counters: banks: a stride conflicts by its greatest common divisor with 32") {
  const uint32_t expected[][2] = {{1, 1},  {2, 2},   {3, 1},  {4, 4},  {5, 1},   {6, 2},  {8, 8},
                                  {12, 4}, {16, 16}, {17, 1}, {31, 1}, {32, 32}, {33, 1}, {64, 32}};
  for (const auto& [stride, ways] : expected) {
    const uint64_t step = stride;
    INFO("stride " << step);
    CHECK(load4([&](uint64_t l) { return l * step; }) == ways);
    CHECK(load4([&](uint64_t l) { return (31 - l) * step; }) == ways);
  }
}

TEST_CASE("counters: banks: a tile's column conflicts unless the tile is padded or swizzled") {
  CHECK(load4([](uint64_t l) { return l * 32 + 3; }) == 32);
  CHECK(load4([](uint64_t l) { return l * 33 + 3; }) == 1);
  CHECK(load4([](uint64_t l) { return l * 32 + (3 ^ l); }) == 1);
  // A tile 16 words wide, read by columns: two columns per warp, 8-way conflict; 17 words wide:
  // 2-way.
  CHECK(load4([](uint64_t l) { return l % 16 * 16 + l / 16; }) == 8);
  CHECK(load4([](uint64_t l) { return l % 16 * 17 + l / 16; }) == 2);
}

TEST_CASE("counters: banks: only active lanes conflict") {
  CHECK(load4([](uint64_t l) { return l * 32; }, 0x1) == 1);
  CHECK(load4([](uint64_t l) { return l * 32; }, 0xf) == 4);
  CHECK(load4([](uint64_t l) { return l * 2; }, 0xffff) == 1);
  CHECK(load4([](uint64_t l) { return l * 2; }, 0x1ffff) == 2);
  CHECK(load(4, offsets([](uint64_t l) { return l; }), 0) == Wavefronts{0, 0});
}

TEST_CASE("counters: banks: lanes that access bytes of one word do not conflict") {
  CHECK(load(1, offsets([](uint64_t l) { return l; })) == Wavefronts{1, 1});
  CHECK(store(2, offsets([](uint64_t l) { return 2 * l; })) == Wavefronts{1, 1});
  CHECK(load(1, offsets([](uint64_t l) { return l * 128; })) == Wavefronts{32, 1});
  CHECK(store(2, offsets([](uint64_t l) { return l * 128 + l % 2 * 2; })) == Wavefronts{32, 1});
  CHECK(load(1, offsets([](uint64_t l) { return l / 4 * 128 + l % 4; })) == Wavefronts{8, 1});
}

TEST_CASE(
    "counters: banks: accesses of 8 and 16 bytes per lane are split into phases of 128 bytes") {
  const Offsets two = offsets([](uint64_t l) { return 8 * l; });
  const Offsets four = offsets([](uint64_t l) { return 16 * l; });
  CHECK(load(8, two) == Wavefronts{2, 2});
  CHECK(store(8, two) == Wavefronts{2, 2});
  CHECK(load(16, four) == Wavefronts{4, 4});
  CHECK(store(16, four) == Wavefronts{4, 4});
  CHECK(load(8, two, 0x0000ffff) == Wavefronts{1, 1});
  CHECK(load(8, two, 0xffff0000) == Wavefronts{1, 1});
  CHECK(store(8, two, 0x00018000) == Wavefronts{2, 1});  // two phases for what one could carry
  CHECK(load(16, four, 0x000000ff) == Wavefronts{1, 1});
  CHECK(store(16, four, 0x00001001) == Wavefronts{2, 1});
  // no pair is complete, so the phases merge
  CHECK(load(16, four, 0x00001001) == Wavefronts{1, 1});
  // A column of a float4 tile 32 elements wide: all lanes of a phase use the same four banks.
  CHECK(load(16, offsets([](uint64_t l) { return l * 512; })) == Wavefronts{32, 4});
  CHECK(store(8, offsets([](uint64_t l) { return l * 128; })) == Wavefronts{32, 2});
  CHECK(load(16, offsets([](uint64_t l) { return l * 32; })) == Wavefronts{8, 4});
}

TEST_CASE("counters: banks: loads merge phases whose lanes agree in pairs and stores do not") {
  const Offsets same = offsets([](uint64_t) { return 32; });
  CHECK(load(8, same) == Wavefronts{1, 1});
  CHECK(store(8, same) == Wavefronts{2, 2});
  CHECK(load(16, same) == Wavefronts{2, 2});
  CHECK(store(16, same) == Wavefronts{4, 4});
  CHECK(load(8, offsets([](uint64_t l) { return l / 2 * 8; })) == Wavefronts{1, 1});
  CHECK(load(8, offsets([](uint64_t l) { return (l / 4 * 2 + l % 2) * 8; })) == Wavefronts{1, 1});
  CHECK(load(16, offsets([](uint64_t l) { return l / 2 * 16; })) == Wavefronts{2, 2});
  CHECK(load(16, offsets([](uint64_t l) { return l / 4 * 16; })) == Wavefronts{2, 2});
  // Lanes 4 apart agree, which merges nothing.
  CHECK(load(8, offsets([](uint64_t l) { return (l / 8 * 4 + l % 4) * 8; })) == Wavefronts{2, 2});
  // One pair that disagrees prevents merging in the whole warp.
  CHECK(load(8, offsets([](uint64_t l) { return l == 31 ? 8 : uint64_t{0}; })) == Wavefronts{2, 2});
  // Merged phases conflict with each other.
  CHECK(load(8, offsets([](uint64_t l) { return l / 2 * 8 + l / 16 * 64; })) == Wavefronts{2, 1});
}

TEST_CASE("counters: banks: the form of an atomic in SASS determines its wavefronts") {
  using sim::SharedAtomicForm;
  const Offsets one = offsets([](uint64_t) { return 0; });
  const Offsets all = offsets([](uint64_t l) { return 4 * l; });
  const Offsets two = offsets([](uint64_t l) { return 128 * (l % 2); });
  CHECK(atomic(4, one, SharedAtomicForm::plain) == Wavefronts{32, 1});
  CHECK(atomic(4, all, SharedAtomicForm::plain) == Wavefronts{1, 1});
  CHECK(atomic(4, two, SharedAtomicForm::plain) == Wavefronts{32, 1});
  CHECK(atomic(4, two, SharedAtomicForm::plain, 0xff) == Wavefronts{8, 1});
  CHECK(atomic(4, one, SharedAtomicForm::increment) == Wavefronts{1, 1});
  CHECK(atomic(4, two, SharedAtomicForm::increment) == Wavefronts{2, 1});
  CHECK(atomic(4, one, SharedAtomicForm::compare_swap) == Wavefronts{64, 2});
  CHECK(atomic(4, all, SharedAtomicForm::compare_swap) == Wavefronts{2, 2});
  CHECK(atomic(8, one, SharedAtomicForm::compare_swap) == Wavefronts{64, 4});
  CHECK(atomic(8, offsets([](uint64_t l) { return 8 * l; }), SharedAtomicForm::compare_swap) ==
        Wavefronts{4, 4});
  CHECK(atomic(8, one, SharedAtomicForm::compare_swap, 0xffff) == Wavefronts{32, 2});
  CHECK(atomic(4, one, SharedAtomicForm::spin_swap) == Wavefronts{2, 2});
  CHECK(atomic(8, one, SharedAtomicForm::spin_swap) == Wavefronts{4, 4});
  CHECK(atomic(4, one, SharedAtomicForm::plain, 0) == Wavefronts{0, 0});
}

TEST_CASE("counters: banks: ldmatrix and stmatrix access one matrix at a time") {
  const auto rows = [](uint64_t pitch, uint32_t mask) {
    const Offsets o = offsets([&](uint64_t l) { return l * pitch; });
    return matrix_wavefronts(o.data(), mask);
  };
  CHECK(rows(16, 0x000000ff) == Wavefronts{1, 1});
  CHECK(rows(16, 0x0000ffff) == Wavefronts{2, 2});
  CHECK(rows(16, sim::kFullMask) == Wavefronts{4, 4});
  // a tile of halfs 64 elements wide, no padding
  CHECK(rows(128, sim::kFullMask) == Wavefronts{32, 4});
  CHECK(rows(64, sim::kFullMask) == Wavefronts{16, 4});
  CHECK(rows(144, sim::kFullMask) == Wavefronts{4, 4});  // with 16 bytes of padding
  CHECK(rows(0, sim::kFullMask) == Wavefronts{4, 4});    // no merging
}

TEST_CASE("counters: banks: the kind of an access chooses the rule") {
  const Offsets one = offsets([](uint64_t) { return 16; });
  sim::IssuedWarpAccess access{};
  access.space = sim::AccessSpace::shared;
  access.bytes = 16;
  access.mask = sim::kFullMask;
  access.address = one.data();
  access.kind = sim::AccessKind::load;
  CHECK(shared_wavefronts(access).actual == 2);
  access.matrix = true;
  CHECK(shared_wavefronts(access).actual == 4);
  access.matrix = false;
  access.kind = sim::AccessKind::store;
  CHECK(shared_wavefronts(access).actual == 4);
  access.kind = sim::AccessKind::red;
  access.bytes = 4;
  CHECK(shared_wavefronts(access).actual == 32);
  access.form = sim::SharedAtomicForm::increment;
  CHECK(shared_wavefronts(access).actual == 1);
}

TEST_CASE("counters: banks: the fast paths agree with sets on random patterns" * kSlow) {
  std::mt19937 rng(32);
  for (int i = 0; i < 20000; ++i) {
    const uint32_t bytes = 1u << rng() % 5, shape = rng() % 6, flip = rng() % 32;
    const uint64_t words = 8192 / bytes, span = 1 + rng() % words, stride = rng() % 40;
    const uint64_t first = rng() % 64;
    uint64_t few[4];
    for (uint64_t& f : few) f = rng() % words;
    Offsets o = offsets([&](uint64_t l) -> uint64_t {
      if (shape == 0) return (first + l * stride) * bytes;
      if (shape == 1) return (first + (l ^ flip)) * bytes;
      if (shape == 2) return few[rng() % 4] * bytes;
      if (shape == 3) return (first + l / 2 * stride) * bytes;
      if (shape == 4) return (first + (l / 4 * 2 + l % 2) * stride) * bytes;
      return rng() % span * bytes;
    });
    const uint32_t some = rng() % 3;
    const uint32_t mask = some == 0   ? sim::kFullMask
                          : some == 1 ? static_cast<uint32_t>(rng())
                                      : static_cast<uint32_t>(rng() & rng() & rng());
    for (uint32_t lane = 0; lane < 32; ++lane) {  // addresses of idle lanes are arbitrary
      if ((mask >> lane & 1) == 0) o[lane] = rng();
    }
    INFO("pattern " << i << ", " << bytes << " bytes, mask " << mask);
    REQUIRE(load(bytes, o, mask) == plain(o, bytes, mask, true));
    REQUIRE(store(bytes, o, mask) == plain(o, bytes, mask, false));
    REQUIRE(load(bytes, o, mask).actual >= load(bytes, o, mask).ideal);
    if (bytes != 4) continue;
    REQUIRE(atomic(4, o, sim::SharedAtomicForm::increment, mask).actual ==
            fullest_bank(o, 4, mask));
    std::map<uint64_t, uint32_t> lanes_in_bank;
    uint32_t most = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) != 0) most = std::max(most, ++lanes_in_bank[o[lane] / 4 % 32]);
    }
    REQUIRE(atomic(4, o, sim::SharedAtomicForm::plain, mask).actual == most);
  }
}
