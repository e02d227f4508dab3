#include <doctest/doctest.h>

#include "base/error.h"
#include "simulator/ptx/link.h"
#include "simulator/ptx/parser.h"
#include "tests/fixtures/ptx_support.h"

namespace lab32::tests {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

std::vector<std::string> names(const std::vector<ptx::Function>& functions) {
  std::vector<std::string> all;
  for (const ptx::Function& f : functions)
    all.push_back(f.name + (f.is_declaration ? " declared" : ""));
  return all;
}

TEST_CASE("ptx: link: an extern finds its definition in an earlier or later file") {
  const ptx::LinkedPtx linked = ptx::link_ptx(
      {kHead + ".extern .func (.param .b32 r) f (.param .b32 a);\n"
               ".extern .global .align 4 .b8 table[16];\n"
               ".visible .global .align 4 .u32 counter = 7;\n"
               ".visible .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, table; ret; }\n",
       kHead + ".extern .global .align 4 .u32 counter;\n"
               ".visible .global .align 4 .u32 table[4] = {1, 2};\n"
               ".visible .func (.param .b32 r) f (.param .b32 a) { ret; }\n"});
  const ptx::Module module = ptx::parse(linked.text);
  CHECK(names(module.functions) == std::vector<std::string>{"f", "k"});
  REQUIRE(module.variables.size() == 2);
  CHECK(module.find_variable("table")->init.size() == 8);
  CHECK(!module.find_variable("table")->is_extern);
  CHECK(module.find_variable("counter")->init[0] == std::byte{7});
}

TEST_CASE("ptx: link: a name that no file defines stays extern") {
  const ptx::Module module =
      ptx::parse(ptx::link_ptx({kHead + ".extern .func vprintf ();\n", kHead}).text);
  CHECK(names(module.functions) == std::vector<std::string>{"vprintf declared"});
}

TEST_CASE("ptx: link: one weak definition is kept, or the strong one") {
  const std::string weak = kHead +
                           ".weak .global .align 4 .u32 w = 1;\n"
                           ".weak .func f () { exit; }\n"
                           ".weak .entry t () { exit; }\n";
  const std::string strong = kHead +
                             ".visible .global .align 4 .u32 w = 2;\n"
                             ".visible .func f () { ret; }\n";
  for (const auto& texts : {std::vector<std::string>{weak, strong, weak}, {strong, weak, weak}}) {
    const ptx::Module module = ptx::parse(ptx::link_ptx(texts).text);
    REQUIRE(module.find_function("f"));
    CHECK(module.find_function("f")->body[0].op->base == "ret");
    CHECK(module.find_variable("w")->init[0] == std::byte{2});
    CHECK(module.find_function("t")->body.size() == 1);
  }
}

TEST_CASE("ptx: link: each file keeps its own names, in bodies and in initialisers") {
  const auto file = [](const char* value) {
    return kHead + ".global .align 4 .u32 own = " + value + ";\n.visible .global .align 8 .u64 p" +
           value +
           " = generic(own);\n.func local () { ret; }\n"
           ".visible .entry k" +
           value + " () { .reg .b64 %rd<2>; mov.u64 %rd1, own; call local; }\n";
  };
  const ptx::Module module = ptx::parse(ptx::link_ptx({file("1"), file("2")}).text);
  CHECK(names(module.functions) == std::vector<std::string>{"local.1", "k1", "local.2", "k2"});
  CHECK(module.find_variable("own.2")->init[0] == std::byte{2});
  CHECK(module.find_variable("p2")->relocations[0].symbol == "own.2");
  const ptx::Function& k2 = *module.find_function("k2");
  CHECK(k2.body[0].operands[1].name == "own.2");
  CHECK(k2.calls[0].target.name == "local.2");
  // A name that only one file uses keeps the name that the host uses.
  CHECK(ptx::parse(ptx::link_ptx({file("1"), kHead}).text).find_variable("own"));
}

TEST_CASE("ptx: link: source lines and the lines of ptxas are kept") {
  const auto file = [](const std::string& name, const std::string& kernel) {
    return kHead + "\n\n.visible .entry " + kernel + " () {\n.loc 1 5 0\n  exit;\n" +
           ".loc 2 8 0, function_name $s, inlined_at 1 6 3\n  exit;\n}\n" + ".file 1 \"" + name +
           "\"\n.file 2 \"header.h\"\n.section .debug_str {\n$s:\n.b8 0\n}\n";
  };
  const ptx::LinkedPtx linked = ptx::link_ptx({file("a.cu", "a"), file("b.cu", "b")});
  const ptx::Module module = ptx::parse(linked.text);
  for (const char* name : {"a", "b"}) {
    CAPTURE(name);
    const ptx::Function& f = *module.find_function(name);
    CHECK(module.student_source_position(f.body[0].loc)->file == std::string(name) + ".cu");
    CHECK(module.student_source_position(f.body[0].loc)->line == 5);
    const ptx::Loc& inlined = module.locs[static_cast<size_t>(f.body[1].loc)];
    CHECK(module.files[static_cast<size_t>(inlined.file)] == "header.h");
    const ptx::Loc& site = module.locs[static_cast<size_t>(inlined.inlined_at)];
    CHECK(module.files[static_cast<size_t>(site.file)] == std::string(name) + ".cu");
    // In the file's own text the first `exit` is on line 8.
    CHECK(f.body[0].ptx_line == 8 + linked.lines_before.at(name));
  }
}

TEST_CASE("ptx: link: texts that cannot be linked are refused") {
  const std::string one = kHead + ".visible .func _Z1fv () { ret; }\n";
  CHECK_THROWS_WITH_AS(ptx::link_ptx({one, one}), "`f()` is defined in two of the program's files",
                       Error);
  CHECK_THROWS_WITH_AS(ptx::link_ptx({kHead, "no PTX"}),
                       "PTX that is to be linked: this declaration has no end", Error);
  CHECK_THROWS_AS(ptx::link_ptx({kHead + ".visible .func f () { ret;"}), Error);
}

}  // namespace
}  // namespace lab32::tests
