// The variable from which an address is computed.
#include <doctest/doctest.h>

#include "simulator/ptx/pointer_origin.h"
#include "tests/fixtures/ptx_support.h"

using namespace lab32;

namespace {

// The origin of the address in %r1 after the body.
std::string origin(const std::string& body) {
  const ptx::Module module =
      tests::parse_kernel(body + "\n st.shared.u32 [%r1], 1;\n ret;",
                          ".shared .align 4 .b8 tile[128];\n.shared .align 4 .b8 other[128];\n");
  const ptx::Function& kernel = tests::kernel(module);
  const std::vector<std::string> origins = ptx::base_variable_by_instruction(kernel);
  for (size_t i = 0; i < kernel.body.size(); ++i)
    if (kernel.body[i].op->id == ptx::OpId::st) return origins[i];
  return "no store";
}

}  // namespace

TEST_CASE("ptx: address origin: sums of a variable and numbers") {
  CHECK(origin("mov.u32 %r1, tile;") == "tile");
  CHECK(origin("mov.u32 %r2, tile;\n add.s32 %r1, %r2, 16;") == "tile");
  CHECK(origin("mov.u32 %r2, %tid.x;\n mov.u32 %r3, tile;\n mad.lo.s32 %r1, %r2, 4, %r3;") ==
        "tile");
  CHECK(origin("ld.global.u32 %r2, [%rd1];\n shl.b32 %r2, %r2, 2;\n mov.u32 %r3, other;\n"
               "add.s32 %r1, %r3, %r2;") == "other");
  CHECK(origin("mov.u32 %r2, tile;\n xor.b32 %r1, %r2, 64;") == "tile");
  // A pointer that walks through the array.
  CHECK(origin("mov.u32 %r1, tile;\nLOOP:\n add.s32 %r1, %r1, 4;\n"
               "setp.lt.u32 %p1, %r1, 99;\n @%p1 bra LOOP;") == "tile");
}

TEST_CASE("ptx: address origin: unknown if there are several, or the address was loaded") {
  CHECK(origin("mov.u32 %r2, tile;\n mov.u32 %r3, other;\n selp.b32 %r1, %r2, %r3, %p1;") == "");
  CHECK(origin("mov.u32 %r1, tile;\n @%p1 mov.u32 %r1, other;") == "");
  CHECK(origin("mov.u32 %r2, tile;\n mov.u32 %r3, other;\n sub.s32 %r4, %r3, %r2;\n"
               "add.s32 %r1, %r2, %r4;") == "");
  CHECK(origin("ld.global.u32 %r1, [%rd1];") == "");
  CHECK(origin("mov.u32 %r2, tile;\n shr.u32 %r1, %r2, 1;") == "");
}
