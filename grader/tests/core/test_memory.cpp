// Loads and stores of every width and space, and conversions of addresses between spaces.
#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

#include "simulator/core/memory/host_pages.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::each;
using tests::finish;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

struct Width {
  const char* type;
  unsigned bytes;
  bool is_signed;
  const char* reg;       // registers of the type's own width
  const char* wide_reg;  // wider registers, into which a load extends
};
const Width kWidths[] = {
    {"u8", 1, false, "%h", "%r"},  {"s8", 1, true, "%h", "%r"},   {"b8", 1, false, "%h", "%d"},
    {"u16", 2, false, "%h", "%r"}, {"s16", 2, true, "%h", "%d"},  {"b16", 2, false, "%h", "%h"},
    {"u32", 4, false, "%r", "%d"}, {"s32", 4, true, "%r", "%d"},  {"b32", 4, false, "%r", "%r"},
    {"f32", 4, false, "%f", "%f"}, {"u64", 8, false, "%d", "%d"}, {"s64", 8, true, "%d", "%d"},
    {"b64", 8, false, "%d", "%d"}, {"f64", 8, false, "%e", "%e"},
};

std::string vector_of(const std::string& reg, unsigned n) {
  std::string text;
  for (unsigned i = 0; i < n; ++i) text += (i ? ", " : "") + reg + std::to_string(10 + i);
  return n == 1 ? text : "{" + text + "}";
}

// Every thread copies `elements` of the type from its part of `in` to `space`, back, and to `out`.
std::string round_trip(const Width& w, const std::string& space, unsigned elements) {
  const std::string vec = elements == 1 ? "" : ".v" + std::to_string(elements);
  const std::string suffix = vec + "." + w.type + " ";
  const std::string regs = vector_of(w.reg, elements);
  const std::string bytes = std::to_string(elements * w.bytes);
  std::string text = "mad.wide.u32 %d1, %t, " + bytes + ", %in;\n" + "mad.wide.u32 %d2, %t, " +
                     bytes + ", %out;\n" + "ld.global" + suffix + regs + ", [%d1];\n";
  const std::string st = "st" + space + suffix, ld = "ld" + space + suffix;
  if (space.rfind(".shared", 0) == 0) {
    text += "mov.u32 %r1, box;\n mad.lo.u32 %r1, %t, " + bytes + ", %r1;\n" + st + "[%r1], " +
            regs + ";\n" + ld + regs + ", [%r1];\n";
  } else if (space == ".local") {
    text += "mov.u64 %d3, own;\n" + st + "[%d3+16], " + regs + ";\n" + ld + regs + ", [%d3+16];\n";
  } else if (space != ".global") {  // generic: to local memory and back
    text += "cvta.local.u64 %d3, own;\n" + st + "[%d3], " + regs + ";\n" + ld + regs + ", [%d3];\n";
  }
  return text + "st.global" + suffix + "[%d2], " + regs + ";";
}

std::vector<uint32_t> noise(size_t words) {
  return each(words, [](uint32_t i) { return (i + 1) * 2654435761u; });
}

constexpr const char* kOwnBlock = ".local .align 16 .b8 own[32];\n";
constexpr const char* kBox = ".shared .align 16 .b8 box[512];\n";

}  // namespace

TEST_CASE("core: memory: every width and vector moves through every space") {
  for (const Width& w : kWidths)
    for (const unsigned elements : {1u, 2u, 4u})
      for (const std::string space :
           {".global", ".shared", ".shared::cta", ".local", "", ".volatile", ".relaxed.cta"}) {
        if (w.bytes * elements > 16) continue;
        if (space == ".relaxed.cta" && elements > 1) continue;
        Setup setup;
        setup.functions = kBox;
        setup.in = noise(128);
        setup.out_words = 8 * w.bytes * elements;
        CAPTURE(w.type);
        CAPTURE(elements);
        CAPTURE(space);
        setup.in.resize(setup.out_words);
        CHECK(finish(kOwnBlock + round_trip(w, space, elements), setup).out == setup.in);
      }
}

TEST_CASE("core: memory: 128-bit registers are loaded and stored") {
  Setup setup;
  setup.in = noise(128);
  setup.out_words = 128;
  setup.functions = kBox;
  CHECK(finish(R"(
  mad.wide.u32 %d1, %t, 16, %in;
  mad.wide.u32 %d2, %t, 16, %out;
  ld.global.b128 %q1, [%d1];
  mov.u32 %r1, box;
  mad.lo.u32 %r1, %t, 16, %r1;
  st.shared.b128 [%r1], %q1;
  ld.shared.b128 %q2, [%r1];
  mov.b128 {%d3, %d4}, %q2;
  mov.b128 %q3, {%d3, %d4};
  st.global.b128 [%d2], %q3;)",
               setup)
            .out == setup.in);
}

TEST_CASE("core: memory: loads extend to the register's width, stores truncate") {
  for (const Width& w : kWidths) {
    if (w.bytes > 4 || w.type == std::string("f32")) continue;
    Setup setup;
    setup.in = noise(32);
    setup.out_words = 64;
    CAPTURE(w.type);
    const std::string wide = w.wide_reg;
    const std::string to_64 =
        wide == "%d" ? "mov.b64 %d5, %d10;\n"
        : wide == "%r"
            ? std::string("cvt.") + (w.is_signed ? "s64.s32" : "u64.u32") + " %d5, %r10;\n"
            : "cvt.u64.u16 %d5, %h10;\n";
    const LaunchOutcome o =
        finish("ld.global." + std::string(w.type) + " " + wide + "10, [%src];\n" + to_64 +
                   "mad.wide.u32 %d2, %t, 8, %out;\n st.global.u64 [%d2], %d5;",
               setup);
    for (uint32_t t = 0; t < 32; ++t) {
      const unsigned shift = 64 - 8 * w.bytes;
      const uint64_t up = uint64_t{setup.in[t]} << shift;
      const uint64_t want =
          w.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(up) >> shift) : up >> shift;
      CHECK((o.out[2 * t] | uint64_t{o.out[2 * t + 1]} << 32) == want);
    }
  }
  // Stores write the low bytes of a wider register.
  CHECK(finish(R"(
  mov.u32 %r1, 0x12345678;
  st.global.u32 [%dst], 0;
  st.global.u8 [%dst], %r1;
  st.global.u16 [%dst+2], %r1;)")
            .out == each(32, [](uint32_t) { return 0x56780078u; }));
}

TEST_CASE("core: memory: vector loads may omit elements") {
  Setup setup;
  setup.in = noise(128);
  const LaunchOutcome o = finish(R"(
  mad.wide.u32 %d1, %t, 16, %in;
  ld.global.v4.u32 {_, %r1, _, %r2}, [%d1];
  xor.b32 %r1, %r1, %r2;
  st.global.u32 [%dst], %r1;)",
                                 setup);
  CHECK(o.out == each(32, [&](uint32_t t) { return setup.in[4 * t + 1] ^ setup.in[4 * t + 3]; }));
}

TEST_CASE("core: memory: inactive lanes access nothing and need no valid address") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, 7;
  setp.lt.u32 %p1, %t, 3;
  @!%p1 mov.u64 %src, 0;
  @%p1 ld.global.u32 %r1, [%src];
  st.global.u32 [%dst], %r1;)");
  CHECK(o.out == each(32, [](uint32_t t) { return t < 3 ? t : 7; }));
}

TEST_CASE("core: memory: cached, non-coherent and hinted accesses move the same data") {
  for (const std::string ld :
       {"ld.global.ca.u32", "ld.global.cg.u32", "ld.global.cs.u32", "ld.global.lu.u32",
        "ld.global.cv.u32", "ld.global.nc.u32", "ld.global.nc.L1::no_allocate.L2::128B.u32",
        "ldu.global.u32", "ld.acquire.gpu.global.u32", "ld.weak.global.u32"})
    for (const std::string st : {"st.global.wb.u32", "st.global.cg.u32", "st.global.cs.u32",
                                 "st.global.wt.u32", "st.release.sys.global.u32"}) {
      CAPTURE(ld);
      CAPTURE(st);
      CHECK(finish("prefetch.global.L2 [%src];\n"
                   "applypriority.global.L2::evict_normal [%src], 128;\n" +
                   ld + " %r1, [%src];\n membar.gl;\n" + st + " [%dst], %r1;\n fence.sc.gpu;")
                .out == each(32, [](uint32_t t) { return t; }));
    }
}

TEST_CASE("core: memory: generic addresses of one instruction may go to three spaces") {
  Setup setup;
  setup.functions = ".shared .align 4 .b32 box[32];\n";
  const LaunchOutcome o = finish(std::string(kOwnBlock) + R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r8, %t, 4, %r9;
  add.u32 %r1, %t, 100;
  st.shared.u32 [%r8], %r1;
  add.u32 %r1, %t, 200;
  st.local.u32 [own], %r1;
  cvt.u64.u32 %d1, %r8;
  cvta.shared.u64 %d1, %d1;
  cvta.local.u64 %d2, own;
  cvta.global.u64 %d3, %src;
  rem.u32 %r2, %t, 3;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r2, 1;
  selp.b64 %d4, %d1, %d2, %p1;
  selp.b64 %d4, %d3, %d4, %p2;
  ld.u32 %r3, [%d4];          // 0: shared, 1: global, 2: local
  add.u32 %r3, %r3, 1000;
  st.u32 [%d4], %r3;
  ld.shared.u32 %r4, [%r8];
  ld.local.u32 %r5, [own];
  ld.global.u32 %r6, [%src];
  add.u32 %r4, %r4, %r5;
  add.u32 %r4, %r4, %r6;
  st.global.u32 [%dst], %r4;)",
                                 setup);
  CHECK(o.out == each(32, [](uint32_t t) { return 3 * t + 300 + 1000; }));
}

TEST_CASE("core: memory: isspacep classifies generic addresses, and cvta converts them back") {
  Setup setup;
  setup.functions = ".shared .align 4 .b32 box[32];\n";
  const LaunchOutcome o = finish(std::string(kOwnBlock) + R"(
  mov.u64 %d1, box;
  cvta.shared.u64 %d2, %d1;
  cvta.to.shared.u64 %d3, %d2;
  setp.eq.u64 %p1, %d1, %d3;
  mov.u64 %d4, own;
  cvta.local.u64 %d5, %d4;
  cvta.to.local.u64 %d6, %d5;
  setp.eq.and.u64 %p1, %d4, %d6, %p1;
  cvta.to.global.u64 %d7, %out;
  setp.eq.and.u64 %p1, %d7, %out, %p1;
  mov.b64 %d8, test_n;
  cvta.param.u64 %d8, %d8;
  selp.u32 %r1, 1, 0, %p1;

  rem.u32 %r2, %t, 4;         // 0: shared, 1: local, 2: global, 3: parameters
  setp.eq.u32 %p2, %r2, 1;
  selp.b64 %d9, %d5, %d2, %p2;
  setp.eq.u32 %p2, %r2, 2;
  selp.b64 %d9, %out, %d9, %p2;
  setp.eq.u32 %p2, %r2, 3;
  selp.b64 %d9, %d8, %d9, %p2;
  isspacep.shared %p3, %d9;
  @%p3 add.u32 %r1, %r1, 10;
  isspacep.local %p3, %d9;
  @%p3 add.u32 %r1, %r1, 100;
  isspacep.global %p3, %d9;
  @%p3 add.u32 %r1, %r1, 1000;
  isspacep.const %p3, %d9;
  @%p3 add.u32 %r1, %r1, 10000;
  st.global.u32 [%dst], %r1;)",
                                 setup);
  CHECK(o.out == each(32, [](uint32_t t) {
          const uint32_t want[] = {11, 101, 1001, 10001};
          return want[t % 4];
        }));
}

TEST_CASE("core: memory: each lane indexes its own local array") {
  const LaunchOutcome o = finish(R"(
  .local .align 4 .b8 own[64];
  mov.u64 %d1, own;
  mov.u32 %r1, 0;
FILL:
  mad.wide.u32 %d2, %r1, 4, %d1;
  mul.lo.u32 %r2, %r1, %t;
  st.local.u32 [%d2], %r2;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra FILL;
  and.b32 %r3, %t, 15;
  mad.wide.u32 %d2, %r3, 4, %d1;
  ld.local.u32 %r2, [%d2];
  st.global.u32 [%dst], %r2;)");
  CHECK(o.out == each(32, [](uint32_t t) { return t % 16 * t; }));
}

TEST_CASE("core: memory: static shared variables keep their alignment, dynamic ones follow") {
  Setup setup;
  setup.dynamic_shared = 64;
  setup.functions = R"(
.shared .align 1 .b8 odd[3];
.shared .align 8 .b64 wide[2];
.extern .shared .align 16 .b8 first[];
.extern .shared .align 4 .b32 second[];
)";
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, odd;
  mov.u32 %r2, wide;
  mov.u32 %r3, first;
  mov.u32 %r4, second;        // the same address
  mov.u32 %r5, %dynamic_smem_size;
  mov.u32 %r6, %total_smem_size;
  st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
  st.global.v2.u32 [%out+16], {%r5, %r6};)",
                                 setup);
  CHECK(o.out[1] % 8 == 0);
  CHECK(o.out[1] >= o.out[0] + 3);
  CHECK(o.out[2] % 16 == 0);
  CHECK(o.out[2] >= o.out[1] + 16);
  CHECK(o.out[3] == o.out[2]);
  CHECK(o.out[4] == 64);
  CHECK(o.out[5] == o.out[2] + 64);
}

TEST_CASE("core: memory: special registers have their documented values") {
  Setup setup;
  setup.grid = {2, 3, 2};
  setup.block = {4, 6, 2};
  setup.out_words = 12 * 48 * 8;
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, %ctaid.z;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %ctaid.y;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %nctaid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r2, %tid.z;
  mov.u32 %r3, %ntid.y;
  mov.u32 %r4, %tid.y;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4;
  mov.u32 %r3, %ntid.z;
  mul.lo.u32 %r3, %r3, 24;
  mad.lo.u32 %r1, %r1, %r3, %r2;
  mad.wide.u32 %d1, %r1, 32, %out;
  mov.u32 %r3, %laneid;
  mov.u32 %r4, %warpid;
  mov.u32 %r5, %lanemask_lt;
  mov.u32 %r6, %lanemask_le;
  mov.u32 %r7, %lanemask_eq;
  mov.u32 %r8, %lanemask_ge;
  mov.u32 %r9, %lanemask_gt;
  mov.u32 %r10, %nctaid.z;
  shl.b32 %r10, %r10, 8;
  add.u32 %r10, %r10, WARP_SZ;
  st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5};
  st.global.v4.u32 [%d1+16], {%r6, %r7, %r8, %r10};)",
                                 setup);
  for (uint32_t block = 0; block < 12; ++block)
    for (uint32_t t = 0; t < 48; ++t) {
      const uint32_t* own = &o.out[(block * 48 + t) * 8];
      const uint32_t l = t % 32, lt = (1u << l) - 1;
      const std::vector<uint32_t> want = {t,       l,   t / 32,     lt, lt | 1u << l,
                                          1u << l, ~lt, 2 << 8 | 32};
      CHECK(std::vector<uint32_t>(own, own + 8) == want);
    }
}

TEST_CASE("core: memory: clocks never run backwards, and always advance") {
  const LaunchOutcome o = finish(R"(
  mov.u32 %r1, %clock;
  mov.u64 %d1, %clock64;
  mov.u32 %r9, %clock_hi;
  mov.u64 %d3, %globaltimer;
  mov.u32 %r8, %globaltimer_hi;
  mov.u32 %r7, %globaltimer_lo;
  nanosleep.u32 20;
  mov.u32 %r2, %clock;
  mov.u64 %d2, %clock64;
  mov.u64 %d4, %globaltimer;
  setp.lt.u32 %p1, %r1, %r2;
  setp.lt.and.u64 %p1, %d1, %d2, %p1;
  setp.lt.and.u64 %p1, %d3, %d4, %p1;
  selp.u32 %r3, 1, 0, %p1;
  st.global.u32 [%dst], %r3;)");
  CHECK(o.out == each(32, [](uint32_t) { return 1; }));
}

TEST_CASE("core: memory: a thread that waits for a clock waits only briefly") {
  // With five instructions for each read, this would take two hundred seconds.
  const LaunchOutcome o = finish(R"(
  mov.u64 %d1, %clock64;
look:
  mov.u64 %d2, %clock64;
  sub.u64 %d3, %d2, %d1;
  setp.lt.u64 %p1, %d3, 10000000000;
  @%p1 bra look;
  mov.u32 %r1, 1;
  st.global.u32 [%dst], %r1;)");
  CHECK(o.out == each(32, [](uint32_t) { return 1; }));
  CHECK(o.longest_warp < 1'000'000);
  CHECK(o.longest_wait > 9'000'000'000);
}

TEST_CASE("core: memory: a clock advances normally in a loop that also polls memory") {
  const LaunchOutcome o = finish(R"(
  mov.u64 %d1, %clock64;
look:
  ld.volatile.global.u32 %r2, [%dst];
  mov.u64 %d2, %clock64;
  sub.u64 %d3, %d2, %d1;
  setp.lt.u64 %p1, %d3, 10000;
  @%p1 bra look;
  mov.u32 %r1, 1;
  st.global.u32 [%dst], %r1;)");
  CHECK(o.longest_warp >= 10'000);
  CHECK(o.longest_wait == 0);
}

TEST_CASE("core: memory: freed memory and its written bits return to pool and system") {
  const auto resident = [] {
    size_t size = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> size >> pages;
    return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  };
  constexpr uint64_t kBytes = 512 << 20;
  sim::Memory memory(uint64_t{1} << 30);
  const sim::Allocation* allocation = memory.allocate(kBytes, "a");
  // all bytes but one, so that the written bits are used
  memory.fill(allocation->begin, 0, kBytes - 1);
  const size_t held = resident();
  memory.release(allocation->begin);
  CHECK(held - resident() > (kBytes + kBytes / 8) * 99 / 100 - sim::PagePool::kKept);
}
