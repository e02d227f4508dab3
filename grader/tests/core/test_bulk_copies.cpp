// Bulk copies, the mbarriers that count their bytes, and boxes of tensors.
// runtime/tests/programs/clusters/tensor_maps.cu compares each mode with an H100.
#include <doctest/doctest.h>

#include <cstring>

#include "simulator/core/memory/descriptors.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

Setup with_gate(uint32_t threads = 64) {
  Setup setup;
  setup.block = {threads, 1, 1};
  setup.functions = ".shared .align 8 .b64 gate[2];\n.shared .align 128 .b32 box[512];\n";
  setup.hazards = true;
  return setup;
}

// %r20: `gate`, %r21: `box`, %r22: this thread's word of `box`; %p15: true in the first thread.
const std::string kBulkStart = R"(
  mov.u32 %r20, gate;
  mov.u32 %r21, box;
  mad.lo.u32 %r22, %t, 4, %r21;
  setp.eq.u32 %p15, %t, 0;
  @%p15 mbarrier.init.shared.b64 [%r20], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  bar.sync 0;
)";
const std::string kBulkWait = R"(
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r20], 0;
  @!%p1 bra WAIT;
)";
const std::string kShowBox = "  ld.shared.u32 %r1, [%r22];\n  st.global.u32 [%dst], %r1;\n";

}  // namespace

TEST_CASE("core: bulk copies: a copy arrives when its mbarrier has counted all bytes") {
  const LaunchOutcome o = tests::finish(kBulkStart + R"(
  @!%p15 bra WAIT;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r20], 256;
  cp.async.bulk.prefetch.L2.global [%in], 256;
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r21], [%in], 128, [%r20];
  add.u32 %r30, %r21, 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r30], [%in+128], 128, [%r20], %d9;
  mbarrier.arrive.shared.b64 _, [%r20];
)" + kBulkWait + kShowBox,
                                        with_gate());
  CHECK(o.out == each(64, [](uint32_t t) { return t; }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: bulk copies: a thread may count bytes explicitly before it expects them") {
  const LaunchOutcome o = tests::finish(kBulkStart + R"(
  st.shared.u32 [%r22], %t;
  bar.sync 0;
  @!%p15 bra WAIT;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r20], 40;
  mbarrier.arrive.expect_tx.shared.b64 %d1, [%r20], 40;
)" + kBulkWait + kShowBox,
                                        with_gate());
  CHECK(o.out == each(64, [](uint32_t t) { return t; }));
}

TEST_CASE("core: bulk copies: a copy without a wait has not arrived") {
  Setup setup = with_gate();
  setup.trap_uninitialised = false;
  const LaunchOutcome o = tests::finish(kBulkStart + R"(
  @%p15 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 256;
  @%p15 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r21], [%in], 256, [%r20];
  bar.sync 0;
)" + kShowBox,
                                        setup);
  CHECK(o.out == each(64, [](uint32_t) { return 0xffffffffu; }));
}

TEST_CASE("core: bulk copies: they write device memory") {
  const LaunchOutcome o = tests::finish(kBulkStart + R"(
  st.shared.u32 [%r22], %g;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p15 cp.async.bulk.global.shared::cta.bulk_group [%dst], [%r21], 256;
  @%p15 cp.async.bulk.commit_group;
  @%p15 cp.async.bulk.wait_group.read 0;
)",
                                        with_gate());
  CHECK(o.out == each(64, [](uint32_t t) { return t; }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: bulk copies: they copy between blocks of a cluster and multicast to all of them") {
  Setup setup = with_gate(32);
  setup.grid = {2, 1, 1};
  setup.cluster = {2, 1, 1};
  setup.in_bytes = 512;
  const std::string sync = "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n";
  const LaunchOutcome o = tests::finish(kBulkStart + R"(
  mov.u32 %r10, %cluster_ctarank;
  @%p15 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 384;
  add.u32 %r23, %r22, 256;
  add.u32 %r24, %r21, 256;
  st.shared.u32 [%r23], %g;
)" + sync + R"(
  @!%p15 bra WAIT;
  xor.b32 %r11, %r10, 1;
  add.u32 %r12, %r21, 384;
  mapa.shared::cluster.u32 %r13, %r12, %r11;
  mapa.shared::cluster.u32 %r14, %r20, %r11;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], [%r24], 128, [%r14];
  mad.lo.u32 %r15, %r10, 128, %r21;
  cvt.u64.u32 %d1, %r10;
  mad.lo.u64 %d2, %d1, 128, %in;
  mov.u16 %h1, 3;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r15], [%d2], 128, [%r20], %h1;
)" + kBulkWait + R"(
  ld.shared.u32 %r1, [%r22];
  ld.shared.u32 %r2, [%r22+128];
  ld.shared.u32 %r3, [%r22+384];
  mad.lo.u32 %r1, %r2, 100, %r1;
  mad.lo.u32 %r1, %r3, 10000, %r1;
  st.global.u32 [%dst], %r1;
)" + sync,
                                        setup);
  CHECK(o.out == each(64, [](uint32_t i) {
          const uint32_t t = i % 32, other = (1 - i / 32) * 32 + t;
          return t + (32 + t) * 100 + other * 10000;
        }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: bulk copies: boxes of a tensor are loaded and stored") {
  // 8 x 8 words from word 64 of `in` on; a box of 4 x 4 from (4, 6) on, with two rows outside.
  sim::TensorMap map;
  map.size = {8, 8, 1, 1, 1};
  map.stride = {32, 0, 0, 0};
  map.box = {4, 4, 1, 1, 1};
  map.step = {1, 1, 1, 1, 1};
  map.dimensions = 2;
  map.element_bytes = 4;
  Setup setup = with_gate(16);
  setup.in = each(128, [](uint32_t i) { return i >= 64 ? i - 64 : 0; });
  std::memcpy(setup.in.data(), &map, sizeof map);
  setup.out_words = 64;
  setup.out_written = true;
  const std::string begin = kBulkStart + R"(
  add.u64 %d1, %in, 256;
  @%p15 st.global.u64 [%in+8], %d1;
  bar.sync 0;
  @!%p15 bra WAIT;
  prefetch.tensormap [%in];
  cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%in, {4, 6}];
  mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 64;
)";
  const auto box = [](uint32_t t) { return t < 8 ? (6 + t / 4) * 8 + 4 + t % 4 : 0; };
  const LaunchOutcome there = tests::finish(begin + R"(
  cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r21], [%in, {4, 6}], [%r20];
)" + kBulkWait + kShowBox,
                                            setup);
  for (uint32_t t = 0; t < 16; ++t) CHECK(there.out[t] == box(t));
  const LaunchOutcome many = tests::finish(begin + R"(
  mov.u16 %h1, 1;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r21], [%in, {4, 6}], [%r20], %h1;
)" + kBulkWait + kShowBox,
                                           setup);
  for (uint32_t t = 0; t < 16; ++t) CHECK(many.out[t] == box(t));
  const LaunchOutcome back = tests::finish(kBulkStart + R"(
  @%p15 st.global.u64 [%in+8], %out;
  st.shared.u32 [%r22], %t;
  bar.sync 0;
  @%p15 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%in, {4, 6}], [%r21];
  @%p15 cp.async.bulk.commit_group;
  @%p15 cp.async.bulk.wait_group 0;
)",
                                           setup);
  for (uint32_t i = 0; i < 64; ++i) {
    const bool in_box = i / 8 >= 6 && i % 8 >= 4;
    CHECK(back.out[i] == (in_box ? (i / 8 - 6) * 4 + i % 8 - 4 : 0));
  }
}

TEST_CASE("core: bulk copies: invalid sizes, addresses and maps are faults") {
  const auto trap_of = [](const std::string& body) {
    const LaunchOutcome o = tests::run(kBulkStart + body, with_gate(32));
    REQUIRE(o.trap);
    return tests::words(*o.trap);
  };
  const std::string copy =
      "  @%p15 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes ";
  CHECK(
      trap_of(copy + "[%r21], [%in], 24, [%r20];") ==
      "misaligned: thread (0,0,0) of block (0,0,0) copies 24 bytes in bulk; it must be a multiple "
      "of 16");
  CHECK(trap_of(copy + "[%r21], [%in+4], 16, [%r20];") ==
        "misaligned: thread (0,0,0) of block (0,0,0) reads 16 bytes at offset 4 of `in`: an access "
        "of 16 bytes needs an address that is a multiple of 16");
  CHECK(trap_of(copy + "[%r21+2048], [%in], 16, [%r20];") ==
        "out of bounds: thread (0,0,0) of block (0,0,0) writes 16 bytes at offset 2176 of shared "
        "memory: 16 bytes past its end (2176 bytes)");
  CHECK(trap_of("  @%p15 cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes "
                "[%r21], [%in, {0}], [%r20];")
            .find("which cuTensorMapEncodeTiled has not made") != std::string::npos);
  CHECK(trap_of("  @%p15 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r20], 1048576;") ==
        "barrier: thread (0,0,0) of block (0,0,0) lets an mbarrier wait for 1048576 bytes; 1048575 "
        "are possible");
}
