// sured on a small array with consecutive numbers, with results worked out by hand; txq and suq.
// `surface_reductions` in runtime/tests/programs compares them with a GPU.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/fixtures/sim_kit.h"

namespace lab32::surface_reduction_tests {
namespace {

using tests::Setup;

constexpr uint32_t kWidth = 8, kHeight = 4, kSlices = 3;

sim::TextureObject plane_of(uint8_t dimensions) {
  sim::TextureObject t;
  t.array.dimensions = dimensions;
  sim::MipmapLevel grid;
  grid.width = kWidth;
  grid.height = kHeight;
  grid.slices = kSlices;
  grid.pitch = kWidth * 4;
  grid.slice_bytes = grid.pitch * kHeight;
  t.array.levels.push_back(grid);
  return t;
}

Setup with(std::vector<sim::TextureObject> objects) {
  Setup setup;
  setup.in.assign(kWidth * kHeight * kSlices, 0);
  setup.textures = std::move(objects);
  return setup;
}

}  // namespace

TEST_CASE("core: surfaces: reductions update elements and handle coordinates outside") {
  sim::TextureObject s = plane_of(2);
  s.surface = true;
  const auto row_after = [&](const std::string& operation, const std::string& outside,
                             const std::string& value) {
    // Row 1 initially has consecutive numbers; then lane l updates word l / 2 - 2.
    const auto o = tests::finish(
        "mov.u64 %d0, 1; mov.u32 %r1, 1; shl.b32 %r0, %t, 2;"
        "sust.b.2d.b32.zero [%d0, {%r0, %r1}], {%t}; bar.warp.sync -1;"
        "shr.u32 %r0, %t, 1; sub.s32 %r0, %r0, 2; shl.b32 %r0, %r0, 2; cvt.u64.u32 %d3, %t;"
        "sured.b." +
            operation + "." + outside + " [%d0, {%r0, %r1}], " + value +
            "; bar.warp.sync -1; shl.b32 %r0, %t, 2;"
            "suld.b.2d.b32.zero {%r2}, [%d0, {%r0, %r1}]; st.global.u32 [%dst], %r2;",
        with({s}));
    return std::vector<uint32_t>(o.out.begin(), o.out.begin() + kWidth);
  };
  using Row = std::vector<uint32_t>;
  // Lanes 4 and 5 update word 0, ..., lanes 18 and 19 word 7.
  CHECK(row_after("add.2d.u32", "zero", "%t") == Row{9, 14, 19, 24, 29, 34, 39, 44});
  CHECK(row_after("add.2d.s32", "zero", "-1") == Row{~1u, ~0u, 0, 1, 2, 3, 4, 5});
  // Clamped: lanes before the row update word 0, and lanes 20 to 31 after it update word 7.
  CHECK(row_after("add.2d.u32", "clamp", "%t") == Row{0 + 9 + 6, 14, 19, 24, 29, 34, 39, 44 + 306});
  CHECK(row_after("max.2d.u32", "zero", "%t") == Row{5, 7, 9, 11, 13, 15, 17, 19});
  CHECK(row_after("min.2d.s32", "zero", "-3") == Row(kWidth, static_cast<uint32_t>(-3)));
  CHECK(row_after("and.2d.b32", "zero", "4") == Row{0, 0, 0, 0, 4, 4, 4, 4});
  CHECK(row_after("or.2d.b32", "zero", "8") == Row{8, 9, 10, 11, 12, 13, 14, 15});
  const auto words_of = [&](const std::string& instruction) {
    const auto o =
        tests::run("mov.u64 %d0, 1; mov.u32 %r0, 4; mov.u32 %r1, 9;" + instruction, with({s}));
    return o.trap ? tests::words(*o.trap) : "nothing";
  };
  CHECK(words_of("sured.b.add.2d.u32.trap [%d0, {%r0, %r1}], %r0;") ==
        "out of bounds: thread (0,0,0) of block (0,0,0) updates a surface at x = 4 bytes, y = 9; "
        "the array has 32 bytes by 4 rows by 3 slices");
  CHECK(words_of("mov.u32 %r1, 1; sured.b.max.2d.u64.trap [%d0, {%r0, %r1}], %d0;")
            .find("multiple of 8") != std::string::npos);
  CHECK(
      words_of("mov.u32 %r0, 8; mov.u32 %r1, 1; sured.b.add.2d.u64.trap [%d0, {%r0, %r1}], %d0;") ==
      "nothing");
}

TEST_CASE("core: textures: queries return the sizes of arrays") {
  sim::TextureObject t = plane_of(3), s = plane_of(2);
  s.surface = true;
  sim::MipmapLevel half = t.array.levels[0];
  half.width /= 2;
  half.height /= 2;
  half.slices = 1;
  t.array.levels.push_back(half);
  const auto o = tests::finish(
      "mov.u64 %d0, 1; mov.u64 %d1, 2; txq.width.b32 %r1, [%d0]; txq.height.b32 %r2, [%d0];"
      "txq.depth.b32 %r3, [%d0]; and.b32 %r9, %t, 1; txq.level.width.b32 %r4, [%d0], %r9;"
      "txq.level.depth.b32 %r5, [%d0], 1; suq.width.b32 %r6, [%d1]; suq.height.b32 %r7, [%d1];"
      "mad.lo.u32 %r1, %r2, 10, %r1; mad.lo.u32 %r1, %r3, 100, %r1; mad.lo.u32 %r1, %r4, 1000, %r1;"
      "mad.lo.u32 %r1, %r5, 10000, %r1; mad.lo.u32 %r1, %r6, 100000, %r1;"
      "mad.lo.u32 %r1, %r7, 1000000, %r1; st.global.u32 [%dst], %r1;",
      with({t, s}));
  for (uint32_t l = 0; l < 32; ++l)
    CHECK(o.out[l] == 8 + 40 + 300 + (l % 2 == 0 ? 8000 : 4000) + 10000 + 800000 + 4000000);
  const auto words_of = [&](const std::string& instruction) {
    const auto trapped = tests::run("mov.u64 %d0, 1; mov.u64 %d1, 2;" + instruction, with({t, s}));
    return trapped.trap ? tests::words(*trapped.trap) : "nothing";
  };
  const std::string who = "trap: thread (0,0,0) of block (0,0,0) uses ";
  CHECK(words_of("suq.depth.b32 %r1, [%d1];") ==
        who +
            "surface object 2, which has 2 dimensions, and the result of a GPU for more is not "
            "known");
  CHECK(words_of("txq.width.b32 %r1, [%d1];") ==
        who + "texture object 2, which is a surface object");
  CHECK(words_of("txq.level.width.b32 %r1, [%d0], 2;") ==
        who + "texture object 1, which has no level 2");
}

}  // namespace lab32::surface_reduction_tests
