// Races in device memory: what is one, and how many are counted.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "simulator/observers/races/finding.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

std::vector<counters::Finding> races(const std::string& body, uint32_t blocks, uint32_t threads) {
  Setup setup;
  setup.grid = {blocks, 1, 1};
  setup.block = {threads, 1, 1};
  setup.hazards = setup.out_written = true;
  setup.resident_blocks = 132;
  std::vector<counters::Finding> found;
  for (const counters::Finding& f : finish(body, setup).findings)
    if (!f.note) found.push_back(f);
  return found;
}

}  // namespace

TEST_CASE("counters: races in device memory: accesses are counted, not pairs of them") {
  constexpr uint32_t kBlocks = 256, kThreads = 256;
  const auto found = races(R"(
  ld.global.u32 %r1, [%out];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%out], %r1;)",
                           kBlocks, kThreads);
  REQUIRE(!found.empty());
  for (const counters::Finding& f : found) CHECK(f.count <= 2 * kBlocks * kThreads);
}

TEST_CASE("counters: races in device memory: an older block's access is found among many others") {
  // All threads update the word; after the barrier the first thread of the last block stores.
  const auto found = races(R"(
  red.global.add.u32 [%out], 1;
  bar.sync 0;
  setp.eq.u32 %p1, %t, 0;
  setp.eq.and.u32 %p1, %block, 15, %p1;
  @%p1 st.global.u32 [%out], 7;)",
                           16, 256);
  REQUIRE(found.size() == 1);
  CHECK(found[0].block != found[0].other_block);
}

TEST_CASE("counters: races in device memory: a volatile store races with all but polls") {
  const std::string kFirst = "setp.eq.u32 %p1, %block, 0;\n";
  CHECK(races(kFirst + "@%p1 st.volatile.global.u32 [%out], 1;\n"
                       "@!%p1 ld.volatile.global.u32 %r1, [%out];",
              2, 1)
            .size() == 1);
  CHECK(races(kFirst + "@%p1 st.volatile.global.u32 [%out], 1;\n"
                       "@!%p1 red.global.add.u32 [%out], 1;",
              2, 1)
            .size() == 1);
  CHECK(races(kFirst + "@%p1 st.volatile.global.u32 [%out], 1;\n@%p1 bra done;\n"
                       "wait: ld.volatile.global.u32 %r1, [%out];\n"
                       "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra wait;\ndone:",
              2, 1)
            .empty());
  CHECK(races(kFirst + "@%p1 red.global.add.u32 [%out], 1;\n"
                       "@!%p1 ld.volatile.global.u32 %r1, [%out];",
              2, 1)
            .empty());
}

TEST_CASE("counters: races in device memory: a read-only load races with every write") {
  const std::string kHandOver = R"(
  setp.eq.u32 %p1, %block, 0;
  @!%p1 bra wait;
  st.global.u32 [%out], 5;
  fence.acq_rel.gpu;
  st.relaxed.gpu.global.u32 [%out+4], 1;
  ret;
wait: ld.relaxed.gpu.global.u32 %r1, [%out+4];
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra wait;
  fence.acq_rel.gpu;
)";
  CHECK(races(kHandOver + "ld.global.u32 %r2, [%out];", 2, 1).empty());
  const auto found = races(kHandOver + "ld.global.nc.u32 %r2, [%out];", 2, 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].read_only);
}

TEST_CASE("counters: races in device memory: a line that only stores is no lost update") {
  const auto stores = races("st.global.u32 [%out], %block;", 2, 1);
  REQUIRE(stores.size() == 1);
  CHECK(!stores[0].update);
  const auto adds =
      races("ld.global.u32 %r1, [%out]; add.u32 %r1, %r1, 1; st.global.u32 [%out], %r1;", 2, 1);
  REQUIRE(adds.size() == 1);
  CHECK(adds[0].update);
}
