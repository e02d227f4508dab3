// Names of elements from the types that nvcc -G describes.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "base/environment.h"
#include "simulator/ptx/debug_types.h"
#include "tests/fixtures/slow.h"
#include "toolchain/nvcc.h"

using namespace lab32;

namespace {

std::string shared(const char* name) {
  return "_ZZ5typesIfEvPK8ParticlePT_E" + std::to_string(std::string(name).size()) + name;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("ptx: elements of variables are named by their types") {
  toolchain::SandboxedCompileSettings options;
  options.cache = false;
  if (options.isolation == toolchain::Isolation::plain) return;  // types are not available there
  // Compiled once for all subcases.
  static const toolchain::CompiledArtifact artifact = toolchain::compile(
      lab32_root() / "grader/tests/fixtures/ptx/types.cu", "sm_90", "types.cu", options);
  static const ptx::DebugTypes types(artifact.debug_ptx());
  REQUIRE_FALSE(types.empty());

  SUBCASE("arrays, including those of several dimensions") {
    CHECK(types.element_path(shared("tile"), 0, 4) == "[0][0]");
    CHECK(types.element_path(shared("tile"), 4 * (33 * 2 + 1), 4) == "[2][1]");
    CHECK(types.element_path("factors", 8, 8) == "[1]");
    CHECK(types.element_path("words", 24, 8) == "[3]");
  }
  SUBCASE("members") {
    CHECK(types.element_path(shared("s"), 20 * 1 + 12, 4) == "[1].mass");
    CHECK(types.element_path(shared("s"), 20 * 1 + 18, 2) == "[1].tag[1]");
    CHECK(types.element_path("kept", 80, 4) == "[4].x");
    CHECK(types.element_path(shared("v"), 16 + 4, 4) == "[1].y");
  }
  SUBCASE("the name is as deep as the access fits") {
    CHECK(types.element_path(shared("v"), 16, 16) == "[1]");
    CHECK(types.element_path(shared("s"), 20, 8) == "[1]");
    CHECK(types.element_path(shared("s"), 20 + 16, 4) == "[1].tag");
  }
  SUBCASE("unions give the first member that fits, and an anonymous union has no name") {
    CHECK(types.element_path(shared("cells"), 0, 4) == "[0][0].whole");
    CHECK(types.element_path(shared("cells"), 44 * 5 + 24 + 12, 4) == "[1][2].held[1].mass");
  }
  SUBCASE("the outermost index may be outside of the array") {
    CHECK(types.element_path("kept", 100, 4) == "[5].x");
    CHECK(types.element_path("kept", -4, 4) == "[-1].tag");
    CHECK(types.element_path(shared("tile"), 4 * 33 * 32, 4) == "[32][0]");
    CHECK(types.last_valid_element_path(shared("tile"), 4 * 33 * 32, 4, 4 * 33 * 32) == "[31][0]");
    CHECK(types.last_valid_element_path("kept", 100, 4, 100) == "[4].x");
    CHECK(types.last_valid_element_path("words", 40, 8, 36) == "[3]");
    CHECK(types.last_valid_element_path("words", 0, 8, 0) == "");
  }
  SUBCASE("a scalar variable has no element name, and neither has an unknown one") {
    CHECK(types.element_path("total", 0, 4) == "");
    CHECK(types.element_path(shared("one"), 0, 4) == "");
    CHECK(types.element_path("nobody", 0, 4) == "");
  }
}

TEST_CASE("ptx: damaged type descriptions never fail" * kSlow) {
  const std::string good = text_of(lab32_root() / "grader/tests/fixtures/fuzz/ptx/types.ptx");
  REQUIRE(ptx::DebugTypes(good).element_path(shared("tile"), 4, 4) == "[0][1]");
  const size_t begin = good.find(".debug_abbrev");
  std::mt19937 random(32);
  for (int turn = 0; turn < 2000; ++turn) {
    std::string text = good;
    for (int i = 0; i < 3; ++i) {
      const size_t at = begin + random() % (text.size() - begin);
      if (random() % 4 == 0)
        text.erase(at, random() % 40);
      else if (text[at] >= '0' && text[at] <= '9')
        text[at] = static_cast<char>('0' + random() % 10);
    }
    const ptx::DebugTypes types(text);
    for (const char* name : {"tile", "s", "cells", "words"})
      CHECK(
          types.element_path(shared(name), static_cast<int64_t>(random() % 5000) - 100, 4).size() <
          200);
  }
}

TEST_CASE("ptx: a type that contains itself has no elements") {
  // One unit: code 1 is a structure, whose only member, 2, has that structure as its type; 3 is a
  // variable.
  const ptx::DebugTypes types(
      ".section .debug_abbrev\n{\n"
      ".b8 1,19,1,11,11,0,0\n"
      ".b8 2,13,0,3,8,73,19,0,0\n"
      ".b8 3,52,0,73,19,2,10,0,0\n"
      ".b8 0\n}\n"
      ".section .debug_info\n{\n"
      ".b32 33\n.b16 2\n.b32 .debug_abbrev\n.b8 8\n"
      ".b8 1,16\n"
      ".b8 2,109,0\n.b32 11\n"
      ".b8 0\n"
      ".b8 3\n.b32 11\n.b8 9,3\n.b64 loop\n"
      ".b8 0\n}\n");
  CHECK_FALSE(types.empty());
  CHECK(types.element_path("loop", 4, 4) == "");
}
