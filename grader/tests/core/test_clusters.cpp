// Thread block clusters: the cluster's barrier, accesses to other blocks' shared memory, and races
// there. runtime/tests/programs/clusters has CUDA programs.
#include <doctest/doctest.h>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

// Two clusters of four blocks, each with a word per thread in `box`. %r8: the thread's own word;
// %r9: the corresponding word of the next block of the cluster; %r10: the block's rank.
Setup in_clusters(uint32_t threads = 40) {
  Setup setup;
  setup.grid = {8, 1, 1};
  setup.block = {threads, 1, 1};
  setup.cluster = {4, 1, 1};
  setup.functions = ".shared .align 8 .b64 gate;\n.shared .align 16 .b32 box[128];\n";
  setup.hazards = true;
  return setup;
}

const std::string kStart = R"(
  mov.u32 %r10, %cluster_ctarank;
  add.u32 %r11, %r10, 1;
  and.b32 %r11, %r11, 3;
  mov.u32 %r8, box;
  mad.lo.u32 %r8, %t, 4, %r8;
  mapa.shared::cluster.u32 %r9, %r8, %r11;
  setp.eq.u32 %p15, %t, 0;
)";
const std::string kSync = "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n";

}  // namespace

TEST_CASE(
    "core: clusters: blocks read the stores of their neighbours, in any order of the blocks") {
  const std::string body = kStart + "  st.shared.u32 [%r8], %g;\n" + kSync +
                           "  ld.shared::cluster.u32 %r1, [%r9];\n  st.global.u32 [%dst], %r1;\n" +
                           kSync;
  for (uint64_t schedule = 0; schedule < 12; ++schedule) {
    Setup setup = in_clusters();
    setup.resident_blocks = 64;
    if (schedule > 0) setup.schedule = schedule;
    const LaunchOutcome o = tests::finish(body, setup);
    CHECK(o.out == each(320, [](uint32_t i) {
            const uint32_t block = i / 40, next = block / 4 * 4 + (block + 1) % 4;
            return next * 40 + i % 40;
          }));
    CHECK(o.findings.empty());
  }
}

TEST_CASE("core: clusters: getctarank, generic addresses and 64-bit mapa work") {
  const LaunchOutcome o = tests::finish(kStart + R"(
  cvt.u64.u32 %d1, %r8;
  cvta.shared.u64 %d2, %d1;
  mapa.u64 %d3, %d2, %r11;
  getctarank.u64 %r1, %d3;
  getctarank.shared::cluster.u32 %r2, %r8;
  mad.lo.u32 %r1, %r1, 10, %r2;
  isspacep.shared::cta %p1, %d3;
  selp.u32 %r3, 100, 0, %p1;
  isspacep.shared::cluster %p2, %d3;
  selp.u32 %r4, 1000, 0, %p2;
  add.u32 %r1, %r1, %r3;
  add.u32 %r1, %r1, %r4;
  st.global.u32 [%dst], %r1;)",
                                        in_clusters());
  CHECK(o.out == each(320, [](uint32_t i) { return 1000 + (i / 40 + 1) % 4 * 10 + i / 40 % 4; }));
}

TEST_CASE("core: clusters: the barrier ignores exited threads, and lanes may arrive separately") {
  const LaunchOutcome o = tests::finish(kStart + R"(
  setp.ge.u32 %p1, %t, 33;
  @%p1 exit;
  setp.lt.u32 %p2, %t, 7;
  @%p2 bra FEW;
  barrier.cluster.arrive.relaxed;
  bra.uni MEET;
FEW:
  barrier.cluster.arrive.release;
MEET:
  barrier.cluster.wait.acquire;
  st.global.u32 [%dst], 5;)",
                                        in_clusters());
  for (uint32_t i = 0; i < 320; ++i)
    if (i % 40 < 33) CHECK(o.out[i] == 5);
}

TEST_CASE("core: clusters: a single block may use the cluster's barrier") {
  Setup setup = in_clusters();
  setup.cluster = {};
  const LaunchOutcome o = tests::finish(kStart + kSync + R"(
  mov.u32 %r1, %cluster_nctarank;
  st.global.u32 [%dst], %r1;)",
                                        setup);
  CHECK(o.out == each(320, [](uint32_t) { return 1; }));
}

TEST_CASE("core: clusters: faults in another block's memory name the block") {
  const auto trap_of = [](const std::string& body) {
    const LaunchOutcome o = tests::run(body, in_clusters(1));
    REQUIRE(o.trap);
    return tests::words(*o.trap);
  };
  CHECK(trap_of(kStart + kSync + R"(
  mapa.shared::cluster.u32 %r1, %r8, 4;
  ld.shared::cluster.u32 %r2, [%r1];)") ==
        "cluster: thread (0,0,0) of block (3,0,0) reads 4 bytes at offset 0 of shared memory of "
        "block 4 of its cluster, which has 4 blocks");
  CHECK(
      trap_of(kStart + kSync + "  ld.shared::cta.u32 %r2, [%r9];") ==
      "cluster: thread (0,0,0) of block (3,0,0) reads 4 bytes at offset 0 of shared memory of "
      "block 0 of its cluster by an instruction that reaches its own block's only (.shared::cta)");
  CHECK(trap_of(kStart + kSync + R"(
  setp.ne.u32 %p1, %r10, 0;
  @%p1 exit;
  mapa.shared::cluster.u32 %r1, %r8, 3;
  st.shared::cluster.u32 [%r1], 1;)") ==
        "cluster: thread (0,0,0) of block (0,0,0) writes 4 bytes at offset 0 of shared memory of "
        "block 3 of its cluster, which has exited");
  CHECK(trap_of("  barrier.cluster.wait;") ==
        "barrier: thread (0,0,0) of block (0,0,0) waits at the cluster's barrier and has not "
        "arrived there");
}

TEST_CASE("core: clusters: races between blocks are found, and barriers order accesses") {
  const auto races = [](const std::string& between) {
    Setup setup = in_clusters();
    setup.resident_blocks = 64;
    const LaunchOutcome o =
        tests::finish(kStart + kSync + "  st.shared::cluster.u32 [%r9], 1;\n" + between +
                          "  ld.shared.u32 %r1, [%r8];\n  st.global.u32 [%dst], %r1;\n" + kSync,
                      setup);
    size_t found = 0;
    for (const auto& f : o.findings) found += f.kind == counters::Finding::Kind::race;
    return found;
  };
  CHECK(races(kSync) == 0);
  CHECK(races("  bar.sync 0;\n") == 1);
  CHECK(races("  barrier.cluster.arrive.relaxed;\n  barrier.cluster.wait;\n") == 1);
}

TEST_CASE("core: clusters: threads of another block may arrive at an mbarrier") {
  const LaunchOutcome o = tests::finish(kStart + R"(
  mov.u32 %r20, gate;
  @%p15 mbarrier.init.shared.b64 [%r20], 40;
)" + kSync + R"(
  st.shared::cluster.u32 [%r9], %g;
  mapa.shared::cluster.u32 %r21, %r20, %r11;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r21];
WAIT:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r20], 0;
  @!%p1 bra WAIT;
  ld.shared.u32 %r1, [%r8];
  st.global.u32 [%dst], %r1;
)" + kSync,
                                        in_clusters());
  CHECK(o.out == each(320, [](uint32_t i) {
          const uint32_t block = i / 40, before = block / 4 * 4 + (block + 3) % 4;
          return before * 40 + i % 40;
        }));
  CHECK(o.findings.empty());
}
