// read_elf() on this test program, and on files that are no ELF or incomplete.

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/elf.h"
#include "base/error.h"

namespace lab32::tests {
namespace {

std::string this_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("base: read_elf() finds the machine, sections, functions and libraries of a program") {
  const std::string bytes = this_program();
  CHECK(is_elf(bytes));
  const ElfFile elf = read_elf(bytes, "this program");
  CHECK(elf.machine == 62);  // EM_X86_64
  REQUIRE(elf.find(".text"));
  CHECK(elf.find(".text")->data.size() == elf.find(".text")->size);
  REQUIRE(elf.find(".bss"));
  CHECK(elf.find(".bss")->data.empty());
  CHECK(elf.find(".nothing") == nullptr);
  CHECK(std::count(elf.functions.begin(), elf.functions.end(), "main") == 1);
  CHECK(std::count(elf.needed.begin(), elf.needed.end(), "libc.so.6") == 1);
}

TEST_CASE("base: a file that is not an ELF file, or a truncated one, is refused by name") {
  CHECK_FALSE(is_elf(""));
  CHECK_FALSE(is_elf("#!/bin/sh"));
  CHECK_THROWS_WITH_AS(read_elf("#!/bin/sh", "x"), "x is not an ELF file", Error);
  std::string bytes = this_program();
  for (const size_t length : {size_t{4}, size_t{40}, size_t{64}, bytes.size() / 2})
    CHECK_THROWS_WITH_AS(read_elf(std::string_view(bytes).substr(0, length), "x"),
                         doctest::Contains("x is "), Error);
  bytes[4] = 1;  // ELFCLASS32
  CHECK_THROWS_WITH_AS(read_elf(bytes, "x"), "x is not a 64-bit ELF file", Error);
}

}  // namespace lab32::tests
