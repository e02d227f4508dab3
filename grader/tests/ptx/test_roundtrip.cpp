// Printing is the inverse of parsing, for nvcc's output and for every row of the table.
#include <doctest/doctest.h>

#include <sstream>

#include "simulator/ptx/parser.h"
#include "simulator/ptx/print.h"
#include "tests/fixtures/ptx_support.h"
#include "tests/fixtures/slow.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

// The first line in which two texts differ, from both; "" if they are equal.
std::string difference(const std::string& a, const std::string& b) {
  std::istringstream lines_a(a), lines_b(b);
  std::string line_a, line_b;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(lines_a, line_a));
    const bool more_b = static_cast<bool>(std::getline(lines_b, line_b));
    if (!more_a && !more_b) return "";
    if (more_a != more_b || line_a != line_b) return line_a + "\nbecame\n" + line_b;
  }
}

void check_roundtrip(const ptx::Module& module) {
  const std::string text = ptx::print(module);
  const ptx::Module again = ptx::parse(text);
  CHECK(difference(describe_rest(module), describe_rest(again)) == "");
  for (const ptx::Function& function : module.functions) {
    const ptx::Function* other = again.find_function(function.name);
    REQUIRE(other != nullptr);
    if (!function.refusal.empty()) {
      CHECK(other->is_declaration);
      continue;
    }
    CHECK(difference(describe(module, function), describe(again, *other)) == "");
  }
}

}  // namespace

TEST_CASE("ptx: everything that nvcc emits for ordinary programs is supported" * kSlow) {
  for (const CompiledPtx& compiled : compiled_ptx()) {
    CAPTURE(compiled.name);
    const ptx::Module module = ptx::parse(compiled.text);
    size_t instructions = 0;
    for (const ptx::Function& function : module.functions) {
      CHECK(function.refusal == "");
      instructions += function.body.size();
    }
    CHECK(instructions > 1000);
  }
}

TEST_CASE("ptx: parse(print(parse(x))) equals parse(x) for compiled programs" * kSlow) {
  for (const CompiledPtx& compiled : compiled_ptx()) {
    CAPTURE(compiled.name);
    check_roundtrip(ptx::parse(compiled.text));
  }
}

TEST_CASE("ptx: ptxas accepts the printed text" * kSlow) {
  for (const CompiledPtx& compiled : compiled_ptx()) {
    if (compiled.arch != "sm_90") continue;
    CAPTURE(compiled.name);
    CHECK_NOTHROW(assemble(ptx::print(ptx::parse(compiled.text)), compiled.arch));
  }
}

TEST_CASE("ptx: parse(print(parse(x))) equals parse(x) for rare forms") {
  check_roundtrip(ptx::parse(kernel_text(R"(
  .shared .align 4 .b8 tile[64];
  .local .v2 .f32 pair[3];
  { .reg .b32 %r1; mov.u32 %r1, 0x10U; { .reg .pred %r1; setp.eq.s32 %r1|_, %r2, -7; } }
  { .reg .b32 %r1; mov.u32 %r1, 017; }
  mov.u32 %r1, -2147483648;
  mov.u64 %rd1, 0xffffffffffffffff;
  mov.b32 %f1, 0fBF800000;
  add.f64 %fd1, %fd2, 1.5e-3;
  mov.u64 %rd2, tile+4;
  ld.shared.v2.u32 {%r3, _}, [tile+4+-8];
  st.global.u32 [1024], %r3;
  shfl.sync.up.b32 %r4|%p1, %r3, 1, 0, -1;
  selp.b32 %r5, %r4, WARP_SZ, !%p1;
  @!%p1 bra.uni L1;
  atom.global.add.u32 _, [%rd1-4], 1;
L1:
  table: .branchtargets L1, L2, L1;
  brx.idx %r5, table;
L2:
  bar.red.popc.u32 %r6, 0, %p1;
  bar.red.popc.u32 %r6, 0, 64, !%p1;
  ret;)",
                                         R"(
.file 1 "a.cu", 12, 34
.global .v2 .u32 pairs[2][2] = {{{1, 2}, {3}}, {4}};
.global .f32 reals[4] = {1.5, 0f3F800000, 2, -0.25};
.extern .shared .align 16 .b8 dynamic[];
.global .u64 where = pairs+8;
)")));
}

TEST_CASE("ptx: every form of every row is matched by that row, and printed as it was written") {
  for (const ptx::OpInfo& op : ptx::opcode_table()) {
    // Each choice of each position, with all other positions at their first choice, once with
    // and once without the optional ones.
    for (size_t varied = 0; varied <= op.parts.size(); ++varied) {
      const size_t choices = varied < op.parts.size() ? op.parts[varied].choices.size() : 1;
      for (size_t choice = 0; choice < choices; ++choice) {
        for (const bool with_optional : {false, true}) {
          std::vector<std::string_view> words{op.base};
          std::string text(op.base);
          for (size_t p = 0; p < op.parts.size(); ++p) {
            if (op.parts[p].optional && !with_optional && p != varied) continue;
            words.push_back(op.parts[p].choices[p == varied ? choice : 0]);
            text += "." + std::string(words.back());
          }
          CAPTURE(text);
          std::vector<ptx::DataType> types;
          ptx::Instruction in;
          in.op = ptx::match_opcode(words, &in.mods, &types);
          REQUIRE(in.op == &op);
          REQUIRE(types.size() <= in.types.size());
          in.type_count = static_cast<uint8_t>(types.size());
          std::copy(types.begin(), types.end(), in.types.begin());
          CHECK(ptx::print_opcode(in) == text);
        }
      }
    }
  }
}

TEST_CASE("ptx: each operand slot of a row has a name, and at most one is optional") {
  for (const ptx::OpInfo& op : ptx::opcode_table()) {
    CAPTURE(std::string(op.pattern));
    int optional = 0;
    for (const ptx::OperandSpec& slot : op.operands) {
      optional += slot.optional;
      const bool known = slot.name == "T" || slot.name == "U" || slot.name == "V" ||
                         slot.name == "W" || slot.name == "Tp" || slot.name == "u32p" ||
                         slot.name == "pq" || slot.name == "mem" || slot.name == "vec" ||
                         slot.name == "frag" || slot.name == "texel" || slot.name == "texels" ||
                         slot.name == "floats" || slot.name == "addr" || slot.name == "box" ||
                         slot.name == "any" || slot.name == "label" || slot.name == "func" ||
                         ptx::type_from_word_or_none(slot.name) != ptx::DataType::none;
      CHECK_MESSAGE(known, slot.name);
    }
    CHECK(optional <= 1);
  }
}
