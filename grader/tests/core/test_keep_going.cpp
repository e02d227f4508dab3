// Launches that keep going: a fault becomes a finding, and the rest of the kernel continues.
#include <doctest/doctest.h>

#include "tests/fixtures/sim_kit.h"

using namespace lab32;
using counters::Finding;
using tests::each;
using tests::LaunchOutcome;
using tests::Setup;

namespace {

Setup going(Setup setup = {}) {
  setup.keep_going = setup.hazards = true;
  return setup;
}

// "kind count: message" of the only finding, without its line.
std::string only(const LaunchOutcome& o, Finding::Kind kind) {
  REQUIRE(o.findings.size() == 1);
  CHECK(o.findings[0].kind == kind);
  const std::string m = describe(o.findings[0]);
  return std::to_string(o.findings[0].count) + m.substr(m.find(':'));
}

}  // namespace

TEST_CASE("core: keep going: loads out of bounds are dropped, and the other lanes' loads are not") {
  // `in` and `out` are 32 words each, with room between them.
  Setup setup = going();
  for (const unsigned threads : {1u, 3u}) {
    setup.threads = threads;
    const LaunchOutcome o = tests::run(R"(
  ld.global.u32 %r1, [%src+8];
  st.global.u32 [%dst], %r1;)",
                                       setup);
    CHECK(!o.trap);
    REQUIRE(o.bad_access);
    CHECK(o.bad_access->kind() == sim::TrapKind::out_of_bounds);
    CHECK(only(o, Finding::Kind::memory) ==
          "2: thread (30,0,0) of block (0,0,0) reads 4 bytes at offset 128 of `in`: 4 bytes past "
          "its end (128 bytes); compare the index with the number of elements before the access");
    CHECK(o.out == each(32, [](uint32_t t) { return t < 30 ? t + 2 : 0xffffffffu; }));
  }
}

TEST_CASE("core: keep going: faulty stores and atomics are findings of every kind") {
  const char* bodies[][2] = {
      {"st.global.u32 [%dst+-4], %t;",
       "1: thread (0,0,0) of block (0,0,0) writes 4 bytes 4 bytes "
       "before the start of `out`; compare the index with the "
       "number of elements before the access"},
      {"red.global.add.u32 [%dst+124], 1;",
       "31: thread (1,0,0) of block (0,0,0) updates 4 bytes at offset 128 of `out`: 4 bytes past "
       "its end (128 bytes); compare the index with the number of elements before the access"},
      {"st.global.u32 [%dst+2], %t;",
       "32: thread (0,0,0) of block (0,0,0) writes 4 bytes at offset 2 of `out`: an access of 4 "
       "bytes needs an address that is a multiple of 4; a vector type's address is a multiple of "
       "its size"},
      {"mov.u64 %d1, 16;\n st.global.v4.u32 [%d1], {%t, %t, %t, %t};",
       "32: thread (0,0,0) of block (0,0,0) writes 16 bytes at address 0x10: a null pointer; did "
       "its allocation fail, or was it never allocated?"},
      {"mov.u64 %d1, 0x555500001000;\n st.u8 [%d1], 1;",
       "32: thread (0,0,0) of block (0,0,0) writes 1 byte at 0x555500001000, which is not device "
       "memory; is it the address of a host variable, or is an index wrong?"},
  };
  for (const auto& [body, want] : bodies) {
    CAPTURE(body);
    Setup setup = going();
    setup.out_written = true;
    const LaunchOutcome o = tests::run(std::string(body) + "\n ld.global.u32 %r1, [%src];", setup);
    CHECK(!o.trap);
    CHECK(o.bad_access.has_value());
    CHECK(only(o, Finding::Kind::memory) == want);
  }
}

TEST_CASE("core: keep going: a line is one finding, with the lowest block as example") {
  Setup setup = going();
  setup.grid = {5, 1, 1};
  setup.in.assign(40, 7);
  setup.in_bytes = 160;
  for (const unsigned threads : {1u, 4u}) {
    setup.threads = threads;
    const LaunchOutcome o =
        tests::run("ld.global.u32 %r1, [%src];\n st.global.u32 [%dst], %r1;", setup);
    CHECK(only(o, Finding::Kind::memory) ==
          "120: thread (8,0,0) of block (1,0,0) reads 4 bytes at offset 160 of `in`: 4 bytes past "
          "its end (160 bytes); compare the index with the number of elements before the access");
    CHECK(o.bad_access->block == 1);
  }
}

TEST_CASE("core: keep going: faulty accesses to shared memory are findings") {
  Setup setup = going();
  setup.functions = ".shared .align 16 .b32 box[32];\n";
  const LaunchOutcome o = tests::run(R"(
  mov.u32 %r9, box;
  mad.lo.u32 %r8, %t, 4, %r9;
  st.shared.u32 [%r8+4], %t;
  bar.sync 0;
  ld.shared.u32 %r1, [%r8+4];
  st.global.u32 [%dst], %r1;)",
                                     setup);
  CHECK(!o.trap);
  REQUIRE(o.findings.size() == 2);
  CHECK(describe(o.findings[0])
            .find("thread (31,0,0) of block (0,0,0) writes 4 bytes at offset 128 "
                  "of `box`: 4 bytes past its end (128 bytes)") != std::string::npos);
  CHECK(describe(o.findings[1]).find("reads 4 bytes at offset 128") != std::string::npos);
  // The dropped lane loads poison and not its own store.
  CHECK(o.out == each(32, [](uint32_t t) { return t < 31 ? t : 0xffffffffu; }));
}

TEST_CASE("core: keep going: faulty accesses to local memory are findings") {
  const std::string array = R"(
  .local .align 16 .b8 box[16];
  mov.u64 %d2, box;
  mul.wide.u32 %d1, %t, 4;
  add.u64 %d1, %d1, %d2;
  st.local.u32 [box], %t;
)";
  Setup setup = going();
  const LaunchOutcome o = tests::run(array +
                                         "st.local.u32 [%d1], %t;\n ld.local.u32 %r1, [box];\n"
                                         "st.global.u32 [%dst], %r1;",
                                     setup);
  CHECK(
      only(o, Finding::Kind::memory) ==
      "28: thread (4,0,0) of block (0,0,0) writes 4 bytes at offset 16 of its local memory, which "
      "holds 16 bytes; compare the index with the number of elements before the access");
  CHECK(o.out == each(32, [](uint32_t t) { return t; }));
}

constexpr const char* kHalfWritten = R"(
  setp.lt.u32 %p1, %t, 16;
  @%p1 st.global.u32 [%dst], 3;
  ld.global.u32 %r1, [%dst];
  st.global.u32 [%dst], %r1;)";

TEST_CASE("core: keep going: uninitialised reads of global memory are findings, not traps") {
  const LaunchOutcome o = tests::run(kHalfWritten, going());
  CHECK(!o.trap);
  CHECK(!o.bad_access);
  CHECK(
      only(o, Finding::Kind::uninitialised) ==
      "16: thread (16,0,0) of block (0,0,0) reads 4 bytes at offset 64 of `out`, which nothing "
      "has written; the value is stored in device memory; copy or set the array before the launch");
  // An atomic also reads; only the first one reads an unwritten word.
  const LaunchOutcome a =
      tests::run("red.global.add.u32 [%dst], 1;\n red.global.add.u32 [%dst], 1;", going());
  CHECK(only(a, Finding::Kind::uninitialised).substr(0, 3) == "32:");
}

TEST_CASE("core: keep going: without the check, uninitialised reads return the memory's contents") {
  Setup setup;
  setup.trap_uninitialised = false;
  const LaunchOutcome o = tests::finish(std::string(R"(
  .local .align 16 .b8 box[16];
  ld.local.u32 %r2, [box];)") + kHalfWritten,
                                        setup);
  CHECK(o.out == each(32, [](uint32_t t) { return t < 16 ? 3 : 0xffffffffu; }));
}

TEST_CASE("core: keep going: a barrier in one side of a branch is a finding") {
  Setup setup = going();
  const LaunchOutcome o = tests::run(R"(
  setp.lt.u32 %p1, %t, 16;
  @!%p1 bra OTHERS;
  bar.sync 0;
OTHERS:
  st.global.u32 [%dst], %t;)",
                                     setup);
  CHECK(!o.trap);
  CHECK(only(o, Finding::Kind::barrier) ==
        "16: block 0: thread (0,0,0) and 15 other threads wait at this barrier, which needs "
        "32 threads; the others never reach it; every thread of the block must reach a barrier: "
        "move it out of the condition");
  CHECK(o.out == each(32, [](uint32_t t) { return t; }));
}

TEST_CASE("core: keep going: a warp that skips a barrier is a finding, an early exit is not") {
  Setup setup = going();
  setup.block = {96, 1, 1};
  const LaunchOutcome o = tests::run(R"(
  setp.ge.u32 %p1, %t, 64;
  @%p1 bra OTHERS;
  bar.sync 0;
OTHERS:
  st.global.u32 [%dst], %t;)",
                                     setup);
  CHECK(only(o, Finding::Kind::barrier) ==
        "32: thread (64,0,0) of block (0,0,0) exits the kernel without reaching this barrier, "
        "where thread (0,0,0) of block (0,0,0) waits; every thread of the block must reach a "
        "barrier: move it out of the condition");
  const LaunchOutcome exits = tests::run(R"(
  setp.ge.u32 %p1, %t, 64;
  @%p1 bra END;
  st.global.u32 [%dst], 1;
  bar.sync 0;
  st.global.u32 [%dst], %t;
END:
  ret;)",
                                         setup);
  CHECK(exits.findings.empty());
  // Nor is an exit of threads whose stores precede the last barrier that all threads passed.
  const LaunchOutcome half = tests::run(R"(
  st.global.u32 [%dst], %t;
  bar.sync 0;
  setp.ge.u32 %p1, %t, 64;
  @%p1 ret;
  bar.sync 0;
  st.global.u32 [%dst], %t;)",
                                        setup);
  CHECK(half.findings.empty());
  // Nor of threads that have stored only to their own local memory.
  const LaunchOutcome own = tests::run(R"(
  .local .align 4 .b8 kept[4];
  st.local.u32 [kept], %t;
  setp.ge.u32 %p1, %t, 64;
  @%p1 ret;
  bar.sync 0;
  ld.local.u32 %r1, [kept];
  st.global.u32 [%dst], %r1;)",
                                       setup);
  CHECK(own.findings.empty());
}

TEST_CASE("core: keep going: a shuffle with missing lanes is a finding") {
  const LaunchOutcome o = tests::run(R"(
  setp.lt.u32 %p1, %t, 16;
  mov.u32 %r1, %t;
  @!%p1 bra OTHERS;
  shfl.sync.down.b32 %r1, %t, 8, 31, 0xffffffff;
OTHERS:
  bar.warp.sync 0xffffffff;
  st.global.u32 [%dst], %r1;)",
                                     going());
  CHECK(!o.trap);
  CHECK(only(o, Finding::Kind::barrier) ==
        "16: warp 0 of block 0: the mask 0xffffffff names lane 16, which never reaches this "
        "operation; lanes "
        "0 to 15 wait for it; all lanes that the mask names must reach it, and no others");
  const LaunchOutcome own = tests::run(
      "vote.sync.ballot.b32 %r1, 1, 0x0000fffe;\n"
      "st.global.u32 [%dst], %r1;",
      going());
  REQUIRE(!own.trap);
  CHECK(own.findings.size() == 1);
}
