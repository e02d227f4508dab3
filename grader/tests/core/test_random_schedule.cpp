// Random schedules of blocks and warps: results that cannot depend on the order stay equal, and
// others vary.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

constexpr uint64_t kSeeds = 12;

// Thread t of the grid draws a ticket from the word after `in` and stores its number.
const char kTickets[] = R"(
  mul.wide.u32 %d5, %n, 4;
  add.u64 %d4, %in, %d5;
  atom.global.add.u32 %r2, [%d4], 1;
  st.global.u32 [%dst], %r2;)";

Setup tickets(uint32_t blocks, uint32_t threads) {
  Setup setup;
  setup.grid = {blocks, 1, 1};
  setup.block = {threads, 1, 1};
  setup.in.assign(size_t{blocks} * threads + 1, 0);
  setup.out_words = size_t{blocks} * threads;
  setup.n = blocks * threads;
  setup.resident_blocks = 2112;
  return setup;
}

// The number of distinct orders among the seeds. Each order must be a permutation.
size_t orders(const std::string& body, Setup setup) {
  std::set<std::vector<uint32_t>> found;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    setup.schedule = seed;
    const LaunchOutcome o = tests::finish(body, setup);
    CHECK(tests::finish(body, setup).out == o.out);
    std::vector<uint32_t> sorted = o.out;
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted == each(sorted.size(), [](uint32_t i) { return i; }));
    found.insert(o.out);
  }
  return found.size();
}

}  // namespace

TEST_CASE("core: schedule: blocks run in a random order that the seed determines") {
  CHECK(orders(kTickets, tickets(20, 1)) == kSeeds);
}

TEST_CASE("core: schedule: warps of a block run in a random order") {
  CHECK(orders(kTickets, tickets(1, 1024)) == kSeeds);
}

TEST_CASE("core: schedule: either side of a divergent branch may run first") {
  const std::string two_ways = R"(
  mul.wide.u32 %d5, %n, 4;
  add.u64 %d4, %in, %d5;
  setp.lt.u32 %p1, %lane, 16;
  @%p1 bra OTHER;
  atom.global.add.u32 %r2, [%d4], 1;
  bra.uni DONE;
OTHER:
  atom.global.add.u32 %r2, [%d4], 1;
DONE:
  st.global.u32 [%dst], %r2;)";
  CHECK(orders(two_ways, tickets(1, 32)) == 2);
}

TEST_CASE("core: schedule: barriers of blocks and of the grid still work") {
  // As in test_resident_blocks.cpp: each thread stores, all synchronise, and each reads the word of
  // its mirror image.
  const std::string mirror = R"(
  mul.wide.u32 %d5, %n, 4;
  add.u64 %d4, %in, %d5;
  add.u32 %r1, %g, 7;
  st.global.u32 [%src], %r1;
  bar.sync 0;
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra MEET;
  membar.gl;
  atom.global.add.u32 %r2, [%d4], 1;
  mov.u32 %r3, %nctaid.x;
SPIN:
  ld.acquire.gpu.u32 %r2, [%d4];
  setp.lt.u32 %p2, %r2, %r3;
  @%p2 bra SPIN;
MEET:
  bar.sync 0;
  sub.u32 %r4, %n, %g;
  mul.wide.u32 %d1, %r4, 4;
  add.u64 %d1, %d1, %in;
  ld.global.u32 %r5, [%d1+-4];
  st.global.u32 [%dst], %r5;)";
  for (const uint32_t blocks : {1u, 7u, 40u})
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      Setup setup = tickets(blocks, 96);
      setup.resident_blocks = blocks;
      setup.hazards = true;
      setup.schedule = seed;
      const LaunchOutcome o = tests::finish(mirror, setup);
      CHECK(o.out == each(setup.out_words, [&](uint32_t g) { return blocks * 96 - 1 - g + 7; }));
      CHECK(o.findings.empty());
      CHECK(o.counters.block_barriers == 2 * blocks);
    }
}

TEST_CASE("core: schedule: a race is found in every order") {
  // Each block adds to word 0 without an atomic.
  const std::string plain_add = R"(
  ld.global.u32 %r1, [%in];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%in], %r1;)";
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Setup setup = tickets(4, 1);
    setup.hazards = true;
    setup.schedule = seed;
    CHECK(tests::finish(plain_add, setup).findings.size() == 2);
  }
}

TEST_CASE("core: schedule: a wait for any block succeeds, and an endless wait is a trap") {
  // Block b waits for block b + 1. The last block does not wait, or waits for a word that is never
  // written.
  const auto chain = [](const char* last) {
    return std::string(R"(
  mov.u32 %r9, %nctaid.x;
  sub.u32 %r9, %r9, 1;
  mov.u32 %r8, %ctaid.x;
  setp.eq.u32 %p1, %r8, %r9;
  mul.wide.u32 %d1, %r8, 4;
  add.u64 %d1, %d1, %out;
)") + last +
           R"(
SPIN:
  ld.volatile.global.u32 %r2, [%d1+4];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra SPIN;
LAST:
  mov.u32 %r3, 1;
  st.volatile.global.u32 [%dst], %r3;)";
  };
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Setup setup = tickets(30, 1);
    setup.out_words = 31;
    setup.out_written = true;
    setup.budget = 50'000'000;
    setup.schedule = seed;
    CHECK(tests::finish(chain("@%p1 bra LAST;"), setup).out ==
          each(31, [](uint32_t i) { return i < 30 ? 1 : 0; }));
    const LaunchOutcome stuck = tests::run(chain(""), setup);
    REQUIRE(stuck.trap);
    CHECK(stuck.trap->kind() == sim::TrapKind::deadlock);
  }
}
