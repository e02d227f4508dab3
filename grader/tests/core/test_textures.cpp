// tex, tld4, suld and sust on small arrays whose texels encode their coordinates. The expected
// results are computed from the coordinates with exact weights. `programs/textures` compares every
// form with a GPU, bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "simulator/core/semantics/texture_filter.h"
#include "tests/fixtures/sim_kit.h"

namespace lab32::texture_tests {

using sim::AddressMode;
using tests::bits_of;
using tests::Setup;

namespace {

constexpr uint32_t kWidth = 8, kHeight = 4, kSlices = 3;

// Floats: 100 z + 10 y + x.
std::vector<uint32_t> ramp() {
  std::vector<uint32_t> words;
  for (uint32_t z = 0; z < kSlices; ++z)
    for (uint32_t y = 0; y < kHeight; ++y)
      for (uint32_t x = 0; x < kWidth; ++x)
        words.push_back(bits_of(static_cast<float>(100 * z + 10 * y + x)));
  return words;
}

sim::TextureObject plane_of(uint8_t dimensions, uint32_t width = kWidth,
                            uint32_t height = kHeight) {
  sim::TextureObject t;
  t.array.dimensions = dimensions;
  sim::MipmapLevel grid;
  grid.width = width;
  grid.height = height;
  grid.slices = kSlices;
  grid.pitch = width * 4;
  grid.slice_bytes = grid.pitch * height;
  t.array.levels.push_back(grid);
  t.sampler.address.fill(AddressMode::clamp);
  return t;
}

Setup with(std::vector<sim::TextureObject> textures) {
  Setup setup;
  setup.in = ramp();
  setup.textures = std::move(textures);
  return setup;
}

// Lane l's coordinate along x is l / 4, along y l / 16.
constexpr const char* kCoordinates =
    "mov.u64 %d0, 1; cvt.rn.f32.u32 %f0, %t; mul.f32 %f1, %f0, 0f3E800000; "
    "mul.f32 %f2, %f0, 0f3D800000; mov.f32 %f3, 0f40200000; mov.u32 %r0, 2;";
constexpr const char* kStore = "st.global.f32 [%dst], %f4;";

float read(const tests::LaunchOutcome& o, size_t i) {
  float value = 0;
  std::memcpy(&value, &o.out[i], 4);
  return value;
}

// The interpolated ramp at (x, y), clamped to the centres of the outer texels.
float between(float x, float y) {
  const float u = std::clamp(x - 0.5f, 0.0f, kWidth - 1.0f);
  const float v = std::clamp(y - 0.5f, 0.0f, kHeight - 1.0f);
  return 10 * v + u;
}

}  // namespace

TEST_CASE("core: textures: fetches return the nearest texel or the weighted mean in every shape") {
  struct Shape {
    const char *word, *coordinates;
    uint8_t dimensions;
    bool layered;
    float slice;
  };
  for (const Shape& s : {Shape{"1d", "{%f1}", 1, false, 0}, Shape{"2d", "{%f1, %f2}", 2, false, 0},
                         Shape{"3d", "{%f1, %f2, %f3, %f3}", 3, false, 200},
                         Shape{"a1d", "{%r0, %f1}", 1, true, 200},
                         Shape{"a2d", "{%r0, %f1, %f2, %f2}", 2, true, 200}})
    for (const bool linear : {false, true}) {
      CAPTURE(s.word);
      CAPTURE(linear);
      sim::TextureObject t = plane_of(s.dimensions, kWidth, kHeight);
      t.array.layered = s.layered;
      t.sampler.linear = linear;
      const std::string call = "tex." + std::string(s.word) + ".v4.f32.f32 {%f4, _, _, _}, [%d0, " +
                               s.coordinates + "];";
      const auto o = tests::finish(std::string(kCoordinates) + call + kStore, with({t}));
      for (size_t l = 0; l < 32; ++l) {
        const float x = static_cast<float>(l) / 4,
                    y = s.dimensions == 1 ? 0 : static_cast<float>(l) / 16;
        // Depth 2.5 is the last slice's centre.
        const float want = s.slice + (linear ? between(x, y) : std::floor(x) + 10 * std::floor(y));
        CHECK(read(o, l) == want);
      }
    }
}

TEST_CASE("core: textures: coordinates outside follow the address mode") {
  struct Case {
    AddressMode mode;
    bool normalized;
    float x, want;
  };
  for (const Case& c :
       {Case{AddressMode::clamp, false, -3, 0}, Case{AddressMode::clamp, false, 9, 7},
        Case{AddressMode::border, false, -0.5f, 1000}, Case{AddressMode::wrap, true, 1.5f, 4},
        Case{AddressMode::wrap, true, -0.0625f, 7}, Case{AddressMode::mirror, true, 1.0625f, 7},
        Case{AddressMode::mirror, true, -0.2f, 1},
        Case{AddressMode::wrap, false, 9, 7},  // as clamp: not normalised
        Case{AddressMode::clamp, false, NAN, 0}, Case{AddressMode::clamp, false, INFINITY, 7}}) {
    CAPTURE(c.x);
    sim::TextureObject t = plane_of(2);
    t.sampler.address.fill(c.mode);
    t.sampler.normalized = c.normalized;
    t.sampler.border[0] = bits_of(1000);
    char place[64];
    std::snprintf(place, sizeof place, "mov.f32 %%f1, 0f%08X; mov.f32 %%f2, 0f00000000;",
                  bits_of(c.x));
    const auto o = tests::finish(std::string(kCoordinates) + place +
                                     "tex.2d.v4.s32.f32 {%r4, _, _, _}|%p0, [%d0, {%f1, %f2}];"
                                     "@%p0 st.global.u32 [%dst], %r4;",
                                 with({t}));
    CHECK(read(o, 0) == c.want);
  }
}

TEST_CASE("core: textures: fetches by level, by derivatives and of four neighbours work") {
  // Level 1 begins at the second slice, with half the size.
  sim::TextureObject t = plane_of(2);
  t.array.levels[0].slices = 1;
  sim::MipmapLevel half = t.array.levels[0];
  half.begin = kWidth * kHeight * 4;
  half.width /= 2;
  half.height /= 2;
  t.array.levels.push_back(half);
  t.sampler.linear_mipmap = true;
  t.sampler.highest = 99 * 256;
  const auto o = tests::finish(
      "mov.u64 %d0, 1; cvt.rn.f32.u32 %f0, %t; mul.f32 %f0, %f0, 0f3D000000;"
      "tex.level.2d.v4.f32.f32 {%f4, %f5, _, _}, [%d0, {0f00000000, 0f00000000}], %f0;"
      "add.f32 %f4, %f4, %f5; st.global.f32 [%dst], %f4;",
      with({t}));
  for (size_t l = 0; l < 32; ++l)  // 0 and 100, in parts of 1/256
    CHECK(read(o, l) == 100 * static_cast<float>(l) / 32);

  const auto slopes = tests::finish(
      std::string(kCoordinates) +
          "tex.grad.2d.v4.f32.f32 {%f4, _, _, _}, [%d0, {%f1, %f2}], {%f1, %f2}, {%f2, %f1};" +
          kStore,
      with({plane_of(2)}));
  CHECK(read(slopes, 21) == 10 + 5);  // x 5.25, y 1.3125

  const auto four = tests::finish(
      "mov.u64 %d0, 1; tld4.r.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d0, {0f40400000, 0f40000000}];"
      "st.global.v4.f32 [%out], {%f4, %f5, %f6, %f7};",
      with({plane_of(2)}));
  // The texels around (3, 2): lower left, lower right, upper right, upper left.
  CHECK(read(four, 0) == 22);
  CHECK(read(four, 1) == 23);
  CHECK(read(four, 2) == 13);
  CHECK(read(four, 3) == 12);
}

// The texels of each level hold its number, so a fetch returns the level in 1/256.
TEST_CASE("core: textures: the longer of two derivatives chooses the level") {
  sim::TextureObject t = plane_of(2, 16, 8);
  t.array.levels[0].slices = 1;
  Setup setup;
  setup.in.assign(128, 0);
  for (uint32_t level = 1; level < 4; ++level) {
    sim::MipmapLevel grid = t.array.levels[0];
    grid.begin = setup.in.size() * 4;
    grid.width >>= level;
    grid.height >>= level;
    setup.in.insert(setup.in.end(), 128, bits_of(static_cast<float>(level)));
    t.array.levels.push_back(grid);
  }
  t.sampler.normalized = t.sampler.linear_mipmap = true;
  t.sampler.highest = 99 * 256;
  const auto fetch = [&](const std::string& along_x, const std::string& along_y) {
    setup.textures = {t};
    return tests::run(
        "mov.u64 %d0, 1; mov.f32 %f1, 0f3F000000;"
        "tex.grad.2d.v4.f32.f32 {%f4, _, _, _}, [%d0, {%f1, %f1}], {" +
            along_x + "}, {" + along_y + "};" + kStore,
        setup);
  };
  const auto level = [&](const std::string& along_x, const std::string& along_y) {
    const LaunchOutcome o = fetch(along_x, along_y);
    REQUIRE(!o.trap);
    return read(o, 0);
  };
  const std::string none = "0f00000000", part = "0f3E000000";  // an eighth: 2 texels, or 1
  CHECK(level(part + "," + none, none + "," + none) == 1);
  CHECK(level(none + "," + part, none + "," + none) == 0);
  CHECK(level(none + "," + none, "0f3E800000," + none) == 2);
  CHECK(level("0fBE800000," + none, none + "," + part) == 2);
  CHECK(level("0f3F800000," + none, none + "," + none) == 3);  // the last level
  CHECK(level(none + "," + none, none + "," + none) == 0);
  // 2.25 texels: 1.1699, on a GPU 300 / 256; 2.265625 counts as 2.2578125, its first eight places.
  CHECK(level("0f3E100000," + none, none + "," + none) == 300 / 256.0f);
  CHECK(level("0f3E10C000," + none, none + "," + none) ==
        level("0f3E108000," + none, none + "," + none));
  CHECK(level("0f3E110000," + none, none + "," + none) >
        level("0f3E108000," + none, none + "," + none));
  // Derivatives along both axes, or both along one axis: unknown.
  const std::string some = "0f3E000000," + none;
  for (const auto& [x, y] :
       {std::pair<std::string, std::string>{"0f3E000000,0f3E000000", none + "," + none},
        std::pair<std::string, std::string>{none + "," + none, "0f3E000000,0f3E000000"},
        std::pair<std::string, std::string>{some, some}}) {
    const LaunchOutcome o = fetch(x, y);
    REQUIRE(o.trap);
    CHECK(tests::words(*o.trap).find("is known only for derivatives along one axis") !=
          std::string::npos);
  }
  t.array.levels[0].width = 12;
  CHECK(fetch(some, none + "," + none).trap);
  t.array.levels[0].width = 16;
  t.sampler.bias = -128;
  CHECK(level("0f3E800000," + none, none + "," + none) == 1.5f);
  t.sampler.linear_mipmap = false;
  CHECK(level("0f3E800000," + none, none + "," + none) == 2);  // 1.5 is rounded up
}

TEST_CASE("core: textures: linear memory is read by index, and nothing is read outside") {
  sim::TextureObject t = plane_of(1);
  t.array.linear = true;
  const auto o = tests::finish(
      "mov.u64 %d0, 1; sub.s32 %r0, %t, 4;"
      "tex.1d.v4.s32.s32 {%r4, _, _, _}, [%d0, {%r0}]; st.global.u32 [%dst], %r4;",
      with({t}));
  for (size_t l = 0; l < 32; ++l)
    CHECK(read(o, l) == (l >= 4 && l < 12 ? static_cast<float>(l - 4) : 0));
}

TEST_CASE("core: surfaces: loads and stores of every width, and accesses outside") {
  sim::TextureObject s = plane_of(2);
  s.surface = true;
  // Pairs of 16 bits over row 1: a lane's number and 7; then words of them, and a byte.
  const auto o = tests::finish(
      "mov.u64 %d0, 1; shl.b32 %r0, %t, 2; mov.u32 %r1, 1; cvt.u16.u32 %h0, %t; mov.b16 %h1, 7;"
      "sust.b.2d.v2.b16.zero [%d0, {%r0, %r1}], {%h0, %h1};"
      "bar.warp.sync -1; sub.s32 %r0, %r0, 8;"
      "suld.b.2d.b32.clamp {%r2}, [%d0, {%r0, %r1}];"
      "suld.b.2d.b32.zero {%r4}, [%d0, {%r0, %r1}];"
      "suld.b.2d.b8.clamp {%h4}, [%d0, {%r0, %r1}]; cvt.u32.u16 %r5, %h4;"
      "and.b32 %r2, %r2, 255; shl.b32 %r2, %r2, 16; shl.b32 %r5, %r5, 8; or.b32 %r2, %r2, %r5;"
      "and.b32 %r4, %r4, 255; or.b32 %r2, %r2, %r4; st.global.u32 [%dst], %r2;",
      with({s}));
  for (uint32_t l = 0; l < 32; ++l) {
    const int own = static_cast<int>(l) - 2;
    const auto clamped = static_cast<uint32_t>(std::clamp(own, 0, 7));
    // Beyond the row it is the last byte, the upper byte of a 7.
    const uint32_t byte = own < 0 ? 0u : own > 7 ? 0u : static_cast<uint32_t>(own);
    const uint32_t zero = own < 0 || own > 7 ? 0 : static_cast<uint32_t>(own);
    CHECK(o.out[l] == (clamped << 16 | byte << 8 | zero));
  }
  const auto trap =
      tests::run("mov.u64 %d0, 1; sust.b.2d.b32.trap [%d0, {32, 1}], {%r0}; //@store\n", with({s}));
  REQUIRE(trap.trap);
  CHECK(tests::words(*trap.trap) ==
        "out of bounds: thread (0,0,0) of block (0,0,0) writes a surface at x = 32 bytes, y = 1; "
        "the array has 32 bytes by 4 rows by 3 slices");
}

// The behaviour of a GPU for clamped accesses that are longer than a row has not been measured.
TEST_CASE("core: surfaces: a clamped access that is longer than a row is refused") {
  sim::TextureObject narrow = plane_of(2);
  narrow.surface = true;
  narrow.array.levels[0].width = 1;
  const auto words_of = [&](const std::string& instruction) {
    const auto o =
        tests::run("mov.u64 %d0, 1; mov.u32 %r0, 0; mov.u32 %r1, 0;" + instruction, with({narrow}));
    return o.trap ? tests::words(*o.trap) : "nothing";
  };
  const std::string refused =
      "trap: thread (0,0,0) of block (0,0,0) uses surface object 1, which has rows that are "
      "shorter "
      "than the access, and the clamped position is not known";
  CHECK(words_of("suld.b.2d.b64.clamp {%d1}, [%d0, {%r0, %r1}];") == refused);
  CHECK(words_of("suld.b.2d.v2.b32.clamp {%r2, %r3}, [%d0, {%r0, %r1}];") == refused);
  CHECK(words_of("sust.b.2d.b64.clamp [%d0, {%r0, %r1}], {%d0};") == refused);
  CHECK(words_of("suld.b.2d.b32.clamp {%r2}, [%d0, {%r0, %r1}];") == "nothing");
  CHECK(words_of("sust.b.2d.b64.zero [%d0, {%r0, %r1}], {%d0};") == "nothing");
}

TEST_CASE("core: textures: invalid and unsuitable objects are faults") {
  const auto words_of = [](const std::string& number, sim::TextureObject t) {
    const auto o = tests::run(
        "mov.u64 %d0, " + number + "; tex.2d.v4.f32.f32 {%f4, _, _, _}, [%d0, {%f1, %f2}];",
        with({std::move(t)}));
    return o.trap ? tests::words(*o.trap) : "nothing";
  };
  const std::string who = "trap: thread (0,0,0) of block (0,0,0) uses texture object ";
  CHECK(words_of("9", plane_of(2)) == who + "9, which was never made");
  CHECK(words_of("0", plane_of(2)) == who + "0, which was never made");
  sim::TextureObject gone = plane_of(2), surface = plane_of(2), layers = plane_of(2);
  gone.destroyed = surface.surface = layers.array.layered = true;
  CHECK(words_of("1", gone) == who + "1, which was destroyed");
  CHECK(words_of("1", surface) == who + "1, which is a surface object");
  CHECK(words_of("1", layers) == who + "1, which reads layers");
  CHECK(words_of("1", plane_of(3)) == who + "1, which has 3 dimensions");
}

TEST_CASE("core: textures: memory that ends before the texture is a fault") {
  sim::TextureObject t = plane_of(2);
  t.array.levels[0].begin = 1 << 16;  // beyond `in`
  Setup setup = with({t});
  const auto o = tests::run(
      "mov.u64 %d0, 1; tex.2d.v4.f32.f32 {%f4, _, _, _}, [%d0, {0f00000000, 0f00000000}];"
      "st.global.f32 [%dst], %f4;",
      setup);
  REQUIRE(o.trap);
  CHECK(o.trap->kind() == sim::TrapKind::out_of_bounds);
}

TEST_CASE("core: texture filter: the weights of all texels add up to 256/256") {
  for (uint32_t a = 0; a < 256; a += 5)
    for (uint32_t b = 0; b < 256; b += 7)
      for (uint32_t c : {0u, 1u, 77u, 128u, 255u}) {
        uint32_t w[8];
        sim::split_weight(3, {a, b, c}, 256, w);
        CHECK(w[0] + w[1] + w[2] + w[3] == 256 - c);
        CHECK(w[4] + w[5] + w[6] + w[7] == c);
        sim::split_weight(2, {a, b, 0}, 256, w);
        CHECK(w[1] + w[3] == a);
        CHECK(w[2] + w[3] == b);
        CHECK(std::abs(static_cast<double>(w[3]) - a * b / 256.0) <= 0.5);
      }
}

TEST_CASE("core: texture filter: crossing an edge and returning gives the same texel") {
  constexpr int32_t kSize = 5;
  for (uint32_t face = 0; face < 6; ++face)
    for (int32_t i = 0; i < kSize; ++i)
      for (const sim::CubeTexel out :
           {sim::CubeTexel{face, -1, i}, sim::CubeTexel{face, kSize, i},
            sim::CubeTexel{face, i, -1}, sim::CubeTexel{face, i, kSize}}) {
        const sim::CubeTexel there = sim::texel_across_edge(out, kSize);
        CHECK(there.face != face);
        // One step over the edge next to it leads back.
        bool back = false;
        for (const int dx : {-1, 0, 1})
          for (const int dy : {-1, 0, 1}) {
            if ((dx == 0) == (dy == 0)) continue;
            const sim::CubeTexel step{there.face, there.x + dx, there.y + dy};
            const auto outside = [&](int32_t v) { return v < 0 || v >= kSize; };
            if (outside(step.x) == outside(step.y)) continue;
            const sim::CubeTexel again = sim::texel_across_edge(step, kSize);
            back |=
                again.face == face && std::abs(again.x - out.x) + std::abs(again.y - out.y) == 1;
          }
        CHECK(back);
      }
}

}  // namespace lab32::texture_tests
