// may_have_unknown_ptx_opcodes(), the quick check that saves parsing.
#include <doctest/doctest.h>

#include "simulator/ptx/opcodes.h"

using lab32::ptx::may_have_unknown_ptx_opcodes;

TEST_CASE("ptx: unknown opcodes: they are found at the beginning of any statement") {
  for (const char* text :
       {"\tdiscard.global.L2 [%rd1], 128;\n", "@%p1 discard.global.L2 [%rd1], 128;",
        "\t@!%p1\tdiscard.global.L2 [%rd1], 128;", "ret; discard.global.L2 [%rd1], 128;",
        "{discard.global.L2 [%rd1], 128;}", "$L__BB0_2: discard.global.L2 [%rd1], 128;",
        "add.u32 %r1, %r2, 1;\nwgmma.fence.sync.aligned;"}) {
    CAPTURE(text);
    CHECK(may_have_unknown_ptx_opcodes(text));
  }
}

TEST_CASE("ptx: unknown opcodes: none is reported for a text without any") {
  for (const char* text :
       {"", ".version 8.0\n.target sm_90\n// discard.global.L2\n", "\tadd.u32 %r1, %r2, 1;\n",
        "\t@%p1 bra $L__BB0_2;\n$L__BB0_2:\n\tret;\n", "mov.b64 %rd1, {lo, hi};",
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n\t.loc 1 2 3\n",
        ".file 1 \"a.cu\"\n.section .debug_str { .b8 1 }"}) {
    CAPTURE(text);
    CHECK_FALSE(may_have_unknown_ptx_opcodes(text));
  }
}
