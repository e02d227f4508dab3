// The parameters from which the address of an access is computed.
#include <doctest/doctest.h>

#include "simulator/ptx/parser.h"
#include "simulator/ptx/pointer_origin.h"

using namespace lab32;

namespace {

// The origins of the last instruction but `ret` of a kernel with three pointers and an index.
std::vector<uint32_t> origins(const std::string& body) {
  const ptx::Module module = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n.global .b32 table[4];\n"
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u64 c) {\n"
      ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<20>;\n"
      "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n];\n"
      "ld.param.u64 %rd3, [c]; mul.wide.u32 %rd4, %r1, 4;\n" +
      body + "\nret;\n}\n");
  const ptx::Function& k = require_kernel(module, "k");
  return ptx::address_origin_param_offsets(k, k.body[k.body.size() - 2]);
}

using Origins = std::vector<uint32_t>;

}  // namespace

TEST_CASE("ptx: the pointer of an access is followed through its address arithmetic") {
  CHECK(origins("ld.global.u32 %r2, [%rd2+16];") == Origins{8});
  CHECK(origins("cvta.to.global.u64 %rd5, %rd3; add.s64 %rd6, %rd5, %rd4;\n"
                "st.global.u32 [%rd6], %r1;") == Origins{24});
  CHECK(origins("mad.wide.u32 %rd5, %r1, 4, %rd1; sub.s64 %rd6, %rd5, %rd4;\n"
                "red.global.add.u32 [%rd6], %r1;") == Origins{0});
  // A pointer that moves through a loop.
  CHECK(origins("mov.u64 %rd5, %rd1;\nNEXT: add.s64 %rd5, %rd5, 4; setp.eq.u32 %p1, %r1, 0;\n"
                "@%p1 bra NEXT; ld.global.u32 %r2, [%rd5];") == Origins{0});
  // Either of two arrays.
  CHECK(origins("setp.eq.u32 %p1, %r1, 0; selp.b64 %rd5, %rd1, %rd3, %p1;\n"
                "ld.global.u32 %r2, [%rd5];") == Origins{0, 24});
  // An index of 64 bits may be a parameter, too.
  CHECK(origins("add.s64 %rd5, %rd1, %rd2; ld.global.u8 %r2, [%rd5];") == Origins{0, 8});
  // Several parameters that one instruction loads.
  CHECK(origins("ld.param.v2.u64 {%rd7, %rd8}, [a]; ld.global.u32 %r2, [%rd8];") == Origins{8});
  // The copy's source, not its target in shared memory.
  CHECK(origins("cp.async.ca.shared.global [%r1], [%rd3], 4;") == Origins{24});
}

TEST_CASE("ptx: a pointer from memory or a variable has no parameter") {
  CHECK(origins("ld.global.u64 %rd5, [%rd1]; ld.global.u32 %r2, [%rd5];").empty());
  CHECK(origins("mov.u64 %rd5, table; ld.global.u32 %r2, [%rd5];").empty());
  CHECK(origins("ld.global.u32 %r2, [table+4];").empty());
  // A list: the first element is the parameter's, the others are found in memory.
  CHECK(origins("mov.u64 %rd5, %rd1;\nNEXT: ld.global.u64 %rd5, [%rd5];\n"
                "setp.ne.u64 %p1, %rd5, 0; @%p1 bra NEXT; ld.global.u32 %r2, [%rd5];")
            .empty());
  // An index from memory does not hide the pointer.
  CHECK(origins("ld.global.u64 %rd5, [%rd2]; add.s64 %rd6, %rd3, %rd5;\n"
                "ld.global.u8 %r2, [%rd6];") == Origins{24});
}
