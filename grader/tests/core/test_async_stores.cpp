// Stores and reductions that become visible when a thread tests an mbarrier (st.async, red.async),
// and reductions by the copy engine (cp.reduce.async.bulk). `programs/async_stores` and
// `programs/bulk_reductions` compare them with a GPU.
#include <doctest/doctest.h>

#include <cstring>

#include "simulator/core/memory/descriptors.h"
#include "tests/fixtures/sim_kit.h"

namespace lab32::async_store_tests {
namespace {

using tests::each;
using tests::LaunchOutcome;
using tests::Setup;

Setup with_gate(uint32_t threads = 32, uint32_t blocks = 1) {
  Setup setup;
  setup.block = {threads, 1, 1};
  setup.grid = setup.cluster = {blocks, 1, 1};
  setup.functions = ".shared .align 8 .b64 gate[2];\n.shared .align 128 .b32 box[512];\n";
  setup.hazards = true;
  return setup;
}

// %r20, %r21: `gate` and `box` of the next block of the cluster; %r22: this thread's word of its
// own `box`; %p15: true in the first thread.
std::string start(uint32_t bytes) {
  return R"(
  mov.u32 %r30, gate;
  mov.u32 %r31, box;
  mad.lo.u32 %r22, %t, 4, %r31;
  setp.eq.u32 %p15, %t, 0;
  @%p15 mbarrier.init.shared.b64 [%r30], 1;
  @%p15 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], )" +
         std::to_string(bytes) + R"(;
  fence.mbarrier_init.release.cluster;
  mov.u32 %r10, %cluster_ctarank;
  mov.u32 %r11, %cluster_nctarank;
  add.u32 %r10, %r10, 1;
  rem.u32 %r10, %r10, %r11;
  mapa.shared::cluster.u32 %r20, %r30, %r10;
  mapa.shared::cluster.u32 %r21, %r31, %r10;
)";
}
const std::string kMeet = "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n";
const std::string kWait = R"(
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r30], 0;
  @!%p1 bra WAIT;
)";
const std::string kShow = "  ld.shared.u32 %r1, [%r22];\n  st.global.u32 [%dst], %r1;\n";
const std::string kSend = "  st.async.shared::cluster.mbarrier::complete_tx::bytes";
const std::string kUpdate =
    "  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";
const std::string kReduce = "  @%p15 cp.reduce.async.bulk.global.shared::cta.bulk_group.";
const std::string kDone =
    "  @%p15 cp.async.bulk.commit_group;\n  @%p15 cp.async.bulk.wait_group 0;\n";

}  // namespace

TEST_CASE("core: async stores: words, pairs and quads arrive at the next block's barrier") {
  // Each thread sends 4 + 8 + 16 bytes; a word of each is added up.
  const LaunchOutcome o =
      tests::finish(start(32 * 28) + kMeet + R"(
  mad.lo.u32 %r12, %t, 4, %r21;
  mad.lo.u32 %r13, %t, 8, %r21;
  mad.lo.u32 %r14, %t, 16, %r21;
  add.u32 %r1, %g, 1;
  mov.b64 %d1, {%g, %r1};
)" + kSend + ".b32 [%r12], %g, [%r20];\n" +
                        kSend + ".b64 [%r13+128], %d1, [%r20];\n" + kSend +
                        ".v4.u32 [%r14+384], {%t, %g, %r1, %t}, [%r20];\n" + kWait + R"(
  mad.lo.u32 %r13, %t, 4, %r22;
  ld.shared.u32 %r1, [%r22];
  ld.shared.u32 %r2, [%r13+132];
  mad.lo.u32 %r14, %t, 16, %r31;
  ld.shared.u32 %r3, [%r14+388];
  mad.lo.u32 %r1, %r2, 100, %r1;
  mad.lo.u32 %r1, %r3, 10000, %r1;
  st.global.u32 [%dst], %r1;
)" + kMeet,
                    with_gate(32, 2));
  CHECK(o.out == each(64, [](uint32_t i) {
          const uint32_t from = (i + 32) % 64;
          return from + 100 * (from + 1) + 10000 * from;
        }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: async stores: all threads update one word") {
  const std::string fill = "  st.shared.u32 [%r22], 100;\n  bar.sync 0;\n" + kMeet;
  const auto total = [&](const std::string& operation, const std::string& value) {
    const LaunchOutcome o = tests::finish(start(32 * 4) + fill + "  mov.u32 %r2, " + value + ";\n" +
                                              kUpdate + operation + " [%r21], %r2, [%r20];\n" +
                                              kWait + "  ld.shared.u32 %r1, [%r31];\n" +
                                              "  st.global.u32 [%dst], %r1;\n" + kMeet,
                                          with_gate(32, 2));
    CHECK(o.findings.empty());
    return o.out[40];
  };
  CHECK(total(".add.u32", "%t") == 100 + 31 * 16);
  CHECK(total(".min.s32", "-5") == static_cast<uint32_t>(-5));
  CHECK(total(".max.u32", "-5") == static_cast<uint32_t>(-5));
  CHECK(total(".inc.u32", "110") == 21);  // 11 to 0, 21 from there
  CHECK(total(".dec.u32", "110") == 68);
  CHECK(total(".and.b32", "36") == 36);
  CHECK(total(".or.b32", "3") == 103);
  CHECK(total(".xor.b32", "3") == 100);
}

TEST_CASE("core: async stores: they accept generic addresses and 64-bit sums") {
  const LaunchOutcome o = tests::finish(start(32 * 8) + R"(
  @%p15 st.shared.u64 [%r31], 1;
  bar.sync 0;
  cvt.u64.u32 %d1, %r31;
  cvta.shared.u64 %d1, %d1;
  cvt.u64.u32 %d2, %r30;
  cvta.shared.u64 %d2, %d2;
  mov.u64 %d3, 4294967296;
  red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u64 [%d1], %d3, [%d2];
)" + kWait + "  ld.shared.v2.u32 {%r1, %r2}, [%r31];\n  add.u32 %r1, %r1, %r2;\n" +
                                            "  st.global.u32 [%dst], %r1;\n",
                                        with_gate());
  CHECK(o.out == each(32, [](uint32_t) { return 33u; }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: async stores: a store without a wait has not arrived, and races") {
  const LaunchOutcome o =
      tests::finish(start(32 * 4) + "  st.shared.u32 [%r22], 7;\n  bar.sync 0;\n" + kSend +
                        ".b32 [%r22], %t, [%r20];\n" + kShow + kWait,
                    with_gate());
  CHECK(o.out == each(32, [](uint32_t) { return 7u; }));
  const LaunchOutcome late =
      tests::finish(start(32 * 4) + kSend + ".b32 [%r22], %t, [%r20];\n  xor.b32 %r2, %r22, 4;\n" +
                        "  st.shared.u32 [%r2], 7;\n" + kWait,
                    with_gate());
  CHECK(late.findings.size() == 1);
}

TEST_CASE("core: async stores: undefined values are passed on, and are faults in an update") {
  const std::string read = "  ld.shared.u32 %r2, [%r31+1024];\n";
  const LaunchOutcome sent = tests::finish(
      start(32 * 4) + read + kSend + ".b32 [%r22], %r2, [%r20];\n" + kWait +
          "  ld.shared.u32 %r1, [%r22];\n  and.b32 %r1, %r1, 0;\n  st.global.u32 [%dst], %r1;\n",
      with_gate());
  CHECK(sent.out == each(32, [](uint32_t) { return 0u; }));
  CHECK(sent.findings.empty());
  // In shared memory this is a finding and does not end the launch.
  const auto found = [](const std::string& body) {
    const LaunchOutcome o = tests::run(body, with_gate());
    return o.findings.size() == 1 ? o.findings[0].used_as : sim::ValueUse::none;
  };
  CHECK(found(start(32 * 4) + read + kSend + ".b32 [%r22], %r2, [%r20];\n" + kWait + kShow) ==
        sim::ValueUse::output);
  CHECK(found(start(32 * 4) + read + "  st.shared.u32 [%r22], 1;\n  bar.sync 0;\n" + kUpdate +
              ".add.u32 [%r22], %r2, [%r20];\n" + kWait) == sim::ValueUse::atomic);
  CHECK(found(start(32 * 4) + kUpdate + ".add.u32 [%r22], %t, [%r20];\n" + kWait) ==
        sim::ValueUse::atomic);
}

TEST_CASE("core: async stores: invalid destinations are faults") {
  const auto trap_of = [](const std::string& body) {
    const LaunchOutcome o = tests::run(body, with_gate());
    return o.trap ? tests::words(*o.trap) : std::string("nothing");
  };
  const std::string odd = trap_of(start(32 * 4) + kSend + ".b64 [%r31+4], %d1, [%r20];\n");
  CHECK_MESSAGE(odd.find("multiple of 8") != std::string::npos, odd);
  const std::string far = trap_of(start(32 * 4) + kSend + ".b32 [%r31+4096], %t, [%r20];\n");
  CHECK_MESSAGE(far.find("past its end") != std::string::npos, far);
}

TEST_CASE("core: bulk reductions: each element of device memory is updated separately") {
  Setup setup = with_gate();
  setup.grid = {3, 1, 1};
  setup.cluster = {};
  setup.out_words = 32;
  setup.out_written = true;
  const auto after = [&](const std::string& operation, const std::string& value) {
    const LaunchOutcome o =
        tests::finish(start(0) + "  mov.b32 %r1, " + value + ";\n  st.shared.u32 [%r22], %r1;\n" +
                          "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n" + kReduce +
                          operation + " [%out], [%r31], 128;\n" + kDone,
                      setup);
    CHECK(o.findings.empty());
    return o.out;
  };
  CHECK(after("add.u32", "%t") == each(32, [](uint32_t t) { return 3 * t; }));
  CHECK(after("max.s32", "-1") == each(32, [](uint32_t) { return 0u; }));
  CHECK(after("max.u32", "-1") == each(32, [](uint32_t) { return ~0u; }));
  CHECK(after("inc.u32", "1") == each(32, [](uint32_t) { return 1u; }));
  CHECK(after("dec.u32", "9") == each(32, [](uint32_t) { return 7u; }));
  CHECK(after("or.b32", "%t") == each(32, [](uint32_t t) { return t; }));
  CHECK(after("xor.b64", "%t") == each(32, [](uint32_t t) { return t; }));
  CHECK(after("add.u64", "0x80000000") ==
        each(32, [](uint32_t t) { return t % 2 == 0 ? 0x80000000u : 0x80000001u; }));
  CHECK(after("add.f32", "0f3FC00000") == each(32, [](uint32_t) { return 0x40900000u; }));
  // Subnormal numbers are not flushed.
  CHECK(after("add.f32", "0f00400000") == each(32, [](uint32_t) { return 0x00c00000u; }));
  CHECK(after("add.f64", "0f3FF00000") ==
        each(32, [](uint32_t t) { return t % 2 == 0 ? 0x5fe80000u : 0x40080000u; }));
  // Halves: 1.5, and subnormals that stay; bfloat16: -2.
  CHECK(after("add.noftz.f16", "0x3e000001") == each(32, [](uint32_t) { return 0x44800003u; }));
  CHECK(after("min.bf16", "0xc0003f80") == each(32, [](uint32_t) { return 0xc0000000u; }));
}

// Bulk reductions are atomic among each other, but race with stores.
TEST_CASE("core: bulk reductions: they race with another block's store") {
  Setup setup = with_gate();
  setup.grid = {2, 1, 1};
  setup.cluster = {};
  setup.out_words = 32;
  setup.out_written = true;
  const auto races = [&](const std::string& first) {
    return tests::run(start(0) + "  st.shared.u32 [%r22], %t;\n  fence.proxy.async.shared::cta;\n" +
                          "  bar.sync 0;\n  mad.lo.u32 %r4, %t, 4, 0;\n  cvt.u64.u32 %d4, %r4;\n" +
                          "  add.u64 %d4, %d4, %out;\n  mov.u32 %r5, %ctaid.x;\n" +
                          "  setp.eq.u32 %p2, %r5, 0;\n  @%p2 bra FIRST;\n" + kReduce +
                          "add.u32 [%out], [%r31], 128;\n" + kDone + "  ret;\nFIRST:\n  " + first +
                          " [%d4], 1;\n",
                      setup)
        .findings.size();
  };
  CHECK(races("st.global.u32") == 1);
  CHECK(races("red.global.add.u32") == 0);
}

TEST_CASE("core: bulk reductions: they update the next block's shared memory") {
  const LaunchOutcome o = tests::finish(
      start(128) + "  st.shared.u32 [%r22], %t;\n  add.u32 %r2, %g, 5;\n" +
          "  st.shared.u32 [%r22+256], %r2;\n  fence.proxy.async.shared::cta;\n  bar.sync 0;\n" +
          kMeet + "  add.u32 %r3, %r31, 256;\n" +
          "  @%p15 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes."
          "add.u32 [%r21], [%r3], 128, [%r20];\n" +
          kWait + kShow + kMeet,
      with_gate(32, 2));
  CHECK(o.out == each(64, [](uint32_t i) { return i % 32 + (i + 32) % 64 + 5; }));
  CHECK(o.findings.empty());
}

TEST_CASE("core: bulk reductions: a box of a tensor is reduced by its map's type") {
  const auto after = [](ptx::DataType type, const std::string& operation) {
    sim::TensorMap map;
    map.size = {8, 4, 1, 1, 1};
    map.stride = {32, 0, 0, 0};
    map.box = {4, 4, 1, 1, 1};
    map.step = {1, 1, 1, 1, 1};
    map.dimensions = 2;
    map.element_bytes = 4;
    map.type = type;
    Setup setup = with_gate(16);
    setup.in = each(64, [](uint32_t) { return 0u; });
    std::memcpy(setup.in.data(), &map, sizeof map);
    setup.out_words = 32;
    setup.out_written = true;
    return tests::run(start(0) + R"(
  @%p15 st.global.u64 [%in+8], %out;
  add.u32 %r1, %t, 1;
  st.shared.u32 [%r22], %r1;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%p15 cp.reduce.async.bulk.tensor.2d.global.shared::cta.)" +
                          operation + R"(.tile.bulk_group [%in, {4, 1}], [%r31];
  @%p15 cp.reduce.async.bulk.tensor.2d.global.shared::cta.)" +
                          operation + ".bulk_group [%in, {4, 1}], [%r31];\n" + kDone,
                      setup);
  };
  const LaunchOutcome sums = after(ptx::DataType::s32, "add");
  for (uint32_t i = 0; i < 32; ++i)
    CHECK(sums.out[i] == (i / 8 >= 1 && i % 8 >= 4 ? 2 * ((i / 8 - 1) * 4 + i % 8 - 3) : 0));
  const LaunchOutcome bits = after(ptx::DataType::u32, "xor");
  CHECK(bits.out == each(32, [](uint32_t) { return 0u; }));
  const LaunchOutcome none = after(ptx::DataType::f32, "xor");
  REQUIRE(none.trap);
  CHECK(tests::words(*none.trap).find("has elements of a type without this reduction") !=
        std::string::npos);
}

TEST_CASE("core: bulk reductions: undefined operands are faults") {
  Setup setup = with_gate();
  const std::string reduce = start(0) + kReduce + "add.u32 [%out], [%r31], 128;\n" + kDone;
  const LaunchOutcome into = tests::run(reduce, setup);
  REQUIRE(into.trap);
  CHECK(tests::words(*into.trap) ==
        "uninitialised: thread (0,0,0) of block (0,0,0) updates 16 bytes at offset 0 of `out`, "
        "which nothing has written");
  setup.out_written = true;
  const LaunchOutcome from = tests::run(reduce, setup);
  REQUIRE(from.findings.size() == 1);
  CHECK(from.findings[0].used_as == sim::ValueUse::atomic);
}

TEST_CASE("core: pmevent: it changes nothing") {
  const LaunchOutcome o =
      tests::finish("pmevent 3;\n  pmevent.mask 5;\n  st.global.u32 [%dst], %t;\n", {});
  CHECK(o.out == each(32, [](uint32_t t) { return t; }));
}

}  // namespace lab32::async_store_tests
