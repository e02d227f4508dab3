// Which block, requests and lanes of a launch are recorded for pictures.
#include <doctest/doctest.h>

#include <array>

#include "simulator/observers/traffic/launch_detail.h"

namespace lab32::counters {
namespace {

constexpr uint32_t kEveryLane = 0xffffffffu;

// Site 10 * line + k lies on that line of x.cu.
std::optional<SourcePosition> line_of_site(uint32_t site) {
  return SourcePosition{"/home/x/x.cu", static_cast<int>(site / 10)};
}

void begin_block(DetailObserver& seen, uint64_t block, uint32_t threads = 64) {
  sim::BlockInfo info{};
  info.index = block;
  info.threads = threads;
  seen.block_begin(info);
}

// 4 bytes per lane, `stride` bytes between lanes.
void load_line(DetailObserver& seen, uint32_t warp, uint32_t site, uint64_t stride,
               uint32_t mask = kEveryLane, sim::AccessSpace space = sim::AccessSpace::global) {
  std::array<uint64_t, 32> address{};
  for (uint64_t lane = 0; lane < 32; ++lane) address[lane] = 4096 + lane * stride;
  sim::IssuedWarpAccess access{};
  access.site = site;
  access.space = space;
  access.kind = sim::AccessKind::load;
  access.bytes = 4;
  access.mask = mask;
  access.address = address.data();
  seen.access(warp, access);
}

void meet(DetailObserver& seen) {
  const std::array<uint32_t, 2> all{kEveryLane, kEveryLane};
  seen.block_barrier(all.data(), 2, true);
}

TEST_CASE("counters: launch detail: each line has the block with its worst access") {
  DetailObserver seen({}, line_of_site);
  for (uint64_t block = 0; block < 4; ++block) {
    begin_block(seen, block);
    load_line(seen, 0, 50, block == 2 ? 128 : 4);
    load_line(seen, 1, 50, block == 2 ? 8 : 4);
    load_line(seen, 0, 70, 4);
    seen.block_end();
  }
  const LaunchDetail result = seen.result();
  REQUIRE(result.lines.size() == 2);
  const LineDetail& line = result.lines[0];
  CHECK(line.line == 5);
  CHECK(line.block == 2);
  CHECK(line.requests_in_block == 2);
  CHECK(line.requests[0].number == 0);  // index in the block, not in the launch
  CHECK(line.requests[line.worst].cost == 32);
  CHECK(line.requests[line.worst].ideal == 4);
  CHECK(line.requests[line.worst].address[3] == 4096 + 3 * 128);
  CHECK(result.lines[1].block == 0);  // the first of equal ones
}

TEST_CASE("counters: launch detail: the record does not depend on how blocks are distributed") {
  const auto watch = [](DetailObserver& seen, uint64_t block) {
    begin_block(seen, block);
    load_line(seen, 0, 50, 4 * (block % 3 + 1));
    meet(seen);
    load_line(seen, 1, 60, 4, 0xffu << block);
    seen.block_end();
  };
  DetailObserver whole({}, line_of_site), odd({}, line_of_site);
  const auto even = odd.fork();
  for (uint64_t block = 0; block < 6; ++block) {
    watch(whole, block);
    watch(block % 2 ? odd : static_cast<DetailObserver&>(*even), block);
  }
  odd.merge(*even);
  const LaunchDetail a = whole.result(), b = odd.result();
  REQUIRE(a.lines.size() == b.lines.size());
  for (size_t i = 0; i < a.lines.size(); ++i) {
    CHECK(a.lines[i].block == b.lines[i].block);
    CHECK(a.lines[i].requests[0].address == b.lines[i].requests[0].address);
  }
  CHECK(a.lines[0].block == 2);
  CHECK(a.block == 0);
  CHECK(b.block == 0);
  CHECK(a.steps[1].working == b.steps[1].working);
}

TEST_CASE(
    "counters: launch detail: the record is bounded and has the worst request however late it "
    "comes") {
  DetailFilter choice;
  choice.most = 4;
  DetailObserver seen(choice, line_of_site);
  begin_block(seen, 0);
  for (int k = 0; k < 20; ++k) load_line(seen, 0, 50, k == 17 ? 64 : 4);
  seen.block_end();
  const LineDetail line = seen.result().lines.at(0);
  CHECK(line.requests.size() == 4);
  CHECK(line.requests_in_block == 20);
  CHECK(line.requests[line.worst].number == 17);
  CHECK(line.requests[0].number == 0);
}

TEST_CASE("counters: launch detail: the filter selects line, block, warp and request") {
  DetailFilter choice;
  choice.file = "x.cu";
  choice.line = 5;
  choice.block = 1;
  choice.warp = 1;
  choice.request = 2;
  DetailObserver seen(choice, line_of_site);
  for (uint64_t block = 0; block < 3; ++block) {
    begin_block(seen, block);
    for (uint32_t k = 0; k < 8; ++k) load_line(seen, k % 2, 50, 4 + 4 * k);
    load_line(seen, 1, 60, 4);
    seen.block_end();
  }
  const LaunchDetail result = seen.result();
  REQUIRE(result.lines.size() == 1);
  REQUIRE(result.lines[0].requests.size() == 1);
  CHECK(result.lines[0].block == 1);
  CHECK(result.lines[0].requests[0].number == 2);
  CHECK(result.lines[0].requests[0].address[1] == 4096 + 4 + 4 * 5);

  choice.file = "y.cu";  // another file
  DetailObserver other(choice, line_of_site);
  begin_block(other, 1);
  load_line(other, 1, 50, 4);
  other.block_end();
  CHECK(other.result().lines.empty());
  choice.file = "x.cu";
  choice.request.reset();
  choice.except = {4, 6};  // the lines of given code
  DetailObserver without(choice, line_of_site);
  begin_block(without, 1);
  load_line(without, 1, 50, 4);
  without.block_end();
  CHECK(without.result().lines.empty());
}

TEST_CASE("counters: launch detail: a step ends at a barrier of the block or of the warp") {
  DetailObserver seen({}, line_of_site);
  begin_block(seen, 0);
  load_line(seen, 0, 50, 4, 0xffffu);
  load_line(seen, 0, 50, 4, 0xf0000u);
  load_line(seen, 1, 50, 4, kEveryLane, sim::AccessSpace::shared);
  meet(seen);
  load_line(seen, 0, 60, 4, 0x3u);
  seen.warp_barrier(0, kEveryLane);
  std::array<uint8_t, 32> from{};
  for (uint8_t lane = 0; lane < 32; ++lane) from[lane] = lane ^ 1;
  seen.shuffle(0, {70, 0xffu, from.data(), 0xffu, 0});
  meet(seen);
  load_line(seen, 1, 80, 4, 1);
  seen.block_end();
  const LaunchDetail result = seen.result();
  REQUIRE(result.steps.size() == 4);
  CHECK(result.steps[0].working == std::vector<uint32_t>{0xfffffu, kEveryLane});
  CHECK(result.steps[1].working == std::vector<uint32_t>{0x3u, 0});
  CHECK(result.steps[1].warp_barrier);
  CHECK_FALSE(result.steps[0].warp_barrier);
  CHECK(result.steps[2].working == std::vector<uint32_t>{0xffu, 0});
  CHECK(result.steps[3].working == std::vector<uint32_t>{0, 1u});
  CHECK(result.steps[3].line == 8);
  REQUIRE(result.shuffles.size() == 1);
  CHECK(result.shuffles[0].from[6] == 7);
  CHECK(result.shuffles[0].mask == 0xffu);
}

}  // namespace
}  // namespace lab32::counters
