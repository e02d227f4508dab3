// The messages for refused PTX.
#include <doctest/doctest.h>

#include "base/error.h"
#include "simulator/ptx/parser.h"
#include "tests/fixtures/ptx_support.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

std::string refusal_of_body(const std::string& body, const std::string& module_scope = "") {
  return refusal_of(kernel_text(body, module_scope));
}

}  // namespace

TEST_CASE("ptx refusals: an instruction outside the table names its PTX line and its source line") {
  CHECK(
      refusal_of_body(".loc 1 31 7\n"
                      "\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1,%r2}, %rd4, %rd4;",
                      ".file 1 \"/home/ada/labs/reduction.cu\"") ==
      "PTX line 9: `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16` is not supported by the "
      "simulator (source: reduction.cu:31)\n"
      "  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1,%r2}, %rd4, %rd4;\n"
      "  ^");
}

TEST_CASE("ptx refusals: without line information there is no source part") {
  CHECK(refusal_of_body("ret;\n  add.rn.f32x2 %rd1, %rd2, %rd3;") ==
        "PTX line 9: `add.rn.f32x2` is not supported by the simulator\n"
        "  add.rn.f32x2 %rd1, %rd2, %rd3;\n"
        "  ^");
}

TEST_CASE("ptx refusals: the caret is below the error") {
  CHECK(refusal_of_body("  mov.u32 %r1, %envreg3;") ==
        "PTX line 8: the register `%envreg3` is not supported by the simulator\n"
        "  mov.u32 %r1, %envreg3;\n"
        "               ^");
  CHECK(refusal_of_body("add.s32 %r1, %r2, %rd3;") ==
        "PTX line 8: `add.s32` wants a register of 32 bits here\n"
        "  add.s32 %r1, %r2, %rd3;\n"
        "                    ^");
  CHECK(refusal_of_body("add.s32 %r1, %r2;") ==
        "PTX line 8: `add.s32` takes 3 operands, not 2\n"
        "  add.s32 %r1, %r2;\n"
        "  ^");
  CHECK(refusal_of_body("@%p1 bra nowhere;") ==
        "PTX line 8: the label `nowhere` is not defined\n"
        "  @%p1 bra nowhere;\n"
        "           ^");
}

TEST_CASE("ptx refusals: long lines are cut, with the caret still in place") {
  const std::string text = refusal_of_body("mov.u32 %r1, " + std::string(200, 'x') + ";");
  CHECK(text == "PTX line 8: `" + std::string(200, 'x') + "` is not declared\n  mov.u32 %r1, " +
                    std::string(83, 'x') + "...\n               ^");
  const std::string far = refusal_of_body(std::string(300, ';') + "abc;");
  CHECK(far == "PTX line 8: `abc` is not supported by the simulator\n  ..." + std::string(20, ';') +
                   "abc;\n                         ^");
}

TEST_CASE("ptx refusals: each kind of wrong operand is refused") {
  struct Case {
    const char* instruction;
    const char* message;
  };
  const Case cases[] = {
      {"add.s32 5, %r1, %r2;", "`add.s32` wants a register here"},
      {"add.s32 %r1, %r2, %p1;", "`add.s32` wants a register of 32 bits here"},
      {"add.s32 %r1, %r2, 1.5;", "`add.s32` wants an integer here"},
      {"add.f32 %f1, %f2, 1;", "`add.f32` wants a floating-point number here"},
      {"add.s32 %r1, %r2, !%p1;", "`add.s32` wants a register without `!` here"},
      {"add.s32 %r1, %r2, %tid.x;",
       "`add.s32` cannot read a special register: `mov` it to a register first"},
      {"add.s64 %rd1, %rd2, p;", "`add.s64` cannot read an address: `mov` it to a register first"},
      {"add.s32 %r1, %r2, [%rd1];", "`add.s32` wants a value here"},
      {"selp.b32 %r1, %r2, %r3, %r4;", "`selp.b32` wants a predicate here"},
      {"setp.eq.s32 !%p1, %r1, %r2;", "`setp.eq.s32` wants a predicate without `!` here"},
      {"ld.global.u32 %r1, %rd1;", "`ld.global.u32` wants an address in `[ ]` here"},
      {"ld.global.u32 %r1, [%rs1];", "`ld.global.u32` wants an address of 32 or 64 bits here"},
      {"ld.global.v2.u32 %r1, [%rd1];", "`ld.global.v2.u32` wants a vector of 2 here"},
      {"ld.global.v4.u32 {%r1,%r2}, [%rd1];", "`ld.global.v4.u32` wants a vector of 4 here"},
      {"ld.shared.u32 %r1, [n];", "`ld.shared.u32` wants a variable of that state space here"},
      {"mov.b64 %rd1, {%r1, %rs1};", "`mov.b64` wants a register of 32 bits here"},
      {"mov.u16 %rs1, p;", "`mov.u16` wants a type of 32 or 64 bits for an address here"},
      {"@%r1 ret;", "a guard must be a predicate"},
      {"mov.u32 %r1, 099;", "`099` is not a number"},
      {"mov.u32 %r1, %r99;", "the register `%r99` is not supported by the simulator"},
      {"mov.u32 %r1, {%r1, {%r2}};", "an operand is expected here, not `{`"},
      {"mov.u32 %r1 %r2;", "`;` is expected here, not `%r2`"},
      {".reg .v4 .f32 x;", "a type that registers can have is expected here, not `.v4`"},
      {".noreturn;", "`.noreturn` is not supported by the simulator"},
      {"L: ret; L: ret;", "the label `L` is defined twice"},
      {"brx.idx %r1, L; L: ret;", "the branch table `L` is not defined"},
      {"call (n), k, (p);", "this call's parameters are not those of the function"},
      {"call %rd1;", "a call through a register needs a prototype"},
      {"call %r1;", "a call needs a function or a 64-bit register here"},
      {"call p;", "`p` is not a function"},
      {".local .b8 x[2199023255552];", "this variable is too large"},
      {".local .b8 x[2] = {1, 2, 3};", "more initialisers than elements"},
      {".local .b8 x[2][0] = {{1}};", "more initialisers than elements"},
      {".local .align 3 .b8 x[2];", "an alignment must be a power of two, at most 4096"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.instruction);
    const std::string text = refusal_of_body(c.instruction);
    CHECK(text.substr(0, text.find('\n')) == std::string("PTX line 8: ") + c.message);
  }
}

TEST_CASE("ptx refusals: only ld, st and cvt accept wider registers") {
  CHECK(refusal_of_body("ld.global.u8 %r1, [%rd1]; st.global.u16 [%rd1], %r1;"
                        "cvt.u8.u32 %rs1, %r1; cvt.s64.s16 %rd1, %r1;") == "");
  CHECK(refusal_of_body("ld.global.u64 %r1, [%rd1];") != "");
  CHECK(refusal_of_body("cvt.u64.u32 %r1, %r2;") != "");
  CHECK(refusal_of_body("mov.u32 %rd1, %r1;") != "");
}

TEST_CASE("ptx refusals: a refused function refuses its callers and no other function") {
  const ptx::Module module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".func deep() { txq.samples.b32 %r1, [x]; }\n"
      ".func _Z3midPi() { call deep; ret; }\n"
      ".entry good() { ret; }\n"
      ".entry bad() { call _Z3midPi; ret; }\n");
  const std::string cause =
      "PTX line 4: `txq.samples.b32` is not supported by the simulator\n"
      "  .func deep() { txq.samples.b32 %r1, [x]; }\n"
      "                 ^";
  CHECK(ptx::require_kernel(module, "good").body.size() == 1);
  CHECK(module.find_function("deep")->refusal == cause);
  CHECK(module.find_function("bad")->body.empty());
  CHECK_THROWS_WITH_AS(
      ptx::require_kernel(module, "bad"),
      (cause + "\n  in `deep`, called by `mid(int*)`" + "\n  in `mid(int*)`, called by `bad`")
          .c_str(),
      Error);
}

TEST_CASE("ptx refusals: the text after a refused function is read normally") {
  const ptx::Module module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".entry a() { .reg .b32 %r<9>; { mov.b32 %r1, {%rs1, %rs2}; { add.x {%r1}; } } }\n"
      ".entry b() { .loc 1 2 3\n { } bra nowhere; }\n"
      ".entry c() .blocksareclusters .reqnctapercluster 2, 1, 1 { ret; }\n"
      ".entry d() { ret; }\n");
  CHECK(!module.find_function("a")->refusal.empty());
  CHECK(!module.find_function("b")->refusal.empty());
  CHECK(module.find_function("c")->refusal ==
        "PTX line 7: grids that are counted in clusters (`.blocksareclusters`) are not supported "
        "by the simulator\n"
        "  .entry c() .blocksareclusters .reqnctapercluster 2, 1, 1 { ret; }\n"
        "             ^");
  CHECK(ptx::require_kernel(module, "d").body.size() == 1);
}

TEST_CASE("ptx errors: a missing kernel is named") {
  const ptx::Module module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".entry _Z3addPfi() { ret; }\n.entry k() { ret; }\n.func f() { ret; }\n");
  CHECK_THROWS_WITH_AS(ptx::require_kernel(module, "f"),
                       "there is no kernel `f`; the file defines: add(float*, int), k", Error);
  const ptx::Module empty = ptx::parse(".version 9.0\n");
  CHECK_THROWS_WITH_AS(ptx::require_kernel(empty, "k"),
                       "there is no kernel `k`; the file defines none", Error);
}

TEST_CASE("ptx errors: a text that is no module is refused") {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"", "this is not a PTX module: it has no .version directive"},
      {"hello", "PTX line 1: `hello` is not supported by the simulator here"},
      {".version 9", "PTX line 1: a version such as 9.0 is expected here"},
      {".version 9.0\n.address_size 32", "PTX line 2: only 64-bit addresses are supported"},
      {".version 9.0\n.alias a, b;", "PTX line 2: `.alias` is not supported by the simulator here"},
      {".version 9.0\n.entry k() {\n ret;", "PTX line 3: the text ends inside a function"},
      {".version 9.0\n.entry k(", "PTX line 2: `.param` is expected here"},
      {".version 9.0\n/* x", "PTX line 2: this comment has no end"},
      {".version 9.0\n.file 1 \"x", "PTX line 2: this string has no end"},
      {".version 9.0\n#", "PTX line 2: this character does not belong in PTX"},
      {".version 9.0\n.section .debug_str {", "PTX line 2: this section has no end"},
      {".version 9.0\n.global .texref t;",
       "PTX line 2: texture and surface references left CUDA with version 12: use objects"},
      {".version 9.0\n.func f(.reg .b32 %r) { }",
       "PTX line 2: parameters in registers are not supported"},
      {".version 9.0\n.global .u64 p = q;",
       "PTX line 2: the initialiser of `p` refers to `q`, which is not declared"},
      {".version 9.0\n.global .u8 p[9] = {0xFF00(p)};",
       "PTX line 2: the bytes of an address must follow each other"},
      {".version 9.0\n.global .u8 p[9] = {0xFF(p)};",
       "PTX line 2: this address is given in part only"},
      {".version 9.0\n.global .u32 p;\n.global .u32 p;", "PTX line 3: `p` is defined twice"},
      {".version 9.0\n.entry k() {}\n.entry k() {}", "PTX line 3: `k` is defined twice"},
      {".version 9.0\n.entry k() .abi_preserve 3 { }",
       "PTX line 2: `.abi_preserve` is not supported by the simulator"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const std::string text = refusal_of(c.text);
    CHECK(text.substr(0, std::min(text.size(), std::string(c.message).size())) == c.message);
  }
}
