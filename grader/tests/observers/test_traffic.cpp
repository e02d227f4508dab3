// TrafficObserver: which counter an access increments, sums by line, the recorded examples, and
// that none of these depends on how blocks are distributed over host threads.
#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulator/observers/traffic/traffic.h"

using namespace lab32;
using counters::Counters;
using counters::ExampleWarpAccess;
using counters::TrafficObserver;
using sim::AccessKind;
using sim::AccessSpace;

namespace {

using Address = std::function<uint64_t(uint64_t)>;

void begin(TrafficObserver& o, uint64_t block) {
  sim::BlockInfo info{};
  info.index = block;
  info.threads = 64;
  o.block_begin(info);
}

sim::IssuedWarpAccess access_of(uint32_t site, AccessSpace space, AccessKind kind, uint8_t bytes,
                                uint32_t mask) {
  sim::IssuedWarpAccess a{};
  a.site = site;
  a.space = space;
  a.kind = kind;
  a.bytes = bytes;
  a.mask = mask;
  return a;
}

void tell(TrafficObserver& o, sim::IssuedWarpAccess access, const Address& address,
          uint32_t warp = 0) {
  std::array<uint64_t, 32> lanes{};
  for (uint64_t lane = 0; lane < 32; ++lane) lanes[lane] = address(lane);
  access.address = lanes.data();
  o.access(warp, access);
}

void global(TrafficObserver& o, uint32_t site, AccessKind kind, const Address& address,
            uint8_t bytes = 4, uint32_t mask = sim::kFullMask, uint32_t warp = 0) {
  tell(o, access_of(site, AccessSpace::global, kind, bytes, mask), address, warp);
}

void shared(TrafficObserver& o, uint32_t site, AccessKind kind, const Address& address,
            uint8_t bytes = 4, uint32_t mask = sim::kFullMask) {
  tell(o, access_of(site, AccessSpace::shared, kind, bytes, mask), address);
}

uint64_t neighbours(uint64_t lane) { return 4096 + 4 * lane; }
uint64_t stride8(uint64_t lane) { return 4096 + 32 * lane; }
uint64_t one(uint64_t /*lane*/) { return 4096; }

// Two sites per line: 0 and 1 on line 10, 2 and 3 on line 11, …; site 9 has no position.
std::optional<counters::SourcePosition> position(uint32_t site) {
  if (site == 9) return std::nullopt;
  return counters::SourcePosition{"kernel.cu", 10 + static_cast<int>(site) / 2};
}

std::string dump(const TrafficObserver& o) {
  std::string text;
  const auto add = [&](uint64_t n) { text += std::to_string(n) + " "; };
  for (const auto& line : o.counters_by_line(position)) {
    const Counters& c = line.counters;
    text += line.file + ":";
    for (uint64_t n :
         {uint64_t(line.line), c.warp_instructions, c.lane_instructions, c.load.requests,
          c.load.sectors, c.store.sectors, c.red.sectors, c.atom.sectors, c.l2_sectors,
          c.l2_sectors_ideal, c.global_bytes, c.shared_load.wavefronts, c.shared_store.wavefronts,
          c.shared_atom.wavefronts, c.shared_wavefronts(), c.ideal_shared_wavefronts()}) {
      add(n);
    }
  }
  for (uint32_t site = 0; site < 10; ++site) {
    const ExampleWarpAccess* e = o.worst_example(site);
    if (e == nullptr) continue;
    for (uint64_t n : {uint64_t(e->site), e->block, uint64_t(e->warp), uint64_t(e->mask),
                       e->address[0], e->address[31], uint64_t(e->cost), uint64_t(e->ideal)}) {
      add(n);
    }
  }
  return text;
}

}  // namespace

TEST_CASE("counters: traffic: each kind of global access has its own counters") {
  TrafficObserver o;
  begin(o, 0);
  global(o, 0, AccessKind::load, neighbours);
  global(o, 0, AccessKind::load, stride8);
  global(o, 1, AccessKind::store, neighbours, 4, 0xffff);
  global(o, 2, AccessKind::red, one);
  global(o, 3, AccessKind::atom, one, 4, 0xff);
  const Counters c = o.totals();
  CHECK(c.load.requests == 2);
  CHECK(c.load.sectors == 4 + 32);
  CHECK(c.load_ideal == 4 + 4);
  CHECK(c.store.requests == 1);
  CHECK(c.store.sectors == 2);
  CHECK(c.store_ideal == 2);
  CHECK(c.red.requests == 1);
  CHECK(c.red.sectors == 32);
  CHECK(c.atom.sectors == 8);
  CHECK(c.l2_sectors == 4 + 32 + 2 + 1 + 1);
  CHECK(c.l2_sectors_ideal == 4 + 4 + 2 + 1 + 1);
  CHECK(c.global_bytes == 4 * (32 + 32 + 16 + 32 + 8));
  CHECK(c.shared_wavefronts() == 0);
  CHECK(!c.ptx_level);
}

TEST_CASE(
    "counters: traffic: shared memory has its own counters and reductions count as atomics there") {
  TrafficObserver o;
  begin(o, 0);
  shared(o, 0, AccessKind::load, stride8);  // 8-way conflict
  shared(
      o, 1, AccessKind::store, [](uint64_t l) { return 16 * l; }, 16);
  shared(o, 2, AccessKind::atom, one);
  shared(o, 3, AccessKind::red, one, 4, 0xf);
  const Counters c = o.totals();
  CHECK(c.shared_load.requests == 1);
  CHECK(c.shared_load.wavefronts == 8);
  CHECK(c.shared_load.ideal == 1);
  CHECK(c.shared_store.wavefronts == 4);
  CHECK(c.shared_store.ideal == 4);
  CHECK(c.shared_atom.requests == 2);
  CHECK(c.shared_atom.wavefronts == 32 + 4);
  CHECK(c.shared_wavefronts() == 8 + 4 + 36);
  CHECK(c.ideal_shared_wavefronts() == 1 + 4 + 2);
  CHECK(c.global_bytes == 0);
}

TEST_CASE("counters: traffic: matrices and atomic forms keep their rules") {
  TrafficObserver o;
  begin(o, 0);
  sim::IssuedWarpAccess matrix =
      access_of(0, AccessSpace::shared, AccessKind::load, 16, sim::kFullMask);
  matrix.matrix = true;
  tell(o, matrix, [](uint64_t l) { return 128 * l; });
  sim::IssuedWarpAccess increment =
      access_of(1, AccessSpace::shared, AccessKind::atom, 4, sim::kFullMask);
  increment.form = sim::SharedAtomicForm::increment;
  tell(o, increment, one);
  CHECK(o.totals().shared_load.wavefronts == 32);
  CHECK(o.totals().shared_atom.wavefronts == 1);
  CHECK(o.worst_example(0)->matrix);
}

TEST_CASE("counters: traffic: other spaces and idle warps do not count") {
  TrafficObserver o;
  begin(o, 0);
  tell(o, access_of(0, AccessSpace::local, AccessKind::load, 4, sim::kFullMask), neighbours);
  tell(o, access_of(1, AccessSpace::constant, AccessKind::load, 4, sim::kFullMask), neighbours);
  global(o, 2, AccessKind::load, neighbours, 4, 0);
  CHECK(o.totals().load.requests == 0);
  CHECK(o.worst_example(0) == nullptr);
  CHECK(o.worst_example(2) == nullptr);
  CHECK(o.worst_example(1000) == nullptr);
  CHECK(o.counters_by_line(position).empty());
}

TEST_CASE("counters: traffic: a generic access that reaches both spaces is split") {
  TrafficObserver o;
  begin(o, 0);
  global(o, 4, AccessKind::load, neighbours, 4, 0xffff);
  shared(o, 4, AccessKind::load, neighbours, 4, 0xffff0000);
  CHECK(o.totals().load.sectors == 2);
  CHECK(o.totals().shared_load.wavefronts == 1);
}

TEST_CASE(
    "counters: traffic: an access without a SASS match marks its line and the launch as "
    "PTX-level") {
  TrafficObserver o;
  begin(o, 0);
  global(o, 0, AccessKind::load, neighbours);
  sim::IssuedWarpAccess access =
      access_of(2, AccessSpace::global, AccessKind::store, 4, sim::kFullMask);
  access.ptx_level = true;
  tell(o, access, neighbours);
  CHECK(o.totals().ptx_level);
  REQUIRE(o.counters_by_line(position).size() == 2);
  CHECK(!o.counters_by_line(position)[0].counters.ptx_level);
  CHECK(o.counters_by_line(position)[1].counters.ptx_level);
}

TEST_CASE("counters: traffic: an unmatched access counts at least once for each piece of a lane") {
  TrafficObserver o;
  begin(o, 0);
  sim::IssuedWarpAccess load =
      access_of(2, AccessSpace::global, AccessKind::load, 4, sim::kFullMask);
  load.ptx_level = true;
  const auto words = [&](uint64_t step) {
    for (uint64_t i = 0; i < 4; ++i)
      tell(o, load, [=](uint64_t lane) { return 4096 + 16 * lane + step * i; });
  };
  words(0);  // a loop may load the word once and keep it
  CHECK(o.totals().load.sectors == 64);
  CHECK(o.least_totals().load.sectors == 16);
  CHECK(o.least_totals().load.requests == 1);
  words(4);  // no machine instruction is wider than a word
  CHECK(o.least_totals().load.sectors == 4 * 16);
  load.widest = 16;
  begin(o, 1);
  words(4);
  CHECK(o.least_totals().load.sectors == 5 * 16);
  CHECK(o.totals().load.sectors == 3 * 64);
  global(o, 3, AccessKind::load, neighbours);  // a matched access
  CHECK(o.least_totals().load.sectors == 5 * 16 + 4);
}

TEST_CASE("counters: traffic: an unmatched shared access counts again after a barrier") {
  TrafficObserver o;
  begin(o, 0);
  sim::IssuedWarpAccess load =
      access_of(2, AccessSpace::shared, AccessKind::load, 4, sim::kFullMask);
  load.ptx_level = true;
  const uint32_t lanes[] = {sim::kFullMask, sim::kFullMask};
  for (int i = 0; i < 2; ++i) tell(o, load, neighbours);
  o.block_barrier(lanes, 2, true);
  tell(o, load, neighbours);
  o.warp_barrier(0, sim::kFullMask);
  tell(o, load, neighbours);
  CHECK(o.totals().shared_wavefronts() == 4);
  CHECK(o.least_totals().shared_wavefronts() == 3);
}

TEST_CASE("counters: traffic: lines sum their sites, instructions included, and are sorted") {
  TrafficObserver o;
  begin(o, 0);
  global(o, 4, AccessKind::load, stride8);
  global(o, 1, AccessKind::load, neighbours);
  global(o, 0, AccessKind::store, neighbours);
  global(o, 9, AccessKind::load, neighbours);
  o.add_issue_counts({{3, 96}, {2, 40}, {0, 0}, {0, 0}, {1, 32}, {0, 0}, {5, 5}});
  const auto lines = o.counters_by_line(position);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].file == "");
  CHECK(lines[0].line == 0);
  CHECK(lines[0].counters.load.requests == 1);
  CHECK(lines[1].file == "kernel.cu");
  CHECK(lines[1].line == 10);
  CHECK(lines[1].counters.load.sectors == 4);
  CHECK(lines[1].counters.store.sectors == 4);
  CHECK(lines[1].counters.warp_instructions == 5);
  CHECK(lines[1].counters.lane_instructions == 136);
  CHECK(lines[2].line == 12);
  CHECK(lines[2].counters.load.sectors == 32);
  CHECK(lines[3].line == 13);
  CHECK(lines[3].counters.warp_instructions == 5);
  CHECK(o.totals().warp_instructions == 11);
  CHECK(o.totals().lane_instructions == 173);
  Counters sum;
  for (const auto& line : lines) sum += line.counters;
  CHECK(sum.l2_sectors == o.totals().l2_sectors);
  CHECK(sum.global_bytes == o.totals().global_bytes);
}

TEST_CASE("counters: traffic: only barriers of the whole block count as block barriers") {
  TrafficObserver o;
  begin(o, 0);
  const uint32_t masks[2] = {sim::kFullMask, 0};
  o.block_barrier(masks, 2, true);
  o.block_barrier(masks, 2, false);
  begin(o, 1);
  o.block_barrier(masks, 2, true);
  CHECK(o.totals().block_barriers == 2);
}

TEST_CASE("counters: traffic: the example is the worst access and the first among equals") {
  TrafficObserver o;
  begin(o, 3);
  global(o, 0, AccessKind::load, neighbours, 4, sim::kFullMask, 1);
  CHECK(o.worst_example(0)->cost == 4);
  global(o, 0, AccessKind::load, stride8, 4, sim::kFullMask, 2);
  begin(o, 4);
  global(
      o, 0, AccessKind::load, [](uint64_t l) { return 64 * l; }, 4, sim::kFullMask, 5);
  const ExampleWarpAccess* e = o.worst_example(0);
  REQUIRE(e != nullptr);
  CHECK(e->block == 3);
  CHECK(e->warp == 2);
  CHECK(e->cost == 32);
  CHECK(e->ideal == 4);
  CHECK(e->address[3] == 4096 + 96);
  // 24 sectors instead of 1 are worse than 32 instead of 4.
  global(o, 0, AccessKind::load, stride8, 1, 0xffffff00, 6);
  CHECK(o.worst_example(0)->warp == 6);
  CHECK(o.worst_example(0)->mask == 0xffffff00);
  CHECK(o.worst_example(0)->address[0] == 0);  // addresses of idle lanes are cleared
  CHECK(o.worst_example(0)->address[8] == 4096 + 256);
}

TEST_CASE("counters: traffic: the worst example of a line comes from any of its sites") {
  TrafficObserver o;
  begin(o, 0);
  global(o, 1, AccessKind::load, neighbours);
  shared(o, 0, AccessKind::store, [](uint64_t l) { return 128 * l; });
  const ExampleWarpAccess* e = o.worst_on_line(position, 10);
  REQUIRE(e != nullptr);
  CHECK(e->site == 0);
  CHECK(e->space == AccessSpace::shared);
  CHECK(e->cost == 32);
  CHECK(o.worst_on_line(position, 11) == nullptr);
}

TEST_CASE(
    "counters: traffic: results do not depend on how blocks are distributed over host threads") {
  const auto run_block = [](TrafficObserver& o, uint64_t block) {
    begin(o, block);
    const uint64_t step = 4 * (1 + block * 5 % 9);
    global(o, 0, AccessKind::load, [&](uint64_t l) { return block * 8192 + l * step; });
    global(o, 3, AccessKind::red, [&](uint64_t l) { return l * block % 7 * 4; });
    if (block % 3 == 0) shared(o, 4, AccessKind::load, [&](uint64_t l) { return l * step * 4; });
    if (block % 5 == 2) shared(o, 5, AccessKind::atom, one, 4, 0xffu << block % 20);
    o.block_end();
  };
  const std::vector<sim::StaticInstructionIssueCounts> issues = {{10, 320}, {1, 1}, {0, 0}, {7, 7}};
  TrafficObserver alone;
  for (uint64_t block = 0; block < 30; ++block) run_block(alone, block);
  alone.add_issue_counts(issues);
  for (unsigned ways : {2u, 4u, 7u}) {
    for (const bool backwards : {false, true}) {
      TrafficObserver whole;
      std::vector<std::unique_ptr<sim::Observer>> parts;
      for (unsigned p = 0; p < ways; ++p) {
        parts.push_back(whole.fork());
        for (uint64_t block = p; block < 30; block += ways)
          run_block(dynamic_cast<TrafficObserver&>(*parts.back()), block);
      }
      for (unsigned p = 0; p < ways; ++p) whole.merge(*parts[backwards ? ways - 1 - p : p]);
      whole.add_issue_counts(issues);
      CHECK(dump(whole) == dump(alone));
    }
  }
}
