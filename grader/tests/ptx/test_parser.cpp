// The parser's results for single constructs.
#include <doctest/doctest.h>

#include <cstring>

#include "base/error.h"
#include "simulator/ptx/lexer.h"
#include "simulator/ptx/parser.h"
#include "tests/fixtures/ptx_support.h"

using namespace lab32;
using namespace lab32::tests;
using ptx::Operand;
using Kind = ptx::Operand::Kind;

namespace {

std::string words(std::string_view text) {
  std::string joined;
  for (const ptx::Token& token : ptx::lex(text)) {
    if (token.kind == ptx::Token::Kind::end) break;
    joined += (joined.empty() ? "" : " ") + std::string(token.text);
  }
  return joined;
}

// Operand i of the first instruction of a kernel.
Operand operand(const std::string& instruction, size_t i, const std::string& module_scope = "") {
  return kernel(parse_kernel(instruction, module_scope)).body.at(0).operands.at(i);
}

std::string name_of(const ptx::Function& function, const Operand& op) {
  REQUIRE(op.reg >= 0);
  return function.registers.at(static_cast<size_t>(op.reg)).name;
}

std::vector<int> bytes_of(const ptx::Variable& variable) {
  std::vector<int> bytes;
  for (std::byte b : variable.init) bytes.push_back(static_cast<int>(b));
  return bytes;
}

const ptx::Variable& variable(const ptx::Module& module, const char* name) {
  const ptx::Variable* found = module.find_variable(name);
  REQUIRE(found != nullptr);
  return *found;
}

}  // namespace

TEST_CASE("ptx lexer: an opcode is one word, and directives and numbers are split") {
  CHECK(words("ld.global.L1::no_allocate.b32 %r1,[%rd1+-8];") ==
        "ld.global.L1::no_allocate.b32 %r1 , [ %rd1 + - 8 ] ;");
  CHECK(words("ld.param::entry.b32\t%r1|%p1") == "ld.param::entry.b32 %r1 | %p1");
  CHECK(words("{.reg.b32 f;}") == "{ .reg .b32 f ; }");
  CHECK(words("$L__BB0_1:add.s32") == "$L__BB0_1 : add.s32");
  CHECK(words("1.5e-3 0x1e+4 0f3F800000 1e5") == "1.5e-3 0x1e + 4 0f3F800000 1e5");
  CHECK(words("a // b\n /* c\n d */ e \"f g\"") == "a e f g");
  CHECK(words("") == "");
}

TEST_CASE("ptx lexer: lines are counted through comments") {
  const auto tokens = ptx::lex("a\n// x\n/* \n\n */ b\n\"s\"\nc");
  CHECK(tokens.at(0).line == 1);
  CHECK(tokens.at(1).line == 5);
  CHECK(tokens.at(3).line == 7);
}

TEST_CASE("ptx literals: integers are parsed") {
  CHECK(ptx::parse_integer_literal("0") == 0u);
  CHECK(ptx::parse_integer_literal("42U") == 42u);
  CHECK(ptx::parse_integer_literal("017") == 15u);
  CHECK(ptx::parse_integer_literal("0x1Fu") == std::nullopt);
  CHECK(ptx::parse_integer_literal("0X1F") == 31u);
  CHECK(ptx::parse_integer_literal("0b101") == 5u);
  CHECK(ptx::parse_integer_literal("18446744073709551615") == ~uint64_t{0});
  for (const char* bad : {"", "U", "08", "0x", "12a", "18446744073709551616", "0b2"}) {
    CAPTURE(bad);
    CHECK(!ptx::parse_integer_literal(bad));
  }
}

TEST_CASE("ptx literals: floating-point literals are parsed") {
  const auto bits_of_double = [](double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  };
  const auto f = ptx::parse_real("0f3F800000");
  REQUIRE(f.has_value());
  CHECK(f->bits == 0x3f800000u);
  CHECK(!f->is_double);
  const auto d = ptx::parse_real("0d3FF8000000000000");
  REQUIRE(d.has_value());
  CHECK(d->bits == bits_of_double(1.5));
  CHECK(d->is_double);
  const auto decimal = ptx::parse_real("1.5e-3");
  REQUIRE(decimal.has_value());
  CHECK(decimal->bits == bits_of_double(1.5e-3));
  CHECK(decimal->is_double);
  for (const char* bad : {"0f3F80000", "0f3F8000000", "0fGG800000", "15", "1.5x", "0x1.5"}) {
    CAPTURE(bad);
    CHECK(!ptx::parse_real(bad));
  }
}

TEST_CASE("ptx: operands are parsed") {
  SUBCASE("immediates") {
    CHECK(operand("mov.u32 %r1, -5;", 1).value == -5);
    CHECK(operand("mov.u64 %rd1, 0x8000000000000000;", 1).value == INT64_MIN);
    CHECK(operand("mov.f32 %f1, 0fBF800000;", 1).value == 0xbf800000);
    const Operand half = operand("add.f32 %f1, %f2, -0.5;", 2);
    CHECK(half.kind == Kind::real);
    CHECK(half.is_double);
    CHECK(half.value == static_cast<int64_t>(0xbfe0000000000000));
  }
  SUBCASE("special registers") {
    const Operand tid = operand("mov.u32 %r1, %tid.x;", 1);
    CHECK(tid.kind == Kind::special);
    CHECK(tid.special == ptx::SpecialReg::tid_x);
    CHECK(operand("mov.u64 %rd1, %clock64;", 1).special == ptx::SpecialReg::clock64);
    CHECK(operand("add.s32 %r1, %r2, WARP_SZ;", 2).special == ptx::SpecialReg::warpsize);
  }
  SUBCASE("addresses") {
    const Operand based = operand("ld.global.u32 %r1, [%rd1+-8];", 1);
    CHECK(based.kind == Kind::address);
    CHECK(based.reg >= 0);
    CHECK(based.value == -8);
    CHECK(operand("ld.global.u32 %r1, [%rd1-8];", 1).value == -8);
    CHECK(operand("ld.global.u32 %r1, [%rd1+4+16+-8];", 1).value == 12);
    const Operand named = operand("ld.param.u32 %r1, [n+4];", 1);
    CHECK(named.reg == -1);
    CHECK(named.name == "n");
    CHECK(named.value == 4);
    const Operand absolute = operand("ld.global.u32 %r1, [4096];", 1);
    CHECK(absolute.name == "");
    CHECK(absolute.value == 4096);
  }
  SUBCASE("symbols") {
    const Operand symbol = operand("mov.u64 %rd1, x+12;", 1, ".global .b8 x[40];");
    CHECK(symbol.kind == Kind::symbol);
    CHECK(symbol.name == "x");
    CHECK(symbol.value == 12);
  }
  SUBCASE("vectors, pairs, `_` and negation") {
    const ptx::Module module = parse_kernel(
        "ld.global.v4.u32 {%r1, _, %r3, %r4}, [%rd1];\n"
        "shfl.sync.bfly.b32 %r5|%p1, %r1, 1, 31, -1;\n"
        "setp.eq.and.s32 _|%p2, %r1, 0, !%p1;\n"
        "atom.global.add.u32 _, [%rd1], 1;\n");
    const ptx::Function& f = kernel(module);
    const Operand& vector = f.body[0].operands[0];
    REQUIRE(vector.kind == Kind::vector);
    REQUIRE(vector.elements.size() == 4);
    CHECK(name_of(f, vector.elements[0]) == "%r1");
    CHECK(vector.elements[1].kind == Kind::wildcard);
    CHECK(name_of(f, vector.elements[3]) == "%r4");
    const Operand& pair = f.body[1].operands[0];
    REQUIRE(pair.kind == Kind::pair);
    CHECK(name_of(f, pair.elements[0]) == "%r5");
    CHECK(name_of(f, pair.elements[1]) == "%p1");
    CHECK(f.body[2].operands[0].elements[0].kind == Kind::wildcard);
    CHECK(f.body[2].operands[3].negated);
    CHECK(f.body[3].operands[0].kind == Kind::wildcard);
  }
  SUBCASE("a missing optional operand keeps its slot") {
    const ptx::Module module = parse_kernel(
        "bar.red.popc.u32 %r1, 0, %p1;\n"
        "bar.red.popc.u32 %r1, 0, 64, %p1;\n"
        "bar.sync 0;\n");
    const ptx::Function& f = kernel(module);
    REQUIRE(f.body[0].operands.size() == 4);
    CHECK(f.body[0].operands[2].kind == Kind::none);
    CHECK(f.body[1].operands[2].value == 64);
    REQUIRE(f.body[2].operands.size() == 2);
    CHECK(f.body[2].operands[1].kind == Kind::none);
  }
}

TEST_CASE("ptx: opcodes set types in order and modifiers") {
  const ptx::Module module = parse_kernel(
      "ld.global.nc.L1::no_allocate.L2::128B.v2.f32 {%f1, %f2}, [%rd1];\n"
      "cvt.rn.f32.s64 %f1, %rd1;\n@!%p1 bra L; L: ret;");
  const ptx::Function& f = kernel(module);
  CHECK(f.body[0].op->id == ptx::OpId::ld_nc);
  CHECK(f.body[0].has(ptx::Modifier::L1_no_allocate));
  CHECK(f.body[0].has(ptx::Modifier::L2_128B));
  CHECK(f.body[0].has(ptx::Modifier::v2));
  CHECK(!f.body[0].has(ptx::Modifier::v4));
  CHECK(f.body[1].type(0) == ptx::DataType::f32);
  CHECK(f.body[1].type(1) == ptx::DataType::s64);
  CHECK(f.body[1].type_count == 2);
  CHECK(f.body[2].guard >= 0);
  CHECK(f.body[2].guard_negated);
}

TEST_CASE("ptx: labels and branch tables are resolved forward and backward") {
  const ptx::Module module = parse_kernel(
      "top: add.s32 %r1, %r1, 1;\n"
      "@%p1 bra end;\n"
      "ts: .branchtargets end, top, last;\n"
      "brx.idx %r1, ts;\n"
      "end: bra.uni top;\n"
      "last:");
  const ptx::Function& f = kernel(module);
  REQUIRE(f.body.size() == 4);
  CHECK(f.body[1].operands[0].value == 3);
  CHECK(f.body[3].operands[0].value == 0);
  CHECK(f.body[2].branch_table == 0);
  CHECK(f.branch_tables.at(0) == std::vector<int>{3, 0, 4});
}

TEST_CASE("ptx: scopes hide names, and each register and variable gets a unique one") {
  const ptx::Module module = parse_kernel(
      "mov.u32 %r1, 1;\n"
      "{ .reg .b64 %r1; mov.u64 %r1, 2; { .reg .pred %r1; setp.eq.u32 %r1, %r2, 0; } }\n"
      "mov.u32 %r1, 3;\n"
      "{ .reg .b64 %r1; mov.u64 %r1, 4; }\n"  // a later twin of the first inner one
      "{ L: bra L; }\n"
      "{ L: bra L; }\n"
      "bra L;\n L: ret;");
  const ptx::Function& f = kernel(module);
  CHECK(f.body[0].operands[0].reg == f.body[3].operands[0].reg);
  CHECK(name_of(f, f.body[0].operands[0]) == "%r1");
  CHECK(f.body[1].operands[0].reg == f.body[4].operands[0].reg);
  CHECK(f.registers.at(static_cast<size_t>(f.body[1].operands[0].reg)).bits == 64);
  CHECK(f.registers.at(static_cast<size_t>(f.body[2].operands[0].reg)).bits == 1);
  // including %r2; registers that are declared but not used are absent
  CHECK(f.registers.size() == 4);
  CHECK(f.body[5].operands[0].value == 5);
  CHECK(f.body[6].operands[0].value == 6);
  CHECK(f.body[7].operands[0].value == 8);
}

TEST_CASE("ptx: a register of an enclosing scope is not reused from a closed inner scope") {
  const ptx::Module module = parse_kernel(
      "{ .reg .b32 x; { .reg .b32 x; mov.u32 x, 1; } mov.u32 x, 2; }\n"
      "{ { .reg .b32 x; mov.u32 x, 3; } }");
  const ptx::Function& f = kernel(module);
  CHECK(f.body[0].operands[0].reg != f.body[1].operands[0].reg);
  CHECK(f.body[0].operands[0].reg == f.body[2].operands[0].reg);
}

TEST_CASE("ptx: flattened names do not hide names of the module") {
  const ptx::Module module =
      parse_kernel("{ .local .align 4 .b8 x[8]; mov.u64 %rd1, x; }\n mov.u64 %rd2, x;",
                   ".global .align 4 .b8 x[4];");
  const ptx::Function& f = kernel(module);
  REQUIRE(f.locals.size() == 1);
  CHECK(f.body[0].operands[1].name == f.locals[0].name);
  CHECK(f.body[0].operands[1].name != "x");
  CHECK(f.body[1].operands[1].name == "x");
}

TEST_CASE("ptx: calls are parsed with their arguments and prototypes") {
  const std::string callee =
      ".func (.param .b32 r) f(.param .b32 a, .param .align 8 .b8 s[16]) { ret; }";
  const ptx::Module module = parse_kernel(
      "{ .param .b32 a; .param .align 8 .b8 s[16]; .param .b32 r;\n"
      "  call.uni (r), f, (a, s); }\n"
      "{ .param .b32 a; .param .align 8 .b8 s[16]; .param .b32 r;\n"
      "  proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);\n"
      "  call (r), %rd1, (a, s), proto; }\n"
      "{ .param .b32 a; .param .align 8 .b8 s[16]; .param .b32 r;\n"
      "  targets: .calltargets f;\n  call (r), %rd1, (a, s), targets; }\n",
      callee);
  const ptx::Function& f = kernel(module);
  REQUIRE(f.calls.size() == 3);
  CHECK(f.body[0].operands.empty());
  const ptx::CallInfo& direct = f.calls[0];
  CHECK(direct.target.name == "f");
  CHECK(direct.prototype == "");
  REQUIRE(direct.args.size() == 2);
  CHECK(direct.args[1].name == "s");
  REQUIRE(direct.returns.size() == 1);
  for (int i : {1, 2}) {
    const ptx::CallInfo& indirect = f.calls[static_cast<size_t>(i)];
    CHECK(indirect.target.kind == Kind::reg);
    CHECK(indirect.proto_returns == std::vector<uint32_t>{4});
    CHECK(indirect.proto_args == std::vector<uint32_t>{4, 16});
    // Scopes that follow each other share storage.
    CHECK(indirect.args[1].name == "s");
  }
  CHECK(f.locals.size() == 3);
}

TEST_CASE("ptx: variables are parsed with their initialisers") {
  const ptx::Module module = parse_kernel("ret;", R"(
.global .align 8 .u64 p = generic(a)+4;
.global .align 4 .b8 a[12] = {1, 2, 255};
.global .u32 n = -2;
.global .s16 m[2][3] = {{1}, {2, 3}};
.global .f32 f[3] = {1.5, 0f40000000, -1};
.const .f64 d = 0d3FF8000000000000;
.global .u64 mixed[3] = {7, a, generic(a)+-8};
.global .attribute(.managed) .align 4 .u32 managed = 3;
.global .align 1 .u8 packed[10] = {1, 0XFF(generic(a)+8), 0xFF00(generic(a)+8),
  0xFF0000(generic(a)+8), 0xFF000000(generic(a)+8), 0xFF00000000(generic(a)+8),
  0xFF0000000000(generic(a)+8), 0xFF000000000000(generic(a)+8), 0xFF00000000000000(generic(a)+8), 5};
.extern .shared .align 16 .b8 dynamic[];
.shared .v4 .f32 quads[2];
)");
  CHECK(variable(module, "a").size == 12);
  CHECK(bytes_of(variable(module, "a")) == std::vector<int>{1, 2, 255});
  CHECK(bytes_of(variable(module, "n")) == std::vector<int>{254, 255, 255, 255});
  CHECK(variable(module, "m").size == 12);
  CHECK(bytes_of(variable(module, "m")) == std::vector<int>{1, 0, 0, 0, 0, 0, 2, 0, 3, 0});
  CHECK(bytes_of(variable(module, "f")) ==
        std::vector<int>{0, 0, 0xc0, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x80, 0xbf});
  CHECK(bytes_of(variable(module, "d")) == std::vector<int>{0, 0, 0, 0, 0, 0, 0xf8, 0x3f});
  CHECK(variable(module, "d").space == ptx::Space::constant);
  CHECK(variable(module, "d").align == 8);

  const auto& p = variable(module, "p").relocations;
  REQUIRE(p.size() == 1);
  CHECK(p[0].symbol == "a");
  CHECK(p[0].addend == 4);
  CHECK(p[0].generic);
  const auto& mixed = variable(module, "mixed");
  CHECK(mixed.size == 24);
  REQUIRE(mixed.relocations.size() == 2);
  CHECK(mixed.relocations[0].offset == 8);
  CHECK(!mixed.relocations[0].generic);
  CHECK(mixed.relocations[1].addend == -8);
  const auto& packed = variable(module, "packed");
  CHECK(packed.size == 10);
  REQUIRE(packed.relocations.size() == 1);
  CHECK(packed.relocations[0].offset == 1);
  CHECK(packed.relocations[0].addend == 8);
  CHECK(bytes_of(packed) == std::vector<int>{1, 0, 0, 0, 0, 0, 0, 0, 0, 5});

  CHECK(variable(module, "managed").is_managed);
  CHECK(variable(module, "dynamic").is_extern);
  CHECK(variable(module, "dynamic").is_unsized);
  CHECK(variable(module, "dynamic").align == 16);
  CHECK(variable(module, "quads").size == 32);
  CHECK(variable(module, "quads").align == 16);
}

TEST_CASE("ptx: launch bounds and parameters are parsed") {
  const ptx::Module module = ptx::parse(
      ".version 8.7\n.target sm_75, debug\n.address_size 64\n"
      ".visible .entry k(.param .u32 a, .param .align 16 .b8 b[20], .param .u8 c,\n"
      "  .param .u64 .ptr .global .align 4 d)\n"
      ".maxntid 16, 4, 2\n.minnctapersm 3\n.maxnreg 32\n.reqntid 8, 1, 1\n{ ret; }\n");
  CHECK(module.version_major == 8);
  CHECK(module.version_minor == 7);
  CHECK(module.target == "sm_75");
  const ptx::Function& f = kernel(module);
  CHECK(f.max_threads == 128);
  CHECK(f.min_blocks == 3);
  CHECK(f.required_threads == std::array<int, 3>{8, 1, 1});
  uint32_t total = 0;
  CHECK(ptx::parameter_offsets(f.params, &total) == std::vector<uint32_t>{0, 16, 36, 40});
  CHECK(total == 48);
}

TEST_CASE("ptx: source positions lead out of the toolkit's headers and not out of others") {
  const ptx::Module module = parse_kernel(
      ".loc 1 10 3\n ret;\n"
      ".loc 1 20 3\n .loc 2 5 1, function_name $L__info_string0, inlined_at 1 20 3\n"
      ".loc 3 7 1, function_name $L__info_string1+4, inlined_at 2 5 1\n ret;\n"
      ".loc 4 9 1, function_name $L__info_string0, inlined_at 1 30 3\n ret;\n",
      ".file 1 \"/home/ada/x.cu\"\n.file 2 \"/usr/local/cuda-13.0/include/cub/a.cuh\"\n"
      ".file 3 \"/opt/venv/lib/python3/site-packages/nvidia/cu13/include/b.h\"\n"
      ".file 4 \"/home/ada/labs/include/lab32.cuh\"\n");
  const ptx::Function& f = kernel(module);
  const auto at = [&](size_t i) {
    const auto position = module.student_source_position(f.body.at(i).loc);
    REQUIRE(position.has_value());
    return position->file + ":" + std::to_string(position->line);
  };
  CHECK(at(0) == "/home/ada/x.cu:10");
  CHECK(at(1) == "/home/ada/x.cu:20");
  CHECK(at(2) == "/home/ada/labs/include/lab32.cuh:9");
  CHECK(!module.student_source_position(-1).has_value());
}

TEST_CASE("ptx: debug sections, comments and pragmas are skipped") {
  const ptx::Module module =
      parse_kernel(".pragma \"nounroll\";\n // begin inline asm\n ret; /* ; } */",
                   ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,0\n}\n.pragma "
                   "\"enable_smem_spilling\";");
  CHECK(kernel(module).body.size() == 1);
}
