// Damaged PTX ends in an Error or in a module; never in a crash or a hang. The damage is the same
// in every run.
#include <doctest/doctest.h>

#include <random>

#include "base/error.h"
#include "ptx/control_flow.h"
#include "ptx/lexer.h"
#include "ptx/parser.h"
#include "ptx/print.h"
#include "tests/test_ptx_support.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

// One of everything the grammar has.
const char* const kSample = R"(
.version 9.0
.target sm_90, debug
.address_size 64
.file 1 "/home/ada/x.cu", 12, 34
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.func (.param .align 8 .b8 r[16]) f (.param .b32 a);
.global .align 8 .u64 p[3] = {7, generic(x)+8, f};
.global .align 4 .b8 x[12] = {1, 2, 255};
.global .s16 m[2][3] = {{1}, {2, 3}};
.global .attribute(.managed) .align 4 .f32 real = 1.5;
.global .u8 packed[9] = {0xFF(x), 0xFF00(x), 0xFF0000(x), 0xFF000000(x), 0xFF00000000(x),
  0xFF0000000000(x), 0xFF000000000000(x), 0xFF00000000000000(x), 5};
.extern .shared .align 16 .b8 dynamic[];
.func (.param .align 8 .b8 r[16]) f (.param .b32 a) {
  .reg .b32 %r<9>;
  .loc 1 5 3
  ld.param.b32 %r1, [a];
  st.param.v2.b32 [r+8], {%r1, %r1};
  ret;
}
.visible .entry k(.param .u64 ptr, .param .align 4 .b8 s[8])
.maxntid 16, 4, 2
.minnctapersm 3
{
  .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<99>; .reg .f32 %f<9>;
  .reg .b64 %rd<9>;
  .shared .align 4 .b8 tile[64];
  .loc 1 20 3
  .loc 1 30 3, function_name $L__info_string0+4, inlined_at 1 20 3
  ld.param.u64 %rd1, [ptr];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  setp.ge.and.s32 %p1|%p2, %r1, 0x1F, !%p3;
  @!%p1 bra $L1;
  { .reg .b32 t, %r1; mov.u32 %r1, -5; mov.b32 t, 017; { again: @%p1 bra again; } }
  { .reg .b32 %r1; mov.u32 %r1, 7; again: bra again; }
  ts: .branchtargets $L1, $L2;
  brx.idx %r1, ts;
$L1:
  shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, -1;
  ld.global.nc.L1::no_allocate.v4.u32 {%r1, _, %r3, %r4}, [%rd2+-8];
  fma.rn.f32 %f1, %f2, 0f3F800000, 1.5e-3;
  atom.global.add.u32 _, [%rd2+4], WARP_SZ;
  bar.red.popc.u32 %r6, 0, %p1;
  cp.async.ca.shared.global [tile+16], [%rd2], 4;
$L2:
  { .param .b32 a0; .param .align 8 .b8 r0[16];
    st.param.b32 [a0+0], %r1;
    call.uni (r0), f, (a0);
    proto: .callprototype (.param .align 8 .b8 _[16]) _ (.param .b32 _);
    call (r0), %rd2, (a0), proto; }
  .pragma "nounroll";
  ret;
}
.section .debug_str
{
$L__info_string0:
.b8 95,90,0
}
)";

// What token takes another's place, or is put between two.
const char* const kPieces[] = {"{",
                               "}",
                               "(",
                               ")",
                               "[",
                               "]",
                               ";",
                               ",",
                               ":",
                               "|",
                               "!",
                               "@",
                               "-",
                               "+",
                               "=",
                               "<",
                               ">",
                               "\"",
                               "/*",
                               "//",
                               "_",
                               "0",
                               "1",
                               "-1",
                               "99999999999999999999",
                               "4294967295",
                               "0x",
                               "0f3F8",
                               "1e999",
                               ".reg",
                               ".b32",
                               ".pred",
                               ".param",
                               ".align",
                               ".loc",
                               ".file",
                               ".func",
                               ".entry",
                               "%r1",
                               "%rd1",
                               "%p1",
                               "%tid.x",
                               "%r98",
                               "x",
                               "f",
                               "$L1",
                               "ts",
                               "a0",
                               "ld.u32",
                               "bra",
                               "call",
                               "brx.idx",
                               "add.s32",
                               "ret",
                               "generic",
                               "x.y",
                               "..",
                               "::",
                               ".v4",
                               ".f64",
                               ".u8",
                               "<4000000000>",
                               "[1099511627776]",
                               ".branchtargets",
                               ".callprototype"};

std::string damage(std::mt19937& random) {
  const std::string text = kSample;
  const auto tokens = ptx::lex(text);
  const auto place = [&] { return random() % (tokens.size() - 1); };
  const auto offset = [&](size_t token) {
    return static_cast<size_t>(tokens[token].text.data() - text.data());
  };
  std::string result = text;
  for (unsigned n = 1 + random() % 3; n > 0; --n) {
    const size_t a = place(), b = place();
    const std::string piece = kPieces[random() % std::size(kPieces)];
    const std::string first(tokens[a].text), second(tokens[b].text);
    // Offsets are those of the undamaged text: a second change may hit the middle of a word.
    const size_t at = std::min(offset(a), result.size());
    switch (random() % 6) {
      case 0:
        result.erase(at, first.size());
        break;
      case 1:
        result.replace(at, first.size(), piece);
        break;
      case 2:
        result.insert(at, " " + piece + " ");
        break;
      case 3:
        result.replace(at, first.size(), second);
        break;
      case 4:
        result[std::min(at, result.size() - 1)] = static_cast<char>(random() % 256);
        break;
      case 5:
        if (random() % 8 == 0) {
          result.resize(at);
        } else {
          result.insert(at, text.substr(offset(b), random() % 200));
        }
        break;
    }
    if (result.empty()) result = " ";
  }
  return result;
}

}  // namespace

TEST_CASE("ptx: damaged text is refused or read, never fatal") {
  std::mt19937 random(32);
  int errors = 0, refusals = 0, modules = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = damage(random);
    CAPTURE(text);
    try {
      const ptx::Module module = ptx::parse(text);
      for (const ptx::Function& function : module.functions) {
        refusals += !function.refusal.empty();
        const ptx::ControlFlow flow = ptx::analyse_control_flow(function);
        ptx::assign_slots(function, flow);
      }
      // What was read can be printed, and that is read as well.
      const ptx::Module again = ptx::parse(ptx::print(module));
      CHECK(again.functions.size() == module.functions.size());
      ++modules;
    } catch (const Error& error) {
      CHECK(std::string(error.what()).size() > 10);
      ++errors;
    }
  }
  // The damage must neither miss nor be hopeless, or nothing is tested.
  CHECK(errors > 500);
  CHECK(refusals > 500);
  CHECK(modules > 500);
}

TEST_CASE("ptx: the undamaged sample is read whole") {
  const ptx::Module module = ptx::parse(kSample);
  CHECK(ptx::require_kernel(module, "k").body.size() == 21);
}
