// Every trap, with its message to the student.
#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

// "kind: message" of a trap at the instruction named `here`.
std::string trap_of(const std::string& body, const Setup& setup = {}) {
  const LaunchOutcome o = tests::run(body, setup);
  REQUIRE_MESSAGE(o.trap, body);
  CHECK(o.trapped_at == "here");
  return tests::words(*o.trap);
}

Setup shared_words(const std::string& words) {
  Setup setup;
  setup.functions = ".shared .align 16 .b32 box[" + words + "];\n";
  return setup;
}

}  // namespace

// `in` and `out` are neighbours of 32 words each.
TEST_CASE("core: traps: accesses to global memory out of bounds") {
  CHECK(trap_of("ld.global.u32 %r1, [%src+4];  //@here") ==
        "out of bounds: thread (31,0,0) of block (0,0,0) reads 4 bytes at offset 128 of `in`: 4 "
        "bytes past its end (128 bytes)");
  CHECK(trap_of("st.global.u8 [%dst+4], 0;  //@here") ==
        "out of bounds: thread (31,0,0) of block (0,0,0) writes 1 byte at offset 128 of `out`: 1 "
        "byte "
        "past its end (128 bytes)");
  CHECK(trap_of("st.global.u32 [%dst+-4], %t;  //@here") ==
        "out of bounds: thread (0,0,0) of block (0,0,0) writes 4 bytes 4 bytes before the start of "
        "`out`");
  // The address is closer to `out`, but the other lanes access `in`.
  CHECK(trap_of("shl.b32 %r0, %t, 4;\ncvt.u64.u32 %d0, %r0;\nadd.u64 %d0, %d0, %in;\n"
                "ld.global.u32 %r1, [%d0];  //@here") ==
        "out of bounds: thread (8,0,0) of block (0,0,0) reads 4 bytes at offset 128 of `in`: 4 "
        "bytes past its end (128 bytes)");
  // The last lanes run into `out`, but the intended array is that of the first lanes.
  CHECK(trap_of("mul.lo.u32 %r0, %t, 28;\ncvt.u64.u32 %d0, %r0;\nadd.u64 %d0, %d0, %in;\n"
                "ld.global.u32 %r1, [%d0];  //@here") ==
        "out of bounds: thread (5,0,0) of block (0,0,0) reads 4 bytes at offset 140 of `in`: 16 "
        "bytes past its end (128 bytes)");
  CHECK(trap_of("mul.lo.u32 %r0, %t, 600;\ncvt.u64.u32 %d0, %r0;\nadd.u64 %d0, %d0, %in;\n"
                "ld.global.u32 %r1, [%d0];  //@here") ==
        "out of bounds: thread (1,0,0) of block (0,0,0) reads 4 bytes at offset 600 of `in`: 476 "
        "bytes past its end (128 bytes)");
  // No lane is in `in`, and the last ones are in `out`: the pointer is that of `in`.
  CHECK(trap_of("ld.global.u32 %r1, [%src+700];  //@here") ==
        "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 700 of `in`: 576 "
        "bytes past its end (128 bytes)");
  CHECK(trap_of("ld.global.u8 %r1, [%src+-1];  //@here") ==
        "out of bounds: thread (0,0,0) of block (0,0,0) reads 1 byte 1 byte before the start of "
        "`in`");
  CHECK(trap_of("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%src+116];  //@here",
                [] {
                  Setup setup;
                  setup.block = {1, 1, 1};
                  setup.in_bytes = 126;
                  return setup;
                }()) ==
        "out of bounds: thread (0,0,0) of block (0,0,0) reads 16 bytes at offset 116 of `in`: 6 "
        "bytes past its end (126 bytes)");
  CHECK(trap_of(R"(
  setp.eq.u32 %p1, %t, 9;
  @%p1 mov.u64 %src, 0x123456789abc;
  ld.global.u32 %r1, [%src];  //@here)") ==
        "out of bounds: thread (9,0,0) of block (0,0,0) reads 4 bytes at 0x123456789abc, which is "
        "not device memory");
  // So high that adding the width overflows.
  CHECK(trap_of(R"(
  setp.eq.u32 %p1, %t, 9;
  @%p1 mov.u64 %src, -4;
  ld.global.u32 %r1, [%src];  //@here)") ==
        "out of bounds: thread (9,0,0) of block (0,0,0) reads 4 bytes at 0xfffffffffffffffc, which "
        "is not device memory");
  CHECK(trap_of("red.global.add.u32 [%src+4], 1;  //@here") ==
        "out of bounds: thread (31,0,0) of block (0,0,0) updates 4 bytes at offset 128 of `in`: 4 "
        "bytes past its end (128 bytes)");
}

TEST_CASE("core: traps: messages name threads of two- and three-dimensional blocks") {
  Setup setup;
  setup.grid = {2, 2, 1};
  setup.block = {4, 2, 2};
  setup.in_bytes = 4;
  CHECK(trap_of(R"(
  mov.u32 %r1, %ctaid.y;
  setp.eq.u32 %p1, %r1, 1;
  setp.eq.and.u32 %p1, %lane, 14, %p1;
  @%p1 ld.global.u32 %r1, [%in+4];  //@here)",
                setup) ==
        "out of bounds: thread (2,1,1) of block (0,1,0) reads 4 bytes at offset 4 of `in`: 4 bytes "
        "past its end (4 bytes)");
}

TEST_CASE("core: traps: misaligned accesses to global memory") {
  CHECK(
      trap_of("ld.global.u32 %r1, [%in+2];  //@here") ==
      "misaligned: thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 2 of `in`: an access of "
      "4 bytes needs an address that is a multiple of 4");
  CHECK(
      trap_of("ld.global.v2.u32 {%r1,%r2}, [%in+4];  //@here") ==
      "misaligned: thread (0,0,0) of block (0,0,0) reads 8 bytes at offset 4 of `in`: an access of "
      "8 bytes needs an address that is a multiple of 8");
  CHECK(
      trap_of("st.global.u64 [%dst], %d1;  //@here") ==
      "misaligned: thread (1,0,0) of block (0,0,0) writes 8 bytes at offset 4 of `out`: an access "
      "of 8 bytes needs an address that is a multiple of 8");
}

TEST_CASE("core: traps: accesses through null pointers") {
  CHECK(trap_of("mov.u64 %d1, 0;\n ld.global.u32 %r1, [%d1];  //@here") ==
        "null: thread (0,0,0) of block (0,0,0) reads 4 bytes at address 0x0: a null pointer");
  CHECK(trap_of("mul.wide.u32 %d1, %t, 4;\n st.u32 [%d1+64], %r1;  //@here") ==
        "null: thread (0,0,0) of block (0,0,0) writes 4 bytes at address 0x40: a null pointer");
}

TEST_CASE("core: traps: reads of memory that was never written") {
  CHECK(trap_of("ld.global.u32 %r1, [%dst];  //@here\n st.global.u32 [%dst], %r1;") ==
        "uninitialised: thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 0 of `out`, which "
        "nothing has written; the value is stored in device memory");
  CHECK(
      trap_of("atom.global.add.u32 %r1, [%dst], 1;  //@here\n st.global.u32 [%dst], %r1;") ==
      "uninitialised: thread (0,0,0) of block (0,0,0) updates 4 bytes at offset 0 of `out`, which "
      "nothing has written");
  // Written except for the first byte.
  CHECK(trap_of(R"(
  st.global.u16 [%dst+2], %h1;
  st.global.u8 [%dst+1], %h1;
  ld.global.u16 %r1, [%dst+2];
  ld.global.u32 %r1, [%dst];  //@here
  st.global.u32 [%dst], %r1;)") ==
        "uninitialised: thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 0 of `out`, which "
        "nothing has written; the value is stored in device memory");
  CHECK(tests::finish(R"(
  st.global.u16 [%dst], 5;
  st.global.u8 [%dst+2], 0;
  st.global.u8 [%dst+3], 0;
  ld.global.u32 %r1, [%dst];
  add.u32 %r1, %r1, %t;
  st.global.u32 [%dst], %r1;)")
            .out == tests::each(32, [](uint32_t l) { return 5 + l; }));
}

TEST_CASE("core: traps: stores to read-only memory") {
  CHECK(trap_of(R"(
  ld.param.u64 %d1, [test_in];
  mov.b64 %d2, test_n;
  cvta.param.u64 %d2, %d2;
  st.u32 [%d2], 5;            //@here)") ==
        "read-only: thread (0,0,0) of block (0,0,0) writes 4 bytes at offset 16 of `kernel "
        "parameters`, which kernels cannot write");
}

TEST_CASE("core: traps: an index past one shared array into the next is a fault") {
  Setup setup;
  setup.functions = ".shared .align 4 .b32 box[24];\n.shared .align 4 .b32 next[32];\n";
  const std::string body = R"(
  mov.u32 %r1, next;
  mov.u32 %r9, box;
  mad.lo.u32 %r9, %t, 4, %r9;
  st.shared.u32 [%r9], %t;  //@here)";
  CHECK(trap_of(body, setup) ==
        "out of bounds: thread (24,0,0) of block (0,0,0) writes 4 bytes at offset 96 of `box`: 4 "
        "bytes past its end (96 bytes)");
  // A GPU does not check this, and an unchecked launch does not either.
  setup.trap_uninitialised = false;
  CHECK_FALSE(tests::run(body, setup).trap);
}

TEST_CASE("core: traps: faulty accesses to shared memory") {
  const std::string own = "mov.u32 %r9, box;\n mad.lo.u32 %r8, %t, 4, %r9;\n";
  CHECK(trap_of(own + "st.shared.u32 [%r8+4], %t;  //@here", shared_words("32")) ==
        "out of bounds: thread (31,0,0) of block (0,0,0) writes 4 bytes at offset 128 of `box`: "
        "4 bytes past its end (128 bytes)");
  CHECK(trap_of(own + "ld.shared.u32 %r1, [%r8+-4];  //@here", shared_words("32")) ==
        "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes 4 bytes before the start of "
        "`box`");
  CHECK(trap_of(own + "red.shared.add.u32 [%r8+64000], 1;  //@here", shared_words("32")) ==
        "out of bounds: thread (0,0,0) of block (0,0,0) updates 4 bytes at offset 64000 of `box`: "
        "63876 bytes past its end (128 bytes)");
  CHECK(
      trap_of(own + "ld.shared.v4.u32 {%r1,%r2,%r3,%r4}, [%r8];  //@here", shared_words("64")) ==
      "misaligned: thread (1,0,0) of block (0,0,0) reads 16 bytes at offset 4 of shared memory: an "
      "access of 16 bytes needs an offset that is a multiple of 16");
  CHECK(trap_of("ld.shared.u32 %r1, [0];  //@here") ==
        "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes of shared memory, but the "
        "block has none");
  // Dynamic shared memory ends at the size that the launch gives.
  Setup dynamic;
  dynamic.functions = ".extern .shared .align 16 .b8 box[];\n";
  dynamic.dynamic_shared = 124;
  CHECK(trap_of(own + "st.shared.u32 [%r8], %t;  //@here", dynamic) ==
        "out of bounds: thread (31,0,0) of block (0,0,0) writes 4 bytes at offset 124 of shared "
        "memory: 4 bytes past its end (124 bytes)");
  // Through a generic address.
  CHECK(trap_of("mov.u64 %d1, box;\n cvta.shared.u64 %d1, %d1;\n st.u32 [%d1+128], %t;  //@here",
                shared_words("32")) ==
        "out of bounds: thread (0,0,0) of block (0,0,0) writes 4 bytes at offset 128 of `box`: "
        "4 bytes past its end (128 bytes)");
}

TEST_CASE("core: traps: faulty accesses to local memory") {
  const std::string array = ".local .align 16 .b8 own[16];\n mov.u64 %d1, own;\n";
  CHECK(trap_of(array + "st.local.u32 [%d1+16], %t;  //@here") ==
        "out of bounds: thread (0,0,0) of block (0,0,0) writes 4 bytes at offset 16 of its local "
        "memory, which holds 16 bytes");
  CHECK(trap_of(array + "ld.local.u32 %r1, [%d1+-4];  //@here") ==
        "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes at offset -4 of its local "
        "memory, which holds 16 bytes");
  // So far before the start that adding the width overflows.
  CHECK(trap_of(array + "sub.u64 %d1, %d1, 68;\n ld.local.u32 %r1, [%d1];  //@here") ==
        "out of bounds: thread (0,0,0) of block (0,0,0) reads 4 bytes at offset -68 of its local "
        "memory, which holds 16 bytes");
  CHECK(trap_of(array + "ld.local.u32 %r1, [%d1+2];  //@here") ==
        "misaligned: thread (0,0,0) of block (0,0,0) accesses 4 bytes at offset 2 of its local "
        "memory, which is not a multiple of 4");
  CHECK(trap_of(array + "ld.local.u32 %r1, [%d1+4];  //@here\n st.global.u32 [%dst], %r1;") ==
        "uninitialised: thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 4 of its local "
        "memory, which nothing has written; the value is stored in device memory");
}

TEST_CASE("core: traps: values that an earlier call left on the stack are undefined") {
  Setup setup;
  setup.functions = R"(
.func use_array(.param .b32 store, .param .b64 to)
{
  .local .align 4 .b8 own[4];
  .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %d<2>;
  mov.u64 %d1, own;
  ld.param.u32 %r1, [store];
  setp.ne.u32 %p1, %r1, 0;
  @%p1 st.local.u32 [%d1], %r1;
  ld.local.u32 %r2, [%d1];
  ld.param.u64 %d1, [to];
  st.global.u32 [%d1], %r2;
  ret;
}
)";
  setup.trap_uninitialised = false;
  const LaunchOutcome o = tests::finish(R"(
  { .param .b32 a; .param .b64 b;
    st.param.b32 [a], 1; st.param.b64 [b], %dst; call.uni use_array, (a, b); }
  { .param .b32 a; .param .b64 b;
    st.param.b32 [a], 0; st.param.b64 [b], %dst; call.uni use_array, (a, b); })",
                                        setup);
  CHECK(o.out[0] == 0xffffffff);
}

TEST_CASE("core: traps: endless recursion") {
  Setup setup;
  setup.functions = R"(
.func down()
{
  call.uni down, ();          //@here
  ret;
}
)";
  CHECK(trap_of("call.uni down, ();", setup) ==
        "stack: warp 0 of block 0: the functions called need more than 512 KiB of local memory "
        "per thread: a recursion without end?");
}

TEST_CASE("core: traps: the instruction limit of a warp") {
  Setup setup;
  setup.grid = {3, 1, 1};
  setup.block = {64, 1, 1};
  setup.budget = 5000;
  CHECK(trap_of(R"(
  setp.lt.u32 %p1, %g, 96;    // only warp 1 of block 1 loops for ever
  setp.ge.or.u32 %p1, %g, 128, %p1;
  @%p1 ret;
LOOP:
  bra.uni LOOP;               //@here)",
                setup) ==
        "instruction limit: warp 1 of block 1 still runs after 5000 instructions");
}

TEST_CASE("core: traps: trap and brkpt") {
  CHECK(trap_of("setp.eq.u32 %p1, %t, 3;\n @%p1 trap;  //@here") ==
        "trap: thread (3,0,0) of block (0,0,0) executes trap");
  CHECK(trap_of("setp.eq.u32 %p1, %t, 3;\n @%p1 brkpt;  //@here") ==
        "trap: thread (3,0,0) of block (0,0,0) executes brkpt");
}

TEST_CASE(
    "core: sim traps: if several blocks trap, the lowest is named, for any number of "
    "threads") {
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    Setup setup;
    setup.grid = {200, 1, 1};
    setup.threads = threads;
    CHECK(trap_of(R"(
  mov.u32 %r1, %ctaid.x;
  rem.u32 %r1, %r1, 50;
  setp.eq.u32 %p1, %r1, 37;
  @%p1 trap;                  //@here)",
                  setup) == "trap: thread (0,0,0) of block (37,0,0) executes trap");
  }
}

// --- faults that a Device detects: freed memory, launch shapes, arguments; source lines ----------

namespace {

const char* const kCopy = R"(
.visible .entry copy(.param .u64 copy_from, .param .u64 copy_to) .maxntid 128
{
  .reg .b32 %r<3>; .reg .b64 %d<4>;
  .shared .align 4 .b8 box[64];
  ld.param.u64 %d1, [copy_from];
  ld.param.u64 %d2, [copy_to];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3;
  add.u64 %d2, %d2, %d3;
  mov.u32 %r1, box;
  .loc 1 17 3
  ld.global.u32 %r2, [%d1];
  .loc 1 18 3
  st.global.u32 [%d2], %r2;
  ret;
}
.visible .entry exact() .reqntid 32, 2
{
  ret;
}
.file 1 "copy.cu"
)";

std::string launch_error(tests::Simulated& s, const std::vector<device::KernelArgument>& args) {
  try {
    s.launch("copy", {{1}, {32}}, args);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("core: traps: a Device reports uses of freed memory with the source line") {
  tests::Simulated s(tests::with_header(kCopy));
  const auto from = s.upload(tests::each(32, [](uint32_t i) { return i; }), "from");
  const auto to = s.device->allocate(128, "to");
  s.device->release(from);
  const device::LaunchResult run = s.launch("copy", {{1}, {32}}, {from, to});
  REQUIRE(run.fault);
  CHECK(run.fault->kind == sim::TrapKind::freed);
  CHECK(run.fault->file == "copy.cu");
  CHECK(run.fault->line == 17);
  CHECK(describe(*run.fault) ==
        "thread (0,0,0) of block (0,0,0) reads 4 bytes at offset 0 of `from`, which was freed");
}

TEST_CASE("core: traps: a fault does not affect the next launch") {
  tests::Simulated s(tests::with_header(kCopy));
  const auto words = tests::each(32, [](uint32_t i) { return i * 3; });
  const auto from = s.upload(words, "from");
  const auto to = s.device->allocate(128, "to");
  CHECK(s.launch("copy", {{1}, {33}}, {from, to}).fault);
  CHECK(!s.launch("copy", {{1}, {32}}, {from, to}).fault);
  CHECK(s.download<uint32_t>(to) == words);
}

TEST_CASE("core: traps: impossible launch shapes") {
  tests::Simulated s(tests::with_header(kCopy));
  const auto buffer = s.device->allocate(128, "b");
  const auto refused = [&](const std::string& kernel, const device::LaunchShape& shape) {
    std::vector<device::KernelArgument> args;
    if (kernel == "copy") args = {buffer, buffer};
    const device::LaunchResult run = s.launch(kernel, shape, args);
    REQUIRE(run.fault);
    CHECK(run.fault->kind == sim::TrapKind::launch);
    CHECK(!run.counters);
    return describe(*run.fault);
  };
  CHECK(refused("copy", {{0}, {32}}) ==
        "a launch of 0 x 1 x 1 blocks of 32 x 1 x 1 threads is empty");
  CHECK(refused("copy", {{1}, {129}}) == "129 threads per block, but `copy` may have at most 128");
  CHECK(refused("exact", {{1}, {32, 33}}) ==
        "1056 threads per block, but `exact` may have at most 1024");
  CHECK(refused("exact", {{1}, {64}}) == "`exact` needs blocks of 32 x 2 x 1 threads");
  CHECK(refused("copy", {{1, 65536}, {32}}) ==
        "a grid of 1 x 65536 x 1 blocks; at most 2147483647 x 65535 x 65535 are possible");
  CHECK(refused("copy", {{1}, {1, 1, 65}}) ==
        "a block of 1 x 1 x 65 threads; at most 1024 x 1024 x 64 are possible");
  CHECK(refused("copy", {{1}, {32}, 232448 - 63}) ==
        "232449 bytes of shared memory per block; at most 232448 are possible");
  CHECK(!s.launch("exact", {{1}, {32, 2}}, {}).fault);
}

TEST_CASE("core: traps: wrong arguments") {
  tests::Simulated s(tests::with_header(kCopy));
  const auto buffer = s.device->allocate(128, "b");
  CHECK(launch_error(s, {buffer}) == "`copy` takes 2 arguments, 1 are given");
  CHECK(launch_error(s, {buffer, 5}) == "argument 2 of `copy` has 8 bytes, 4 are given");
}

TEST_CASE("core: traps: allocations that exceed device memory") {
  tests::Simulated s(tests::with_header(kCopy));
  const auto refused = [&](uint64_t bytes) {
    try {
      s.device->allocate(bytes, "huge");
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(
      refused(uint64_t{1} << 40).find("out of device memory: `huge` needs 1099511627776 bytes, ") ==
      0);
  CHECK(
      refused(~uint64_t{0}).find("out of device memory: `huge` needs 18446744073709551615 bytes") ==
      0);
}
